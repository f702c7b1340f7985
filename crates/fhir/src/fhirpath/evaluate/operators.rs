//! Operators between two collections (<https://hl7.org/fhirpath/N1/#operations>).

use std::cmp::Ordering;

use super::equality::compare;
use super::{EvaluationResult, Evaluator, Scope, arithmetic, boolean, single, truth};
use crate::fhirpath::EvaluationFault;
use crate::fhirpath::item::Item;
use crate::fhirpath::syntax::{Expression, Operator};

pub(super) fn operate<'v>(
    evaluator: &Evaluator<'v>,
    operator: Operator,
    left: Vec<Item<'v>>,
    right: &'v Expression,
    scope: &Scope<'_, 'v>,
) -> EvaluationResult<'v> {
    if let Operator::And | Operator::Or | Operator::Xor | Operator::Implies = operator {
        let left = truth(&left, operator.text())?;
        return Ok(logic(evaluator, operator, left, right, scope)?.map(Item::Boolean).into_iter().collect());
    }
    let right = evaluator.evaluate(right, scope)?;
    match operator {
        Operator::Union => {
            let mut both = left;
            both.extend(right);
            evaluator.distinct(both)
        }
        Operator::Equal => decided(evaluator.all_equal(&left, &right)?),
        Operator::Unequal => decided(evaluator.all_equal(&left, &right)?.map(|is_equal| !is_equal)),
        Operator::Equivalent => boolean(evaluator.all_equivalent(&left, &right)?),
        Operator::Inequivalent => boolean(!evaluator.all_equivalent(&left, &right)?),
        Operator::In => is_in(evaluator, &left, &right, operator),
        Operator::Contains => is_in(evaluator, &right, &left, operator),
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            order(operator, &left, &right)
        }
        _ => {
            let found = arithmetic::calculate(operator, &left, &right)?;
            evaluator.spend_copy(&found)?;
            Ok(found)
        }
    }
}

fn decided<'v>(decided: Option<bool>) -> EvaluationResult<'v> {
    Ok(decided.map(Item::Boolean).into_iter().collect())
}

fn order<'v>(operator: Operator, left: &[Item<'v>], right: &[Item<'v>]) -> EvaluationResult<'v> {
    let place = operator.text();
    let (Some(left), Some(right)) = (single(left, place)?, single(right, place)?) else { return Ok(Vec::new()) };
    let holds = |order: Ordering| match operator {
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        _ => order.is_ge(),
    };
    decided(compare(left, right, place)?.map(holds))
}

fn is_in<'v>(
    evaluator: &Evaluator<'v>,
    item: &[Item<'v>],
    all: &[Item<'v>],
    operator: Operator,
) -> EvaluationResult<'v> {
    match single(item, operator.text())? {
        Some(item) => boolean(evaluator.has(all, item)?),
        None => Ok(Vec::new()),
    }
}

/// Logic of three values; the right side is not looked at if the left decides.
fn logic<'v>(
    evaluator: &Evaluator<'v>,
    operator: Operator,
    left: Option<bool>,
    right: &'v Expression,
    scope: &Scope<'_, 'v>,
) -> Result<Option<bool>, EvaluationFault> {
    match (operator, left) {
        (Operator::And, Some(false)) => return Ok(Some(false)),
        (Operator::Or, Some(true)) | (Operator::Implies, Some(false)) => return Ok(Some(true)),
        _ => {}
    }
    let right = truth(&evaluator.evaluate(right, scope)?, operator.text())?;
    Ok(match (operator, left, right) {
        (Operator::And, _, Some(false)) => Some(false),
        (Operator::And, Some(true), Some(true)) => Some(true),
        (Operator::Or | Operator::Implies, _, Some(true)) => Some(true),
        (Operator::Or, Some(false), Some(false)) => Some(false),
        (Operator::Implies, Some(true), Some(false)) => Some(false),
        (Operator::Xor, Some(left), Some(right)) => Some(left != right),
        _ => None,
    })
}
