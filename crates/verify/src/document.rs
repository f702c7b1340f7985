//! Checks how documents look: whether they show nothing but text, and whether two documents look the same.
//!
//! If a document cannot be read, its result gets an error, not a violation, because it may still be the right document.

use serde_json::Value;

use crate::bounds::short;
use crate::content::file_bytes;
use crate::evidence::EvaluationContext;
use crate::scoring::{CandidateResult, FieldResult};

/// Adds a violation to the result if the document shows anything other than text.
pub(crate) fn check_text_only(
    result: &mut CandidateResult,
    row: &Value,
    context: &EvaluationContext<'_>,
) -> Result<(), String> {
    let bytes = match file_bytes(row, context) {
        Ok(bytes) => bytes,
        Err(error) => {
            set_error(result, error);
            return Ok(());
        }
    };
    let (found, cost) = documents::non_text_content_and_cost(&bytes);
    context.budget.spend(usize::try_from(cost).unwrap_or(usize::MAX))?;
    match found {
        Ok(None) => {}
        Ok(Some(other)) => result.violations.push(violation("text only", format!("has {other}"))),
        Err(error) => set_error(result, error.to_string()),
    }
    Ok(())
}

/// Adds a violation to the result if the document does not look the same as `original`.
pub(crate) fn check_same_appearance(
    result: &mut CandidateResult,
    (path, original): (&str, &Value),
    row: &Value,
    context: &EvaluationContext<'_>,
) -> Result<(), String> {
    let hash = |row: &Value| row.get("sha256").and_then(Value::as_str).map(ToOwned::to_owned);
    if hash(original).is_some_and(|original| hash(row) == Some(original)) {
        return Ok(());
    }
    let compared = match (file_bytes(original, context), file_bytes(row, context)) {
        (Ok(original), Ok(document)) => {
            let (compared, cost) = documents::same_appearance_and_cost(&original, &document);
            context.budget.spend(usize::try_from(cost).unwrap_or(usize::MAX))?;
            compared.map_err(|error| error.to_string())
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    };
    match compared {
        Ok(true) => {}
        Ok(false) => result.violations.push(violation(path, "does not show the same, page by page".to_owned())),
        Err(error) => set_error(result, error),
    }
    Ok(())
}

/// Keeps the first error.
fn set_error(result: &mut CandidateResult, error: String) {
    result.error.get_or_insert(error);
}

fn violation(expected: &str, reason: String) -> FieldResult {
    FieldResult::violation("document".to_owned(), short(expected).into(), &Value::Null, reason)
}
