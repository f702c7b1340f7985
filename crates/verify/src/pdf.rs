//! The visible text of documents.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::budget::Budget;
use crate::evidence::text;

/// The text of a row, or else the visible text of its bytes, or why it cannot be read.
pub(crate) fn row_text<'v>(row: &'v Value, budget: &Budget) -> Result<Cow<'v, str>, String> {
    if let Some(text) = text(row, "text") {
        return Ok(Cow::Borrowed(text));
    }
    let bytes = text(row, "base64").and_then(|base64| STANDARD.decode(base64).ok());
    let bytes = bytes.ok_or("its content cannot be read as text")?;
    visible_text(&bytes, budget).map(Cow::Owned)
}

/// The visible part of a PDF's text layer. Does not use OCR, because its result depends on the machine, and a score must
/// not.
pub(crate) fn visible_text(bytes: &[u8], budget: &Budget) -> Result<String, String> {
    let (text, cost) = documents::visible_text_and_cost(bytes);
    // All files share the budget of the assertion, so many slow files cannot exceed it.
    budget.spend(usize::try_from(cost).unwrap_or(usize::MAX))?;
    let text = match text {
        Ok(text) => text,
        Err(documents::DocumentError::UnknownKind) => return Err("its content cannot be read as text".to_owned()),
        Err(error) => return Err(format!("its content cannot be read: {error}")),
    };
    if text.needs_ocr() {
        return Err("it has no readable text: its pages are pictures, or their text is hidden".to_owned());
    }
    Ok(text.joined())
}
