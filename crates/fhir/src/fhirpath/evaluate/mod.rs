//! Expressions evaluated on a resource, step by step within a budget.

mod arithmetic;
pub(super) mod combining;
pub(super) mod conversion;
mod equality;
pub(super) mod existence;
pub(super) mod fhir;
pub(super) mod filtering;
pub(super) mod math;
mod operators;
pub(super) mod strings;
pub(super) mod tree;

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::Value;

use super::EvaluationFault;
use super::constant::{Constant, constant};
use super::item::{Item, Node};
use super::resolved::Context;
use super::syntax::{Call, CallArguments, Expression, Literal, PathStep, Start, TypeOperator, Variable};

pub(super) type EvaluationResult<'v> = Result<Vec<Item<'v>>, EvaluationFault>;

pub(super) fn evaluate<'v>(
    expression: &'v Expression,
    resource: &'v Value,
    context: &'v Context<'v>,
) -> EvaluationResult<'v> {
    let root: Vec<_> = Node::resource(resource, resource).map(Item::Node).into_iter().collect();
    if root.is_empty() {
        let reason = "resourceType is missing or unknown".to_owned();
        return Err(EvaluationFault::Unusable { place: "the resource", reason });
    }
    evaluate_on(expression, &root, resource, context)
}

pub(super) fn evaluate_from<'v>(
    expression: &'v Expression,
    element: Node<'v>,
    resource: &'v Value,
    context: &'v Context<'v>,
) -> EvaluationResult<'v> {
    evaluate_on(expression, &[Item::Node(element)], resource, context)
}

fn evaluate_on<'v>(
    expression: &'v Expression,
    this: &[Item<'v>],
    resource: &'v Value,
    context: &'v Context<'v>,
) -> EvaluationResult<'v> {
    let evaluator = Evaluator { context, root: resource, steps: Cell::new(0) };
    let scope = Scope { this, index: None, total: None };
    evaluator.evaluate(expression, &scope)
}

/// The truth of a collection where a condition is wanted: one value that is no Boolean counts as true.
pub(super) fn truth(found: &[Item<'_>], place: &'static str) -> Result<Option<bool>, EvaluationFault> {
    match found {
        [] => Ok(None),
        [Item::Boolean(value)] => Ok(Some(*value)),
        [item] => Ok(Some(!matches!(item.atom(), Some(Item::Boolean(false))))),
        more => Err(EvaluationFault::NotSingle { place, count: more.len() }),
    }
}

/// The only value, if there is one.
pub(super) fn single<'i, 'v>(
    found: &'i [Item<'v>],
    place: &'static str,
) -> Result<Option<&'i Item<'v>>, EvaluationFault> {
    match found {
        [] => Ok(None),
        [item] => Ok(Some(item)),
        more => Err(EvaluationFault::NotSingle { place, count: more.len() }),
    }
}

pub(super) fn wrong_type(item: &Item<'_>, place: &'static str) -> EvaluationFault {
    EvaluationFault::WrongType { place, found: item.type_info().name }
}

pub(super) fn boolean<'v>(value: bool) -> EvaluationResult<'v> {
    Ok(vec![Item::Boolean(value)])
}

pub(super) struct Evaluator<'v> {
    context: &'v Context<'v>,
    root: &'v Value,
    steps: Cell<u64>,
}

/// What the variables stand for.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s, 'v> {
    this: &'s [Item<'v>],
    index: Option<usize>,
    total: Option<&'s [Item<'v>]>,
}

impl<'v> Evaluator<'v> {
    /// Counts steps that were or will be taken.
    fn spend(&self, steps: usize) -> Result<(), EvaluationFault> {
        let spent = self.steps.get().saturating_add(steps as u64);
        self.steps.set(spent);
        if spent > self.context.budget {
            return Err(EvaluationFault::OverBudget { steps: self.context.budget });
        }
        let Context { total, spent, .. } = self.context;
        spent.set(spent.get().saturating_add(steps as u64));
        if spent.get() > *total {
            return Err(EvaluationFault::OverBudget { steps: *total });
        }
        Ok(())
    }

    /// Counts what a copy of the items costs: computed texts are copied in full.
    fn spend_copy(&self, items: &[Item<'v>]) -> Result<(), EvaluationFault> {
        let cost = |item: &Item<'_>| match item {
            Item::Text(Cow::Owned(text)) => 1 + text.len() / 64,
            _ => 1,
        };
        self.spend(items.iter().map(cost).sum())
    }

