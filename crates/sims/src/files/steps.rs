//! The scenario steps `drop_file_inbox` and `file_delete`.

use model::FieldErrors;
use model::dataset::{FILE_PATH_RULE, is_file_path};
use model::template::is_template;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use world::Lookup;

use super::content;
use super::path::TreePath;
use super::tree::Tree;
use crate::authored::Authored;
use crate::document::{self, Document};
use crate::registry::StepInfo;
use crate::scenario::step::{DatasetFileRef, ScenarioStep, StepContext, StepOutput, object};

pub(crate) const DROP_FILE_INBOX: StepInfo = StepInfo::of::<DropFileInbox>(
    "drop_file_inbox",
    "Puts a file into the inbox: text, base64 bytes, a document rendered to PDF or TIFF, or a file of the dataset",
    || {
        json!({"do": "drop_file_inbox", "path": "inbox/referral-{{entity.data.number}}.pdf", "document": {
            "title": "Referral to cardiology",
            "header": {"Patient": "{{entity.data.name}}", "From": "Lakeside Family Medicine"},
            "sections": [{"heading": "Reason for referral", "text": "Palpitations for two weeks."}],
            "signature": "missing",
            "signer": "Dr. Maria Lee",
        }})
    },
);

pub(crate) const FILE_DELETE: StepInfo = StepInfo::of::<FileDelete>(
    "file_delete",
    "Deletes a file",
    || json!({"do": "file_delete", "after_seconds": 600, "path": "inbox/referral-1.pdf"}),
);

/// Exactly one of the four last fields is given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DropFileInbox {
    pub path: String,
    pub content: Option<String>,
    pub base64: Option<String>,
    pub document: Option<Document>,
    /// The path of a file in one of the simulator's datasets.
    pub dataset_file: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDelete {
    pub path: String,
}

impl Authored for DropFileInbox {
    fn validate(&self, errors: &mut FieldErrors) {
        check_sandbox_path(errors, "path", &self.path);
        let sources =
            [self.content.is_some(), self.base64.is_some(), self.document.is_some(), self.dataset_file.is_some()];
        let count = sources.into_iter().filter(|is_given| *is_given).count();
        if count != 1 {
            errors.add(
                "",
                format!("must have exactly one of `content`, `base64`, `document`, `dataset_file`, has {count}"),
            );
        }
        if self.base64.as_deref().is_some_and(|text| !is_template(text) && !is_base64(text)) {
            errors.add("base64", "must be base64 (RFC 4648, with padding)");
        }
        if let Some(document) = &self.document {
            if let Some(error) = document::check_extension(document, &self.path).filter(|_| !self.path.ends_with("}}"))
            {
                errors.add("path", error);
            }
            errors.inside("document", |errors| document.validate(errors));
        }
        if self.dataset_file.as_deref().is_some_and(|path| !is_file_path(path)) {
            errors.add("dataset_file", FILE_PATH_RULE);
        }
    }
}

impl Authored for FileDelete {
    fn validate(&self, errors: &mut FieldErrors) {
        check_sandbox_path(errors, "path", &self.path);
    }
}

/// Rows by path: `{sha256, size, content_type, modified_at}` and the content. Text is in `text`, other bytes are in `base64`. A
/// binary file of a dataset has neither: its bytes are in the blob with its hash. A rendered document has its bytes in
/// `base64`, and also `document`, `pages` and its text layer in `text`.
pub(crate) const FILES: &str = "files";

impl ScenarioStep for DropFileInbox {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        let path = in_tree(&self.path);
        check_tree(context, path).map_err(|error| FieldErrors::one("path", error))?;
        let mut row = self.content(context)?;
        row.insert("modified_at".to_owned(), context.due_at.to_string().into());
        let mut details = object([("path", path.into())]);
        for name in ["content_type", "size", "sha256"] {
            details.extend(row.get_key_value(name).map(|(name, value)| (name.clone(), value.clone())));
        }
        Ok(StepOutput {
            summary: format!("{path} was dropped"),
            details,
            changes: vec![context.put(FILES, path, &Value::Object(row))],
            arrivals: Vec::new(),
        })
    }

    fn dataset_file(&self) -> Option<DatasetFileRef<'_>> {
        self.dataset_file.as_deref().map(|path| DatasetFileRef::Required { member: "dataset_file", path })
    }
}

impl DropFileInbox {
    fn content(&self, context: &StepContext<'_>) -> Result<Map<String, Value>, FieldErrors> {
        if let Some(text) = &self.content {
            return Ok(content::of_text(&self.path, text));
        }
        if let Some(base64) = &self.base64 {
            return content::of_base64(&self.path, base64).map_err(|error| FieldErrors::one("base64", error));
        }
        if let Some(document) = &self.document {
            return document::render_row(document);
        }
        let file = context.file.ok_or_else(|| FieldErrors::one("dataset_file", "does not exist"))?;
        Ok(content::of_dataset(file))
    }
}

