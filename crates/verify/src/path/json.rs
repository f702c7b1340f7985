//! Paths into JSON: `name.0.family`, `entry.*.resource.id`, `telecom[system=phone].value`.
//!
//! A number is an index, `*` selects all elements, and `[key=value]` selects the elements whose `key` (itself a path without
//! selectors) has that value. `[0]` and `[*]` are the same as `.0` and `.*`. A backslash escapes the next character.

use std::fmt;

use serde_json::Value;

use crate::authored::Notation;
use crate::budget::Budget;
use crate::compare::nfc;
use crate::limits::LONGEST_PATH;
use crate::number::Decimal;
use crate::path::{read_selected_value, split_at_unescaped, unescaped, write_escaped, write_selected_value};

/// A path with at least one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    pub segments: Vec<PathSegment>,
}

/// One part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathSegment {
    Key(String),
    Index(u32),
    Any,
    /// `key` has no `Where` in it.
    Where {
        key: Vec<PathSegment>,
        value: String,
    },
}

impl Notation for JsonPath {
    const LONGEST: usize = LONGEST_PATH;

    fn read(text: &str) -> Result<Self, String> {
        if text == "$" || text.starts_with("$.") || text.starts_with("$[") {
            return Err("must not start with `$`: a path starts at the first key, as in `name.0.family`".to_owned());
        }
        let mut segments = Vec::new();
        let mut rest = text;
        loop {
            rest = match rest.strip_prefix('[') {
                Some(inside) => {
                    let (selector, after) = split_at_unescaped(inside, ']').ok_or("has `[` without `]`")?;
                    segments.push(read_selector(selector)?);
                    after
                }
                None => {
                    let end = end_of_name(rest);
                    segments.push(read_name(&rest[..end])?);
                    &rest[end..]
                }
            };
            if rest.is_empty() {
                return Ok(Self { segments });
            }
            if !rest.starts_with('[') {
                rest = rest.strip_prefix('.').ok_or("must have `.` or `[` after `]`")?;
            }
        }
    }
}

/// The position of the next `.` or `[` that is not escaped.
fn end_of_name(text: &str) -> usize {
    ['.', '[']
        .into_iter()
        .filter_map(|delimiter| split_at_unescaped(text, delimiter).map(|(name, _)| name.len()))
        .min()
        .unwrap_or(text.len())
}

fn read_name(text: &str) -> Result<PathSegment, String> {
    if text == "*" {
        return Ok(PathSegment::Any);
    }
    if is_index(text) {
        return text.parse().map(PathSegment::Index).map_err(|_| "has an index that is too large".to_owned());
    }
    if split_at_unescaped(text, ']').is_some() {
        return Err("has `]` without `[`".to_owned());
    }
    let name = unescaped(text)?;
    if name.is_empty() {
        Err("has an empty segment: expected a key, a number, `*` or `[key=value]`".to_owned())
    } else if name.trim() != name {
        Err(format!("has spaces around the key `{}`", name.trim()))
    } else {
        Ok(PathSegment::Key(name))
    }
}

fn read_selector(text: &str) -> Result<PathSegment, String> {
    if text == "*" || is_index(text) {
        return read_name(text);
    }
    let (key, value) = split_at_unescaped(text, '=').unwrap_or((text, ""));
    if split_at_unescaped(key, '[').is_some() {
        return Err("has a selector inside a selector: write `[name.0.family=value]`".to_owned());
    }
    let mut segments = Vec::new();
    let mut rest = Some(key);
    while let Some(text) = rest {
        let (name, after) = split_at_unescaped(text, '.').map_or((text, None), |(name, after)| (name, Some(after)));
        segments.push(read_name(name)?);
        rest = after;
    }
    Ok(PathSegment::Where { key: segments, value: read_selected_value(value)? })
}

/// Whether a text is an index. `01` is a key, because an index has no leading zeros.
fn is_index(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() && (text == "0" || !text.starts_with('0'))
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_segments(&self.segments, f)
    }
}