    fn evaluate(&self, expression: &'v Expression, scope: &Scope<'_, 'v>) -> EvaluationResult<'v> {
        self.spend(1)?;
        match expression {
            Expression::Path { start, steps } => {
                let mut found = self.start(start, scope)?;
                for step in steps {
                    self.spend(1 + found.len())?;
                    found = self.step(found, step, scope)?;
                }
                Ok(found)
            }
            Expression::Sign { is_negative, operand } => arithmetic::sign(*is_negative, self.evaluate(operand, scope)?),
            Expression::Chain { first, rest } => {
                let mut left = self.evaluate(first, scope)?;
                for (operator, right) in rest {
                    left = operators::operate(self, *operator, left, right, scope)?;
                }
                Ok(left)
            }
            Expression::Typed { operand, tests } => {
                let mut found = self.evaluate(operand, scope)?;
                for (operator, wanted) in tests {
                    found = match operator {
                        TypeOperator::Is => filtering::is_type(found, wanted)?,
                        TypeOperator::As => filtering::as_type(found, wanted)?,
                    };
                }
                Ok(found)
            }
        }
    }

    fn start(&self, start: &'v Start, scope: &Scope<'_, 'v>) -> EvaluationResult<'v> {
        match start {
            Start::Variable(Variable::This) => {
                self.spend_copy(scope.this)?;
                Ok(scope.this.to_vec())
            }
            Start::Variable(Variable::Index) => {
                Ok(scope.index.and_then(|at| i64::try_from(at).ok()).map(Item::Integer).into_iter().collect())
            }
            Start::Variable(Variable::Total) => {
                self.spend_copy(scope.total.unwrap_or_default())?;
                Ok(scope.total.unwrap_or_default().to_vec())
            }
            Start::Empty => Ok(Vec::new()),
            Start::Literal(literal) => Ok(vec![of_literal(literal)]),
            Start::Constant(name) => Ok(match constant(name) {
                Some(Constant::Resource) => Node::resource(self.root, self.root).map(Item::Node).into_iter().collect(),
                Some(Constant::Text(text)) => vec![Item::Text(text)],
                None => Vec::new(),
            }),
            Start::Nested(inner) => self.evaluate(inner, scope),
            Start::Member(name) => {
                let is_named = |item: &Item<'_>| matches!(item, Item::Node(node) if node.is(name));
                if name.starts_with(|first: char| first.is_ascii_uppercase()) && scope.this.iter().any(is_named) {
                    return Ok(scope.this.iter().filter(|item| is_named(item)).cloned().collect());
                }
                self.member(scope.this, name)
            }
            Start::Call(call) => self.call(scope.this.to_vec(), call, scope),
        }
    }

    fn step(&self, found: Vec<Item<'v>>, step: &'v PathStep, scope: &Scope<'_, 'v>) -> EvaluationResult<'v> {
        match step {
            PathStep::Member(name) => self.member(&found, name),
            PathStep::Call(call) => self.call(found, call, scope),
            PathStep::At(index) => {
                let index = self.evaluate(index, scope)?;
                let Some(index) = single(&index, "[]")? else { return Ok(Vec::new()) };
                let Some(Item::Integer(at)) = index.atom() else { return Err(wrong_type(index, "[]")) };
                let found = usize::try_from(at).ok().and_then(|at| found.into_iter().nth(at));
                Ok(found.into_iter().collect())
            }
        }
    }

    fn member(&self, from: &[Item<'v>], name: &str) -> EvaluationResult<'v> {
        let mut found = Vec::new();
        for item in from {
            match (item, name) {
                (Item::Node(node), name) => {
                    if let Some((element, used)) = node.choice_key(name) {
                        let reason = format!("write {element}.ofType({used}), not {name}");
                        return Err(EvaluationFault::Unusable { place: "a choice of types", reason });
                    }
                    node.children(Some(name), &mut found);
                }
                (Item::Type(info), "name") => found.push(Item::Text(Cow::Borrowed(info.name))),
                (Item::Type(info), "namespace") => found.push(Item::Text(Cow::Borrowed(info.namespace))),
                _ => {}
            }
        }
        Ok(found)
    }

    fn call(&self, input: Vec<Item<'v>>, call: &'v Call, scope: &Scope<'_, 'v>) -> EvaluationResult<'v> {
        match &call.arguments {
            CallArguments::Type(wanted) => call.function.run_typed(input, wanted),
            CallArguments::Expressions(arguments) => {
                let given = Given { evaluator: self, name: call.function.name(), arguments, scope };
                call.function.run(&given, input)
            }
        }
    }
}

fn of_literal(literal: &Literal) -> Item<'_> {
    match literal {
        Literal::Boolean(value) => Item::Boolean(*value),
        Literal::Integer(value) => Item::Integer(*value),
        Literal::Decimal(value) => Item::Decimal(*value),
        Literal::Text(text) => Item::Text(Cow::Borrowed(text)),
        Literal::Temporal(temporal) => Item::Temporal(*temporal),
        Literal::Quantity(quantity) => Item::quantity(quantity.clone()),
    }
}

/// What a function is called with, besides its input.
pub(super) struct Given<'s, 'v> {
    evaluator: &'s Evaluator<'v>,
    /// The function's, for faults.
    name: &'static str,
    arguments: &'v [Expression],
    scope: &'s Scope<'s, 'v>,
}

impl<'v> Given<'_, 'v> {
    /// An argument for the input as a whole: it is evaluated where the call stands.
    fn argument(&self, at: usize) -> EvaluationResult<'v> {
        match self.arguments.get(at) {
            Some(argument) => self.evaluator.evaluate(argument, self.scope),
            None => Ok(Vec::new()),
        }
    }

    /// An argument for one item of the input.
    fn each(&self, at: usize, item: &Item<'v>, index: usize) -> EvaluationResult<'v> {
        let scope = Scope { this: std::slice::from_ref(item), index: Some(index), total: self.scope.total };
        self.arguments.get(at).map_or(Ok(Vec::new()), |argument| self.evaluator.evaluate(argument, &scope))
    }

    fn condition(&self, item: &Item<'v>, index: usize) -> Result<bool, EvaluationFault> {
        Ok(truth(&self.each(0, item, index)?, self.name)?.unwrap_or(false))
    }

    /// The only item of the input as a System value.
    fn input(&self, input: &[Item<'v>]) -> Result<Option<Item<'v>>, EvaluationFault> {
        let Some(item) = single(input, self.name)? else { return Ok(None) };
        match (item.atom(), item) {
            (Some(atom), _) => Ok(Some(atom)),
            // Only an id or extensions: there is no value to work on.
            (None, Item::Node(node)) if node.is_primitive() => Ok(None),
            (None, item) => Err(wrong_type(item, self.name)),
        }
    }

    /// Costs steps by the length of the text.
    fn text_input(&self, input: &[Item<'v>]) -> Result<Option<Cow<'v, str>>, EvaluationFault> {
        self.paid(self.unpaid_text_input(input)?)
    }

    fn paid(&self, text: Option<Cow<'v, str>>) -> Result<Option<Cow<'v, str>>, EvaluationFault> {
        self.evaluator.spend(text.as_ref().map_or(0, |text| text.len() / 64))?;
        Ok(text)
    }

    /// A date of a resource counts as the text that it is written as; one of System does not.
    fn unpaid_text_input(&self, input: &[Item<'v>]) -> Result<Option<Cow<'v, str>>, EvaluationFault> {
        match input {
            [Item::Node(node)] if node.is_primitive() && node.value().is_some_and(Value::is_string) => {
                Ok(node.value().and_then(Value::as_str).map(Cow::Borrowed))
            }
            input => self.as_text(self.input(input)?),
        }
    }

    fn text(&self, at: usize) -> Result<Option<Cow<'v, str>>, EvaluationFault> {
        self.paid(self.as_text(self.input(&self.argument(at)?)?)?)
    }

    fn as_text(&self, item: Option<Item<'v>>) -> Result<Option<Cow<'v, str>>, EvaluationFault> {
        match item {
            None => Ok(None),
            Some(Item::Text(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(&other, self.name)),
        }
    }

    fn integer(&self, at: usize) -> Result<Option<i64>, EvaluationFault> {
        match self.input(&self.argument(at)?)? {
            None => Ok(None),
            Some(Item::Integer(value)) => Ok(Some(value)),
            Some(other) => Err(wrong_type(&other, self.name)),
        }
    }

    fn unusable(&self, reason: impl Into<String>) -> EvaluationFault {
        EvaluationFault::Unusable { place: self.name, reason: reason.into() }
    }
}
