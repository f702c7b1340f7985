//! The content of files as checks read it: the bytes that were brought for it, as text in the format that is asked for.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::budget::Budget;
use crate::checks::sftp_file_present::FileFormat;
use crate::evidence::{Case, text};
use crate::pdf;

/// The bytes of files, by the SHA-256 of each: those that [`crate::wanted_files`] names.
pub type Contents = BTreeMap<String, Vec<u8>>;

/// For evidence that needs no bytes of files.
pub static NO_CONTENTS: Contents = BTreeMap::new();

/// What one assertion may read of files that are not in their rows.
const MOST_BYTES: u64 = 64 << 20;

/// Rows of files, by hash.
pub type Wanted = BTreeMap<String, Value>;

/// Adds a file whose bytes are not in its row, as long as all of them together can be read.
pub(crate) fn want(wanted: &mut Wanted, read: &mut u64, file: &Value) {
    let (Some(sha256), Some(size)) = (text(file, "sha256"), file.get("size").and_then(Value::as_u64)) else { return };
    let is_in_row = ["text", "base64"].iter().any(|member| text(file, member).is_some());
    if is_in_row || wanted.contains_key(sha256) || read.saturating_add(size) > MOST_BYTES {
        return;
    }
    *read += size;
    wanted.insert(sha256.to_owned(), file.clone());
}

/// The row of a fax as that of a file: its `text` was read in the document, and is not its content.
pub(crate) fn fax_file(fax: &Value) -> Value {
    let mut file = fax.clone();
    if let Some(members) = file.as_object_mut() {
        members.remove("text");
    }
    file
}

/// The bytes of a file. The fault is why nobody can tell.
pub(crate) fn bytes<'c>(row: &Value, case: &Case<'c>) -> Result<Cow<'c, [u8]>, String> {
    let brought = text(row, "sha256").and_then(|sha256| case.evidence.contents.get(sha256));
    let bytes = match brought {
        Some(bytes) => Cow::Borrowed(bytes.as_slice()),
        None => {
            let decoded = text(row, "base64").and_then(|base64| STANDARD.decode(base64).ok());
            let bytes = decoded.or_else(|| text(row, "text").map(|text| text.as_bytes().to_vec()));
            Cow::Owned(bytes.ok_or("its content is too large to be read")?)
        }
    };
    case.budget.spend(bytes.len())?;
    Ok(bytes)
}

/// What a file says. The fault is why nobody can tell.
pub(crate) fn readable<'c>(file: &'c Value, format: FileFormat, case: &Case<'c>) -> Result<Cow<'c, str>, String> {
    if let Some(text) = text(file, "text") {
        return Ok(Cow::Borrowed(text));
    }
    if let Some(bytes) = text(file, "sha256").and_then(|sha256| case.evidence.contents.get(sha256)) {
        case.budget.spend(bytes.len())?;
        return said(bytes, format, &case.budget);
    }
    let bytes = text(file, "base64").and_then(|base64| STANDARD.decode(base64).ok());
    let bytes = bytes.ok_or("its content is too large to be read")?;
    case.budget.spend(bytes.len())?;
    said(&bytes, format, &case.budget).map(|text| Cow::Owned(text.into_owned()))
}

fn said<'b>(bytes: &'b [u8], format: FileFormat, budget: &Budget) -> Result<Cow<'b, str>, String> {
    match format {
        FileFormat::Pdf => pdf::read(bytes, budget).map(Cow::Owned),
        FileFormat::Text if bytes.starts_with(b"%PDF-") => pdf::read(bytes, budget).map(Cow::Owned),
        FileFormat::Hl7 => {
            let message = hl7v2::Message::parse(bytes, &hl7v2::Limits::default());
            message.map(|message| Cow::Owned(message.text().to_owned())).map_err(|fault| fault.to_string())
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
