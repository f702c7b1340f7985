//! The spec of a paper document (referral, order, letter) that the file drop and the fax line render to a real PDF.

use std::collections::BTreeMap;

use model::FieldErrors;
use model::reading::{described, shortened};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::authored::{self, Authored};

#[derive(Clone, Debug, Serialize, Deserialize)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// The date beside the signature, as it is to be printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footer: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<Table>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

/// `missing` leaves the line empty; `scanned` prints the signature as a picture, without text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signature {
    #[default]
    Present,
    Missing,
    Scanned,
}

const LONGEST_LINE: usize = 500;
const LONGEST_TEXT: usize = 100_000;

impl Document {
    /// The spec again, without what it leaves out.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// What the document says to someone who can read its text but not see its pictures. The signature of a `present` one
    /// is text; one that is `scanned` is a picture, and where it is `missing` the line is empty.
    pub fn text(&self) -> String {
        let mut lines = vec![self.title.clone()];
        lines.extend(self.header.iter().map(|(label, value)| format!("{label}: {}", cell(value))));
        for section in &self.sections {
            lines.extend(section.heading.iter().chain(&section.text).cloned());
            if let Some(table) = &section.table {
                lines.push(table.columns.join("\t"));
                lines.extend(table.rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("\t")));
            }
        }
        lines.push(match self.signature {
            Signature::Present => format!("Signature: /s/ {}", self.signer.as_deref().unwrap_or_default()),
            Signature::Missing | Signature::Scanned => "Signature:".to_owned(),
        });
        lines.extend([&self.signer, &self.signed_on, &self.footer].into_iter().flatten().cloned());
        lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
    }
}

fn cell(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

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
    fn a_document_has_a_text_and_is_its_spec_again() {
        let spec = json!({
            "title": "Referral", "header": {"MRN": 12345, "Patient": "Ada"},
            "sections": [
                {"heading": "Reason", "text": "Palpitations"},
                {"table": {"columns": ["Drug", "Dose"], "rows": [["Aspirin", 81]]}},
            ],
            "signature": "present", "signer": "Dr. Lee", "signed_on": "2026-04-01", "footer": "Page 1",
        });
        let document = authored::read::<Document>(&spec).unwrap();
        assert_eq!(document.json(), spec);
        let before = "Referral\nMRN: 12345\nPatient: Ada\nReason\nPalpitations\nDrug\tDose\nAspirin\t81\n";
        assert_eq!(document.text(), format!("{before}Signature: /s/ Dr. Lee\nDr. Lee\n2026-04-01\nPage 1"));
        for signature in [Signature::Missing, Signature::Scanned] {
            let unsigned = Document { signature, signed_on: None, ..document.clone() };
            assert_eq!(unsigned.text(), format!("{before}Signature:\nDr. Lee\nPage 1"));
        }
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
