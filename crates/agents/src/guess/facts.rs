//! The values that a check wants to find, each with the place where it wants it.

use serde_json::{Map, Value};

#[derive(Clone, Debug)]
pub(super) struct Fact {
    /// The check and the path or parameter, so that tasks can be compared.
    pub(super) place: String,
    pub(super) value: String,
}

/// Members that hold a value themselves.
const VALUES: [&str; 4] = ["to_number", "patient_id", "path", "value"];
/// Members that are objects from a place to a value.
const MAPS: [&str; 2] = ["search", "correlate_by"];

pub(super) fn facts(assertion: &Value) -> Vec<Fact> {
    let Some(members) = assertion.as_object() else { return Vec::new() };
    let check = assertion["assert"].as_str().unwrap_or_default();
    let mut found = Found { check, facts: Vec::new() };
    for (name, value) in members {
        match name.as_str() {
            name if VALUES.contains(&name) => found.add(name, value),
            name if MAPS.contains(&name) => found.add_map(value.as_object()),
            "contains" => found.add(name, value),
            "require" => value.as_array().into_iter().flatten().for_each(|effect| found.add_effect(effect)),
            "fields" | "assertions" => value.as_array().into_iter().flatten().for_each(|field| found.add_field(field)),
            _ => {}
        }
    }
    found.facts
}

struct Found<'a> {
    check: &'a str,
    facts: Vec<Fact>,
}

impl Found<'_> {
    fn add(&mut self, place: &str, value: &Value) {
        match value {
            Value::String(text) => {
                self.facts.push(Fact { place: format!("{}/{place}", self.check), value: text.clone() });
            }
            Value::Number(number) => self.add(place, &Value::String(number.to_string())),
            Value::Array(items) => items.iter().for_each(|item| self.add(place, item)),
            // Whether, and not which.
            Value::Null | Value::Bool(_) | Value::Object(_) => {}
        }
    }

    fn add_map(&mut self, members: Option<&Map<String, Value>>) {
        // A portal's record is named by its kind and the column of its key.
        for (place, value) in
            members.into_iter().flatten().filter(|(place, _)| !["resource", "key"].contains(&place.as_str()))
        {
            self.add(place, value);
        }
    }

    /// Which kinds of effects there are is no secret; the name of a file, a number or an id is.
    fn add_effect(&mut self, effect: &Value) {
        let (area, rest) = effect.as_str().and_then(|effect| effect.split_once('/')).unwrap_or_default();
        let name = match area {
            "files" | "fax" => rest,
            "fhir" | "portal" => rest.split_once('/').unwrap_or_default().1,
            _ => "",
        };
        if !name.is_empty() {
            self.add("require", &name.into());
        }
    }

    fn add_field(&mut self, field: &Value) {
        if let Some(expression) = field["fhirpath"].as_str() {
            for literal in literals(expression) {
                self.add(expression.split_whitespace().next().unwrap_or_default(), &Value::String(literal));
            }
            return;
        }
        let place = field["path"].as_str().unwrap_or_default();
        match (field["op"].as_str(), &field["expected"]) {
            (Some("exists" | "absent" | "not_equals" | "gt" | "gte" | "lt" | "lte" | "between" | "approx"), _) => {}
            // Any of them will do; the first is as hard as each.
            (Some("one_of"), Value::Array(items)) => items.first().into_iter().for_each(|item| self.add(place, item)),
            (_, expected) => self.add(place, expected),
        }
    }
}

/// Texts in quotes, numbers and dates of an expression.
fn literals(expression: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, part) in expression.split('\'').enumerate() {
        if number % 2 == 1 {
            found.push(part.to_owned());
            continue;
        }
        let words = part.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '@')));
        let numbers = words
            .map(|word| word.trim_start_matches('@'))
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        found.extend(numbers.map(str::to_owned));
    }
    found
}
