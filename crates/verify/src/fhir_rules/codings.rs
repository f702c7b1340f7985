//! Codes of concepts: another code of a system that the assertion asks for, and displays that belong to another code.

use fhir::ResourceType;
use fhir::search::fold;
use serde_json::Value;
use world::Records;

use crate::closed_world::Coverage;
use crate::evidence::Case;
use crate::judge::FieldResult;

/// Where a dataset's displays are looked up: token parameters over coded elements.
const DISPLAYED: [(&str, &str); 14] = [
    ("AllergyIntolerance", "code"),
    ("Condition", "code"),
    ("DiagnosticReport", "code"),
    ("Encounter", "type"),
    ("Immunization", "vaccine-code"),
    ("Medication", "code"),
    ("MedicationAdministration", "code"),
    ("MedicationDispense", "code"),
    ("MedicationRequest", "code"),
    ("MedicationStatement", "code"),
    ("Observation", "code"),
    ("Procedure", "code"),
    ("ServiceRequest", "code"),
    ("Specimen", "type"),
];

/// Looks at the concepts of one record.
pub(super) struct Codings<'a> {
    coverage: &'a Coverage,
    equivalents: &'a [String],
    records: &'a Records,
    case: &'a Case<'a>,
    pub(super) violations: Vec<FieldResult>,
}

fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

/// Whether a coding is one of `system|code`.
pub(super) fn is_listed(coding: &Value, listed: &[String]) -> bool {
    let Some(code) = text(coding, "code") else { return false };
    let written = format!("{}|{code}", text(coding, "system").unwrap_or_default());
    listed.contains(&written)
}

impl<'a> Codings<'a> {
    pub(super) fn new(
        coverage: &'a Coverage,
        equivalents: &'a [String],
        records: &'a Records,
        case: &'a Case<'a>,
    ) -> Self {
        Self { coverage, equivalents, records, case, violations: Vec::new() }
    }

    pub(super) fn look(&mut self, object: &Value, path: &str) -> Result<(), String> {
        if let Some(codings) = object.get("coding").and_then(Value::as_array) {
            self.other_codes(codings, path);
            if let Some(written) = text(object, "text") {
                for coding in codings {
                    self.display(coding, written, &format!("{path}.text"))?;
                }
            }
        }
        match text(object, "display") {
            Some(written) if object.get("code").is_some() => self.display(object, written, &format!("{path}.display")),
            _ => Ok(()),
        }
    }

    /// Another code of a system that the assertion asks for.
    fn other_codes(&mut self, codings: &[Value], path: &str) {
        let is_asked = |coding: &Value| {
            let code = coding.get("code").is_some_and(|code| self.coverage.asks_within(code));
            code || self.coverage.covers(coding)
        };
        let asked: Vec<&Value> = codings.iter().filter(|coding| is_asked(coding)).collect();
        for (index, coding) in codings.iter().enumerate() {
            let rival = asked.iter().find(|asked| {
                text(asked, "system") == text(coding, "system") && text(asked, "code") != text(coding, "code")
            });
            if let Some(rival) = rival
                && !is_asked(coding)
                && !is_listed(coding, self.equivalents)
            {
                let reason = "the concept has another code of the asserted system, which `equivalents` does not list";
                let expected = text(rival, "code").into();
                let actual = text(coding, "code").into();
                let path = format!("{path}.coding.{index}.code");
                self.violations.push(FieldResult::violation(path, expected, &actual, reason.to_owned()));
            }
        }
    }

    /// A display that the dataset uses for another code of the system, and not for this one.
    fn display(&mut self, coding: &Value, written: &str, path: &str) -> Result<(), String> {
        let (Some(code), system) = (text(coding, "code"), text(coding, "system")) else { return Ok(()) };
        let folded = fold(written);
        let mut known = Vec::new();
        for (layer, (resource_type, parameter)) in self.indexes() {
            known.extend(layer.displays(resource_type, parameter, system, code));
        }
        if known.is_empty() || known.iter().any(|display| fold(display) == folded) {
            return Ok(());
        }
        let mut others = Vec::new();
        for (layer, (resource_type, parameter)) in self.indexes() {
            self.case.budget.spend(1_000)?;
            let is_written = |display: &str| display.len().abs_diff(written.len()) < 64 && fold(display) == folded;
            others.extend(layer.codes_displayed(resource_type, parameter, system, &is_written));
        }
        others.sort();
        if let Some(other) = others.first().filter(|_| !others.iter().any(|other| other == code)) {
            known.sort();
            let expected = known.first().map_or(Value::Null, |display| Value::from(&**display));
            let reason = format!("the display contradicts the code `{code}`: it belongs to `{other}`");
            self.violations.push(FieldResult::violation(path.to_owned(), expected, &written.into(), reason));
        }
        Ok(())
    }

    fn indexes(&self) -> impl Iterator<Item = (&'a fhir::layer::Layer, (ResourceType, &'static str))> + use<'a> {
        let indexes = DISPLAYED.iter().filter_map(|(name, parameter)| Some((name.parse().ok()?, *parameter)));
        let indexes: Vec<(ResourceType, &'static str)> = indexes.collect();
        self.records.layers().flat_map(move |layer| indexes.clone().into_iter().map(move |index| (layer, index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fhir::definitions::{SearchParameter, SearchType};

    #[test]
    fn displays_are_looked_up_in_token_parameters() {
        for (name, parameter) in DISPLAYED {
            let parameter = SearchParameter::find(name.parse().expect(name), parameter).expect(name);
            assert_eq!(parameter.search_type(), SearchType::Token, "{name}");
        }
    }
}