/// Deleting a file of a dataset creates a deleted row, which hides the file.
impl ScenarioStep for FileDelete {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        let path = in_tree(&self.path);
        match context.sandbox.records.get(FILES, path) {
            Lookup::Live(_) => {}
            Lookup::Unknown if context.file.is_some() => {}
            _ => return Err(FieldErrors::one("path", "there is no such file")),
        }
        Ok(StepOutput {
            summary: format!("{path} was deleted"),
            details: object([("path", path.into())]),
            changes: vec![context.delete(FILES, path)],
            arrivals: Vec::new(),
        })
    }

    fn dataset_file(&self) -> Option<DatasetFileRef<'_>> {
        Some(DatasetFileRef::Optional { path: in_tree(&self.path) })
    }
}

fn in_tree(path: &str) -> &str {
    path.strip_prefix('/').unwrap_or(path)
}

/// Checks that the path does not conflict with an existing file or directory.
fn check_tree(context: &StepContext<'_>, path: &str) -> Result<(), String> {
    let tree = Tree::of(context.sandbox);
    let path = TreePath::exact(path).ok_or(FILE_PATH_RULE)?;
    if let Some(above) = tree.file_above(&path) {
        return Err(format!("`{above}` is a file, and no directory"));
    }
    if tree.file(path.as_str()).is_none() && tree.is_directory(path.as_str()) {
        return Err("there is a directory of that name".to_owned());
    }
    Ok(())
}

/// A path in the sandbox's tree; a slash in front means the tree's root, not the machine's.
fn check_sandbox_path(errors: &mut FieldErrors, field: &str, path: &str) {
    if !is_file_path(path.strip_prefix('/').unwrap_or(path)) {
        errors.add(field, FILE_PATH_RULE);
    }
}

/// Line breaks and spaces are let through: authors wrap long texts.
fn is_base64(text: &str) -> bool {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let packed: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let digits = packed.trim_end_matches('=');
    let padding = packed.len() - digits.len();
    // The bits of the last digit that no byte uses must be zero, or a decoder may refuse them.
    let unused_bits = [0b00, 0b11, 0b1111].get(padding);
    let last_digit = digits.chars().last().and_then(|last| ALPHABET.find(last)).unwrap_or(0);
    packed.len().is_multiple_of(4)
        && digits.chars().all(|c| ALPHABET.contains(c))
        && unused_bits.is_some_and(|unused| last_digit & unused == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authored;

    #[test]
    fn a_dropped_file_has_one_source() {
        for (step, place) in [
            (json!({"path": "inbox/a.txt", "content": ""}), ""),
            (json!({"path": "/inbox/a.txt", "base64": "aGk="}), ""),
            (json!({"path": "a.PDF", "document": {"title": "x"}}), ""),
            (json!({"path": "{{entity.data.path}}", "document": {"title": "x"}}), ""),
            (json!({"path": "a", "dataset_file": "referrals/1.pdf"}), ""),
            (json!({"path": "a", "base64": "{{entity.data.pdf}}"}), ""),
            (json!({"path": "a"}), "."),
            (json!({"path": "a", "content": "x", "base64": "aGk="}), "."),
            (json!({"content": "x"}), "path"),
            (json!({"path": "a", "content": {}}), "content"),
            (json!({"path": "a", "base64": "aGk"}), "base64"),
            (json!({"path": "a.TIF", "document": {"title": "x", "format": "tiff"}}), ""),
            (json!({"path": "a.txt", "document": {"title": "x"}}), "path"),
            (json!({"path": "a.pdf", "document": {"title": "x", "format": "tiff"}}), "path"),
            (json!({"path": "a.pdf", "document": {"title": ""}}), "document.title"),
            (json!({"path": "a.pdf", "document": ["x"]}), "document"),
            (json!({"path": "a", "dataset_file": "/etc/passwd"}), "dataset_file"),
            (json!({"path": "a", "contents": "x"}), "contents"),
        ] {
            let errors = authored::check::<DropFileInbox>(&step).err().unwrap_or_default();
            let places: Vec<&str> =
                errors.iter().map(|(place, _)| if place.is_empty() { "." } else { place }).collect();
            assert_eq!(places.last().copied().unwrap_or_default(), place, "{step}: {errors}");
        }
    }

    #[test]
    fn paths_stay_inside_the_sandbox() {
        let long = "x/".repeat(600);
        for bad in ["", "/", "//a", "a//b", "a/", "..", "/../a", "a/../../b", "a\0b", "a\\..\\b", "./a", &long] {
            assert!(authored::check::<FileDelete>(&json!({ "path": bad })).is_err(), "{bad}");
        }
        for good in ["a", "/a/b", "a/..b", "inbox/Überweisung {{ entity.id }}.pdf"] {
            assert!(authored::check::<FileDelete>(&json!({ "path": good })).is_ok(), "{good}");
        }
    }

    #[test]
    fn base64_is_strict_but_may_be_wrapped() {
        for (text, good) in [
            ("", true),
            ("aGk=", true),
            ("aGVs\n bG8=", true),
            ("YQ==", true),
            ("YR==", false),
            ("aGl=", false),
            ("aGk", false),
            ("a===", false),
            ("====", false),
            ("aG=k", false),
            ("aGk_", false),
            ("aGküü", false),
        ] {
            assert_eq!(is_base64(text), good, "{text}");
        }
    }
}
