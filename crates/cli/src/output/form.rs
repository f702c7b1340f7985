//! In which form an answer is printed: for people, as JSON, or one member of it for a script.

use std::io::IsTerminal;

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::Value;

use super::text::harmless;
use super::{say, say_json};
use crate::exit::usage;

pub(crate) enum Form {
    People,
    Json,
    /// A dotted path, such as `credentials.password`.
    Member(String),
}

impl Form {
    /// The flags that choose it.
    pub(crate) fn arguments() -> [Arg; 3] {
        let json = Arg::new("json").long("json").action(ArgAction::SetTrue).global(true).help("Print JSON");
        let get = Arg::new("get").long("get").value_name("MEMBER").global(true).conflicts_with("json");
        let wide = Arg::new("wide").long("wide").action(ArgAction::SetTrue).global(true);
        [
            json,
            get.help("Print only this of the answer, as `id` or `credentials.password`"),
            wide.help("Show every column in full, however wide the terminal is"),
        ]
    }

    pub(crate) fn of(words: &ArgMatches) -> Self {
        match words.get_one::<String>("get") {
            Some(path) => Self::Member(path.clone()),
            None if words.get_flag("json") => Self::Json,
            None => Self::People,
        }
    }

    pub(crate) fn print(&self, answer: &Value, for_people: impl FnOnce(&Value)) -> anyhow::Result<()> {
        match self {
            Self::People => for_people(answer),
            Self::Json => say_json(answer),
            Self::Member(path) => say_member(answer, path)?,
        }
        Ok(())
    }
}

/// A text is printed without quotation marks, because a script puts it into a variable.
pub(crate) fn say_member(answer: &Value, path: &str) -> anyhow::Result<()> {
    let member = path.split('.').try_fold(answer, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => value.get(name),
    });
    match member {
        Some(Value::String(text)) if std::io::stdout().is_terminal() => say(harmless(text)),
        Some(Value::String(text)) => say(text),
        Some(value) => say_json(value),
        None => return Err(usage(format!("it was done, but the answer has no `{path}`{}", members(answer)))),
    }
    Ok(())
}

fn members(answer: &Value) -> String {
    let names = answer.as_object().map(|members| members.keys().map(String::as_str).collect::<Vec<_>>().join(", "));
    names.map(|names| format!("; it has {names}")).unwrap_or_default()
}
