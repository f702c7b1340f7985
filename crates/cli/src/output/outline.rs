//! JSON for people: one member a line, what belongs together indented, long texts wrapped.

use serde_json::Value;

use super::text::{harmless, width, wrap_whole};

/// Two spaces for each level.
const STEP: usize = 2;
const DEEPEST: usize = 24;

/// Lines of at most so many columns, but for words that are wider: nobody wants an address in two pieces.
pub(crate) fn outline(value: &Value, indent: usize, most: usize, density: Density) -> Vec<String> {
    let mut lines = Vec::new();
    Outline { most, density, lines: &mut lines }.push(value, indent);
    lines
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Density {
    /// Every member has its line.
    Loose,
    /// What is small stands on one line.
    Dense,
}

struct Outline<'lines> {
    most: usize,
    density: Density,
    lines: &'lines mut Vec<String>,
}

impl Outline<'_> {
    fn push(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(members) if !members.is_empty() && indent < STEP * DEEPEST => {
                for (name, value) in members {
                    self.labelled(&format!("{}:", harmless(name)), value, indent);
                }
            }
            Value::Array(items) if !items.is_empty() && indent < STEP * DEEPEST => {
                items.iter().for_each(|item| self.labelled("-", item, indent));
            }
            other => self.text(&plain(other), indent),
        }
    }

    /// A name or a dash, and beside it a value that is one word or one sentence; everything else below.
    fn labelled(&mut self, label: &str, value: &Value, indent: usize) {
        let beside = width(label) + 1;
        if let Some(words) = self.small(value).filter(|words| indent + beside + width(words) <= self.most) {
            return self.lines.push(format!("{:indent$}{label} {words}", ""));
        }
        match value {
            Value::Object(members) if !members.is_empty() && label == "-" => {
                // The first member stands beside the dash.
                let first = self.lines.len();
                self.push(value, indent + STEP);
                if let Some(line) = self.lines.get_mut(first) {
                    *line = format!("{:indent$}- {}", "", line.trim_start());
                }
            }
            Value::Object(members) if !members.is_empty() => self.below(label, value, indent),
            Value::Array(items) if !items.is_empty() => self.below(label, value, indent),
            Value::String(words) if words.trim_end().contains('\n') => {
                self.lines.push(format!("{:indent$}{label}", ""));
                words.trim_end().lines().for_each(|line| self.text(&harmless(line), indent + STEP));
            }
            other => {
                let told = wrap_whole(&plain(other), self.most.saturating_sub(indent + beside).max(20));
                for (place, line) in told.iter().enumerate() {
                    let margin = if place == 0 { label.to_owned() } else { " ".repeat(width(label)) };
                    self.lines.push(format!("{:indent$}{margin} {line}", ""));
                }
            }
        }
    }

    fn below(&mut self, label: &str, value: &Value, indent: usize) {
        self.lines.push(format!("{:indent$}{label}", ""));
        self.push(value, indent + STEP);
    }

    fn text(&mut self, words: &str, indent: usize) {
        let told = wrap_whole(words, self.most.saturating_sub(indent).max(20));
        if told.is_empty() {
            self.lines.push(String::new());
        }
        self.lines.extend(told.into_iter().map(|line| format!("{:indent$}{line}", "")));
    }

    /// What can stand on one line.
    fn small(&self, value: &Value) -> Option<String> {
        match value {
            Value::Array(items) if !items.is_empty() => short_list(items),
            Value::Object(members) if !members.is_empty() && self.density == Density::Dense => {
                let is_flat = |value: &Value| short_list(std::slice::from_ref(value)).is_some();
                let member = |(name, value): (&String, &Value)| format!("{} {}", harmless(name), plain(value));
                members.values().all(is_flat).then(|| members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
            _ => None,
        }
    }
}

/// Words and numbers side by side.
fn short_list(items: &[Value]) -> Option<String> {
    let is_short = |item: &Value| !item.is_array() && !item.is_object() && !plain(item).contains([',', '\n']);
    items.iter().all(is_short).then(|| items.iter().map(plain).collect::<Vec<_>>().join(", "))
}

/// A text without quotation marks, unless it would be taken for something else.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) if is_misleading(text) => format!("\"{}\"", harmless(text)),
        Value::String(text) => harmless(text.trim_end_matches('\n')),
        Value::Array(items) if items.is_empty() => "none".into(),
        Value::Object(members) if members.is_empty() => "nothing".into(),
        other => harmless(&other.to_string()),
    }
}

/// Reads as a number, a truth or nothing, or is not seen in full.
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
    fn members_stand_one_a_line_and_addresses_stay_whole() {
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
