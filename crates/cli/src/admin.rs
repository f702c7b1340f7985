//! `verial admin`: organizations and keys, straight on the database.

use app::{App, admin};
use clap::{Args, Subcommand};
use model::identity::CreatedApiKey;
use model::{KeyId, OrgId};
use serde_json::json;

use crate::block_on;
use crate::output::table::Cell;
use crate::output::{Style, Table, say};
use crate::settings::{File, Storage, StorageArguments};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    storage: StorageArguments,
    #[command(subcommand)]
    group: Group,
}

#[derive(Subcommand)]
enum Group {
    /// Organizations
    #[command(subcommand)]
    Org(OrgCommand),
    /// Organization keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Read everything that is stored and say what is damaged or missing
    Check,
}

#[derive(Subcommand)]
enum OrgCommand {
    /// Make an organization and print its key
    Create {
        /// What it is called
        #[arg(long)]
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List all organizations
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Subcommand)]
enum KeyCommand {
    /// Make a key for an organization and print it
    Create {
        /// The organization's id
        #[arg(long)]
        org: OrgId,
        /// What it is called
        #[arg(long)]
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key by its id
    Revoke {
        /// The key's id: key_…
        key: KeyId,
    },
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let file = File::read(arguments.storage.config.as_deref())?;
    let app = Storage::merge(&arguments.storage, &file)?.open(app::Limits::default())?;
    block_on(async move {
        match arguments.group {
            Group::Org(command) => organizations(&app, command).await,
            Group::Key(command) => keys(&app, command).await,
            Group::Check => check(&app).await,
        }
    })
}

async fn organizations(app: &App, command: OrgCommand) -> anyhow::Result<()> {
    match command {
        OrgCommand::Create { name, json } => {
            let made = admin::create_organization(app, &name).await?;
            if json {
                say(json!({
                    "id": made.organization.id,
                    "name": made.organization.name,
                    "api_key": made.api_key.key,
                    "api_key_id": made.api_key.id,
                }));
            } else {
                say(format_args!("Organization {} ({})", made.organization.name, made.organization.id));
                say_key(&made.api_key);
            }
        }
        OrgCommand::List { json } => {
            let all = admin::list_organizations(app).await?;
            if json {
                say(serde_json::to_string(&all)?);
            } else {
                let mut table = Table::new(["ID", "NAME", "CREATED"]).keep_whole(0);
                for organization in all {
                    let created = organization.created_at.to_string();
                    let cells = [organization.id.to_string(), organization.name, created];
                    table.row(cells.into_iter().map(Cell::new).collect());
                }
                say(table.render(Style::of_stdout()));
            }
        }
    }
    Ok(())
}

async fn keys(app: &App, command: KeyCommand) -> anyhow::Result<()> {
    match command {
        KeyCommand::Create { org, name, json } => {
            let key = admin::create_key(app, &org, &name).await?;
            if json { say(serde_json::to_string(&key)?) } else { say_key(&key) }
        }
        KeyCommand::Revoke { key } => {
            admin::revoke_key(app, &key).await?;
            say(format_args!("{key} is revoked; running servers refuse it within a second"));
        }
    }
    Ok(())
}

async fn check(app: &App) -> anyhow::Result<()> {
    let faults = admin::check(app).await?;
    for fault in &faults {
        say(fault);
    }
    if !faults.is_empty() {
        return Err(crate::exit::no(crate::exit::faults(faults.len())));
    }
    say("everything that is stored can be read");
    Ok(())
}

fn say_key(key: &CreatedApiKey) {
    say(format_args!("API key, shown this once: {}", key.key));
    say(format_args!("Its id, to revoke it by: {}", key.id));
}