impl JsonPath {
    /// The values that the path selects, in the order of the document. Null is a value.
    pub(crate) fn find<'v>(&self, document: &'v Value, budget: &Budget) -> Result<Vec<&'v Value>, String> {
        find_segments(&self.segments, document, budget)
    }

    /// The values that the selectors of the path compare, in the elements that they select.
    pub(crate) fn selector_values<'v>(&self, document: &'v Value, budget: &Budget) -> Result<Vec<&'v Value>, String> {
        let mut found = Vec::new();
        for (at, segment) in self.segments.iter().enumerate() {
            if let PathSegment::Where { key, .. } = segment {
                for item in find_segments(&self.segments[..=at], document, budget)? {
                    found.extend(find_segments(key, item, budget)?);
                }
            }
        }
        Ok(found)
    }
}

fn find_segments<'v>(segments: &[PathSegment], document: &'v Value, budget: &Budget) -> Result<Vec<&'v Value>, String> {
    let mut found = vec![document];
    for segment in segments {
        let mut next = Vec::new();
        for value in found {
            match (segment, value) {
                (PathSegment::Key(key), Value::Object(members)) => next.extend(members.get(key)),
                (PathSegment::Index(index), Value::Object(members)) => next.extend(members.get(&index.to_string())),
                (PathSegment::Index(index), Value::Array(items)) => {
                    next.extend(usize::try_from(*index).ok().and_then(|index| items.get(index)));
                }
                (PathSegment::Any, Value::Array(items)) => next.extend(items),
                (PathSegment::Where { key, value: wanted }, Value::Array(items)) => {
                    for item in items {
                        budget.spend(1)?;
                        if has_value(item, key, wanted, budget)? {
                            next.push(item);
                        }
                    }
                }
                (PathSegment::Where { key, value: wanted }, item) if has_value(item, key, wanted, budget)? => {
                    next.push(item)
                }
                _ => {}
            }
        }
        budget.spend(1 + next.len())?;
        found = next;
    }
    Ok(found)
}

/// Whether one of the values at the key is `wanted`. Numbers are compared by value.
fn has_value(item: &Value, key: &[PathSegment], wanted: &str, budget: &Budget) -> Result<bool, String> {
    let is_wanted = |value: &&Value| match value {
        Value::String(text) => nfc(text) == nfc(wanted),
        Value::Number(number) => {
            Decimal::read(number.as_str()).is_some_and(|number| Decimal::read(wanted) == Some(number))
        }
        Value::Bool(boolean) => wanted == if *boolean { "true" } else { "false" },
        _ => false,
    };
    Ok(find_segments(key, item, budget)?.iter().any(is_wanted))
}

fn write_segments(segments: &[PathSegment], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (position, segment) in segments.iter().enumerate() {
        if position > 0 && !matches!(segment, PathSegment::Where { .. }) {
            f.write_str(".")?;
        }
        match segment {
            PathSegment::Key(key) => write_key(key, f)?,
            PathSegment::Index(index) => write!(f, "{index}")?,
            PathSegment::Any => f.write_str("*")?,
            PathSegment::Where { key, value } => {
                f.write_str("[")?;
                write_segments(key, f)?;
                f.write_str("=")?;
                write_selected_value(value, f)?;
                f.write_str("]")?;
            }
        }
    }
    Ok(())
}

