//! `verial auth`, and where every other command finds the server and the key.

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use client::Client;
use model::api_key::{KeyKind, Secret};
use model::identity::Organization;
use serde::{Deserialize, Serialize};

use crate::{block_on, say};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    #[command(subcommand)]
    command: AuthCommand,
}

#[derive(Subcommand)]
enum AuthCommand {
    /// Keep a key (and --url) in ~/.verial/config.json; without KEY it is read from standard input
    SetKey { key: Option<String> },
    /// Say which server and key are used, and whether they work
    Status,
}

/// How a command reaches a server.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Connection {
    /// The server [default: http://127.0.0.1:8080]
    #[arg(long, env = "VERIAL_URL", value_name = "URL", global = true)]
    url: Option<String>,
    /// Organization key; default: ~/.verial/config.json
    #[arg(long, env = "VERIAL_API_KEY", value_name = "KEY", global = true, hide_env_values = true)]
    api_key: Option<String>,
}

#[derive(Serialize, Deserialize, Default)]
struct Stored {
    url: Option<String>,
    api_key: Option<String>,
}

impl Connection {
    /// Flag, then environment, then the user's file.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        let stored = read_stored()?;
        let key = self.api_key.clone().or(stored.api_key);
        let key = key.context("no API key: give --api-key, set VERIAL_API_KEY, or run `verial auth set-key`")?;
        check_key(&key)?;
        Ok(Client::new(&self.url(stored.url), &key)?)
    }

    fn url(&self, stored: Option<String>) -> String {
        self.url.clone().or(stored).unwrap_or_else(|| "http://127.0.0.1:8080".into())
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.command {
        AuthCommand::SetKey { key } => set_key(&arguments.connection, key.clone()),
        AuthCommand::Status => block_on(async {
            let client = arguments.connection.client()?;
            let organization: Organization = client.get("/organization").await?;
            let url = arguments.connection.url(read_stored()?.url);
            say(format_args!("{url}: the key works, for organization {} ({})", organization.name, organization.id));
            Ok(())
        }),
    }
}

fn set_key(connection: &Connection, key: Option<String>) -> anyhow::Result<()> {
    let key = match key {
        Some(key) => key,
        None => {
            let mut text = String::new();
            std::io::stdin().take(1024).read_to_string(&mut text)?;
            text.trim().to_owned()
        }
    };
    check_key(&key)?;
    let stored = Stored { url: connection.url.clone().or(read_stored()?.url), api_key: Some(key) };
    let path = stored_path()?;
    write_private(&path, &serde_json::to_string_pretty(&stored)?)?;
    say(format_args!("the key is kept in {}", path.display()));
    Ok(())
}

/// A typing error is found before anything is sent.
fn check_key(key: &str) -> anyhow::Result<()> {
    match Secret::parse(key).map(|secret| secret.kind()) {
        Some(KeyKind::Organization) => Ok(()),
        Some(_) => bail!("this command needs an organization key (vk_…), not a solver key or a run token"),
        None => bail!("the API key is not a valid one (a character may be missing); keys look like vk_…"),
    }
}

#[expect(clippy::disallowed_methods, reason = "the user's home is where the user's file is")]
fn stored_path() -> anyhow::Result<PathBuf> {
    let home = std::env::var_os("HOME").context("HOME is not set")?;
    Ok(PathBuf::from(home).join(".verial").join("config.json"))
}

fn read_stored() -> anyhow::Result<Stored> {
    let path = stored_path()?;
    match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Stored::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Only the user may read it, from the first byte on.
fn write_private(path: &std::path::Path, text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let fresh = path.with_extension("json.new");
    let _ = std::fs::remove_file(&fresh);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(std::fs::rename(fresh, path)?)
}
