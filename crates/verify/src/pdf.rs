//! The text of a document whose bytes are in its row: what a person would see of a PDF's text layer.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::budget::Budget;
use crate::evidence::text;

/// The text of the row, or what can be read in its bytes. The fault is why nobody can tell.
pub(crate) fn said<'v>(row: &'v Value, budget: &Budget) -> Result<Cow<'v, str>, String> {
    if let Some(text) = text(row, "text") {
        return Ok(Cow::Borrowed(text));
    }
    let bytes = text(row, "base64").and_then(|base64| STANDARD.decode(base64).ok());
    let bytes = bytes.ok_or("its content cannot be read as text")?;
    read(&bytes, budget).map(Cow::Owned)
}

/// Pictures have no words here: what OCR makes of them depends on the machine, and a score must not.
pub(crate) fn read(bytes: &[u8], budget: &Budget) -> Result<String, String> {
    let (read, cost) = documents::visible_text_and_cost(bytes);
    // Many files that are made to be slow come out of the one budget of the assertion.
    budget.spend(usize::try_from(cost).unwrap_or(usize::MAX))?;
    let read = match read {
        Ok(read) => read,
        Err(documents::Fault::UnknownKind) => return Err("its content cannot be read as text".to_owned()),
        Err(fault) => return Err(format!("its content cannot be read: {fault}")),
    };
    if read.needs_ocr() {
        return Err("its pages are pictures, or their text is hidden: there is no text to be read".to_owned());
    }
    Ok(read.joined())
}
