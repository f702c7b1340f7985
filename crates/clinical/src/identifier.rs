//! Business identifiers of FHIR resources.

use serde_json::Value;

use crate::Npi;
use crate::json::{filled, has_code, items, text};

/// An element of type Identifier.
#[derive(Clone, Copy, Debug)]
pub struct Identifier<'a>(&'a Value);

impl<'a> Identifier<'a> {
    /// The identifiers of a resource.
    pub fn all(resource: &'a Value) -> impl Iterator<Item = Self> + use<'a> {
        items(resource, "identifier").iter().map(Self)
    }

    pub fn system(&self) -> Option<&'a str> {
        text(self.0, "system")
    }

    pub fn value(&self) -> Option<&'a str> {
        filled(self.0, "value")
    }

    /// Whether the type has a code of HL7 table 0203, such as `MB` for a member number.
    pub fn has_type(&self, code: &str) -> bool {
        has_code(self.0.get("type"), code)
    }
}

/// The NPI of a practitioner or organization: by its system, else the first identifier that is a valid one.
pub fn npi_of(resource: &Value) -> Option<&str> {
    let by_system = Identifier::all(resource).find(|identifier| identifier.system() == Some(Npi::SYSTEM));
    let is_npi = |identifier: &Identifier<'_>| identifier.value().is_some_and(|value| value.parse::<Npi>().is_ok());
    by_system.or_else(|| Identifier::all(resource).find(is_npi))?.value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_npi_is_found_by_its_system_or_its_check_digit() {
        let of = |identifiers: Value| npi_of(&json!({"identifier": identifiers})).map(str::to_owned);
        let system = json!({"system": Npi::SYSTEM, "value": "1234567890"});
        assert_eq!(of(json!([{"value": "1234567893"}, system])).as_deref(), Some("1234567890"));
        // A medical record number may have ten digits too.
        assert_eq!(of(json!([{"value": "1234567890"}, {"value": "1999999992"}])).as_deref(), Some("1999999992"));
        assert_eq!(of(json!([{"value": "1234567890"}])), None);
        assert_eq!(npi_of(&json!({"identifier": 1})), None);
    }
}
