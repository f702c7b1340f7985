//! Prints API responses for people.

use serde_json::{Map, Value};

use super::describe::Column;
use crate::output::outline::{Density, outline, plain};
use crate::output::style::Color;
use crate::output::table::Cell;
use crate::output::text::{sanitize, width, wrap_keeping_words};
use crate::output::{Style, Table, columns, eprint, print};

/// Objects with longer JSON are printed last, under a title.
const MAX_INLINE_BYTES: usize = 400;

pub(crate) fn list(items: &[Value], table_columns: &[Column], next: Option<&str>) {
    if items.is_empty() {
        return eprint("nothing found");
    }
    let table = Table::new(table_columns.iter().map(|column| column.0));
    let is_whole = |(index, column): &(usize, &Column)| *index == 0 || is_never_truncated(column.1);
    let indexes: Vec<usize> = table_columns.iter().enumerate().filter(is_whole).map(|(index, _)| index).collect();
    let mut table = indexes.into_iter().fold(table, Table::never_truncate);
    for item in items {
        table.row(table_columns.iter().map(|column| cell(column.1, &column_value(item, column))).collect());
    }
    print(table.render(Style::of_stdout()));
    if let Some(next) = next {
        eprint(format_args!("There are more results: use --all, or continue with\n  --cursor {next}"));
    }
}

/// Whether a column must be complete: ids and slugs for other commands, and score ranges.
fn is_never_truncated(path: &str) -> bool {
    path == "slug" || path == "benchmark" || path.ends_with("_id") || path.ends_with("bounds")
}

fn cell(path: &str, value: &Value) -> Cell {
    let text = match value {
        Value::String(time) if path.ends_with("_at") => to_minute(time),
        Value::Number(seconds) if path == "timeout" => format!("{seconds} s"),
        Value::Number(score) if path.ends_with("score") => model::score::format_score_short(score),
        value => cell_text(value),
    };
    match status_color(path, &text) {
        Some(color) => Cell::colored(text, color),
        None => Cell::new(text),
    }
}

/// Shortens `2026-04-23T12:00:00.123Z` to the minute.
fn to_minute(time: &str) -> String {
    match (time.get(..10), time.get(10..11), time.get(11..16)) {
        (Some(day), Some("T"), Some(minute)) => format!("{day} {minute}"),
        _ => time.to_owned(),
    }
}

fn status_color(name: &str, text: &str) -> Option<Color> {
    match (name, text) {
        ("verdict" | "passed", "pass" | "true") => Some(Color::Good),
        ("verdict" | "status" | "passed", "partial" | "active" | "started") => Some(Color::Warning),
        ("verdict" | "status" | "passed", "fail" | "false" | "failed" | "timed_out" | "cancelled") => Some(Color::Bad),
        _ => None,
    }
}

/// The value of a column. Bounds and benchmarks combine two members.
fn column_value(item: &Value, column: &Column) -> Value {
    if let Some(prefix) = column.1.strip_suffix("bounds") {
        let bound = |name: &str| find(item, &format!("{prefix}{name}")).as_f64();
        return Value::String(crate::report::bounds_cell(bound("floor"), bound("ceiling")));
    }
    let found = find(item, column.1);
    if column.1 == "benchmark" {
        return version_of(found).map_or_else(|| found["name"].clone(), Value::String);
    }
    found.clone()
}

/// `slug@version` of a benchmark.
fn version_of(benchmark: &Value) -> Option<String> {
    Some(format!("{}@{}", benchmark["slug"].as_str()?, benchmark["version"].as_u64()?))
}

/// The value at a dotted path.
fn find<'a>(item: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(item, |value, name| value.get(name).unwrap_or(&Value::Null))
}

