//! Documents as they look: whether there is anything beside text, and whether one shows the same as another.
//!
//! A document that cannot be looked at is not known to be another one: its sheet gets a fault, not a violation.

use serde_json::Value;

use crate::bounds::short;
use crate::content::bytes;
use crate::evidence::Case;
use crate::judge::{FieldResult, Sheet};

/// Adds what a document shows beside text to its sheet.
pub(crate) fn check_text_only(sheet: &mut Sheet, row: &Value, case: &Case<'_>) -> Result<(), String> {
    let bytes = match bytes(row, case) {
        Ok(bytes) => bytes,
        Err(fault) => {
            add_fault(sheet, fault);
            return Ok(());
        }
    };
    let (found, cost) = documents::beside_text_and_cost(&bytes);
    case.budget.spend(usize::try_from(cost).unwrap_or(usize::MAX))?;
    match found {
        Ok(None) => {}
        Ok(Some(other)) => sheet.violations.push(violation("text only", format!("has {other}"))),
        Err(fault) => add_fault(sheet, fault.to_string()),
    }
    Ok(())
}

/// Adds to its sheet that a document does not show the same as another.
pub(crate) fn check_look(
    sheet: &mut Sheet,
    (path, original): (&str, &Value),
    row: &Value,
    case: &Case<'_>,
) -> Result<(), String> {
    let hash = |row: &Value| row.get("sha256").and_then(Value::as_str).map(ToOwned::to_owned);
    if hash(original).is_some_and(|original| hash(row) == Some(original)) {
        return Ok(());
    }
    let compared = match (bytes(original, case), bytes(row, case)) {
        (Ok(original), Ok(document)) => {
            let (compared, cost) = documents::look_alike_and_cost(&original, &document);
            case.budget.spend(usize::try_from(cost).unwrap_or(usize::MAX))?;
            compared.map_err(|fault| fault.to_string())
        }
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
    };
    match compared {
        Ok(true) => {}
        Ok(false) => sheet.violations.push(violation(path, "does not show the same, page by page".to_owned())),
        Err(fault) => add_fault(sheet, fault),
    }
    Ok(())
}

/// The first fault counts.
fn add_fault(sheet: &mut Sheet, fault: String) {
    sheet.fault.get_or_insert(fault);
}

fn violation(expected: &str, reason: String) -> FieldResult {
    FieldResult::violation("document".to_owned(), short(expected).into(), &Value::Null, reason)
}
