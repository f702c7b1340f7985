//! YAML as authors of health data need it: what looks like a JSON number, `true`, `false` or `null` is that, and every
//! other plain text is a text. So `00482913` keeps its zeros, `no` is a word, `2026-04-02` is not a moment, and a decimal
//! keeps its digits.

mod lines;
mod writing;

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

pub use lines::lines;
pub use writing::written;

/// Aliases can repeat a part again and again: what a file becomes ends here.
const MOST_VALUES: usize = 1_000_000;
const DEEPEST: usize = 100;

/// The one document of a file, or where it is broken. An empty file is `null`.
pub fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| explained(&error.to_string()))?;
        let place = format!("line {} column {}", span.start.line(), span.start.col() + 1);
        reader.take(event).map_err(|fault| format!("{fault} at {place}"))?;
    }
    Ok(reader.root.unwrap_or(Value::Null))
}

/// The parser says what it met; authors mostly met it because quotes are missing.
fn explained(fault: &str) -> String {
    let hint =
        if fault.contains("mapping values are not allowed") { ": a text with `: ` in it needs quotes" } else { "" };
    format!("{fault}{hint}")
}

#[derive(Default)]
struct Reader {
    open: Vec<(Container, usize)>,
    anchors: HashMap<usize, (Value, usize)>,
    root: Option<Value>,
    values: usize,
}

enum Container {
    List(Vec<Value>),
    Mapping(Map<String, Value>, Option<String>),
}

impl Reader {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => Err("a second document starts".to_owned()),
            Event::Scalar(text, style, anchor, tag) => {
                untagged(tag.is_some())?;
                let value = scalar(&text, style);
                if self.is_key() { self.key(&value, &text) } else { self.put(value, anchor, 1) }
            }
            Event::SequenceStart(anchor, tag) => self.start(Container::List(Vec::new()), anchor, tag.is_some()),
            Event::MappingStart(anchor, tag) => self.start(Container::Mapping(Map::new(), None), anchor, tag.is_some()),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor).cloned();
                let (value, size) = known.ok_or("an alias stands inside what it names")?;
                if self.is_key() {
                    return Err("a key cannot be an alias".to_owned());
                }
                self.put(value, 0, size)
            }
            _ => Ok(()),
        }
    }

    fn is_key(&self) -> bool {
        matches!(self.open.last(), Some((Container::Mapping(_, None), _)))
    }

    fn key(&mut self, value: &Value, text: &str) -> Result<(), String> {
        if text == "<<" {
            return Err("merge keys (`<<`) are not taken".to_owned());
        }
        let Some((Container::Mapping(members, key), _)) = self.open.last_mut() else {
            return Ok(());
        };
        if members.contains_key(text) {
            return Err(format!("the key `{text}` is there twice"));
        }
        if value.is_null() && text.is_empty() {
            return Err("a key is empty".to_owned());
        }
        *key = Some(text.to_owned());
        Ok(())
    }

    fn start(&mut self, container: Container, anchor: usize, tagged: bool) -> Result<(), String> {
        untagged(tagged)?;
        if self.is_key() {
            return Err("a key must be a text: a value that starts with `{{` or `[` needs quotes".to_owned());
        }
        if self.open.len() >= DEEPEST {
            return Err(format!("nested deeper than {DEEPEST} levels"));
        }
        self.open.push((container, anchor));
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        match self.open.pop() {
            Some((Container::List(items), anchor)) => self.put(Value::Array(items), anchor, 1),
            Some((Container::Mapping(members, _), anchor)) => self.put(Value::Object(members), anchor, 1),
            None => Ok(()),
        }
    }

    fn put(&mut self, value: Value, anchor: usize, added: usize) -> Result<(), String> {
        self.values += added;
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

fn untagged(tagged: bool) -> Result<(), String> {
    if tagged { Err("tags (`!…`) are not taken".to_owned()) } else { Ok(()) }
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

/// Only what JSON calls a number, with the digits as they are written.
fn number(text: &str) -> Option<Number> {
    let first = text.strip_prefix('-').unwrap_or(text).bytes().next()?;
    if first.is_ascii_digit() { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn health_data_is_read_as_it_is_written() {
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
    fn aliases_repeat_and_faults_have_their_place() {
        assert_eq!(parse("a: &x {b: 1}\nc: *x\n").unwrap(), json!({"a": {"b": 1}, "c": {"b": 1}}));
        for (text, part) in [
            ("a: 1\na: 2\n", "the key `a` is there twice at line 2"),
            ("a: !tag 1\n", "tags"),
            ("a: &x {b: 1}\nc: {<<: *x}\n", "merge keys"),
            ("? [a]\n: 1\n", "a key must be a text"),
            ("a: {{entity.id}}\n", "starts with `{{` or `[` needs quotes at line 1"),
            ("a: {{entity.name}} is ill\n", "needs quotes"),
            ("- name: Order: an X-ray\n", "a text with `: ` in it needs quotes"),
            ("a: 1\n---\nb: 2\n", "a second document"),
            ("a: [1\n", ""),
        ] {
            let fault = parse(text).unwrap_err();
            assert!(fault.contains(part), "{text:?}: {fault}");
        }
    }

    #[test]
    fn a_bomb_of_aliases_ends() {
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
