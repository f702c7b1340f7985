//! Rendered documents (referrals, orders, letters): validation of authored documents, and the rows in which the Files and Fax
//! simulators store them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
pub use documents::{Document, Format, Letterhead, Look, Rendered, Section, Signature, Table};
use model::FieldErrors;
use model::canonical::sha256_hex;
use model::reading::{described, shortened};
use serde_json::{Map, Value};

use crate::authored::{self, Authored};
use crate::scenario::step::object;

const MAX_LINE_LENGTH: usize = 500;
const MAX_TEXT_LENGTH: usize = 100_000;
const MAX_LINES: usize = 20;

/// Renders a document. The members of the row are its metadata, its bytes, the authored document, and its text layer if it
/// has one.
pub(crate) fn render_row(document: &Document) -> Result<Map<String, Value>, FieldErrors> {
    let Rendered { bytes, content_type, pages, text } =
        documents::render(document).map_err(|error| FieldErrors::one("document", error.to_string()))?;
    let mut row = object([
        ("sha256", sha256_hex(&bytes).into()),
        ("size", bytes.len().into()),
        ("content_type", content_type.into()),
        ("pages", pages.into()),
        ("base64", STANDARD.encode(&bytes).into()),
        ("document", document.json()),
    ]);
    row.extend(text.map(|text| ("text".to_owned(), text.into())));
    Ok(row)
}

/// Checks that the path has an extension of the document's format, and returns the error if it has not.
pub(crate) fn check_extension(document: &Document, path: &str) -> Option<String> {
    let (path, extensions) = (path.to_ascii_lowercase(), document.format.extensions());
    let is_valid = extensions.iter().any(|extension| path.ends_with(extension));
    (!is_valid).then(|| format!("must end with {} for a document in this format", extensions.join(" or ")))
}

impl Authored for Document {
    fn validate(&self, errors: &mut FieldErrors) {
        authored::text(errors, "title", &self.title, MAX_LINE_LENGTH);
        if let Some(letterhead) = &self.letterhead {
            authored::text(errors, "letterhead.name", &letterhead.name, MAX_LINE_LENGTH);
            check_lines(errors, "letterhead.lines", &letterhead.lines, MAX_LINES);
        }
        check_lines(errors, "recipient", &self.recipient, MAX_LINES);
        check_fields(errors, "header", &self.header);
        errors.each("sections", &self.sections, 200, |section, errors| {
            check_section(section, errors);
        });
        let lines =
            [("date", &self.date), ("signer", &self.signer), ("signed_on", &self.signed_on), ("footer", &self.footer)];
        for (field, line) in lines {
            authored::optional_text(errors, field, line.as_ref(), MAX_LINE_LENGTH);
        }
        if let Err(error) = self.has_text_layer() {
            errors.add("text_layer", error.to_string());
        }
    }
}

fn check_lines(errors: &mut FieldErrors, field: &str, lines: &[String], max: usize) {
    errors.each(field, lines, max, |line, errors| {
        authored::text(errors, "", line, MAX_LINE_LENGTH);
    });
}

fn check_fields(errors: &mut FieldErrors, field: &str, fields: &Map<String, Value>) {
    if fields.len() > 100 {
        errors.add(field, format!("must have at most 100 fields, has {}", fields.len()));
        return;
    }
    for (label, value) in fields {
        let field = format!("{field}.{}", shortened(label, 80));
        authored::text(errors, &field, label, MAX_LINE_LENGTH);
        check_cell(errors, &field, value);
    }
}

fn check_section(section: &Section, errors: &mut FieldErrors) {
    if section.is_empty() {
        errors.add("", "must have a heading, text, fields, a list or a table");
    }
    authored::optional_text(errors, "heading", section.heading.as_ref(), MAX_LINE_LENGTH);
    authored::optional_text(errors, "text", section.text.as_ref(), MAX_TEXT_LENGTH);
    check_fields(errors, "fields", &section.fields);
    errors.each("list", &section.list, 200, |item, errors| {
        authored::text(errors, "", item, 10_000);
    });
    if let Some(table) = &section.table {
        errors.inside("table", |errors| check_table(table, errors));
    }
}

