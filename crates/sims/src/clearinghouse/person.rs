//! People in X12 segments (NM1, DMG) and in FHIR resources.

use clinical::{HumanName, Person};
use serde_json::Value;
use x12::Segment;
use x12::draft::SegmentDraft;

use super::chart::is_same;
use super::text::{plain, segment, uppercase};

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
        if differs(&self.birth, birth_of(person)) {
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
        let matches = |name: HumanName<'_>| {
            let last = self.last.is_empty() || name.family().is_some_and(|family| is_same(family, &self.last));
            last && (self.first.is_empty() || name.given().any(matches_first))
        };
        let mut names = Person::new(person).names().peekable();
        names.peek().is_none() || names.any(matches)
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
    match Person::new(person).gender() {
        Some("female") => Some("F"),
        Some("male") => Some("M"),
        _ => None,
    }
}

/// NM1 with the person's name and a member number.
pub(super) fn name_segment(entity: &str, person: &Value, member: &str) -> SegmentDraft {
    let name = Person::new(person).current_name();
    let part = |text: Option<&str>, most: usize| uppercase(text.unwrap_or_default(), most);
    let given: Vec<&str> = name.iter().flat_map(|name| name.given()).collect();
    let [first, middle] = [0, 1].map(|at| part(given.get(at).copied(), 25));
    let last = part(name.and_then(|name| name.family()), 60);
    let suffix = part(name.and_then(|name| name.suffix()), 10);
    let (qualifier, member) = if member.is_empty() { ("", String::new()) } else { ("MI", plain(member, 80)) };
    segment("NM1", [entity, "1", &last, &first, &middle, "", &suffix, qualifier, &member])
}

/// N3 and N4 with the person's address, or nothing if street, city, state or ZIP code is missing.
pub(super) fn address_segments(person: &Value) -> Vec<SegmentDraft> {
    let Some(address) = Person::new(person).address() else { return Vec::new() };
    let lines: Vec<String> = address.lines().map(|line| uppercase(line, 55)).collect();
    let [city, state] = [address.city(), address.state()].map(|part| uppercase(part.unwrap_or_default(), 30));
    let zip: String = address.postal_code().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
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
    let birth = birth_of(person)?;
    Some(segment("DMG", ["D8", &birth, gender_of(person).unwrap_or_default()]))
}

/// The birth date as `CCYYMMDD`.
fn birth_of(person: &Value) -> Option<String> {
    Person::new(person).birth_date()?.to_x12_date()
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
}
