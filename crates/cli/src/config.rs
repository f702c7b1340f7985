//! `verial config`: reads and changes the user's settings.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use crate::auth::{check_key, check_solver_key, check_url};
use crate::output::{print, print_json};
use crate::user_config::UserConfig;

#[derive(Args)]
pub(crate) struct ConfigArgs {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Print a setting; keys are shown in full
    Get {
        /// The setting
        name: Setting,
    },
    /// Store a setting
    Set {
        /// The setting
        name: Setting,
        /// The new value
        value: String,
    },
    /// Remove a setting
    Unset {
        /// The setting
        name: Setting,
    },
    /// List all settings; keys are masked
    List,
    /// Print the path of the settings file
    Path,
}

#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
enum Setting {
    /// The server's URL
    #[value(alias = "base-url", alias = "base_url")]
    Url,
    /// Organization key, vk_…
    ApiKey,
    /// Solver key, vrl_slv_…
    SolverKey,
}

pub(crate) fn run(arguments: &ConfigArgs) -> anyhow::Result<()> {
    let mut user_config = UserConfig::read()?;
    match &arguments.command {
        ConfigCommand::Get { name } => {
            let value = field_mut(&mut user_config, *name).clone();
            let value = value.ok_or_else(|| crate::exit::failure(format!("{} is not set", setting_name(*name))))?;
            if arguments.json { print_json(&json!({setting_name(*name): value})) } else { print(value) }
        }
        ConfigCommand::Set { name, value } => {
            validate(*name, value)?;
            *field_mut(&mut user_config, *name) = Some(value.clone());
            save(*name, "saved to", &user_config, arguments.json)?;
        }
        ConfigCommand::Unset { name } => {
            *field_mut(&mut user_config, *name) = None;
            save(*name, "removed from", &user_config, arguments.json)?;
        }
        ConfigCommand::List => list(&mut user_config, arguments.json),
        ConfigCommand::Path => {
            let path = UserConfig::path()?.display().to_string();
            if arguments.json { print_json(&json!({"path": path})) } else { print(path) }
        }
    }
    Ok(())
}

fn save(name: Setting, action: &str, user_config: &UserConfig, json: bool) -> anyhow::Result<()> {
    let (name, path) = (setting_name(name), user_config.write()?.display().to_string());
    if json {
        print_json(&json!({"name": name, "path": path}))
    } else {
        print(format_args!("{name} {action} {path}"))
    }
    Ok(())
}

fn list(user_config: &mut UserConfig, json: bool) {
    let values = [Setting::Url, Setting::ApiKey, Setting::SolverKey].map(|name| {
        let value = field_mut(user_config, name).clone();
        (setting_name(name), value.map(|value| if name == Setting::Url { value } else { mask(&value) }))
    });
    if json {
        let all: serde_json::Map<_, _> = values.into_iter().map(|(name, value)| (name.into(), json!(value))).collect();
        return print_json(&all.into());
    }
    for (name, value) in values {
        print(format_args!("{name:<10}  {}", value.as_deref().unwrap_or("not set")));
    }
}

/// The start and the end of a key, enough to recognize it.
fn mask(key: &str) -> String {
    let prefix: String = key.chars().take(key.rfind('_').map_or(0, |index| index + 1) + 4).collect();
    let suffix: String = key.chars().skip(key.chars().count().saturating_sub(4)).collect();
    format!("{prefix}…{suffix}")
}

fn validate(name: Setting, value: &str) -> anyhow::Result<()> {
    match name {
        Setting::Url => check_url(value),
        Setting::ApiKey => check_key(value),
        Setting::SolverKey => check_solver_key(value),
    }
}

fn setting_name(name: Setting) -> &'static str {
    match name {
        Setting::Url => "url",
        Setting::ApiKey => "api-key",
        Setting::SolverKey => "solver-key",
    }
}

fn field_mut(user_config: &mut UserConfig, name: Setting) -> &mut Option<String> {
    match name {
        Setting::Url => &mut user_config.url,
        Setting::ApiKey => &mut user_config.api_key,
        Setting::SolverKey => &mut user_config.solver_key,
    }
}
