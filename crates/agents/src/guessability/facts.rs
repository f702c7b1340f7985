//! Extracts the values that a check requires, each with its location.

use serde_json::{Map, Value};

/// A value that a check requires.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    /// The check and the path or parameter, which identify the same value across tasks.
    pub(super) location: String,
    pub(super) value: String,
}

/// Parameters that hold a required value.
const VALUE_PARAMETERS: [&str; 4] = ["to_number", "patient_id", "path", "value"];
/// Parameters that map locations to required values.
const MAP_PARAMETERS: [&str; 2] = ["search", "correlate_by"];

pub(super) fn facts(assertion: &Value) -> Vec<Fact> {
    let Some(members) = assertion.as_object() else { return Vec::new() };
    let check = assertion["assert"].as_str().unwrap_or_default();
    let mut collector = FactCollector { check, facts: Vec::new() };
    for (name, value) in members {
        match name.as_str() {
            name if VALUE_PARAMETERS.contains(&name) => collector.add(name, value),
            name if MAP_PARAMETERS.contains(&name) => collector.add_map(value.as_object()),
            "contains" => collector.add(name, value),
            "require" => value.as_array().into_iter().flatten().for_each(|effect| collector.add_effect(effect)),
            "fields" | "assertions" => {
                value.as_array().into_iter().flatten().for_each(|field| collector.add_field(field))
            }
            _ => {}
        }
    }
    collector.facts
}

struct FactCollector<'a> {
    check: &'a str,
    facts: Vec<Fact>,
}

impl FactCollector<'_> {
    fn add(&mut self, location: &str, value: &Value) {
        match value {
            Value::String(text) => {
                self.facts.push(Fact { location: format!("{}/{location}", self.check), value: text.clone() });
            }
            Value::Number(number) => self.add(location, &Value::String(number.to_string())),
            Value::Array(items) => items.iter().for_each(|item| self.add(location, item)),
            // These say whether something must be there, not which value.
            Value::Null | Value::Bool(_) | Value::Object(_) => {}
        }
    }

    fn add_map(&mut self, members: Option<&Map<String, Value>>) {
        // `resource` and `key` select the kind of a portal record and its key column.
        for (location, value) in
            members.into_iter().flatten().filter(|(location, _)| !["resource", "key"].contains(&location.as_str()))
        {
            self.add(location, value);
        }
    }

    /// Adds the file name, number or id of an effect. Its channel and kind need not be guessed.
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
        let location = field["path"].as_str().unwrap_or_default();
        match (field["op"].as_str(), &field["expected"]) {
            (Some("exists" | "absent" | "not_equals" | "gt" | "gte" | "lt" | "lte" | "between" | "approx"), _) => {}
            // Any of them passes; the first one stands for all.
            (Some("one_of"), Value::Array(items)) => {
                items.first().into_iter().for_each(|item| self.add(location, item))
            }
            (_, expected) => self.add(location, expected),
        }
    }
}

/// The quoted texts, numbers and dates in a FHIRPath expression.
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
