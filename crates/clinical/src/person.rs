//! FHIR data about a person, as other systems read it.

use serde_json::Value;

use crate::PartialDateTime;
use crate::json::{filled, items, text, texts};

/// A Patient, RelatedPerson or Practitioner resource.
#[derive(Clone, Copy, Debug)]
pub struct Person<'a>(&'a Value);

impl<'a> Person<'a> {
    pub fn new(resource: &'a Value) -> Self {
        Self(resource)
    }

    pub fn names(&self) -> impl Iterator<Item = HumanName<'a>> + use<'a> {
        items(self.0, "name").iter().map(HumanName)
    }

    /// The name by which the person goes now: the official one, else the first that is not a former or temporary one, else
    /// the first.
    pub fn current_name(&self) -> Option<HumanName<'a>> {
        let has_use =
            |name: &HumanName<'_>, uses: &[&str]| text(name.0, "use").is_some_and(|found| uses.contains(&found));
        let official = self.names().find(|name| has_use(name, &["official"]));
        let current = || self.names().find(|name| !has_use(name, &["old", "maiden", "temp"]));
        official.or_else(current).or_else(|| self.names().next())
    }

    pub fn birth_date(&self) -> Option<PartialDateTime> {
        text(self.0, "birthDate").and_then(PartialDateTime::parse_fhir)
    }

    /// A code of AdministrativeGender.
    pub fn gender(&self) -> Option<&'a str> {
        text(self.0, "gender")
    }

    /// The home address, else the first.
    pub fn address(&self) -> Option<Address<'a>> {
        let addresses = items(self.0, "address");
        let home = addresses.iter().find(|address| text(address, "use") == Some("home"));
        home.or(addresses.first()).map(Address)
    }

    /// The first value of a contact system, such as `phone`.
    pub fn contact(&self, system: &str) -> Option<&'a str> {
        items(self.0, "telecom")
            .iter()
            .find(|point| text(point, "system") == Some(system))
            .and_then(|point| text(point, "value"))
    }
}

/// An element of type HumanName.
#[derive(Clone, Copy, Debug)]
pub struct HumanName<'a>(&'a Value);

impl<'a> HumanName<'a> {
    pub fn family(&self) -> Option<&'a str> {
        filled(self.0, "family")
    }

    pub fn given(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        texts(self.0, "given")
    }

    pub fn suffix(&self) -> Option<&'a str> {
        texts(self.0, "suffix").next()
    }

    /// The given names and the family name, else the name as text.
    pub fn full(&self) -> Option<String> {
        let words: Vec<&str> = self.given().chain(self.family()).filter(|word| !word.trim().is_empty()).collect();
        if words.is_empty() { filled(self.0, "text").map(str::to_owned) } else { Some(words.join(" ")) }
    }
}

/// An element of type Address.
#[derive(Clone, Copy, Debug)]
pub struct Address<'a>(&'a Value);

impl<'a> Address<'a> {
    pub fn lines(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        texts(self.0, "line")
    }

    pub fn city(&self) -> Option<&'a str> {
        text(self.0, "city")
    }

    pub fn state(&self) -> Option<&'a str> {
        text(self.0, "state")
    }

    pub fn postal_code(&self) -> Option<&'a str> {
        text(self.0, "postalCode")
    }

    /// The address on one line: its parts, else the address as text.
    pub fn one_line(&self) -> Option<String> {
        let parts: Vec<&str> = self.lines().chain(self.city()).chain(self.state()).chain(self.postal_code()).collect();
        if parts.is_empty() { filled(self.0, "text").map(str::to_owned) } else { Some(parts.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_current_name_is_not_a_former_one() {
        let full = |names: Value| Person::new(&json!({"name": names})).current_name().and_then(|name| name.full());
        let old = json!({"use": "old", "family": "Gray"});
        let usual = json!({"use": "usual", "given": ["Ada", "M."], "family": "Stone"});
        assert_eq!(full(json!([old, usual])).as_deref(), Some("Ada M. Stone"));
        assert_eq!(full(json!([old, usual, {"use": "official", "text": "Ada Rock"}])).as_deref(), Some("Ada Rock"));
        assert_eq!(full(json!([old])).as_deref(), Some("Gray"));
        assert_eq!(full(json!({"family": "Stone"})), None);
    }

    #[test]
    fn the_home_address_is_preferred() {
        let person = json!({"address": [{"use": "work", "text": "Elsewhere"},
            {"use": "home", "line": ["1 Main St"], "city": "Madison", "state": "WI", "postalCode": "53703"}],
            "telecom": [{"system": "email", "value": "a@b"}, {"system": "phone", "value": "555-0100"}], "birthDate": "1980-02-29"});
        let person = Person::new(&person);
        assert_eq!(
            person.address().and_then(|address| address.one_line()).as_deref(),
            Some("1 Main St, Madison, WI, 53703")
        );
        assert_eq!((person.contact("phone"), person.contact("fax")), (Some("555-0100"), None));
        assert_eq!(person.birth_date().and_then(|date| date.to_x12_date()).as_deref(), Some("19800229"));
    }
}
