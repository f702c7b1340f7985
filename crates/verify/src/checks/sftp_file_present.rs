//! Passes when the sandbox holds a file at the path whose content has the fields and phrases.
//!
//! Reads the sandbox's file tree. `path` is a glob (also written `glob` or `pattern`); `parse` says how the content is
//! read, and with it the notation of the field paths: JSON paths for `json` and `csv` (a list of rows, each an object
//! by column name), HL7 and X12 paths for `hl7` and `x12`; `text` and `pdf` have phrases only. Without `parse` a file is
//! read as `json` when there are fields, else as `text`. The example: [`EXAMPLE`].
//! Evidence: `fieldResults[{path,expected,actual,passed}]`, `matched_paths[]`.

use model::FieldErrors;
use serde::Deserialize;

use crate::authored::{Authored, Notation};
use crate::checks::{Check, CheckInfo};
use crate::count::Count;
use crate::field::{FieldAssertion, check_fields};
use crate::glob::Glob;
use crate::limits::LONGEST_PATH;
use crate::path::hl7::Hl7Path;
use crate::path::json::JsonPath;
use crate::path::x12::X12Path;
use crate::phrase::{Phrase, check_phrases};

pub const EXAMPLE: &str = r#"{
  "assert": "sftp-file-present",
  "path": "outbox/returns/*.json",
  "parse": "json",
  "fields": [{"path": "reason", "expected": "missing_signature"}],
  "contains": [["resubmit", "send again"]],
  "count": {"min": 1, "max": 1}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SftpFilePresent {
    #[serde(alias = "glob", alias = "pattern")]
    pub path: Authored<Glob>,
    #[serde(default)]
    pub parse: Option<FileFormat>,
    #[serde(default)]
    pub fields: Vec<FieldAssertion<ContentPath>>,
    #[serde(default)]
    pub contains: Vec<Phrase>,
    #[serde(default)]
    pub count: Option<Count>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    Json,
    Text,
    Csv,
    Hl7,
    X12,
    Pdf,
}

/// The notation is known only beside `parse`: see [`ContentPath::read_as`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentPath(String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatPath {
    Json(JsonPath),
    Hl7(Hl7Path),
    X12(X12Path),
}

impl ContentPath {
    pub fn read_as(&self, format: FileFormat) -> Result<FormatPath, String> {
        match format {
            FileFormat::Json | FileFormat::Csv => JsonPath::read(&self.0).map(FormatPath::Json),
            FileFormat::Hl7 => Hl7Path::read(&self.0).map(FormatPath::Hl7),
            FileFormat::X12 => X12Path::read(&self.0).map(FormatPath::X12),
            FileFormat::Text | FileFormat::Pdf => Err("has no meaning in `text` and `pdf`".to_owned()),
        }
    }
}

impl Notation for ContentPath {
    const LONGEST: usize = LONGEST_PATH;

    fn read(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }
}

impl SftpFilePresent {
    pub fn format(&self) -> FileFormat {
        let default = if self.fields.is_empty() { FileFormat::Text } else { FileFormat::Json };
        self.parse.unwrap_or(default)
    }
}

impl Check for SftpFilePresent {
    const INFO: CheckInfo = CheckInfo {
        name: "sftp-file-present",
        summary: "The sandbox holds a file at the path whose content has the fields and phrases.",
        example: EXAMPLE,
    };
    const ALIASES: &[(&str, &str)] = &[("glob", "path"), ("pattern", "path")];

    fn validate(&self, errors: &mut FieldErrors) {
        check_fields("fields", &self.fields, errors);
        check_phrases("contains", &self.contains, errors);
        let format = self.format();
        if !self.fields.is_empty() && matches!(format, FileFormat::Text | FileFormat::Pdf) {
            errors.add("fields", "need `parse` to be `json`, `csv`, `hl7` or `x12`; use `contains` for text");
            return;
        }
        for (index, field) in self.fields.iter().enumerate() {
            if let Authored::Ready(path) = &field.path
                && let Err(fault) = path.read_as(format)
            {
                errors.add(format!("fields.{index}.path"), fault);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("sftp-file-present", specification, faults);
    }

    #[test]
    fn sound_specifications() {
        check(json!({"path": "outbox/report.pdf"}), &[]);
        check(json!({"glob": "outbox/**/*.txt", "contains": ["approved"]}), &[]);
        check(json!({"pattern": "outbox/{{entity.id}}/[", "count": 0}), &[]);
        check(json!({"path": "*.json", "fields": [{"path": "a.b", "expected": 1}]}), &[]);
        check(json!({"path": "*.csv", "parse": "csv", "fields": [{"path": "[mrn=1].status", "expected": "ok"}]}), &[]);
        check(json!({"path": "*.hl7", "parse": "hl7", "fields": [{"path": "PID.3.1", "expected": "1"}]}), &[]);
        check(json!({"path": "*.edi", "parse": "x12", "fields": [{"path": "2110C.EB.1", "expected": "1"}]}), &[]);
        check(json!({"path": "*.hl7", "parse": "hl7", "fields": [{"path": "PID.{{entity.n}}", "expected": "1"}]}), &[]);
    }

    #[test]
    fn faulty_specifications() {
        check(json!({}), &[("path", "required")]);
        check(json!({"path": "a", "glob": "b"}), &[("path", "twice")]);
        check(json!({"glob": "a", "pattern": "b"}), &[("path", "twice")]);
        check(json!({"path": "../secret"}), &[("path", "`..`")]);
        check(json!({"glob": "a["}), &[("glob", "without `]`")]);
        check(json!({"path": "a", "parse": "xml"}), &[("parse", "one of `json`")]);
        check(
            json!({"path": "a", "parse": "pdf", "fields": [{"path": "a", "expected": 1}]}),
            &[("fields", "use `contains`")],
        );
        check(
            json!({"path": "a", "parse": "hl7", "fields": [{"path": "a.b", "expected": 1}, {"path": "PID.3"}]}),
            &[("fields.0.path", "segment name"), ("fields.1.expected", "required")],
        );
        check(
            json!({"path": "a", "contains": ["ok", "", ["yes", 7]]}),
            &[("contains.1", "empty"), ("contains.2", "list of strings")],
        );
        check(json!({"path": "a", "contains": vec!["x"; 201]}), &[("contains", "at most 200")]);
        check(json!({"path": "a".repeat(513)}), &[("path", "at most 512")]);
    }
}
