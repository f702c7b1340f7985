//! Combining and aggregates (<https://hl7.org/fhirpath/N1/#combining>, `#aggregates`).

use super::{EvaluationResult, Evaluator, Given, Scope};
use crate::fhirpath::EvaluationFault;
use crate::fhirpath::item::Item;

pub(in crate::fhirpath) fn intersect<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let other = given.argument(0)?;
    let mut found = Vec::new();
    for item in given.evaluator.distinct(input)? {
        if given.evaluator.has(&other, &item)? {
            found.push(item);
        }
    }
    Ok(found)
}

pub(in crate::fhirpath) fn exclude<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let other = given.argument(0)?;
    let mut found = Vec::new();
    for item in input {
        if !given.evaluator.has(&other, &item)? {
            found.push(item);
        }
    }
    Ok(found)
}

pub(in crate::fhirpath) fn union_with<'v>(given: &Given<'_, 'v>, mut input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    input.append(&mut given.argument(0)?);
    given.evaluator.distinct(input)
}

pub(in crate::fhirpath) fn combine<'v>(given: &Given<'_, 'v>, mut input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    input.append(&mut given.argument(0)?);
    Ok(input)
}

pub(in crate::fhirpath) fn aggregate<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let mut total = given.argument(1)?;
    for (index, item) in input.iter().enumerate() {
        let scope = Scope { this: std::slice::from_ref(item), index: Some(index), total: Some(&total) };
        total = match given.arguments.first() {
            Some(argument) => given.evaluator.evaluate(argument, &scope)?,
            None => Vec::new(),
        };
    }
    Ok(total)
}

impl<'v> Evaluator<'v> {
    /// Whether an equal of the item is among the others.
    pub(super) fn has(&self, others: &[Item<'v>], item: &Item<'v>) -> Result<bool, EvaluationFault> {
        for other in others {
            self.spend(1)?;
            if self.equal(other, item)? == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn distinct(&self, items: Vec<Item<'v>>) -> EvaluationResult<'v> {
        let mut found: Vec<Item<'v>> = Vec::with_capacity(items.len());
        for item in items {
            if !self.has(&found, &item)? {
                found.push(item);
            }
        }
        Ok(found)
    }
}
