//! Existence (<https://hl7.org/fhirpath/N1/#existence>).

use super::{EvaluationResult, Given, boolean, truth, wrong_type};
use crate::fhirpath::EvaluationFault;
use crate::fhirpath::item::Item;

pub(in crate::fhirpath) fn empty<'v>(_: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    boolean(input.is_empty())
}

pub(in crate::fhirpath) fn exists<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    if given.arguments.is_empty() {
        return boolean(!input.is_empty());
    }
    for (index, item) in input.iter().enumerate() {
        if given.condition(item, index)? {
            return boolean(true);
        }
    }
    boolean(false)
}

pub(in crate::fhirpath) fn all<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    for (index, item) in input.iter().enumerate() {
        if !given.condition(item, index)? {
            return boolean(false);
        }
    }
    boolean(true)
}

pub(in crate::fhirpath) fn all_true<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    boolean(booleans(given, &input)?.iter().all(|value| *value))
}

pub(in crate::fhirpath) fn any_true<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    boolean(booleans(given, &input)?.iter().any(|value| *value))
}

pub(in crate::fhirpath) fn all_false<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    boolean(booleans(given, &input)?.iter().all(|value| !*value))
}

pub(in crate::fhirpath) fn any_false<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    boolean(booleans(given, &input)?.iter().any(|value| !*value))
}

fn booleans(given: &Given<'_, '_>, input: &[Item<'_>]) -> Result<Vec<bool>, EvaluationFault> {
    let read = |item: &Item<'_>| match item.atom() {
        Some(Item::Boolean(value)) => Ok(value),
        _ => Err(wrong_type(item, given.name)),
    };
    input.iter().map(read).collect()
}

pub(in crate::fhirpath) fn subset_of<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let other = given.argument(0)?;
    is_subset(given, &input, &other)
}

pub(in crate::fhirpath) fn superset_of<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let other = given.argument(0)?;
    is_subset(given, &other, &input)
}

fn is_subset<'v>(given: &Given<'_, 'v>, part: &[Item<'v>], whole: &[Item<'v>]) -> EvaluationResult<'v> {
    for item in part {
        if !given.evaluator.has(whole, item)? {
            return boolean(false);
        }
    }
    boolean(true)
}

pub(in crate::fhirpath) fn count<'v>(_: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(vec![Item::Integer(i64::try_from(input.len()).unwrap_or(i64::MAX))])
}

pub(in crate::fhirpath) fn distinct<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    given.evaluator.distinct(input)
}

pub(in crate::fhirpath) fn is_distinct<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let count = input.len();
    boolean(given.evaluator.distinct(input)?.len() == count)
}

pub(in crate::fhirpath) fn not<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(truth(&input, given.name)?.map(|value| Item::Boolean(!value)).into_iter().collect())
}
