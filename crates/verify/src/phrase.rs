//! Phrases that must or must not be said, each a string or a list of alternatives.

use model::FieldErrors;
use model::template::is_template;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::limits::{self, LONGEST_LIST, LONGEST_TEXT};

/// Found when one of the alternatives is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    pub alternatives: Vec<String>,
}

impl Phrase {
    fn read(value: Value) -> Result<Self, String> {
        let alternatives = match value {
            Value::String(text) => vec![text],
            Value::Array(items) => items.into_iter().map(text).collect::<Option<_>>().unwrap_or_default(),
            _ => Vec::new(),
        };
        if alternatives.is_empty() {
            return Err("must be a string or a list of strings, the alternatives".to_owned());
        }
        limits::check_size(alternatives.len())?;
        alternatives.iter().try_for_each(|text| check_words(text))?;
        Ok(Self { alternatives })
    }
}

impl<'de> Deserialize<'de> for Phrase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

pub(crate) fn check_phrases(name: &str, phrases: &[Phrase], errors: &mut FieldErrors) {
    errors.size(name, phrases.len(), LONGEST_LIST);
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Punctuation and spacing are folded away before phrases are compared, so a phrase without a word is in every text.
fn check_words(text: &str) -> Result<(), String> {
    limits::check_text(text, LONGEST_TEXT)?;
    if is_template(text) || text.chars().any(char::is_alphanumeric) {
        Ok(())
    } else {
        Err("must have a letter or a digit".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_phrase_has_words() {
        assert_eq!(Phrase::read(json!("date of birth")).map(|phrase| phrase.alternatives.len()), Ok(1));
        assert_eq!(Phrase::read(json!(["DOB", "{{entity.birthDate}}"])).map(|phrase| phrase.alternatives.len()), Ok(2));
        for (value, said) in [
            (json!(""), "empty"),
            (json!(" \t"), "empty"),
            (json!("…?!"), "letter or a digit"),
            (json!(["yes", ""]), "empty"),
            (json!([]), "list of strings"),
            (json!(["yes", 1]), "list of strings"),
            (json!([["yes"]]), "list of strings"),
            (json!(7), "list of strings"),
            (json!({"phrase": "x"}), "list of strings"),
            (json!("x".repeat(2000)), "at most 1024"),
            (json!(vec!["x"; 201]), "at most 200"),
        ] {
            let error = Phrase::read(value.clone()).expect_err(&value.to_string());
            assert!(error.contains(said), "{value}: {error}");
        }
    }
}
