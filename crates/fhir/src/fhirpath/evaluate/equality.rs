//! Equality and equivalence (<https://hl7.org/fhirpath/N1/#equality>, `#equivalence`) and order (`#comparison`).

use std::cmp::Ordering;

use rust_decimal::Decimal;
use serde_json::Value;

use super::{Evaluator, wrong_type};
use crate::fhirpath::EvaluationFault;
use crate::fhirpath::item::{Item, Node};
use crate::fhirpath::quantity::{Quantity, is_equivalent};
use crate::fhirpath::value::decimal;

type Decided = Result<Option<bool>, EvaluationFault>;

impl<'v> Evaluator<'v> {
    /// Whether two collections are equal, in order. None if one is empty or the result is unknown.
    pub(super) fn all_equal(&self, left: &[Item<'v>], right: &[Item<'v>]) -> Decided {
        if left.is_empty() || right.is_empty() {
            return Ok(None);
        }
        if left.len() != right.len() {
            return Ok(Some(false));
        }
        let mut decided = Some(true);
        for (left, right) in left.iter().zip(right) {
            match self.equal(left, right)? {
                Some(true) => {}
                Some(false) => return Ok(Some(false)),
                None => decided = None,
            }
        }
        Ok(decided)
    }

    pub(super) fn equal(&self, left: &Item<'v>, right: &Item<'v>) -> Decided {
        if let (Item::Node(left), Item::Node(right)) = (left, right)
            && left.is_same_place(right)
        {
            return Ok(Some(true));
        }
        match (left.atom(), right.atom()) {
            (Some(left), Some(right)) => Ok(atoms_equal(&left, &right)),
            (None, None) => match (left, right) {
                (Item::Node(left), Item::Node(right)) => self.nodes_equal(left, right, Likeness::Equal).map(Some),
                _ => Ok(Some(false)),
            },
            _ => Ok(Some(false)),
        }
    }

    /// Whether two collections have equivalent items in any order.
    pub(super) fn all_equivalent(&self, left: &[Item<'v>], right: &[Item<'v>]) -> Result<bool, EvaluationFault> {
        if left.len() != right.len() {
            return Ok(false);
        }
        let mut open: Vec<&Item<'v>> = right.iter().collect();
        for item in left {
            let mut at = None;
            for (place, candidate) in open.iter().enumerate() {
                self.spend(1)?;
                if self.equivalent(item, candidate)? {
                    at = Some(place);
                    break;
                }
            }
            let Some(at) = at else { return Ok(false) };
            open.swap_remove(at);
        }
        Ok(true)
    }

    fn equivalent(&self, left: &Item<'v>, right: &Item<'v>) -> Result<bool, EvaluationFault> {
        match (left.atom(), right.atom()) {
            (Some(left), Some(right)) => Ok(atoms_equivalent(&left, &right)),
            (None, None) => match (left, right) {
                (Item::Node(left), Item::Node(right)) => self.nodes_equal(left, right, Likeness::Equivalent),
                _ => Ok(false),
            },
            _ => Ok(false),
        }
    }

    fn nodes_equal(&self, left: &Node<'v>, right: &Node<'v>, likeness: Likeness) -> Result<bool, EvaluationFault> {
        match (left.value(), right.value()) {
            (Some(left), Some(right)) => self.values_alike(left, right, likeness),
            (None, None) => match (left.extra(), right.extra()) {
                (Some(left), Some(right)) => self.values_alike(left, right, likeness),
                _ => Ok(false),
            },
            _ => Ok(false),
        }
    }

