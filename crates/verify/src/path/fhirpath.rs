//! FHIRPath expressions (HL7 FHIRPath 2.0), held as text for the FHIRPath engine.

use std::fmt;

use serde_json::Value;

use crate::authored::Notation;
use crate::budget::Budget;
use crate::limits::LONGEST_PATTERN;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FhirPath(pub String);

impl Notation for FhirPath {
    const LONGEST: usize = LONGEST_PATTERN;

    fn read(text: &str) -> Result<Self, String> {
        if text.chars().any(|c| c.is_control() && !c.is_whitespace()) {
            return Err("must not contain control characters".to_owned());
        }
        Ok(Self(text.trim().to_owned()))
    }
}

impl FhirPath {
    pub(crate) fn find(&self, _resource: &Value, _budget: &Budget) -> Result<Vec<Value>, String> {
        Err("fhirpath is not available yet".to_owned())
    }
}

impl fmt::Display for FhirPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
