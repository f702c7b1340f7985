//! Answers of the API for people.

use serde_json::Value;

use super::describe::{Column, Resource};
use crate::output::style::Colour;
use crate::output::table::Cell;
use crate::output::text::{harmless, wrap};
use crate::output::{Style, Table, columns, say, tell};

/// Below this an answer's value is written beside its name.
const SHORT: usize = 400;

pub(crate) fn list(items: &[Value], shown: &[Column], next: Option<&str>) {
    if items.is_empty() {
        return tell("nothing there");
    }
    let table = Table::new(shown.iter().map(|column| column.0)).keep_whole(0);
    let bounds = shown.iter().position(|column| column.1.ends_with("bounds")).unwrap_or(0);
    let mut table = table.keep_whole(bounds);
    for item in items {
        table.row(shown.iter().map(|column| cell(column, &value_of(item, column))).collect());
    }
    say(table.render(Style::of_stdout()));
    if let Some(next) = next {
        tell(format_args!("there is more: --all, or --cursor {next}"));
    }
}

fn cell(column: &Column, value: &Value) -> Cell {
    let text = brief(value);
    match (column.1, text.as_str()) {
        ("verdict" | "status" | "passed", word) => match colour(word) {
            Some(colour) => Cell::coloured(text, colour),
            None => Cell::new(text),
        },
        _ => Cell::new(text),
    }
}

pub(crate) fn colour(word: &str) -> Option<Colour> {
    match word {
        "pass" | "true" | "completed" => Some(Colour::Good),
        "partial" | "active" | "started" => Some(Colour::Warning),
        "fail" | "false" | "failed" | "timed_out" | "cancelled" => Some(Colour::Bad),
        _ => None,
    }
}

/// Where a column is made of two members, both.
fn value_of(item: &Value, column: &Column) -> Value {
    match column.1.strip_suffix("bounds") {
        Some(place) => {
            let bound = |name: &str| find(item, &format!("{place}{name}")).as_f64();
            Value::String(crate::report::between(bound("floor"), bound("ceiling")))
        }
        None => find(item, column.1).clone(),
    }
}

/// `a.b` of an object.
fn find<'a>(item: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(item, |value, name| value.get(name).unwrap_or(&Value::Null))
}

/// A value in one cell: of a list its length, unless its items are plain.
fn brief(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "-".into(),
        Value::Array(items) if items.iter().all(|item| item.is_string() && brief(item).len() < 24) => {
            items.iter().map(brief).collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => items.len().to_string(),
        Value::Object(members) if members.values().all(Value::is_number) => {
            members.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// One thing, member by member; lists of rows below as tables.
pub(crate) fn one(resource: Option<&Resource>, value: &Value) {
    let Some(members) = value.as_object() else { return say(harmless(&value.to_string())) };
    let style = Style::of_stdout();
    let widest = members.keys().map(String::len).max().unwrap_or(0).min(24);
    for (name, value) in members {
        match value {
            Value::Array(items) if items.iter().any(Value::is_object) => {}
            Value::Object(inner) if value.to_string().len() > SHORT && !inner.is_empty() => {}
            _ => member(name, value, widest, style),
        }
    }
    for (name, value) in members {
        match value {
            Value::Array(items) if items.iter().any(Value::is_object) => rows(name, items, style),
            Value::Object(inner) if value.to_string().len() > SHORT && !inner.is_empty() => {
                say(format_args!("\n{}", style.paint(Colour::Strong, name)));
                say(indented(value));
            }
            _ => {}
        }
    }
    if let Some(resource) = resource.filter(|_| members.contains_key("key") || members.contains_key("bearer_token")) {
        tell(format_args!("keep the secret above: it is shown this once ({})", resource.one));
    }
}

fn member(name: &str, value: &Value, widest: usize, style: Style) {
    let text = match value {
        Value::String(text) => harmless(text),
        Value::Null => "-".into(),
        Value::Object(members) if !AUTHORED.contains(&name) && !members.is_empty() => harmless(&in_words(value)),
        other => harmless(&other.to_string()),
    };
    let painted = style.paint(Colour::Dim, &format!("{name:<widest$}"));
    let room = columns().saturating_sub(widest + 2).max(20);
    // Nobody wants a secret or an address in two pieces.
    let lines = if text.contains(' ') { wrap(&text, room) } else { vec![text] };
    for (place, line) in lines.iter().enumerate() {
        if place == 0 {
            say(format_args!("{painted}  {line}"));
        } else {
            say(format_args!("{:widest$}  {line}", ""));
        }
    }
}

/// What authors write as JSON is shown as JSON.
const AUTHORED: [&str; 6] = ["config", "data", "task_item", "scenario", "assertion", "evidence"];

/// An object as a sentence that can be wrapped.
fn in_words(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| match value {
                Value::Object(_) => format!("{name} ({})", in_words(value)),
                _ => format!("{name} {}", in_words(value)),
            };
            members.iter().map(member).collect::<Vec<_>>().join(", ")
        }
        other => brief(other),
    }
}

/// A list of objects: their plain members as columns, ids of other things after all else.
fn rows(name: &str, items: &[Value], style: Style) {
    say(format_args!("\n{} ({})", style.paint(Colour::Strong, name), items.len()));
    let mut titles: Vec<&str> = Vec::new();
    for item in items.iter().filter_map(Value::as_object) {
        let plain = item.iter().filter(|(_, value)| !value.is_object() && !value.is_array() && !value.is_null());
        for (title, _) in plain {
            if !titles.contains(&title.as_str()) && !title.ends_with("_at") && !title.ends_with("_url") {
                titles.push(title);
            }
        }
    }
    titles.sort_by_key(|title| title.ends_with("_id"));
    let shown: Vec<String> = titles.iter().map(|title| title.to_uppercase()).collect();
    let mut table = Table::new(shown.iter().map(String::as_str)).keep_whole(0);
    for item in items {
        table.row(titles.iter().map(|title| Cell::new(brief(&item[*title]))).collect());
    }
    say(table.render(style));
}

/// JSON with two spaces, made harmless line by line.
fn indented(value: &Value) -> String {
    let text = format!("{value:#}");
    text.lines().map(|line| format!("  {}", harmless(line))).collect::<Vec<_>>().join("\n")
}
