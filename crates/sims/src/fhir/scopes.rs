//! SMART scopes of a system client (<https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html>).

/// What a token allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes {}

impl Scopes {
    /// Reads a space-separated list, version 1 (`system/Patient.read`) or 2 (`system/Patient.rs`); scopes that are not
    /// understood, or that are not a system client's, are left out.
    pub fn parse(_text: &str) -> Self {
        Self {}
    }

    /// The granted ones, space-separated, as they were asked for.
    pub fn text(&self) -> String {
        String::new()
    }

    pub fn is_empty(&self) -> bool {
        true
    }
}
