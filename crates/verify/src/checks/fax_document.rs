//! Passes when the agent sent a fax whose text has the phrases.
//!
//! Reads the sent faxes, their text from the document or by OCR. `pages` is a number or a range, as `count` is.
//! The example: [`EXAMPLE`]. Evidence: `phraseResults[{phrase,found}]`, `matched[]`.

use model::FieldErrors;
use model::phone::PhoneNumber;
use serde::Deserialize;

use crate::authored::Authored;
use crate::checks::{Check, CheckInfo};
use crate::count::Count;
use crate::phrase::{Phrase, check_phrases};

pub const EXAMPLE: &str = r#"{
  "assert": "fax-document",
  "to_number": "+1 555 010 0199",
  "contains": ["{{entity.name}}", ["letter of medical necessity", "statement of medical necessity"]],
  "not_contains": ["draft"],
  "pages": {"max": 10},
  "count": 1
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaxDocument {
    #[serde(default)]
    pub to_number: Option<Authored<PhoneNumber>>,
    #[serde(default)]
    pub contains: Vec<Phrase>,
    #[serde(default, alias = "forbidden")]
    pub not_contains: Vec<Phrase>,
    #[serde(default)]
    pub pages: Option<Count>,
    #[serde(default)]
    pub count: Option<Count>,
}

impl Check for FaxDocument {
    const INFO: CheckInfo = CheckInfo {
        name: "fax-document",
        summary: "The agent sent a fax whose text has the phrases.",
        example: EXAMPLE,
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_phrases("contains", &self.contains, errors);
        check_phrases("not_contains", &self.not_contains, errors);
        if self.pages.is_some_and(|pages| pages.max == Some(0)) {
            errors.add("pages", "must allow for one page: no fax has none");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("fax-document", specification, faults);
    }

    #[test]
    fn sound_specifications() {
        check(json!({}), &[]);
        check(json!({"to_number": "{{entity.fax}}", "pages": 2}), &[]);
        check(json!({"contains": ["MRI"], "count": {"max": 0}}), &[]);
    }

    #[test]
    fn faulty_specifications() {
        check(json!({"to_number": 15550100199_u64}), &[("to_number", "string")]);
        check(json!({"to_number": "the clinic"}), &[("to_number", "phone number")]);
        check(json!({"pages": 0}), &[("pages", "one page")]);
        check(json!({"pages": {"min": 0}, "count": {}}), &[("pages", "never fail"), ("count", "never fail")]);
        check(json!({"contains": [" "], "not_contains": [5]}), &[("contains.0", "empty"), ("not_contains.0", "string")]);
    }
}
