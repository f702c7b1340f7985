//! People in X12 segments (NM1, DMG) and in FHIR resources.

use serde_json::Value;
use x12::Segment;
use x12::draft::SegmentDraft;

use super::chart::{is_same, items, text};
use super::text::{date, plain, segment, uppercase};

/// The person that a request identifies. Empty members are not specified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PersonQuery {
    pub(super) member: String,
    pub(super) last: String,
    pub(super) first: String,
    /// `CCYYMMDD`.
    pub(super) birth: String,
    /// `F` or `M`.
    pub(super) gender: String,
}

impl PersonQuery {
    pub(super) fn read(name: &Segment<'_>, demographics: Option<Segment<'_>>) -> Self {
        let demographic = |number: usize| demographics.map_or("", |segment| segment.text_at(number)).trim().to_owned();
        Self {
            member: name.text_at(9).trim().to_owned(),
            last: name.text_at(3).trim().to_owned(),
            first: name.text_at(4).trim().to_owned(),
            birth: demographic(2),
            gender: demographic(3),
        }
    }

    /// The first value of the request that does not match a person's FHIR data.
    pub(super) fn mismatch(&self, person: &Value) -> Option<Mismatch> {
        let differs = |requested: &str, known: Option<String>| {
            !requested.is_empty() && known.is_some_and(|known| known != requested)
        };
        if !self.matches_name(person) {
            return Some(Mismatch::Name);
        }
        if differs(&self.birth, text(person, "birthDate").and_then(date)) {
            return Some(Mismatch::Birth);
        }
        let gender = gender_of(person).map(str::to_owned);
        let has_gender = matches!(self.gender.as_str(), "F" | "M");
        (has_gender && differs(&self.gender, gender)).then_some(Mismatch::Gender)
    }

    /// Whether any of the person's names matches. The first name may be an initial.
    fn matches_name(&self, person: &Value) -> bool {
        let matches_first = |given: &str| {
            is_same(given, &self.first) || (self.first.chars().count() == 1 && is_same(&initial(given), &self.first))
        };
        let matches = |name: &Value| {
            let last = self.last.is_empty() || text(name, "family").is_some_and(|family| is_same(family, &self.last));
            let mut given = items(name, "given").iter().filter_map(Value::as_str);
            last && (self.first.is_empty() || given.any(matches_first))
        };
        let names = items(person, "name");
        names.is_empty() || names.iter().any(matches)
    }
}

fn initial(name: &str) -> String {
    name.chars().take(1).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mismatch {
    Name,
    Birth,
    Gender,
}

/// DMG03 for a FHIR administrative gender.
pub(super) fn gender_of(person: &Value) -> Option<&'static str> {
    match text(person, "gender") {
        Some("female") => Some("F"),
        Some("male") => Some("M"),
        _ => None,
    }
}

/// The official name, or else the first current name.
pub(super) fn name_of(person: &Value) -> &Value {
    let names = items(person, "name");
    let is_current = |name: &&Value| !matches!(text(name, "use"), Some("old" | "maiden" | "temp"));
    names
        .iter()
        .find(|name| text(name, "use") == Some("official"))
        .or_else(|| names.iter().find(is_current))
        .unwrap_or(&Value::Null)
}

/// NM1 with the person's name and a member number.
pub(super) fn name_segment(entity: &str, person: &Value, member: &str) -> SegmentDraft {
    let name = name_of(person);
    let given: Vec<&str> = items(name, "given").iter().filter_map(Value::as_str).collect();
    let [first, middle] = [0, 1].map(|at| uppercase(given.get(at).copied().unwrap_or_default(), 25));
    let last = uppercase(text(name, "family").unwrap_or_default(), 60);
    let suffix = uppercase(items(name, "suffix").first().and_then(Value::as_str).unwrap_or_default(), 10);
    let (qualifier, member) = if member.is_empty() { ("", String::new()) } else { ("MI", plain(member, 80)) };
    segment("NM1", [entity, "1", &last, &first, &middle, "", &suffix, qualifier, &member])
}

/// N3 and N4 with the person's address, or nothing if street, city, state or ZIP code is missing.
pub(super) fn address_segments(person: &Value) -> Vec<SegmentDraft> {
    let addresses = items(person, "address");
    let is_home = |address: &&Value| text(address, "use") == Some("home");
    let Some(address) = addresses.iter().find(is_home).or_else(|| addresses.first()) else { return Vec::new() };
    let lines: Vec<String> =
        items(address, "line").iter().filter_map(Value::as_str).map(|line| uppercase(line, 55)).collect();
    let city = uppercase(text(address, "city").unwrap_or_default(), 30);
    let state = uppercase(text(address, "state").unwrap_or_default(), 30);
    let zip: String = text(address, "postalCode").unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    let is_complete = city.chars().count() > 1 && state.len() == 2 && matches!(zip.len(), 5 | 9);
    let first = lines.first().map_or("", String::as_str);
    if first.is_empty() || !is_complete {
        return Vec::new();
    }
    let second = lines.get(1).map_or("", String::as_str);
    vec![segment("N3", [first, second]), segment("N4", [&city, &state, &zip])]
}

/// DMG with the person's birth date and gender.
pub(super) fn demographics_segment(person: &Value) -> Option<SegmentDraft> {
    let birth = text(person, "birthDate").and_then(date)?;
    Some(segment("DMG", ["D8", &birth, gender_of(person).unwrap_or_default()]))
}

/// NPI: ten digits of which the last is Luhn's check digit over `80840` and the others.
pub(super) fn is_npi(text: &str) -> bool {
    if text.len() != 10 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    // The prefix adds 24 to the sum.
    let sum: u32 = text.bytes().rev().enumerate().fold(24, |sum, (place, byte)| {
        let digit = u32::from(byte - b'0') * if place % 2 == 1 { 2 } else { 1 };
        sum + digit / 10 + digit % 10
    });
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn mismatches_are_found() {
        let ada = json!({"name": [{"family": "Núñez", "given": ["Ada", "Maria"]}], "birthDate": "1980-02-29", "gender": "female"});
        let mismatch = |last: &str, first: &str, birth: &str, gender: &str| {
            let [last, first, birth, gender] = [last, first, birth, gender].map(str::to_owned);
            PersonQuery { member: String::new(), last, first, birth, gender }.mismatch(&ada)
        };
        assert_eq!(mismatch("NUNEZ", "ADA", "19800229", "F"), None);
        assert_eq!(mismatch("NUNEZ", "A", "", "U"), None);
        assert_eq!(mismatch("", "", "", ""), None);
        assert_eq!(mismatch("NUNES", "ADA", "19800229", "F"), Some(Mismatch::Name));
        assert_eq!(mismatch("NUNEZ", "EVA", "19800229", "F"), Some(Mismatch::Name));
        assert_eq!(mismatch("NUNEZ", "ADA", "19800228", "F"), Some(Mismatch::Birth));
        assert_eq!(mismatch("NUNEZ", "ADA", "19800229", "M"), Some(Mismatch::Gender));
    }

    #[test]
    fn provider_numbers_have_a_check_digit() {
        assert!(is_npi("1234567893") && is_npi("1999999992"));
        for bad in ["1234567890", "123456789", "12345678931", "", "123456789é"] {
            assert!(!is_npi(bad), "{bad}");
        }
    }
}
