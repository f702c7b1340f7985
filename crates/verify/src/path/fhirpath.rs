//! FHIRPath expressions (HL7 FHIRPath 2.0), held as text for the FHIRPath engine.

use crate::authored::Notation;
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
