//! Answers of the API for people.

use serde_json::{Map, Value};

use super::describe::Column;
use crate::output::outline::{Density, outline, plain};
use crate::output::style::Colour;
use crate::output::table::Cell;
use crate::output::text::{harmless, width, wrap_whole};
use crate::output::{Style, Table, columns, say, tell};

/// Above this a value stands below all others, under a title of its own.
const SHORT: usize = 400;

pub(crate) fn list(items: &[Value], shown: &[Column], next: Option<&str>) {
    if items.is_empty() {
        return tell("nothing there");
    }
    let table = Table::new(shown.iter().map(|column| column.0));
    let whole = |(place, column): &(usize, &Column)| *place == 0 || is_handle(column.1);
    let places: Vec<usize> = shown.iter().enumerate().filter(whole).map(|(place, _)| place).collect();
    let mut table = places.into_iter().fold(table, Table::keep_whole);
    for item in items {
        table.row(shown.iter().map(|column| cell(column.1, &value_of(item, column))).collect());
    }
    say(table.render(Style::of_stdout()));
    if let Some(next) = next {
        tell(format_args!("There is more: --all shows everything, or go on with\n  --cursor {next}"));
    }
}

/// What other commands are given, and a range of which half would be wrong: whole or not at all.
fn is_handle(path: &str) -> bool {
    path == "slug" || path == "benchmark" || path.ends_with("_id") || path.ends_with("bounds")
}

fn cell(path: &str, value: &Value) -> Cell {
    let text = match value {
        Value::String(time) if path.ends_with("_at") => minute(time),
        Value::Number(seconds) if path == "timeout" => format!("{seconds} s"),
        Value::Number(score) if path.ends_with("score") => model::score::brief(score),
        value => brief(value),
    };
    match told_colour(path, &text) {
        Some(colour) => Cell::coloured(text, colour),
        None => Cell::new(text),
    }
}

/// `2026-04-23T12:00:00.123Z` to the minute, which is what one looks for in a list.
fn minute(time: &str) -> String {
    match (time.get(..10), time.get(10..11), time.get(11..16)) {
        (Some(day), Some("T"), Some(minute)) => format!("{day} {minute}"),
        _ => time.to_owned(),
    }
}

fn told_colour(name: &str, word: &str) -> Option<Colour> {
    match (name, word) {
        ("verdict" | "passed", "pass" | "true") => Some(Colour::Good),
        ("verdict" | "status" | "passed", "partial" | "active" | "started") => Some(Colour::Warning),
        ("verdict" | "status" | "passed", "fail" | "false" | "failed" | "timed_out" | "cancelled") => Some(Colour::Bad),
        _ => None,
    }
}

/// Where a column is made of two members, both.
fn value_of(item: &Value, column: &Column) -> Value {
    if let Some(place) = column.1.strip_suffix("bounds") {
        let bound = |name: &str| find(item, &format!("{place}{name}")).as_f64();
        return Value::String(crate::report::between(bound("floor"), bound("ceiling")));
    }
    let found = find(item, column.1);
    if column.1 == "benchmark" {
        return version_of(found).map_or_else(|| found["name"].clone(), Value::String);
    }
    found.clone()
}

/// As other commands are given it.
fn version_of(benchmark: &Value) -> Option<String> {
    Some(format!("{}@{}", benchmark["slug"].as_str()?, benchmark["version"].as_u64()?))
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
pub(crate) fn one(value: &Value) {
    let Some(members) = value.as_object() else { return say(harmless(&value.to_string())) };
    let style = Style::of_stdout();
    let widest = members.keys().map(String::len).max().unwrap_or(0).min(24);
    for (name, value) in members.iter().filter(|(_, value)| !stands_below(value)) {
        member(name, value, widest, style);
    }
    for (name, value) in members.iter().filter(|(_, value)| stands_below(value)) {
        match value {
            Value::Array(items) => rows(name, items, members, style),
            value => {
                say(format_args!("\n{}", style.paint(Colour::Strong, name)));
                outline(value, 2, columns(), density(name)).into_iter().for_each(say);
            }
        }
    }
    for secret in ["key", "bearer_token"].into_iter().filter(|secret| members.contains_key(*secret)) {
        tell(format_args!("Keep the {} above: it is shown only this once.", secret.replace('_', " ")));
    }
}

fn stands_below(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(Value::is_object),
        Value::Object(members) => value.to_string().len() > SHORT && !members.is_empty(),
        _ => false,
    }
}

