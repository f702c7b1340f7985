//! Whether a resource has the structure that R4 defines (<https://hl7.org/fhir/R4/json.html>).

mod conformance;
mod path;
mod primitive;
mod profile;
mod references;
mod walk;
mod xhtml;

pub use conformance::{Finding, conformance};
pub use profile::{Profile, is_base_profile};
pub use references::impossible_references;

use std::fmt;

use serde_json::Value;

/// Validation stops after this number of faults.
pub const MAX_FAULTS: usize = 50;

/// The maximum nesting depth of elements.
pub const MAX_DEPTH: usize = 128;

/// Checks elements, cardinalities, primitive values and the codes of required bindings; not invariants, profiles,
/// terminology or the targets of references. Takes time in proportion to the size of the resource.
pub fn validate(resource: &Value) -> Result<(), Vec<ValidationFault>> {
    let faults = walk::faults(resource);
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// An error in a resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct ValidationFault {
    /// The FHIRPath of the invalid element: `Patient.contact[0].name.given[1]`.
    pub path: String,
    pub kind: FaultKind,
    /// A short message.
    pub message: String,
}

/// The kinds of OperationOutcome issues that structural faults are (<https://hl7.org/fhir/R4/valueset-issue-type.html>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// No resource, or none that R4 knows.
    Invalid,
    /// An unknown element, or JSON of the wrong shape.
    Structure,
    /// A missing element.
    Required,
    /// A primitive value that its type does not allow.
    Value,
    /// A code that is not in the value set it must come from.
    CodeInvalid,
    /// A condition that R4 or a profile puts on a value.
    Invariant,
    TooLong,
    /// Nested too deeply to be looked at.
    TooCostly,
}

impl FaultKind {
    /// The code of the OperationOutcome issue.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Structure => "structure",
            Self::Required => "required",
            Self::Value => "value",
            Self::CodeInvalid => "code-invalid",
            Self::Invariant => "invariant",
            Self::TooLong => "too-long",
            Self::TooCostly => "too-costly",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
