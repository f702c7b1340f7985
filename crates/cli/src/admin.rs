//! `verial admin`: manages organizations and keys directly on the database.

use app::{App, admin};
use clap::{Args, Subcommand};
use model::identity::CreatedApiKey;
use model::{KeyId, OrgId};
use serde_json::json;

use crate::block_on;
use crate::output::table::Cell;
use crate::output::{Style, Table, print};
use crate::settings::{SettingsFile, Storage, StorageArguments};

#[derive(Args)]
pub(crate) struct AdminArgs {
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
    /// Read all stored data and report what is damaged or missing
    Check,
}

#[derive(Subcommand)]
enum OrgCommand {
    /// Create an organization and print its key
    Create {
        /// Its name
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
    /// Create a key for an organization and print it
    Create {
        /// The organization's id
        #[arg(long)]
        org: OrgId,
        /// Its name
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

pub(crate) fn run(arguments: AdminArgs) -> anyhow::Result<()> {
    let file = SettingsFile::read(arguments.storage.config.as_deref())?;
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
            let created = admin::create_organization(app, &name).await?;
            if json {
                print(json!({
                    "id": created.organization.id,
                    "name": created.organization.name,
                    "api_key": created.api_key.key,
                    "api_key_id": created.api_key.id,
                }));
            } else {
                print(format_args!("Organization {} ({})", created.organization.name, created.organization.id));
                print_key(&created.api_key);
            }
        }
        OrgCommand::List { json } => {
            let all = admin::list_organizations(app).await?;
            if json {
                print(serde_json::to_string(&all)?);
            } else {
                let mut table = Table::new(["ID", "NAME", "CREATED"]).never_truncate(0);
                for organization in all {
                    let created = organization.created_at.to_string();
                    let cells = [organization.id.to_string(), organization.name, created];
                    table.row(cells.into_iter().map(Cell::new).collect());
                }
                print(table.render(Style::of_stdout()));
            }
        }
    }
    Ok(())
}

async fn keys(app: &App, command: KeyCommand) -> anyhow::Result<()> {
    match command {
        KeyCommand::Create { org, name, json } => {
            let key = admin::create_key(app, &org, &name).await?;
            if json { print(serde_json::to_string(&key)?) } else { print_key(&key) }
        }
        KeyCommand::Revoke { key } => {
            admin::revoke_key(app, &key).await?;
            print(format_args!("{key} is revoked; running servers refuse it within a second"));
        }
    }
    Ok(())
}

async fn check(app: &App) -> anyhow::Result<()> {
    let problems = admin::check(app).await?;
    for problem in &problems {
        print(problem);
    }
    if !problems.is_empty() {
        return Err(crate::exit::failure(crate::exit::count_errors(problems.len())));
    }
    print("all stored data can be read");
    Ok(())
}

fn print_key(key: &CreatedApiKey) {
    print(format_args!("API key, shown this once: {}", key.key));
    print(format_args!("Its id, to revoke it by: {}", key.id));
}
