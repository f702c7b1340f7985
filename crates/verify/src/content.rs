//! Reads the content of files as text in the format that the check asks for.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::budget::Budget;
use crate::checks::sftp_file_present::FileFormat;
use crate::evidence::{EvaluationContext, text};
use crate::pdf;

/// The bytes of the files that [`crate::wanted_files`] returns, by their SHA-256.
pub type FileContents = BTreeMap<String, Vec<u8>>;

/// No contents, for evidence that does not need them.
pub static NO_FILE_CONTENTS: FileContents = BTreeMap::new();

/// Bytes that one assertion may read of files that are not stored in their rows.
const MOST_BYTES: u64 = 64 << 20;

/// Rows of files, by hash.
pub type WantedFiles = BTreeMap<String, Value>;

/// Adds a file whose bytes are not in its row, unless the total size would exceed the limit.
pub(crate) fn add_wanted_file(wanted: &mut WantedFiles, total_size: &mut u64, file: &Value) {
    let (Some(sha256), Some(size)) = (text(file, "sha256"), file.get("size").and_then(Value::as_u64)) else { return };
    let is_in_row = ["text", "base64"].iter().any(|member| text(file, member).is_some());
    if is_in_row || wanted.contains_key(sha256) || total_size.saturating_add(size) > MOST_BYTES {
        return;
    }
    *total_size += size;
    wanted.insert(sha256.to_owned(), file.clone());
}

/// Converts the row of a fax to that of a file. The `text` of a fax was extracted from its document, so it is left out.
pub(crate) fn fax_file(fax: &Value) -> Value {
    let mut file = fax.clone();
    if let Some(members) = file.as_object_mut() {
        members.remove("text");
    }
    file
}

/// The bytes of a file, or why they cannot be read.
pub(crate) fn file_bytes<'c>(row: &Value, context: &EvaluationContext<'c>) -> Result<Cow<'c, [u8]>, String> {
    let given_bytes = text(row, "sha256").and_then(|sha256| context.evidence.contents.get(sha256));
    let bytes = match given_bytes {
        Some(bytes) => Cow::Borrowed(bytes.as_slice()),
        None => {
            let decoded = text(row, "base64").and_then(|base64| STANDARD.decode(base64).ok());
            let bytes = decoded.or_else(|| text(row, "text").map(|text| text.as_bytes().to_vec()));
            Cow::Owned(bytes.ok_or("its content is too large to be read")?)
        }
    };
    context.budget.spend(bytes.len())?;
    Ok(bytes)
}

/// The text of a file, or why it cannot be read.
pub(crate) fn file_text<'c>(
    file: &'c Value,
    format: FileFormat,
    context: &EvaluationContext<'c>,
) -> Result<Cow<'c, str>, String> {
    if let Some(text) = text(file, "text") {
        return Ok(Cow::Borrowed(text));
    }
    if let Some(bytes) = text(file, "sha256").and_then(|sha256| context.evidence.contents.get(sha256)) {
        context.budget.spend(bytes.len())?;
        return decode_text(bytes, format, &context.budget);
    }
    let bytes = text(file, "base64").and_then(|base64| STANDARD.decode(base64).ok());
    let bytes = bytes.ok_or("its content is too large to be read")?;
    context.budget.spend(bytes.len())?;
    decode_text(&bytes, format, &context.budget).map(|text| Cow::Owned(text.into_owned()))
}

fn decode_text<'b>(bytes: &'b [u8], format: FileFormat, budget: &Budget) -> Result<Cow<'b, str>, String> {
    match format {
        FileFormat::Pdf => pdf::visible_text(bytes, budget).map(Cow::Owned),
        FileFormat::Text if bytes.starts_with(b"%PDF-") => pdf::visible_text(bytes, budget).map(Cow::Owned),
        FileFormat::Hl7 => {
            let message = hl7v2::Message::parse(bytes, &hl7v2::Limits::default());
            message.map(|message| Cow::Owned(message.text().to_owned())).map_err(|error| error.to_string())
        }
        FileFormat::Json | FileFormat::Csv | FileFormat::Text | FileFormat::X12 => plain_text(bytes),
    }
}

fn plain_text(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    const BYTE_ORDER_MARK: char = '\u{feff}';
    let text = str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or("its content cannot be read as text")?;
    Ok(Cow::Borrowed(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)))
}
