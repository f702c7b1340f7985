//! Prints JSON as an indented outline with wrapped texts.

use serde_json::Value;

use super::text::{sanitize, width, wrap_keeping_words};

/// Spaces per level.
const INDENT: usize = 2;
const MAX_DEPTH: usize = 24;

/// Formats a value as lines of at most `max_width` columns. Words are never split, so that addresses can be copied.
pub(crate) fn outline(value: &Value, indent: usize, max_width: usize, density: Density) -> Vec<String> {
    let mut lines = Vec::new();
    Outline { max_width, density, lines: &mut lines }.push(value, indent);
    lines
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Density {
    /// Every member has its own line.
    Loose,
    /// Small objects are on one line.
    Dense,
}

struct Outline<'lines> {
    max_width: usize,
    density: Density,
    lines: &'lines mut Vec<String>,
}

impl Outline<'_> {
    fn push(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(members) if !members.is_empty() && indent < INDENT * MAX_DEPTH => {
                for (name, value) in members {
                    self.push_labeled(&format!("{}:", sanitize(name)), value, indent);
                }
            }
            Value::Array(items) if !items.is_empty() && indent < INDENT * MAX_DEPTH => {
                items.iter().for_each(|item| self.push_labeled("-", item, indent));
            }
            other => self.text(&plain(other), indent),
        }
    }

    /// Adds a name or a dash with its value: on the same line if it is short, otherwise below.
    fn push_labeled(&mut self, label: &str, value: &Value, indent: usize) {
        let label_width = width(label) + 1;
        if let Some(text) = self.one_line(value).filter(|text| indent + label_width + width(text) <= self.max_width) {
            return self.lines.push(format!("{:indent$}{label} {text}", ""));
        }
        match value {
            Value::Object(members) if !members.is_empty() && label == "-" => {
                // The first member is on the line of the dash.
                let first = self.lines.len();
                self.push(value, indent + INDENT);
                if let Some(line) = self.lines.get_mut(first) {
                    *line = format!("{:indent$}- {}", "", line.trim_start());
                }
            }
            Value::Object(members) if !members.is_empty() => self.push_below(label, value, indent),
            Value::Array(items) if !items.is_empty() => self.push_below(label, value, indent),
            Value::String(text) if text.trim_end().contains('\n') => {
                self.lines.push(format!("{:indent$}{label}", ""));
                text.trim_end().lines().for_each(|line| self.text(&sanitize(line), indent + INDENT));
            }
            other => {
                let wrapped =
                    wrap_keeping_words(&plain(other), self.max_width.saturating_sub(indent + label_width).max(20));
                for (index, line) in wrapped.iter().enumerate() {
                    let margin = if index == 0 { label.to_owned() } else { " ".repeat(width(label)) };
                    self.lines.push(format!("{:indent$}{margin} {line}", ""));
                }
            }
        }
    }

    fn push_below(&mut self, label: &str, value: &Value, indent: usize) {
        self.lines.push(format!("{:indent$}{label}", ""));
        self.push(value, indent + INDENT);
    }

    fn text(&mut self, text: &str, indent: usize) {
        let wrapped = wrap_keeping_words(text, self.max_width.saturating_sub(indent).max(20));
        if wrapped.is_empty() {
            self.lines.push(String::new());
        }
        self.lines.extend(wrapped.into_iter().map(|line| format!("{:indent$}{line}", "")));
    }

    /// The value on one line, if it is short.
    fn one_line(&self, value: &Value) -> Option<String> {
        match value {
            Value::Array(items) if !items.is_empty() => short_list(items),
            Value::Object(members) if !members.is_empty() && self.density == Density::Dense => {
                let is_flat = |value: &Value| short_list(std::slice::from_ref(value)).is_some();
                let member = |(name, value): (&String, &Value)| format!("{} {}", sanitize(name), plain(value));
                members.values().all(is_flat).then(|| members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
            _ => None,
        }
    }
}

/// A comma-separated list, if all items are plain values.
fn short_list(items: &[Value]) -> Option<String> {
    let is_short = |item: &Value| !item.is_array() && !item.is_object() && !plain(item).contains([',', '\n']);
    items.iter().all(is_short).then(|| items.iter().map(plain).collect::<Vec<_>>().join(", "))
}

/// A plain value as text. Strings are only quoted if they could be mistaken for another value.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) if is_misleading(text) => format!("\"{}\"", sanitize(text)),
        Value::String(text) => sanitize(text.trim_end_matches('\n')),
        Value::Array(items) if items.is_empty() => "none".into(),
        Value::Object(members) if members.is_empty() => "nothing".into(),
        other => sanitize(&other.to_string()),
    }
}

/// Whether a string looks like a number, a boolean or null, or has surrounding spaces.
fn is_misleading(text: &str) -> bool {
    let is_other = || serde_json::from_str::<Value>(text).is_ok_and(|value| !value.is_string());
    let line = text.trim_end_matches('\n');
    line != line.trim() || text.trim().is_empty() || text == "-" || is_other()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_on_separate_lines_and_addresses_are_not_split() {
        let address = "http://127.0.0.1:8080/sandboxes/sbx_01M7GN1DPVSFN5NX7D5344505Z/fhir/auth/token";
        let value = json!({"assert": "x", "search": {"code": "1", "url": address}, "tags": ["a", "b"], "none": [],
            "fields": [{"path": "status", "equals": true}, {"path": "note"}], "text": "one two three four five\n\nsix"});
        let expected = format!(
            "assert: x\nsearch:\n  code: \"1\"\n  url: {address}\ntags: a, b\nnone: none\nfields:\n  - path: status\n    \
             equals: true\n  - path: note\ntext:\n  one two three four five\n\n  six"
        );
        assert_eq!(outline(&value, 0, 40, Density::Loose).join("\n"), expected);
        let long = json!({"a": "one two three four five six"});
        assert_eq!(outline(&long, 2, 24, Density::Loose), ["  a: one two three four", "     five six"]);
        assert_eq!(outline(&json!("\u{1b}[2J"), 0, 40, Density::Loose), ["\u{fffd}[2J"]);
        assert_eq!(plain(&json!("[\"\u{9b}2J\"]")), "\"[\"\u{fffd}2J\"]\"");
        let spaces = json!({"a": " ", "b": "\n", "c": "A  B", "d": " x", "e": "y\n"});
        assert_eq!(outline(&spaces, 0, 40, Density::Loose), ["a: \" \"", "b: \" \"", "c: A  B", "d: \" x\"", "e: y"]);
        let axes = json!({"safety": {"score": 1.0, "weight": 5}, "deep": {"a": {"b": 1}}});
        assert_eq!(outline(&axes, 0, 40, Density::Dense), ["safety: score 1.0, weight 5", "deep:", "  a: b 1"]);
    }
}
