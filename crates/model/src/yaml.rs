//! A YAML parser for health data: plain scalars that are a JSON number, `true`, `false` or `null` are parsed as such,
//! and all others are strings. So `00482913` keeps its zeros, `no` and `2026-04-02` are strings, and a decimal keeps
//! its digits.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// Limit on the number of values in a file, because aliases can repeat a part many times.
pub const MOST_VALUES: usize = 1_000_000;
const MAX_DEPTH: usize = 100;

/// Parses a file with one document; errors have line and column. An empty file is `null`.
pub fn parse(text: &str) -> Result<Value, String> {
    let mut builder = DocumentBuilder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| with_hint(&error.to_string()))?;
        let position = format!("line {} column {}", span.start.line(), span.start.col() + 1);
        builder.handle(event).map_err(|error| format!("{error} at {position}"))?;
    }
    Ok(builder.root.unwrap_or(Value::Null))
}

/// Adds a hint on missing quotes, the most common cause of this parser error.
fn with_hint(error: &str) -> String {
    let hint =
        if error.contains("mapping values are not allowed") { ": a text with `: ` in it needs quotes" } else { "" };
    format!("{error}{hint}")
}

/// Builds the document from parser events.
#[derive(Default)]
struct DocumentBuilder {
    open: Vec<(Container, usize)>,
    anchors: HashMap<usize, (Value, usize)>,
    root: Option<Value>,
    values: usize,
}

enum Container {
    List(Vec<Value>),
    Mapping(Map<String, Value>, Option<String>),
}

impl DocumentBuilder {
    fn handle(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                Err("only one document is allowed, but a second document starts".to_owned())
            }
            Event::Scalar(text, style, anchor, tag) => {
                reject_tag(tag.is_some())?;
                let value = scalar(&text, style);
                if self.expects_key() { self.set_key(&value, &text) } else { self.add(value, anchor, 1) }
            }
            Event::SequenceStart(anchor, tag) => self.start(Container::List(Vec::new()), anchor, tag.is_some()),
            Event::MappingStart(anchor, tag) => self.start(Container::Mapping(Map::new(), None), anchor, tag.is_some()),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor).cloned();
                let (value, size) = known.ok_or("an alias cannot refer to the value that contains it")?;
                if self.expects_key() {
                    return Err("a key cannot be an alias".to_owned());
                }
                self.add(value, 0, size)
            }
            _ => Ok(()),
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some((Container::Mapping(_, None), _)))
    }

    fn set_key(&mut self, value: &Value, text: &str) -> Result<(), String> {
        if text == "<<" {
            return Err("merge keys (`<<`) are not supported".to_owned());
        }
        let Some((Container::Mapping(members, key), _)) = self.open.last_mut() else {
            return Ok(());
        };
        if members.contains_key(text) {
            return Err(format!("duplicate key `{text}`"));
        }
        if value.is_null() && text.is_empty() {
            return Err("a key is empty".to_owned());
        }
        *key = Some(text.to_owned());
        Ok(())
    }

    fn start(&mut self, container: Container, anchor: usize, tagged: bool) -> Result<(), String> {
        reject_tag(tagged)?;
        if self.expects_key() {
            return Err("a key must be a text: a value that starts with `{{` or `[` needs quotes".to_owned());
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH} levels"));
        }
        self.open.push((container, anchor));
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        match self.open.pop() {
            Some((Container::List(items), anchor)) => self.add(Value::Array(items), anchor, 1),
            Some((Container::Mapping(members, _), anchor)) => self.add(Value::Object(members), anchor, 1),
            None => Ok(()),
        }
    }

    fn add(&mut self, value: Value, anchor: usize, count: usize) -> Result<(), String> {
        self.values += count;
        if self.values > MOST_VALUES {
            return Err(format!("more than {MOST_VALUES} values"));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, (value.clone(), size(&value)));
        }
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some((Container::List(items), _)) => items.push(value),
            Some((Container::Mapping(members, key), _)) => {
                members.insert(key.take().unwrap_or_default(), value);
            }
        }
        Ok(())
    }
}

fn reject_tag(tagged: bool) -> Result<(), String> {
    if tagged { Err("tags (`!…`) are not supported".to_owned()) } else { Ok(()) }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

/// Parses a JSON number, keeping its digits as written.
fn number(text: &str) -> Option<Number> {
    let first = text.strip_prefix('-').unwrap_or(text).bytes().next()?;
    if first.is_ascii_digit() { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_keep_their_written_form() {
        let text = "mrn: 00482913\nborn: 1961-04-02\nanswer: no\ndose: 1.50\nnpi: 1234567893\nnote: |\n  a\n  b\nnone: ~\n\
                    list: [1, 'x', true, null]\n10: ten\n";
        let value = parse(text).unwrap();
        assert_eq!(value["mrn"], json!("00482913"));
        assert_eq!(value["born"], json!("1961-04-02"));
        assert_eq!(value["answer"], json!("no"));
        assert_eq!(value["dose"].to_string(), "1.50");
        assert_eq!(value["npi"], json!(1_234_567_893));
        assert_eq!(value["note"], json!("a\nb\n"));
        assert_eq!(value["none"], Value::Null);
        assert_eq!(value["list"], json!([1, "x", true, null]));
        assert_eq!(value["10"], json!("ten"));
    }

    #[test]
    fn aliases_are_expanded_and_errors_have_a_position() {
        assert_eq!(parse("a: &x {b: 1}\nc: *x\n").unwrap(), json!({"a": {"b": 1}, "c": {"b": 1}}));
        for (text, part) in [
            ("a: 1\na: 2\n", "duplicate key `a` at line 2"),
            ("a: !tag 1\n", "tags"),
            ("a: &x {b: 1}\nc: {<<: *x}\n", "merge keys"),
            ("? [a]\n: 1\n", "a key must be a text"),
            ("a: {{entity.id}}\n", "starts with `{{` or `[` needs quotes at line 1"),
            ("a: {{entity.name}} is ill\n", "needs quotes"),
            ("- name: Order: an X-ray\n", "a text with `: ` in it needs quotes"),
            ("a: 1\n---\nb: 2\n", "a second document"),
            ("a: [1\n", ""),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }

    #[test]
    fn alias_bombs_are_rejected() {
        let mut text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
        for level in 1..12 {
            let part = format!("*a{}, ", level - 1).repeat(10);
            text.push_str(&format!("a{level}: &a{level} [{}]\n", part.trim_end_matches(", ")));
        }
        assert!(parse(&text).unwrap_err().contains("more than"));
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        assert!(parse(&deep).is_err());
    }
}
