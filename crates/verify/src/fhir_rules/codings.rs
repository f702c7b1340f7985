//! Rules for coded concepts: no second code of an asserted code system, and no display that belongs to another code.

use fhir::ResourceType;
use fhir::search::fold;
use serde_json::Value;
use world::Records;

use crate::closed_world::Coverage;
use crate::evidence::EvaluationContext;
use crate::scoring::FieldResult;

/// The token parameters whose indexes are searched for displays.
const INDEXES_WITH_DISPLAYS: [(&str, &str); 14] = [
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

/// Checks the concepts of one record.
pub(super) struct Codings<'a> {
    coverage: &'a Coverage,
    equivalents: &'a [String],
    records: &'a Records,
    context: &'a EvaluationContext<'a>,
    pub(super) violations: Vec<FieldResult>,
}

fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

/// Whether a coding is one of `system|code`.
pub(super) fn is_listed(coding: &Value, listed: &[String]) -> bool {
    let Some(code) = text(coding, "code") else { return false };
    let token = format!("{}|{code}", text(coding, "system").unwrap_or_default());
    listed.contains(&token)
}

impl<'a> Codings<'a> {
    pub(super) fn new(
        coverage: &'a Coverage,
        equivalents: &'a [String],
        records: &'a Records,
        context: &'a EvaluationContext<'a>,
    ) -> Self {
        Self { coverage, equivalents, records, context, violations: Vec::new() }
    }

    /// Checks one object of the record.
    pub(super) fn check(&mut self, object: &Value, path: &str) -> Result<(), String> {
        if let Some(codings) = object.get("coding").and_then(Value::as_array) {
            self.check_second_codes(codings, path);
            if let Some(display) = text(object, "text") {
                for coding in codings {
                    self.check_display(coding, display, &format!("{path}.text"))?;
                }
            }
        }
        match text(object, "display") {
            Some(display) if object.get("code").is_some() => {
                self.check_display(object, display, &format!("{path}.display"))
            }
            _ => Ok(()),
        }
    }

    /// Reports a second code of a code system of which the assertion asserts another code.
    fn check_second_codes(&mut self, codings: &[Value], path: &str) {
        let is_asserted = |coding: &Value| {
            let code = coding.get("code").is_some_and(|code| self.coverage.asserts_within(code));
            code || self.coverage.covers(coding)
        };
        let asserted: Vec<&Value> = codings.iter().filter(|coding| is_asserted(coding)).collect();
        for (index, coding) in codings.iter().enumerate() {
            let other = asserted.iter().find(|asserted| {
                text(asserted, "system") == text(coding, "system") && text(asserted, "code") != text(coding, "code")
            });
            if let Some(other) = other
                && !is_asserted(coding)
                && !is_listed(coding, self.equivalents)
            {
                let reason = "the concept has another code of the asserted system, which `equivalents` does not list";
                let expected = text(other, "code").into();
                let actual = text(coding, "code").into();
                let path = format!("{path}.coding.{index}.code");
                self.violations.push(FieldResult::violation(path, expected, &actual, reason.to_owned()));
            }
        }
    }

    /// Reports a display that the dataset uses for another code of the system, and not for this one.
    fn check_display(&mut self, coding: &Value, written: &str, path: &str) -> Result<(), String> {
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
            self.context.budget.spend(1_000)?;
            let is_same = |display: &str| display.len().abs_diff(written.len()) < 64 && fold(display) == folded;
            others.extend(layer.codes_displayed(resource_type, parameter, system, &is_same));
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
        let indexes =
            INDEXES_WITH_DISPLAYS.iter().filter_map(|(name, parameter)| Some((name.parse().ok()?, *parameter)));
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
        for (name, parameter) in INDEXES_WITH_DISPLAYS {
            let parameter = SearchParameter::find(name.parse().expect(name), parameter).expect(name);
            assert_eq!(parameter.search_type(), SearchType::Token, "{name}");
        }
    }
}