fn check_table(table: &Table, errors: &mut FieldErrors) {
    if table.columns.is_empty() {
        errors.add("columns", "must not be empty");
    }
    errors.each("columns", &table.columns, 30, |column, errors| {
        errors.length("", column, 0..=MAX_LINE_LENGTH);
    });
    errors.each("rows", &table.rows, 1000, |row, errors| {
        if row.len() != table.columns.len() {
            errors.add("", format!("must have {} cells like the columns, has {}", table.columns.len(), row.len()));
        }
        for (index, cell) in row.iter().enumerate() {
            check_cell(errors, &index.to_string(), cell);
        }
    });
}

/// A cell is a string or a number. Numbers are printed as written.
fn check_cell(errors: &mut FieldErrors, field: &str, cell: &Value) {
    match cell {
        Value::String(text) => {
            errors.length(field, text, 0..=10_000);
            if text.contains('\0') {
                errors.add(field, "must not contain NUL characters");
            }
        }
        Value::Number(_) => {}
        other => errors.add(field, format!("must be a string or a number, is {}", described(other))),
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
    fn a_document_has_text_and_serializes_to_its_source() {
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
    fn a_row_has_the_bytes_and_the_text_layer() {
        let spec = |change: Value| {
            let mut spec = json!({"title": "Order", "header": {"Patient": "Đặng Müller"}, "signer": "Dr. Núñez"});
            spec.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            Value::Object(render_row(&authored::read::<Document>(&spec).unwrap()).unwrap())
        };
        for (change, content_type, is_read) in [
            (json!({}), "application/pdf", true),
            (json!({"text_layer": false}), "application/pdf", false),
            (json!({"format": "tiff"}), "image/tiff", false),
        ] {
            let row = spec(change);
            let bytes = STANDARD.decode(row["base64"].as_str().unwrap()).unwrap();
            assert_eq!(row["sha256"], sha256_hex(&bytes));
            assert_eq!((&row["size"], &row["pages"]), (&json!(bytes.len()), &json!(1)));
            assert_eq!(row["content_type"], content_type);
            let read = documents::text(&bytes).unwrap();
            assert_eq!((row.get("text").is_some(), !read.needs_ocr()), (is_read, is_read));
            assert_eq!(read.joined().contains("Đặng Müller"), is_read);
        }
        let too_long = json!({"title": "x", "sections": vec![json!({"text": "x ".repeat(50_000)}); 200]});
        let errors = render_row(&authored::read::<Document>(&too_long).unwrap()).unwrap_err();
        assert_eq!(errors.to_string(), "document: the document would have more than 200 pages");
    }

    #[test]
    fn the_header_keeps_its_order() {
        let document = authored::read::<Document>(&json!({"title": "x", "header": {"Z": 1, "A": 2}})).unwrap();
        assert_eq!(document.text(), "x\nZ: 1\nA: 2\nSignature: /s/");
    }

    #[test]
    fn errors_name_their_field() {
        for (document, field) in [
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
            (json!({"title": "x", "sections": [{"list": ["a", ""]}]}), "sections.0.list.1"),
            (json!({"title": "x", "sections": [{"fields": {"a": []}}]}), "sections.0.fields.a"),
            (json!({"title": "x", "letterhead": {"lines": []}}), "letterhead.name"),
            (json!({"title": "x", "letterhead": {"name": "x", "lines": [" "]}}), "letterhead.lines.0"),
            (json!({"title": "x", "recipient": vec!["x"; 21]}), "recipient"),
            (json!({"title": "x", "format": "docx"}), "format"),
            (json!({"title": "x", "look": "worn"}), "look"),
            (json!({"title": "x", "format": "tiff", "text_layer": true}), "text_layer"),
        ] {
            let errors = authored::check::<Document>(&document).unwrap_err();
            assert_eq!(errors.iter().next().map(|(field, _)| field), Some(field), "{errors}");
        }
    }
}
