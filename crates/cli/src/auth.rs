//! `verial auth`, and how every command finds the server and the key.

use std::io::Read;

use clap::{Args, Subcommand};
use client::Client;
use model::api_key::{KeyKind, Secret};
use model::identity::Organization;
use serde_json::json;

use crate::block_on;
use crate::exit::usage;
use crate::output::text::sanitize;
use crate::output::{print, print_json};
use crate::user_config::UserConfig;

#[derive(Args)]
pub(crate) struct AuthArgs {
    #[command(flatten)]
    connection: Connection,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: AuthCommand,
}

#[derive(Subcommand)]
enum AuthCommand {
    /// Store a key (and --url) in ~/.verial/config.json
    SetKey {
        /// The key, vk_…; read from standard input if omitted
        key: Option<String>,
    },
    /// Show which server and key are used, and whether they work
    Status,
}

/// The server and key of a command.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Connection {
    /// The server [default: http://127.0.0.1:8080]
    #[arg(long, alias = "base-url", env = "VERIAL_URL", value_name = "URL", global = true, hide_env_values = true)]
    pub(crate) url: Option<String>,
    /// Organization key; default: ~/.verial/config.json
    #[arg(long, env = "VERIAL_API_KEY", value_name = "KEY", global = true, hide_env_values = true)]
    pub(crate) api_key: Option<String>,
}

impl Connection {
    /// A client for the server and key from flags, the environment or the user's config file, in this order.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        let key = self
            .key()?
            .ok_or_else(|| usage("no API key: give --api-key, set VERIAL_API_KEY, or run `verial auth set-key`"))?;
        Ok(Client::new(&self.url()?, &key)?)
    }

    /// The organization key, if there is one.
    pub(crate) fn key(&self) -> anyhow::Result<Option<String>> {
        let given = self.api_key.clone().filter(|key| !key.is_empty());
        let key = match given {
            Some(key) => Some(key),
            None => UserConfig::read()?.api_key,
        };
        if let Some(key) = &key {
            check_key(key)?;
        }
        Ok(key)
    }

    pub(crate) fn url(&self) -> anyhow::Result<String> {
        let given = self.url.clone().filter(|url| !url.is_empty());
        let url = match given {
            Some(url) => Some(url),
            None => UserConfig::read()?.url,
        };
        let url = url.unwrap_or_else(|| "http://127.0.0.1:8080".into());
        check_url(&url)?;
        Ok(url)
    }
}

pub(crate) fn run(arguments: &AuthArgs) -> anyhow::Result<()> {
    match &arguments.command {
        AuthCommand::SetKey { key } => set_key(arguments, key.clone()),
        AuthCommand::Status => block_on(async {
            let Some(key) = arguments.connection.key()? else {
                return Err(crate::exit::failure("No API key configured. Run: verial auth set-key <key>"));
            };
            let client = arguments.connection.client()?;
            let organization: Organization = client.get("/organization").await?;
            let url = client.base_url();
            if arguments.json {
                print_json(&json!({"url": url, "organization": organization}));
            } else {
                print(format_args!("Authenticated (key: {})", mask(&key)));
                print(format_args!("  server        {url}"));
                print(format_args!("  organization  {} ({})", sanitize(&organization.name), organization.id));
            }
            Ok(())
        }),
    }
}

fn set_key(arguments: &AuthArgs, key: Option<String>) -> anyhow::Result<()> {
    let key = match key {
        Some(key) => key,
        None => {
            let mut text = String::new();
            std::io::stdin().take(1024).read_to_string(&mut text)?;
            text.trim().to_owned()
        }
    };
    check_key(&key)?;
    arguments.connection.url.as_deref().map_or(Ok(()), check_url)?;
    let user_config = UserConfig::read()?;
    let user_config =
        UserConfig { url: arguments.connection.url.clone().or(user_config.url), api_key: Some(key), ..user_config };
    let path = user_config.write()?.display().to_string();
    if arguments.json {
        print_json(&json!({"path": path}))
    } else {
        print(format_args!("API key saved to {path}"))
    }
    Ok(())
}

/// The start and the end of a key, enough to recognize it.
fn mask(key: &str) -> String {
    let prefix: String = key.chars().take(7).collect();
    let suffix: String = key.chars().skip(key.chars().count().saturating_sub(4)).collect();
    format!("{prefix}...{suffix}")
}

pub(crate) fn check_url(url: &str) -> anyhow::Result<()> {
    if url.starts_with("http://") || url.starts_with("https://") {
        return Ok(());
    }
    Err(usage(format!("the server's address must start with http:// or https://, got `{url}`")))
}

/// Checks the format of an organization key, to find typing errors before anything is sent.
pub(crate) fn check_key(key: &str) -> anyhow::Result<()> {
    match Secret::parse(key).map(|secret| secret.kind()) {
        Some(KeyKind::Organization) => Ok(()),
        Some(_) => Err(usage("this command needs an organization key (vk_…), not a solver key or a run token")),
        None => Err(usage("the API key is not valid (a character may be missing); keys look like vk_…")),
    }
}

pub(crate) fn check_solver_key(key: &str) -> anyhow::Result<()> {
    match Secret::parse(key).map(|secret| secret.kind()) {
        Some(KeyKind::Solver) => Ok(()),
        _ => Err(usage("the solver key is not valid (a character may be missing); keys look like vrl_slv_…")),
    }
}
