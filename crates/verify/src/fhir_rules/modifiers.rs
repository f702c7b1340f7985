//! Modifier elements (<https://hl7.org/fhir/R4/conformance-rules.html#isModifier>), which change the meaning of the rest of a
//! record, and their values without such an effect.

use fhir::definitions::{Element, Structure, StructureKind};
use serde_json::Value;

use super::status::codes;
use super::{counterpart, items};
use crate::closed_world::Coverage;
use crate::compare::{Typing, is_equal};
use crate::scoring::FieldResult;

/// The optional modifier elements of R4 by path, with the values that do not change the meaning of the record. Elements
/// named `status` have their own rule.
const WITHOUT_EFFECT: [(&str, &[&str]); 33] = [
    ("ActivityDefinition.doNotPerform", &["false"]),
    ("Address.use", &["home", "work", "billing"]),
    ("AllergyIntolerance.clinicalStatus", &["active"]),
    ("AllergyIntolerance.verificationStatus", &["confirmed"]),
    ("BackboneElement.modifierExtension", &[]),
    ("BodyStructure.active", &["true"]),
    ("CarePlan.activity.detail.doNotPerform", &["false"]),
    ("CommunicationRequest.doNotPerform", &["false"]),
    ("Condition.clinicalStatus", &["active", "recurrence", "relapse"]),
    ("Condition.verificationStatus", &["confirmed"]),
    ("ContactPoint.use", &["home", "work", "mobile"]),
    ("Contract.term.action.doNotPerform", &["false"]),
    ("DomainResource.modifierExtension", &[]),
    ("HealthcareService.active", &["true"]),
    ("HumanName.use", &["official", "usual"]),
    ("Identifier.use", &["official", "usual", "secondary"]),
    ("Immunization.isSubpotent", &["false"]),
    ("List.entry.deleted", &["false"]),
    ("MeasureReport.improvementNotation", &[]),
    ("MedicationRequest.doNotPerform", &["false"]),
    ("MedicinalProductIngredient.specifiedSubstance.strength.concentrationLowLimit", &[]),
    ("MedicinalProductIngredient.specifiedSubstance.strength.presentationLowLimit", &[]),
    ("Organization.active", &["true"]),
    ("Patient.active", &["true"]),
    ("Patient.deceased[x]", &["false"]),
    ("Patient.link", &[]),
    ("Person.active", &["true"]),
    ("Quantity.comparator", &[]),
    ("Questionnaire.item.enableWhen", &[]),
    ("RelatedPerson.active", &["true"]),
    ("Resource.implicitRules", &[]),
    ("Schedule.active", &["true"]),
    ("ServiceRequest.doNotPerform", &["false"]),
];

/// The modifier elements that were added or changed, have an effect, and are not asserted.
pub(super) fn violations(
    structure: &'static Structure,
    resource: &Value,
    baseline: Option<&Value>,
    coverage: &Coverage,
) -> Vec<FieldResult> {
    let mut walk = Walk { coverage, violations: Vec::new() };
    walk.visit_object(structure, resource, baseline, "");
    walk.violations
}

struct Walk<'a> {
    coverage: &'a Coverage,
    violations: Vec<FieldResult>,
}

impl Walk<'_> {
    fn visit_object(&mut self, structure: &'static Structure, object: &Value, baseline: Option<&Value>, path: &str) {
        let Value::Object(members) = object else { return };
        for (key, member) in members {
            let Some((_, element, used)) = structure.element(key) else { continue };
            if self.coverage.covers(member) {
                continue;
            }
            let before = baseline.and_then(|baseline| baseline.get(key));
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            for (index, item) in items(member).iter().enumerate() {
                let before = counterpart(item, index, before);
                if before.is_some_and(|before| is_equal(item, before, Typing::Typed)) || self.coverage.covers(item) {
                    continue;
                }
                let path = if member.is_array() { format!("{path}.{index}") } else { path.clone() };
                self.check_element(element, item, &path);
                self.visit_object(content(used.content(), item), item, before, &path);
            }
        }
    }

    fn check_element(&mut self, element: &Element, value: &Value, path: &str) {
        let is_checked = element.is_modifier() && !element.is_required() && element.name() != "status";
        if !is_checked || has_no_effect(element, value) || self.coverage.asserts_within(value) {
            return;
        }
        let allowed = allowed(element);
        let expected = if allowed.is_empty() { Value::Null } else { allowed.join(" or ").into() };
        let reason = "this element changes what the record means, and no field asserts it".to_owned();
        self.violations.push(FieldResult::violation(path.to_owned(), expected, value, reason));
    }
}

