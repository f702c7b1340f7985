//! The part of FHIRPath that R4's search parameters are written in (<https://hl7.org/fhirpath/N1/>), compiled against the
//! definitions of a resource type so that a walk over a resource only follows members that can be there.

mod plan;
mod syntax;
mod walk;

pub(super) use plan::{Kind, Trail, absolute, relative};
pub(super) use syntax::{Expression, parse};
pub(super) use walk::{Member, Node, Predicate};
