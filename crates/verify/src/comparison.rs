//! `op`, `expected` and `tolerance`: the comparison of a field assertion.

use model::FieldErrors;
use model::template::is_template;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Number, Value};

use crate::authored::{Authored, Notation};
use crate::limits::{self, LONGEST_PATTERN};
use crate::phrase::TextRules;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    #[default]
    Equals,
    NotEquals,
    EqualsIgnoreCase,
    Contains,
    Matches,
    OneOf,
    Exists,
    Absent,
    Gt,
    Gte,
    Lt,
    Lte,
    Between,
    Approx,
    Date,
    Phrases,
}

impl Op {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Equals => "equals",
            Self::NotEquals => "not_equals",
            Self::EqualsIgnoreCase => "equals_ignore_case",
            Self::Contains => "contains",
            Self::Matches => "matches",
            Self::OneOf => "one_of",
            Self::Exists => "exists",
            Self::Absent => "absent",
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::Between => "between",
            Self::Approx => "approx",
            Self::Date => "date",
            Self::Phrases => "phrases",
        }
    }
}

/// An operator with its validated operands.
#[derive(Clone, Debug)]
pub enum Comparison<'a> {
    /// `null` equals null and a missing value.
    Equals(&'a Value),
    NotEquals(&'a Value),
    EqualsIgnoreCase(&'a str),
    Contains(&'a Value),
    Matches(Authored<Pattern>),
    OneOf(&'a [Value]),
    Exists,
    Absent,
    /// Bounds are numbers or strings.
    Gt(&'a Value),
    Gte(&'a Value),
    Lt(&'a Value),
    Lte(&'a Value),
    /// Both bounds are inclusive.
    Between {
        low: &'a Value,
        high: &'a Value,
    },
    /// `expected` is a number, or a template for one.
    Approx {
        expected: &'a Value,
        tolerance: &'a Number,
    },
    Date(&'a str),
    /// Rules for natural-language text.
    Phrases(Box<TextRules>),
}

impl<'a> Comparison<'a> {
    /// Errors are under `expected` or `tolerance`. A missing `expected` is not the same as `null`.
    pub(crate) fn read(op: Op, expected: Option<&'a Value>, tolerance: Option<&'a Value>) -> Result<Self, FieldErrors> {
        let tolerance = read_tolerance(op, tolerance).map_err(|error| FieldErrors::one("tolerance", error))?;
        let comparison = match (expected, tolerance) {
            (None, _) => Self::without_operand(op),
            (Some(expected), Some(tolerance)) => number(expected).map(|expected| Self::Approx { expected, tolerance }),
            (Some(expected), None) => Self::with_operand(op, expected),
        };
        comparison.map_err(|error| FieldErrors::one("expected", error))
    }

    fn without_operand(op: Op) -> Result<Self, String> {
        match op {
            Op::Exists => Ok(Self::Exists),
            Op::Absent => Ok(Self::Absent),
            Op::Equals | Op::NotEquals => Err("is required; use null to assert absence".to_owned()),
            _ => Err("is required".to_owned()),
        }
    }

    fn with_operand(op: Op, expected: &'a Value) -> Result<Self, String> {
        match op {
            Op::Equals => Ok(Self::Equals(expected)),
            Op::NotEquals => Ok(Self::NotEquals(expected)),
            Op::EqualsIgnoreCase => text(expected).map(Self::EqualsIgnoreCase),
            Op::Contains => containable(expected).map(Self::Contains),
            Op::Matches => text(expected).and_then(Authored::read).map(Self::Matches),
            Op::OneOf => choices(expected).map(Self::OneOf),
            Op::Exists | Op::Absent => Err("cannot be combined with `exists` or `absent`".to_owned()),
            Op::Gt => bound(expected).map(Self::Gt),
            Op::Gte => bound(expected).map(Self::Gte),
            Op::Lt => bound(expected).map(Self::Lt),
            Op::Lte => bound(expected).map(Self::Lte),
            Op::Between => bounds(expected).map(|(low, high)| Self::Between { low, high }),
            Op::Approx => Err("cannot be compared without `tolerance`".to_owned()),
            Op::Date => date(expected).map(Self::Date),
            Op::Phrases => TextRules::read(expected).map(|rules| Self::Phrases(Box::new(rules))),
        }
    }
}

/// A regular expression that runs in linear time and compiles within a bound.
#[derive(Clone, Debug)]
pub struct Pattern(pub Regex);

impl Notation for Pattern {
    const LONGEST: usize = LONGEST_PATTERN;

    fn read(text: &str) -> Result<Self, String> {
        const LARGEST_COMPILED_BYTES: usize = 1 << 20;
        RegexBuilder::new(text).size_limit(LARGEST_COMPILED_BYTES).build().map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "is a regular expression that is too large when compiled".to_owned(),
            error => format!("is not a valid regular expression: {}", last_line(&error.to_string())),
        })
    }
}

/// The regex crate prints the pattern above its explanation.
fn last_line(message: &str) -> &str {
    let line = message.lines().last().unwrap_or(message);
    line.strip_prefix("error: ").unwrap_or(line)
}

/// The tolerance is required by `approx`, and an error for other operators.
fn read_tolerance(op: Op, tolerance: Option<&Value>) -> Result<Option<&Number>, String> {
    match (op, tolerance) {
        (Op::Approx, Some(Value::Number(tolerance))) if !tolerance.to_string().starts_with('-') => Ok(Some(tolerance)),
        (Op::Approx, Some(_)) => Err("must be a number from 0".to_owned()),
        (Op::Approx, None) => Err("is required for `approx`".to_owned()),
        (_, Some(_)) => Err("can be used with `approx` only".to_owned()),
        (_, None) => Ok(None),
    }
}

fn is_template_value(value: &Value) -> bool {
    value.as_str().is_some_and(is_template)
}

fn text(expected: &Value) -> Result<&str, String> {
    expected.as_str().ok_or_else(|| "must be a string".to_owned())
}

fn number(expected: &Value) -> Result<&Value, String> {
    if expected.is_number() || is_template_value(expected) { Ok(expected) } else { Err("must be a number".to_owned()) }
}

fn containable(expected: &Value) -> Result<&Value, String> {
    match expected {
        Value::Null => Err("must not be null: give a text or an element".to_owned()),
        Value::String(text) if text.is_empty() => {
            Err("must not be empty: every text contains the empty text".to_owned())
        }
        expected => Ok(expected),
    }
}

fn choices(expected: &Value) -> Result<&[Value], String> {
    match expected {
        Value::Array(choices) if !choices.is_empty() => limits::check_size(choices.len()).map(|()| choices.as_slice()),
        _ => Err("must be a list with at least one value".to_owned()),
    }
}

fn bound(expected: &Value) -> Result<&Value, String> {
    match expected {
        Value::Number(_) => Ok(expected),
        Value::String(text) if !text.is_empty() => Ok(expected),
        _ => Err("must be a number or a string".to_owned()),
    }
}

fn bounds(expected: &Value) -> Result<(&Value, &Value), String> {
    let Some([low, high]) = expected.as_array().map(Vec::as_slice) else {
        return Err("must be [low, high]".to_owned());
    };
    let (low, high) = (bound(low)?, bound(high)?);
    let is_mixed = low.is_number() != high.is_number();
    if is_mixed && !is_template_value(low) && !is_template_value(high) {
        return Err("must be [low, high], both numbers or both strings".to_owned());
    }
    // Rounding to a float keeps the order, so reversed floats are reversed decimals.
    if let (Some(low), Some(high)) = (low.as_f64(), high.as_f64())
        && low > high
    {
        return Err("must be [low, high] with low not above high".to_owned());
    }
    Ok((low, high))
}

fn date(expected: &Value) -> Result<&str, String> {
    let text = text(expected)?;
    let starts_with_year = text.len() >= 4 && text.bytes().take(4).all(|byte| byte.is_ascii_digit());
    let is_date = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | '+' | 'T' | 'Z');
    if is_template(text) || (starts_with_year && text.len() <= 40 && text.chars().all(is_date)) {
        Ok(text)
    } else {
        Err("must be a date or time, as in `2026-03`, `2026-03-31` or `2026-03-31T09:30:00Z`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Reads `{op, expected, tolerance}`. The expected error is `(member, part of the message)`.
    fn check(spec: &Value, expected_error: Option<(&str, &str)>) {
        let op = spec.get("op").map_or(Op::Equals, |op| Op::deserialize(op).expect("a known op"));
        let read = Comparison::read(op, spec.get("expected"), spec.get("tolerance"));
        match (read, expected_error) {
            (Ok(_), None) => {}
            (Err(errors), Some((member, expected_text))) => {
                let found: Vec<_> = errors.iter().map(|(path, messages)| (path, messages.concat())).collect();
                assert_eq!(found.len(), 1, "{spec}: {errors}");
                assert!(found[0].0 == member && found[0].1.contains(expected_text), "{spec}: {errors}");
            }
            (read, expected_error) => panic!("{spec}: {read:?}, not {expected_error:?}"),
        }
    }

    #[test]
    fn valid_operands() {
        for spec in [
            json!({"expected": null}),
            json!({"expected": {"any": ["json"]}}),
            json!({"op": "not_equals", "expected": null}),
            json!({"op": "equals_ignore_case", "expected": "Ok"}),
            json!({"op": "contains", "expected": "x"}),
            json!({"op": "contains", "expected": {"code": "x"}}),
            json!({"op": "matches", "expected": "^PA-\\d+$"}),
            json!({"op": "matches", "expected": "^{{entity.id}}("}),
            json!({"op": "one_of", "expected": ["a", null]}),
            json!({"op": "exists"}),
            json!({"op": "absent"}),
            json!({"op": "gt", "expected": 1.10}),
            json!({"op": "lte", "expected": "2026-01-01"}),
            json!({"op": "between", "expected": [1, 1.0]}),
            json!({"op": "between", "expected": ["2026-01-01", "2026-02-01"]}),
            json!({"op": "between", "expected": ["{{entity.low}}", 5]}),
            json!({"op": "approx", "expected": 7.4, "tolerance": 0}),
            json!({"op": "approx", "expected": "{{entity.value}}", "tolerance": 0.1}),
            json!({"op": "date", "expected": "2026-03-31T09:30:00+02:00"}),
            json!({"op": "date", "expected": "20260331"}),
            json!({"op": "phrases", "expected": {"contains": ["call", ["us", "the clinic"]], "negation": "reject"}}),
            json!({"op": "phrases", "expected": {"numbers": []}}),
            json!({"op": "phrases", "expected": {"not_contains": ["x"], "numbers": ["608 555 0142", "{{task.phone}}"]}}),
        ] {
            check(&spec, None);
        }
    }

    #[test]
    fn invalid_operands() {
        for (spec, error) in [
            (json!({}), ("expected", "use null")),
            (json!({"op": "not_equals"}), ("expected", "use null")),
            (json!({"op": "contains"}), ("expected", "required")),
            (json!({"op": "equals_ignore_case", "expected": 1}), ("expected", "string")),
            (json!({"op": "contains", "expected": ""}), ("expected", "every text")),
            (json!({"op": "contains", "expected": null}), ("expected", "null")),
            (json!({"op": "one_of", "expected": []}), ("expected", "list")),
            (json!({"op": "one_of", "expected": "a"}), ("expected", "list")),
            (json!({"op": "one_of", "expected": vec![0; 201]}), ("expected", "at most 200")),
            (json!({"op": "exists", "expected": true}), ("expected", "cannot be combined")),
            (json!({"op": "absent", "expected": null}), ("expected", "cannot be combined")),
            (json!({"op": "gt", "expected": null}), ("expected", "number or a string")),
            (json!({"op": "lt", "expected": [1]}), ("expected", "number or a string")),
            (json!({"op": "gte", "expected": ""}), ("expected", "number or a string")),
            (json!({"op": "between", "expected": 1}), ("expected", "[low, high]")),
            (json!({"op": "between", "expected": [1, 2, 3]}), ("expected", "[low, high]")),
            (json!({"op": "between", "expected": [2, 1]}), ("expected", "not above")),
            (json!({"op": "between", "expected": [1, "2"]}), ("expected", "both")),
            (json!({"op": "approx", "expected": 1}), ("tolerance", "required")),
            (json!({"op": "approx", "expected": 1, "tolerance": -0.1}), ("tolerance", "from 0")),
            (json!({"op": "approx", "expected": 1, "tolerance": "1"}), ("tolerance", "from 0")),
            (json!({"op": "approx", "expected": "1", "tolerance": 1}), ("expected", "number")),
            (json!({"op": "gt", "expected": 1, "tolerance": 1}), ("tolerance", "only")),
            (json!({"op": "date", "expected": "tomorrow"}), ("expected", "date")),
            (json!({"op": "date", "expected": 2026}), ("expected", "string")),
            (json!({"op": "phrases"}), ("expected", "required")),
            (json!({"op": "phrases", "expected": "call"}), ("expected", "object of `contains`")),
            (json!({"op": "phrases", "expected": {}}), ("expected", "asserts nothing")),
            (json!({"op": "phrases", "expected": {"contain": ["x"]}}), ("expected", "contain")),
            (json!({"op": "phrases", "expected": {"contains": ["?"]}}), ("expected", "letter")),
            (json!({"op": "phrases", "expected": {"numbers": ["Ann"]}}), ("expected", "phone number")),
        ] {
            check(&spec, Some(error));
        }
    }

    #[test]
    fn invalid_patterns() {
        for (expected, expected_text) in [
            (json!("("), "unclosed group"),
            (json!(""), "empty"),
            (json!(1), "string"),
            (json!("(?=x)"), "look-around"),
            (json!("(\\w{200}){200}"), "too large"),
            (json!("(".repeat(900)), "not a valid regular"),
            (json!("a".repeat(1025)), "at most 1024"),
        ] {
            check(&json!({"op": "matches", "expected": expected}), Some(("expected", expected_text)));
        }
    }
}