/// A value in one cell: lists as their length, unless the items are short texts.
fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "-".into(),
        Value::Array(items) if items.iter().all(|item| item.is_string() && cell_text(item).len() < 24) => {
            items.iter().map(cell_text).collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => items.len().to_string(),
        Value::Object(members) if members.values().all(Value::is_number) => {
            members.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// Prints an object member by member, followed by lists of objects as tables.
pub(crate) fn object(value: &Value) {
    let Some(members) = value.as_object() else { return print(sanitize(&value.to_string())) };
    let style = Style::of_stdout();
    let label_width = members.keys().map(String::len).max().unwrap_or(0).min(24);
    for (name, value) in members.iter().filter(|(_, value)| !is_printed_last(value)) {
        print_member_line(name, value, label_width, style);
    }
    for (name, value) in members.iter().filter(|(_, value)| is_printed_last(value)) {
        match value {
            Value::Array(items) => print_rows(name, items, members, style),
            value => {
                print(format_args!("\n{}", style.paint(Color::Strong, name)));
                outline(value, 2, columns(), density(name)).into_iter().for_each(print);
            }
        }
    }
    for secret in ["key", "bearer_token"].into_iter().filter(|secret| members.contains_key(*secret)) {
        eprint(format_args!("Save the {} above: it is shown only once.", secret.replace('_', " ")));
    }
}

fn is_printed_last(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(Value::is_object),
        Value::Object(members) => value.to_string().len() > MAX_INLINE_BYTES && !members.is_empty(),
        _ => false,
    }
}

fn print_member_line(name: &str, value: &Value, label_width: usize, style: Style) {
    let label = style.paint(Color::Dim, &format!("{name:<label_width$}"));
    let available = columns().saturating_sub(label_width + 2).max(20);
    let text = match value {
        Value::String(text) => sanitize(text),
        Value::Array(items) if !items.is_empty() => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(members) if !members.is_empty() => {
            let version = version_of(value).zip(value["name"].as_str());
            let words =
                version.map_or_else(|| one_line(value), |(version, name)| sanitize(&format!("{version}, {name}")));
            if width(&words) > available || AUTHORED.contains(&name) {
                print(style.paint(Color::Dim, name));
                return outline(value, 2, columns(), density(name)).into_iter().for_each(print);
            }
            words
        }
        Value::Array(_) | Value::Object(_) | Value::Null => "-".into(),
        Value::Number(seconds) if name == "timeout" => format!("{seconds} s"),
        Value::Number(score) if name == "score" => model::score::format_score_short(score),
        other => sanitize(&other.to_string()),
    };
    let color = status_color(name, &text);
    let lines = if text.trim().is_empty() { vec![text] } else { wrap_keeping_words(&text, available) };
    for (index, line) in lines.iter().enumerate() {
        let line = color.map_or_else(|| line.clone(), |color| style.paint(color, line));
        match index {
            0 => print(format_args!("{label}  {line}").to_string().trim_end()),
            _ => print(format_args!("{:label_width$}  {line}", "")),
        }
    }
}

/// Members written by authors, which are always printed as an outline.
const AUTHORED: [&str; 6] = ["config", "data", "task_item", "scenario", "assertion", "evidence"];

fn density(name: &str) -> Density {
    if AUTHORED.contains(&name) || name == "credentials" { Density::Loose } else { Density::Dense }
}

/// A small object on one line.
fn one_line(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let format_member = |(name, value): (&String, &Value)| match value {
                Value::Object(_) => format!("{} ({})", sanitize(name), one_line(value)),
                _ => format!("{} {}", sanitize(name), one_line(value)),
            };
            members.iter().map(format_member).collect::<Vec<_>>().join(", ")
        }
        other => sanitize(&cell_text(other)),
    }
}

/// Prints a list of objects as a table with their plain members as columns, ids last. Omits ids of the parent and columns
/// that another one implies.
fn print_rows(name: &str, items: &[Value], parent: &Map<String, Value>, style: Style) {
    print(format_args!("\n{} ({})", style.paint(Color::Strong, name), items.len()));
    let mut names: Vec<&str> = Vec::new();
    for item in items.iter().filter_map(Value::as_object) {
        let is_plain = |value: &Value| !value.is_object() && !value.is_array() && !value.is_null();
        for (name, _) in item.iter().filter(|(_, value)| is_plain(value)) {
            let is_redundant = name == "phase" && item.contains_key("status");
            if !is_redundant && !names.contains(&name.as_str()) && !name.ends_with("_at") && !name.ends_with("_url") {
                names.push(name);
            }
        }
    }
    let is_parent_id = |name: &&str| {
        let id = parent.get("id").filter(|id| id.is_string());
        id.is_some_and(|id| items.iter().all(|item| &item[*name] == id))
    };
    names.retain(|name| !is_parent_id(name));
    names.sort_by_key(|name| name.ends_with("_id"));
    let titles: Vec<String> = names.iter().map(|name| name.to_uppercase().replace('_', " ")).collect();
    let table = Table::new(titles.iter().map(String::as_str)).never_truncate(0);
    let whole_columns = names.iter().enumerate().filter(|(_, name)| is_never_truncated(name)).map(|(index, _)| index);
    let mut table = whole_columns.fold(table, Table::never_truncate);
    for item in items {
        table.row(names.iter().map(|name| cell(name, &item[*name])).collect());
    }
    print(table.render(style));
}
