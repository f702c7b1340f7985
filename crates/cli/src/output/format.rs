//! The output format of a command: for people, as JSON, or one member for scripts.

use std::io::IsTerminal;

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::Value;

use super::text::sanitize;
use super::{print, print_json};
use crate::exit::usage;

pub(crate) enum OutputFormat {
    Human,
    Json,
    /// A dotted path, such as `credentials.password`.
    Member(String),
}

impl OutputFormat {
    /// The flags that select the format.
    pub(crate) fn arguments() -> [Arg; 3] {
        let json = Arg::new("json").long("json").action(ArgAction::SetTrue).global(true).help("Print JSON");
        let get = Arg::new("get").long("get").value_name("MEMBER").global(true).conflicts_with("json");
        let wide = Arg::new("wide").long("wide").action(ArgAction::SetTrue).global(true);
        [
            json,
            get.help("Print only this member of the response, such as `id` or `credentials.password`"),
            wide.help("Show every column in full, however wide the terminal is"),
        ]
    }

    pub(crate) fn from_matches(matches: &ArgMatches) -> Self {
        match matches.get_one::<String>("get") {
            Some(path) => Self::Member(path.clone()),
            None if matches.get_flag("json") => Self::Json,
            None => Self::Human,
        }
    }

    pub(crate) fn print(&self, value: &Value, print_human: impl FnOnce(&Value)) -> anyhow::Result<()> {
        match self {
            Self::Human => print_human(value),
            Self::Json => print_json(value),
            Self::Member(path) => print_member(value, path)?,
        }
        Ok(())
    }
}

/// Prints the member at a dotted path. Texts are printed without quotation marks, for shell variables.
pub(crate) fn print_member(value: &Value, path: &str) -> anyhow::Result<()> {
    let member = path.split('.').try_fold(value, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => value.get(name),
    });
    match member {
        Some(Value::String(text)) if std::io::stdout().is_terminal() => print(sanitize(text)),
        Some(Value::String(text)) => print(text),
        Some(value) => print_json(value),
        None => {
            return Err(usage(format!(
                "the command succeeded, but the response has no `{path}`{}",
                list_members(value)
            )));
        }
    }
    Ok(())
}

fn list_members(value: &Value) -> String {
    let names = value.as_object().map(|members| members.keys().map(String::as_str).collect::<Vec<_>>().join(", "));
    names.map(|names| format!("; it has {names}")).unwrap_or_default()
}