    /// Members by name, numbers by their value. JSON that was parsed is not deeper than a call stack.
    fn values_alike(&self, left: &Value, right: &Value, likeness: Likeness) -> Result<bool, EvaluationFault> {
        self.spend(1)?;
        match (left, right) {
            (Value::Object(left), Value::Object(right)) => {
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (key, value) in left {
                    let Some(other) = right.get(key) else { return Ok(false) };
                    if !self.values_alike(value, other, likeness)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Array(left), Value::Array(right)) => self.arrays_alike(left, right, likeness),
            (Value::Number(left), Value::Number(right)) => {
                Ok(match (decimal(left.as_str()), decimal(right.as_str())) {
                    (Some(left), Some(right)) if likeness == Likeness::Equivalent => is_equivalent(left, right),
                    (Some(left), Some(right)) => left == right,
                    _ => left == right,
                })
            }
            (Value::String(left), Value::String(right)) if likeness == Likeness::Equivalent => {
                Ok(texts_equivalent(left, right))
            }
            (left, right) => Ok(left == right),
        }
    }

    fn arrays_alike(&self, left: &[Value], right: &[Value], likeness: Likeness) -> Result<bool, EvaluationFault> {
        if left.len() != right.len() {
            return Ok(false);
        }
        let mut open: Vec<&Value> = right.iter().collect();
        for value in left {
            let candidates = if likeness == Likeness::Equal { 1 } else { open.len() };
            let mut at = None;
            for (place, other) in open.iter().take(candidates).enumerate() {
                if self.values_alike(value, other, likeness)? {
                    at = Some(place);
                    break;
                }
            }
            let Some(at) = at else { return Ok(false) };
            open.remove(at);
        }
        Ok(true)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Likeness {
    Equal,
    Equivalent,
}

/// Numbers of both kinds as one.
pub(super) fn number(item: &Item<'_>) -> Option<Decimal> {
    match item {
        Item::Integer(value) => Some(Decimal::from(*value)),
        Item::Decimal(value) => Some(*value),
        _ => None,
    }
}

/// Two quantities, of which one may be a mere number.
pub(super) fn quantities(left: &Item<'_>, right: &Item<'_>) -> Option<(Quantity, Quantity)> {
    let quantity = |item: &Item<'_>| match item {
        Item::Quantity(quantity) => Some(Quantity::clone(quantity)),
        item => number(item).map(Quantity::of_number),
    };
    let has_one = matches!(left, Item::Quantity(_)) || matches!(right, Item::Quantity(_));
    Some((quantity(left)?, quantity(right)?)).filter(|_| has_one)
}

fn atoms_equal(left: &Item<'_>, right: &Item<'_>) -> Option<bool> {
    if let (Some(left), Some(right)) = (number(left), number(right)) {
        return Some(left == right);
    }
    if let Some((left, right)) = quantities(left, right) {
        return left.equals(&right);
    }
    Some(match (left, right) {
        (Item::Boolean(left), Item::Boolean(right)) => left == right,
        (Item::Text(left), Item::Text(right)) => left == right,
        (Item::Temporal(left), Item::Temporal(right)) if left.is_comparable(right) => {
            return left.compare(right).map(|order| order == Ordering::Equal);
        }
        (Item::Type(left), Item::Type(right)) => left == right,
        _ => false,
    })
}

fn atoms_equivalent(left: &Item<'_>, right: &Item<'_>) -> bool {
    if let (Some(left), Some(right)) = (number(left), number(right)) {
        return is_equivalent(left, right);
    }
    if let Some((left, right)) = quantities(left, right) {
        return left.is_equivalent(&right);
    }
    match (left, right) {
        (Item::Text(left), Item::Text(right)) => texts_equivalent(left, right),
        (Item::Temporal(left), Item::Temporal(right)) => left.is_equivalent(right),
        (left, right) => atoms_equal(left, right) == Some(true),
    }
}

/// Without case, and with one kind of space.
fn texts_equivalent(left: &str, right: &str) -> bool {
    let normal = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    left == right || normal(left) == normal(right)
}

/// Compares two values. None if the result is unknown, a fault if their types have no order.
pub(super) fn compare(
    left: &Item<'_>,
    right: &Item<'_>,
    place: &'static str,
) -> Result<Option<Ordering>, EvaluationFault> {
    let (Some(left_atom), Some(right_atom)) = (left.atom(), right.atom()) else {
        let unclear = |item: &Item<'_>| matches!(item, Item::Node(node) if node.is_primitive() || node.is("Quantity"));
        let other = [left, right].into_iter().find(|item| item.atom().is_none() && !unclear(item));
        return other.map_or(Ok(None), |item| Err(wrong_type(item, place)));
    };
    if let (Some(left), Some(right)) = (number(&left_atom), number(&right_atom)) {
        return Ok(Some(left.cmp(&right)));
    }
    if let Some((left, right)) = quantities(&left_atom, &right_atom) {
        return Ok(left.compare(&right));
    }
    match (&left_atom, &right_atom) {
        (Item::Text(left), Item::Text(right)) => Ok(Some(left.cmp(right))),
        (Item::Temporal(left), Item::Temporal(right)) if left.is_comparable(right) => Ok(left.compare(right)),
        _ => Err(EvaluationFault::Unusable {
            place,
            reason: format!("no order between {} and {}", left_atom.type_info().name, right_atom.type_info().name),
        }),
    }
}