fn write_key(key: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if matches!(key, "*" | "$") || is_index(key) {
        f.write_str("\\")?;
    }
    write_escaped(key, &['\\', '.', '[', ']', '='], f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{faulty_notation, round_trip};

    fn key(name: &str) -> PathSegment {
        PathSegment::Key(name.to_owned())
    }

    #[test]
    fn parts_of_a_path() {
        let phone = || PathSegment::Where { key: vec![key("system")], value: "phone".to_owned() };
        let url = || PathSegment::Where { key: vec![key("url")], value: "http://example.org/a.b?c=d".to_owned() };
        let coded = || PathSegment::Where {
            key: vec![key("type"), PathSegment::Index(0), PathSegment::Any, key("code")],
            value: "MR".to_owned(),
        };
        for (text, segments) in [
            ("status", vec![key("status")]),
            ("name.0.given.*", vec![key("name"), PathSegment::Index(0), key("given"), PathSegment::Any]),
            ("name[0].given[*]", vec![key("name"), PathSegment::Index(0), key("given"), PathSegment::Any]),
            ("telecom[system=phone].value", vec![key("telecom"), phone(), key("value")]),
            ("[system=phone]", vec![phone()]),
            ("a.[system=phone].0", vec![key("a"), phone(), PathSegment::Index(0)]),
            (
                "extension[url=http://example.org/a.b?c=d].valueString",
                vec![key("extension"), url(), key("valueString")],
            ),
            ("identifier[type.0.*.code=MR]", vec![key("identifier"), coded()]),
            ("Member ID.01", vec![key("Member ID"), key("01")]),
            (r"a\.b.\0.\*", vec![key("a.b"), key("0"), key("*")]),
            (r"[a=x\]y]", vec![PathSegment::Where { key: vec![key("a")], value: "x]y".to_owned() }]),
        ] {
            assert_eq!(JsonPath::read(text), Ok(JsonPath { segments }), "{text}");
            round_trip::<JsonPath>(text);
        }
    }

    #[test]
    fn values_are_found_in_order() {
        let document = serde_json::json!({
            "status": null, "0": "zero",
            "name": [{"family": "A", "given": ["x", "y"]}, {"family": "B", "given": ["z"]}],
            "telecom": [{"system": "phone", "value": 1, "rank": 2}, {"system": "email", "value": 3, "rank": true}],
        });
        for (path, found) in [
            ("status", "[null]"),
            ("missing", "[]"),
            ("name", r#"[[{"family":"A","given":["x","y"]},{"family":"B","given":["z"]}]]"#),
            ("name.0.family", r#"["A"]"#),
            ("name.2.family", "[]"),
            ("name.family", "[]"),
            ("name.*.given.*", r#"["x","y","z"]"#),
            ("telecom[system=email].value", "[3]"),
            ("telecom[rank=2].value", "[1]"),
            ("telecom[rank=true].value", "[3]"),
            ("name[given.*=z].family", r#"["B"]"#),
            ("telecom.0[system=phone].value", "[1]"),
            ("0", r#"["zero"]"#),
            ("status.*", "[]"),
        ] {
            let path = JsonPath::read(path).expect(path);
            let values = path.find(&document, &Budget::new());
            assert_eq!(serde_json::json!(values.expect("within the budget")).to_string(), found, "{path}");
        }
        assert!(JsonPath::read("name.*").is_ok_and(|path| path.find(&document, &Budget::of(2)).is_err()));
    }

    #[test]
    fn invalid_paths() {
        for (text, expected_text) in [
            ("", "empty segment"),
            (".", "empty segment"),
            ("a.", "empty segment"),
            ("a..b", "empty segment"),
            (".a", "empty segment"),
            ("$.a", "`$`"),
            (" a", "spaces"),
            ("a .b", "spaces"),
            ("a[", "without `]`"),
            ("a]", "without `[`"),
            ("a[]", "empty segment"),
            ("a[b]", "without a value"),
            ("a[=b]", "empty segment"),
            ("a[b=]", "without a value"),
            ("a[b= c]", "spaces"),
            ("a[b='c']", "quote"),
            ("a[b=c]d", "after `]`"),
            ("a[b[0]=c]", "selector inside"),
            ("a.99999999999", "too large"),
            ("a\\", "backslash"),
        ] {
            faulty_notation::<JsonPath>(text, expected_text);
        }
    }

    proptest::proptest! {
        #[test]
        fn similar_texts_round_trip_or_are_rejected(text in r#"([a-c01*.=\[\]\\$'" é]|[a-c]){0,30}"#) {
            round_trip::<JsonPath>(&text);
        }

        #[test]
        fn no_text_panics(text in ".*") {
            round_trip::<JsonPath>(&text);
        }
    }
}
