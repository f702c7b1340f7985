//! Tree navigation and utility functions (<https://hl7.org/fhirpath/N1/#tree-navigation>, `#utility-functions`).

use super::{EvaluationResult, Given};
use crate::fhirpath::item::Item;
use crate::fhirpath::temporal::Temporal;

pub(in crate::fhirpath) fn children<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let mut found = Vec::new();
    for item in &input {
        if let Item::Node(node) = item {
            node.children(None, &mut found);
        }
    }
    given.evaluator.spend(found.len())?;
    Ok(found)
}

/// Each element once, by its location: equal elements at different locations are all returned.
pub(in crate::fhirpath) fn descendants<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let mut found = Vec::new();
    let mut level = children(given, input)?;
    while !level.is_empty() {
        found.extend(level.iter().cloned());
        level = children(given, level)?;
    }
    Ok(found)
}

/// Nobody listens here; the input goes on.
pub(in crate::fhirpath) fn trace<'v>(_: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(input)
}

pub(in crate::fhirpath) fn now<'v>(given: &Given<'_, 'v>, _: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(vec![Item::Temporal(Temporal::DateTime(given.evaluator.context.now))])
}

pub(in crate::fhirpath) fn today<'v>(given: &Given<'_, 'v>, _: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(vec![Item::Temporal(Temporal::Date(given.evaluator.context.now.date()))])
}

pub(in crate::fhirpath) fn time_of_day<'v>(given: &Given<'_, 'v>, _: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(given.evaluator.context.now.time().map(Temporal::Time).map(Item::Temporal).into_iter().collect())
}

pub(in crate::fhirpath) fn type_of<'v>(_: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(input.iter().map(|item| Item::Type(item.type_info())).collect())
}
