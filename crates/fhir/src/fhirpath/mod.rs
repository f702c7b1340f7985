//! FHIRPath (<https://hl7.org/fhirpath/N1/>) as R4 uses it (<https://hl7.org/fhir/R4/fhirpath.html>), for grading: an
//! expression that cannot be evaluated is a fault, never an empty answer.

mod constant;
#[expect(clippy::needless_pass_by_value, reason = "the functions of the language share one signature")]
mod evaluate;
mod function;
mod item;
mod mentions;
mod names;
mod parse;
mod quantity;
mod resolved;
pub(crate) mod syntax;
mod temporal;
mod token;
mod types;
mod unit;
mod value;

use std::fmt::{self, Display, Formatter};

use serde_json::Value;

pub(crate) use constant::is_resource_constant;
pub use item::{Item, Node, TypeInfo};
pub use mentions::{MemberPath, Mentions};
pub use parse::{DEEPEST, LONGEST};
pub use quantity::{CalendarUnit, Quantity, Unit};
pub use resolved::{Context, Resolver};
pub use temporal::{Temporal, TemporalType};

/// An expression, read and ready to be evaluated on any number of resources. It prints as FHIRPath.
#[derive(Debug, Clone, PartialEq)]
pub struct FhirPath {
    expression: syntax::Expression,
}

/// Why a text is no expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at byte {place}: {reason}")]
pub struct PathFault {
    pub place: usize,
    pub reason: String,
}

/// Why an expression has no answer for a resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationFault {
    #[error("{place} needs one value at most, and there are {count}")]
    NotSingle { place: &'static str, count: usize },
    #[error("{place} cannot take {found}")]
    WrongType { place: &'static str, found: &'static str },
    #[error("{place}: {reason}")]
    Unusable { place: &'static str, reason: String },
    #[error("more than {steps} steps")]
    OverBudget { steps: u64 },
}

impl FhirPath {
    /// Reads an expression. Elements, types, functions and constants that R4 does not have are faults here.
    pub fn parse(text: &str) -> Result<Self, PathFault> {
        Ok(Self { expression: parse::parse(text)? })
    }

    /// The syntax tree.
    pub(crate) fn syntax(&self) -> &syntax::Expression {
        &self.expression
    }

    /// What the expression finds, from the resource as `$this`, `%context` and `%resource`.
    pub fn evaluate<'v>(
        &'v self,
        resource: &'v Value,
        context: &'v Context<'v>,
    ) -> Result<Vec<Item<'v>>, EvaluationFault> {
        evaluate::evaluate(&self.expression, resource, context)
    }

    /// Whether a condition holds: nothing found counts as no, more than one value is a fault.
    pub fn holds<'v>(&'v self, resource: &'v Value, context: &'v Context<'v>) -> Result<bool, EvaluationFault> {
        let found = self.evaluate(resource, context)?;
        Ok(evaluate::truth(&found, "a condition")?.unwrap_or(false))
    }

    /// Whether the answer for an element of the resource, which is `$this`, is no. Nothing found says neither yes nor no.
    pub(crate) fn fails_for<'v>(
        &'v self,
        element: Node<'v>,
        resource: &'v Value,
        context: &'v Context<'v>,
    ) -> Result<bool, EvaluationFault> {
        let found = evaluate::evaluate_from(&self.expression, element, resource, context)?;
        Ok(evaluate::truth(&found, "a condition")? == Some(false))
    }
}

impl Display for FhirPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.expression.fmt(f)
    }
}
