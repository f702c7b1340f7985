//! `verial config`: the user's own settings, one by one.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use crate::auth::{check_key, check_solver_key, check_url};
use crate::output::{say, say_json};
use crate::stored::Stored;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// One setting; keys are shown whole
    Get {
        /// Which
        name: Name,
    },
    /// Keep a setting
    Set {
        /// Which
        name: Name,
        /// What it is to be
        value: String,
    },
    /// Forget a setting
    Unset {
        /// Which
        name: Name,
    },
    /// All settings; keys are shown by their ends
    List,
    /// Where they are kept
    Path,
}

#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
enum Name {
    /// The server
    #[value(alias = "base-url", alias = "base_url")]
    Url,
    /// Organization key, vk_…
    ApiKey,
    /// Solver key, vrl_slv_…
    SolverKey,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut stored = Stored::read()?;
    match &arguments.command {
        ConfigCommand::Get { name } => {
            let value = slot(&mut stored, *name).clone();
            let value = value.ok_or_else(|| crate::exit::no(format!("{} is not set", label(*name))))?;
            if arguments.json { say_json(&json!({label(*name): value})) } else { say(value) }
        }
        ConfigCommand::Set { name, value } => {
            check(*name, value)?;
            *slot(&mut stored, *name) = Some(value.clone());
            changed(*name, "is kept in", &stored, arguments.json)?;
        }
        ConfigCommand::Unset { name } => {
            *slot(&mut stored, *name) = None;
            changed(*name, "is gone from", &stored, arguments.json)?;
        }
        ConfigCommand::List => list(&mut stored, arguments.json),
        ConfigCommand::Path => {
            let path = Stored::path()?.display().to_string();
            if arguments.json { say_json(&json!({"path": path})) } else { say(path) }
        }
    }
    Ok(())
}

fn changed(name: Name, words: &str, stored: &Stored, json: bool) -> anyhow::Result<()> {
    let (name, path) = (label(name), stored.write()?.display().to_string());
    if json {
        say_json(&json!({"name": name, "path": path}))
    } else {
        say(format_args!("{name} {words} {path}"))
    }
    Ok(())
}

fn list(stored: &mut Stored, json: bool) {
    let shown = [Name::Url, Name::ApiKey, Name::SolverKey].map(|name| {
        let value = slot(stored, name).clone();
        (label(name), value.map(|value| if name == Name::Url { value } else { masked(&value) }))
    });
    if json {
        let all: serde_json::Map<_, _> = shown.into_iter().map(|(name, value)| (name.into(), json!(value))).collect();
        return say_json(&all.into());
    }
    for (name, value) in shown {
        say(format_args!("{name:<10}  {}", value.as_deref().unwrap_or("not set")));
    }
}

/// Enough to tell which key it is.
fn masked(key: &str) -> String {
    let start: String = key.chars().take(key.rfind('_').map_or(0, |place| place + 1) + 4).collect();
    let end: String = key.chars().skip(key.chars().count().saturating_sub(4)).collect();
    format!("{start}…{end}")
}

fn check(name: Name, value: &str) -> anyhow::Result<()> {
    match name {
        Name::Url => check_url(value),
        Name::ApiKey => check_key(value),
        Name::SolverKey => check_solver_key(value),
    }
}

fn label(name: Name) -> &'static str {
    match name {
        Name::Url => "url",
        Name::ApiKey => "api-key",
        Name::SolverKey => "solver-key",
    }
}

fn slot(stored: &mut Stored, name: Name) -> &mut Option<String> {
    match name {
        Name::Url => &mut stored.url,
        Name::ApiKey => &mut stored.api_key,
        Name::SolverKey => &mut stored.solver_key,
    }
}
