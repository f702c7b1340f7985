//! `count`: the required number of candidates, such as `2` or `{"min": 1, "max": 3}`.

use std::fmt;

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

use crate::evidence::object;

/// Both bounds are inclusive. `{"max": 0}` asserts absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub min: u64,
    pub max: Option<u64>,
    written: CountForm,
}

/// The form that the author chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountForm {
    Number,
    Range { has_min: bool },
}

impl Count {
    /// An evidence entry: the count as written, and how many were found.
    pub(crate) fn result(self, found: usize, passed: bool) -> Value {
        object([("expected", self.json()), ("actual", found.into()), ("passed", passed.into())])
    }

    /// As the author wrote it.
    pub(crate) fn json(self) -> Value {
        match self.written {
            CountForm::Number => self.min.into(),
            CountForm::Range { has_min } => {
                let min = has_min.then(|| ("min".to_owned(), self.min.into()));
                let max = self.max.map(|max| ("max".to_owned(), max.into()));
                Value::Object(min.into_iter().chain(max).collect())
            }
        }
    }

    pub(crate) fn allows(self, count: u64) -> bool {
        count >= self.min && self.max.is_none_or(|max| count <= max)
    }

    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Object(bounds) => Self::read_bounds(bounds),
            value => whole_number(value)
                .map(|exactly| Self { min: exactly, max: Some(exactly), written: CountForm::Number })
                .ok_or_else(|| "must be a whole number from 0, or an object with `min` and `max`".to_owned()),
        }
    }

    fn read_bounds(bounds: &Map<String, Value>) -> Result<Self, String> {
        if let Some(other) = bounds.keys().find(|name| !matches!(name.as_str(), "min" | "max")) {
            return Err(format!("has `{other}`, but only `min` and `max` are known"));
        }
        let bound = |name: &str| match bounds.get(name) {
            None => Ok(None),
            Some(value) => whole_number(value).map(Some).ok_or(format!("`{name}` must be a whole number from 0")),
        };
        match (bound("min")?, bound("max")?) {
            (None | Some(0), None) => Err("can never fail: give `max`, or a `min` above 0".to_owned()),
            (Some(min), Some(max)) if min > max => Err(format!("`min` {min} is above `max` {max}")),
            (min, max) => Ok(Self { min: min.unwrap_or(0), max, written: CountForm::Range { has_min: min.is_some() } }),
        }
    }
}

impl Count {
    /// The details when another number was found.
    pub(crate) fn unmet_details(&self, noun: &str, found: usize) -> String {
        let noun = if self.max.unwrap_or(self.min) == 1 { noun.to_owned() } else { plural(noun) };
        match found {
            0 => format!("expected {self} {noun}, found none"),
            found => format!("expected {self} {noun}, found {found}"),
        }
    }
}

/// `1 message`, `2 messages`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {}", plural(noun)) }
}

/// The plural of a noun. Also works for the names of FHIR resource types.
fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if noun.ends_with(['s', 'x']) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (min, Some(max)) if min == max => write!(f, "{min}"),
            (0, Some(max)) => write!(f, "at most {max}"),
            (min, Some(max)) => write!(f, "{min} to {max}"),
            (min, None) => write!(f, "at least {min}"),
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

pub(crate) fn whole_number(value: &Value) -> Option<u64> {
    value.as_number().and_then(serde_json::Number::as_u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn details_have_singular_and_plural() {
        let count = |value| Count::read(&value).unwrap();
        assert_eq!(count(json!(1)).unmet_details("fax", 0), "expected 1 fax, found none");
        assert_eq!(count(json!(1)).unmet_details("Observation", 3), "expected 1 Observation, found 3");
        assert_eq!(count(json!({"min": 2})).unmet_details("fax", 1), "expected at least 2 faxes, found 1");
        assert_eq!(
            count(json!({"max": 1})).unmet_details("AllergyIntolerance", 2),
            "expected at most 1 AllergyIntolerance, found 2"
        );
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!((counted(0, "Library"), counted(2, "Basic")), ("0 Libraries".into(), "2 Basics".into()));
    }

    #[test]
    fn counts_are_validated() {
        for (value, min, max) in [
            (json!(0), 0, Some(0)),
            (json!(3), 3, Some(3)),
            (json!({"max": 0}), 0, Some(0)),
            (json!({"min": 1}), 1, None),
            (json!({"min": 2, "max": 2}), 2, Some(2)),
        ] {
            let count = Count::read(&value).unwrap();
            assert_eq!((count.min, count.max, count.json()), (min, max, value));
        }
        for (value, expected_text) in [
            (json!(-1), "whole number"),
            (json!(1.5), "whole number"),
            (json!("1"), "whole number"),
            (json!([1]), "whole number"),
            (json!(1e300), "whole number"),
            (json!({}), "never fail"),
            (json!({"min": 0}), "never fail"),
            (json!({"min": 2, "max": 1}), "above"),
            (json!({"min": "1"}), "`min` must be"),
            (json!({"min": 1, "max": null}), "`max` must be"),
            (json!({"minimum": 1}), "`minimum`"),
        ] {
            let error = Count::read(&value).expect_err(&value.to_string());
            assert!(error.contains(expected_text), "{value}: {error}");
        }
    }
}
