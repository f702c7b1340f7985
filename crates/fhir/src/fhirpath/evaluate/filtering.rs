//! Filtering, projection and subsetting (<https://hl7.org/fhirpath/N1/#filtering-and-projection>, `#subsetting`), and
//! types (`#types`).

use super::{EvaluationResult, Given, boolean};
use crate::fhirpath::EvaluationFault;
use crate::fhirpath::item::Item;
use crate::fhirpath::syntax::TypeName;
use crate::fhirpath::types::is_instance;

pub(in crate::fhirpath) fn filter<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let mut found = Vec::new();
    for (index, item) in input.into_iter().enumerate() {
        if given.condition(&item, index)? {
            found.push(item);
        }
    }
    Ok(found)
}

pub(in crate::fhirpath) fn select<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let mut found = Vec::new();
    for (index, item) in input.iter().enumerate() {
        found.append(&mut given.each(0, item, index)?);
    }
    Ok(found)
}

/// Projects what it found again, as long as that gives something new.
pub(in crate::fhirpath) fn repeat<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let mut found: Vec<Item<'v>> = Vec::new();
    let mut waiting = input;
    while !waiting.is_empty() {
        let mut next = Vec::new();
        for (index, item) in waiting.iter().enumerate() {
            for projected in given.each(0, item, index)? {
                if !given.evaluator.has(&found, &projected)? {
                    found.push(projected.clone());
                    next.push(projected);
                }
            }
        }
        waiting = next;
    }
    Ok(found)
}

pub(in crate::fhirpath) fn of_type<'v>(mut input: Vec<Item<'v>>, wanted: &TypeName) -> EvaluationResult<'v> {
    input.retain(|item| is_instance(item, wanted));
    Ok(input)
}

pub(in crate::fhirpath) fn is_type<'v>(input: Vec<Item<'v>>, wanted: &TypeName) -> EvaluationResult<'v> {
    match super::single(&input, "is")? {
        Some(item) => boolean(is_instance(item, wanted)),
        None => Ok(Vec::new()),
    }
}

pub(in crate::fhirpath) fn as_type<'v>(input: Vec<Item<'v>>, wanted: &TypeName) -> EvaluationResult<'v> {
    super::single(&input, "as")?;
    of_type(input, wanted)
}

pub(in crate::fhirpath) fn single<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    match input.len() {
        0 | 1 => Ok(input),
        count => Err(EvaluationFault::NotSingle { place: given.name, count }),
    }
}

pub(in crate::fhirpath) fn first<'v>(_: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(input.into_iter().take(1).collect())
}

pub(in crate::fhirpath) fn last<'v>(_: &Given<'_, 'v>, mut input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(input.pop().into_iter().collect())
}

pub(in crate::fhirpath) fn tail<'v>(_: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(input.into_iter().skip(1).collect())
}

pub(in crate::fhirpath) fn skip<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(input.into_iter().skip(amount(given)?).collect())
}

pub(in crate::fhirpath) fn take<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(input.into_iter().take(amount(given)?).collect())
}

/// Below zero is none.
fn amount(given: &Given<'_, '_>) -> Result<usize, EvaluationFault> {
    let amount = given.integer(0)?.ok_or_else(|| given.unusable("needs a number"))?;
    Ok(usize::try_from(amount.max(0)).unwrap_or(usize::MAX))
}