/// Contained resources have the structure of their type.
fn content(content: &'static Structure, value: &Value) -> &'static Structure {
    match content.kind() {
        StructureKind::AbstractResource => {
            value.get("resourceType").and_then(Value::as_str).and_then(Structure::find).unwrap_or(content)
        }
        _ => content,
    }
}

fn allowed(element: &Element) -> &'static [&'static str] {
    WITHOUT_EFFECT.iter().find(|(path, _)| *path == element.path()).map_or(&[], |(_, allowed)| allowed)
}

fn has_no_effect(element: &Element, value: &Value) -> bool {
    let allowed = allowed(element);
    match value {
        Value::Null => true,
        Value::Bool(value) => allowed.contains(&if *value { "true" } else { "false" }),
        value => codes(value).next().is_some() && codes(value).all(|code| allowed.contains(&code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_table_has_every_optional_modifier_of_the_definitions_and_no_other() {
        let mut defined: Vec<&str> = Structure::all()
            .flat_map(Structure::elements)
            .filter(|element| element.is_modifier() && !element.is_required() && element.name() != "status")
            .map(Element::path)
            .collect();
        defined.sort_unstable();
        defined.dedup();
        let table: Vec<&str> = WITHOUT_EFFECT.iter().map(|(path, _)| *path).collect();
        assert_eq!(table, defined);
        for (path, allowed) in WITHOUT_EFFECT {
            let known = Structure::all().flat_map(Structure::elements).find(|element| element.path() == path);
            let codes = known.and_then(Element::codes).and_then(|codes| codes.codes());
            assert!(codes.is_none_or(|codes| allowed.iter().all(|code| codes.contains(code))), "{path}");
        }
    }

    #[test]
    fn added_and_changed_modifiers_are_found_wherever_they_are() {
        for (name, resource, baseline, paths) in [
            ("ServiceRequest", json!({"doNotPerform": true}), json!({}), vec!["doNotPerform"]),
            ("ServiceRequest", json!({"doNotPerform": false}), json!({}), vec![]),
            ("ServiceRequest", json!({"doNotPerform": true}), json!({"doNotPerform": true}), vec![]),
            ("ServiceRequest", json!({"modifierExtension": [{"url": "x"}]}), json!({}), vec!["modifierExtension.0"]),
            ("ServiceRequest", json!({"implicitRules": "x"}), json!({}), vec!["implicitRules"]),
            (
                "Observation",
                json!({"valueQuantity": {"value": 5, "comparator": "<"}}),
                json!({}),
                vec!["valueQuantity.comparator"],
            ),
            ("Patient", json!({"name": [{"use": "old"}, {"use": "official"}]}), json!({}), vec!["name.0.use"]),
            ("Patient", json!({"name": [{"use": "old"}]}), json!({"name": [{"use": "usual"}, {"use": "old"}]}), vec![]),
            ("Patient", json!({"deceasedDateTime": "2026"}), json!({}), vec!["deceasedDateTime"]),
            ("List", json!({"entry": [{"deleted": true}]}), json!({}), vec!["entry.0.deleted"]),
            (
                "MedicationRequest",
                json!({"dosageInstruction": [{"doseAndRate": [{"doseQuantity": {"comparator": ">"}}]}]}),
                json!({}),
                vec!["dosageInstruction.0.doseAndRate.0.doseQuantity.comparator"],
            ),
            (
                "MedicationRequest",
                json!({"contained": [{"resourceType": "MedicationRequest", "doNotPerform": true}]}),
                json!({}),
                vec!["contained.0.doNotPerform"],
            ),
            (
                "Condition",
                json!({"clinicalStatus": {"coding": [{"code": "resolved"}]}}),
                json!({}),
                vec!["clinicalStatus"],
            ),
            ("Condition", json!({"clinicalStatus": {"coding": [{"code": "active"}]}}), json!({}), vec![]),
            ("Condition", json!({"clinicalStatus": {"text": "active"}}), json!({}), vec!["clinicalStatus"]),
        ] {
            let structure = Structure::find(name).expect(name);
            let found = violations(structure, &resource, Some(&baseline), &Coverage::default());
            let found: Vec<&str> = found.iter().map(FieldResult::path).collect();
            assert_eq!(found, paths, "{name} {resource}");
        }
    }
}
