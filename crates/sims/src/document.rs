//! The spec of a paper document (referral, order, letter) that the file drop and the fax line render to a real PDF.

use std::collections::BTreeMap;

use model::FieldErrors;
use model::reading::{described, shortened};
use serde::Deserialize;
use serde_json::Value;

use crate::authored::{self, Authored};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub title: String,
    /// Label and value, such as `"Patient": "Ada Stone"`.
    #[serde(default)]
    pub header: BTreeMap<String, Value>,
    #[serde(default)]
    pub sections: Vec<Section>,
    #[serde(default)]
    pub signature: Signature,
    /// The name below the signature line.
    pub signer: Option<String>,
    /// The date beside the signature, as it is to be printed.
    pub signed_on: Option<String>,
    pub footer: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub heading: Option<String>,
    pub text: Option<String>,
    pub table: Option<Table>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

/// `missing` leaves the line empty; `scanned` prints the signature as a picture, without text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signature {
    #[default]
    Present,
    Missing,
    Scanned,
}

const LONGEST_LINE: usize = 500;
const LONGEST_TEXT: usize = 100_000;

impl Authored for Document {
    fn validate(&self, errors: &mut FieldErrors) {
        authored::text(errors, "title", &self.title, LONGEST_LINE);
        if self.header.len() > 100 {
            errors.add("header", format!("must have at most 100 fields, has {}", self.header.len()));
        } else {
            for (label, value) in self.header.iter() {
                let place = format!("header.{}", shortened(label, 80));
                authored::text(errors, &place, label, LONGEST_LINE);
                check_cell(errors, &place, value);
            }
        }
        errors.each("sections", &self.sections, 200, |section, errors| {
            section.validate(errors);
        });
        for (field, line) in [("signer", &self.signer), ("signed_on", &self.signed_on), ("footer", &self.footer)] {
            authored::optional_text(errors, field, line.as_ref(), LONGEST_LINE);
        }
    }
}

impl Section {
    fn validate(&self, errors: &mut FieldErrors) {
        if self.heading.is_none() && self.text.is_none() && self.table.is_none() {
            errors.add("", "must have a heading, a text or a table");
        }
        authored::optional_text(errors, "heading", self.heading.as_ref(), LONGEST_LINE);
        authored::optional_text(errors, "text", self.text.as_ref(), LONGEST_TEXT);
        if let Some(table) = &self.table {
            errors.inside("table", |errors| table.validate(errors));
        }
    }
}

impl Table {
    fn validate(&self, errors: &mut FieldErrors) {
        if self.columns.is_empty() {
            errors.add("columns", "must not be empty");
        }
        errors.each("columns", &self.columns, 30, |column, errors| {
            errors.length("", column, 0..=LONGEST_LINE);
        });
        errors.each("rows", &self.rows, 1000, |row, errors| {
            if row.len() != self.columns.len() {
                errors.add("", format!("must have {} cells like the columns, has {}", self.columns.len(), row.len()));
            }
            for (index, cell) in row.iter().enumerate() {
                check_cell(errors, &index.to_string(), cell);
            }
        });
    }
}

/// Numbers are printed as they are written.
fn check_cell(errors: &mut FieldErrors, place: &str, cell: &Value) {
    match cell {
        Value::String(text) => {
            errors.length(place, text, 0..=10_000);
            if text.contains('\0') {
                errors.add(place, "must not contain NUL characters");
            }
        }
        Value::Number(_) => {}
        other => errors.add(place, format!("must be a string or a number, is {}", described(other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_referral_is_a_document() {
        let referral = json!({
            "title": "Referral to cardiology",
            "header": {"Patient": "{{entity.name}}", "MRN": 12345},
            "sections": [
                {"heading": "Reason", "text": "Palpitations"},
                {"table": {"columns": ["Medication", "Dose"], "rows": [["Metoprolol", "25 mg"], ["Aspirin", 81]]}},
            ],
            "signature": "scanned", "signer": "Dr. Lee", "signed_on": "2026-04-01", "footer": "Page 1 of 1",
        });
        let document = authored::read::<Document>(&referral).unwrap();
        assert_eq!(document.signature, Signature::Scanned);
        assert_eq!(authored::read::<Document>(&json!({"title": "x"})).unwrap().signature, Signature::Present);
    }

    #[test]
    fn faults_are_named() {
        for (document, place) in [
            (json!({}), "title"),
            (json!({"title": " "}), "title"),
            (json!({"title": "x".repeat(501)}), "title"),
            (json!({"title": "x", "stamp": "y"}), "stamp"),
            (json!({"title": "x", "header": []}), "header"),
            (json!({"title": "x", "header": {"MRN": {}}}), "header.MRN"),
            (json!({"title": "x", "header": {"": "a"}}), "header."),
            (json!({"title": "x", "signature": "forged"}), "signature"),
            (json!({"title": "x", "sections": {}}), "sections"),
            (json!({"title": "x", "sections": [{}]}), "sections.0"),
            (json!({"title": "x", "sections": [["a"]]}), "sections.0"),
            (json!({"title": "x", "sections": [{"text": 1}]}), "sections.0.text"),
            (json!({"title": "x", "sections": [{"table": {"columns": [], "rows": []}}]}), "sections.0.table.columns"),
            (
                json!({"title": "x", "sections": [{"table": {"columns": ["a"], "rows": [[]]}}]}),
                "sections.0.table.rows.0",
            ),
            (
                json!({"title": "x", "sections": [{"table": {"columns": ["a"], "rows": [[[]]]}}]}),
                "sections.0.table.rows.0.0",
            ),
            (json!({"title": "x", "sections": vec![json!({"text": "a"}); 201]}), "sections"),
        ] {
            let errors = authored::check::<Document>(&document).unwrap_err();
            assert_eq!(errors.iter().next().map(|(place, _)| place), Some(place), "{errors}");
        }
    }
}