fn member(name: &str, value: &Value, widest: usize, style: Style) {
    let label = style.paint(Colour::Dim, &format!("{name:<widest$}"));
    let room = columns().saturating_sub(widest + 2).max(20);
    let text = match value {
        Value::String(text) => harmless(text),
        Value::Array(items) if !items.is_empty() => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(members) if !members.is_empty() => {
            let version = version_of(value).zip(value["name"].as_str());
            let words =
                version.map_or_else(|| in_words(value), |(version, name)| harmless(&format!("{version}, {name}")));
            if width(&words) > room || AUTHORED.contains(&name) {
                say(style.paint(Colour::Dim, name));
                return outline(value, 2, columns(), density(name)).into_iter().for_each(say);
            }
            words
        }
        Value::Array(_) | Value::Object(_) | Value::Null => "-".into(),
        Value::Number(seconds) if name == "timeout" => format!("{seconds} s"),
        Value::Number(score) if name == "score" => model::score::brief(score),
        other => harmless(&other.to_string()),
    };
    let colour = told_colour(name, &text);
    let lines = if text.trim().is_empty() { vec![text] } else { wrap_whole(&text, room) };
    for (place, line) in lines.iter().enumerate() {
        let line = colour.map_or_else(|| line.clone(), |colour| style.paint(colour, line));
        match place {
            0 => say(format_args!("{label}  {line}").to_string().trim_end()),
            _ => say(format_args!("{:widest$}  {line}", "")),
        }
    }
}

/// What authors write keeps its shape, however short it is.
const AUTHORED: [&str; 6] = ["config", "data", "task_item", "scenario", "assertion", "evidence"];

fn density(name: &str) -> Density {
    if AUTHORED.contains(&name) || name == "credentials" { Density::Loose } else { Density::Dense }
}

/// A small object on one line.
fn in_words(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| match value {
                Value::Object(_) => format!("{} ({})", harmless(name), in_words(value)),
                _ => format!("{} {}", harmless(name), in_words(value)),
            };
            members.iter().map(member).collect::<Vec<_>>().join(", ")
        }
        other => harmless(&brief(other)),
    }
}

/// A list of objects: their plain members as columns, ids of other things after all else. What is the same as above them,
/// or is told by another column, is left out.
fn rows(name: &str, items: &[Value], above: &Map<String, Value>, style: Style) {
    say(format_args!("\n{} ({})", style.paint(Colour::Strong, name), items.len()));
    let mut titles: Vec<&str> = Vec::new();
    for item in items.iter().filter_map(Value::as_object) {
        let is_plain = |value: &Value| !value.is_object() && !value.is_array() && !value.is_null();
        for (title, _) in item.iter().filter(|(_, value)| is_plain(value)) {
            let is_told = title == "phase" && item.contains_key("status");
            if !is_told && !titles.contains(&title.as_str()) && !title.ends_with("_at") && !title.ends_with("_url") {
                titles.push(title);
            }
        }
    }
    let is_of_this = |title: &&str| {
        let id = above.get("id").filter(|id| id.is_string());
        id.is_some_and(|id| items.iter().all(|item| &item[*title] == id))
    };
    titles.retain(|title| !is_of_this(title));
    titles.sort_by_key(|title| title.ends_with("_id"));
    let shown: Vec<String> = titles.iter().map(|title| title.to_uppercase().replace('_', " ")).collect();
    let table = Table::new(shown.iter().map(String::as_str)).keep_whole(0);
    let handles = titles.iter().enumerate().filter(|(_, title)| is_handle(title)).map(|(place, _)| place);
    let mut table = handles.fold(table, Table::keep_whole);
    for item in items {
        table.row(titles.iter().map(|title| cell(title, &item[*title])).collect());
    }
    say(table.render(style));
}
