//! What R4 asks of a resource beyond its structure (<https://hl7.org/fhir/R4/validation.html>): invariants as FHIRPath,
//! and concepts that must come from a value set.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use clinical::PartialDateTime;
use serde_json::{Map, Value};

use super::path::Path;
use super::{FaultKind, MAX_FAULTS, ValidationFault};
use crate::definitions::{Element, Structure, StructureKind, lines};
use crate::fhirpath::{Context, EvaluationFault, FhirPath, Node};
use crate::resource_type::ResourceType;

/// Something that a resource should be, and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub fault: ValidationFault,
    /// Not an error.
    pub is_warning: bool,
}

/// So many steps are made for one resource; then the rest is not looked at, and a warning says so.
const MAX_STEPS: u64 = 5_000_000;

/// The findings on a resource that [`super::validate`] accepts. `now` is the time that invariants may ask for.
pub fn conformance(resource: &Value, now: PartialDateTime) -> Vec<Finding> {
    let context = Context::at(now).within(MAX_STEPS);
    let mut walk = Walk { findings: Vec::new(), context: &context, is_too_costly: false };
    let name = resource["resourceType"].as_str().and_then(|name| name.parse::<ResourceType>().ok());
    if let Some(name) = name {
        walk.resource(resource, resource, &Path::root(name.as_str()));
    }
    if walk.is_too_costly {
        let message = "the resource is too large for all of its invariants to be checked".to_owned();
        let path = resource["resourceType"].as_str().unwrap_or("Resource").to_owned();
        let fault = ValidationFault { path, kind: FaultKind::TooCostly, message };
        walk.findings.push(Finding { fault, is_warning: true });
    }
    walk.findings
}

struct Walk<'c> {
    findings: Vec<Finding>,
    context: &'c Context<'c>,
    /// Whether an invariant was left out.
    is_too_costly: bool,
}

/// A value that is visited by the walk.
#[derive(Clone, Copy)]
struct ElementContext<'c> {
    value: &'c Value,
    /// What `%resource` means.
    resource: &'c Value,
    /// The resource that `#` references point into.
    owner: &'c Value,
}

impl<'c> Walk<'c> {
    fn resource(&mut self, value: &'c Value, owner: &'c Value, path: &Path<'_>) {
        let structure = value["resourceType"].as_str().and_then(Structure::find);
        if let (Some(structure), Some(object)) = (structure, value.as_object()) {
            // `%resource` of a contained resource is the one that contains it: `#` references lead there.
            let element_context = ElementContext { value, resource: owner, owner };
            self.invariants(structure, element_context, path);
            self.object(structure, object, element_context, path);
        }
    }

    fn object(
        &mut self,
        structure: &Structure,
        object: &'c Map<String, Value>,
        element_context: ElementContext<'c>,
        path: &Path<'_>,
    ) {
        for (key, value) in object {
            let Some((_, element, used)) = structure.element(key) else { continue };
            let child = path.child(element.name());
            match value {
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        self.value(
                            element,
                            used.content(),
                            ElementContext { value: item, ..element_context },
                            &child.item(index),
                        );
                    }
                }
                single => {
                    self.value(element, used.content(), ElementContext { value: single, ..element_context }, &child)
                }
            }
        }
    }

    fn value(
        &mut self,
        element: &Element,
        content: &'static Structure,
        element_context: ElementContext<'c>,
        path: &Path<'_>,
    ) {
        if self.findings.len() >= MAX_FAULTS || self.context.is_used_up() || element_context.value.is_null() {
            return;
        }
        if matches!(content.kind(), StructureKind::Resource | StructureKind::AbstractResource) {
            let is_contained = element.path() == "DomainResource.contained";
            self.resource(
                element_context.value,
                if is_contained { element_context.owner } else { element_context.value },
                path,
            );
            return;
        }
        if element.path() != content.path() {
            self.evaluate(element.path(), content, element_context, path);
        }
        if let Value::Object(object) = element_context.value {
            if object.keys().all(|key| key == "id") {
                self.report(FaultKind::Invariant, path, "ele-1: All FHIR elements must have a @value or children");
            }
            self.concept(element, element_context.value, path);
            self.invariants(content, element_context, path);
            self.object(content, object, element_context, path);
        }
    }

    /// Those of a type and of the types that it is made from.
    fn invariants(&mut self, structure: &'static Structure, element_context: ElementContext<'c>, path: &Path<'_>) {
        for known in std::iter::successors(Some(structure), |structure| structure.base()) {
            self.evaluate(known.path(), structure, element_context, path);
        }
    }

    fn evaluate(
        &mut self,
        of: &str,
        structure: &'static Structure,
        element_context: ElementContext<'c>,
        path: &Path<'_>,
    ) {
        for invariant in INVARIANTS.get(of).into_iter().flatten() {
            let node = Node::element(element_context.value, structure, element_context.owner);
            match invariant.expression.fails_for(node, element_context.resource, self.context) {
                Ok(true) => {}
                Err(EvaluationFault::OverBudget { .. }) => {
                    self.is_too_costly = true;
                    continue;
                }
                // An expression without an answer says nothing against the resource.
                Ok(false) | Err(_) => continue,
            }
            let message = format!("{}: {}", invariant.key, invariant.meaning);
            let fault = ValidationFault { path: path.to_string(), kind: FaultKind::Invariant, message };
            self.findings.push(Finding { fault, is_warning: invariant.is_warning });
        }
    }

    fn concept(&mut self, element: &Element, value: &Value, path: &Path<'_>) {
        if let Some(codes) = CONCEPTS.get(element.path())
            && !codes.allows(value)
        {
            let message = format!("has no code of the value set {}, from which it must come", codes.name);
            self.report(FaultKind::CodeInvalid, path, &message);
        }
    }

    fn report(&mut self, kind: FaultKind, path: &Path<'_>, message: &str) {
        let fault = ValidationFault { path: path.to_string(), kind, message: message.to_owned() };
        self.findings.push(Finding { fault, is_warning: false });
    }
}

/// The systems and codes of a value set.
#[derive(Debug)]
pub(super) struct ConceptSet {
    pub(super) name: &'static str,
    codings: HashSet<(&'static str, &'static str)>,
}

impl ConceptSet {
    /// Reads `system|code` words.
    pub(super) fn parse(name: &'static str, words: &'static str) -> Self {
        Self { name, codings: words.split(' ').filter_map(|word| word.rsplit_once('|')).collect() }
    }

    /// Whether a CodeableConcept has a coding of the set, or a Coding is one.
    pub(super) fn allows(&self, value: &Value) -> bool {
        let is_known = |coding: &Value| {
            let text = |name: &str| coding[name].as_str().unwrap_or_default();
            self.codings.contains(&(text("system"), text("code")))
        };
        match value.get("coding").and_then(Value::as_array) {
            Some(codings) => codings.iter().any(is_known),
            None => is_known(value),
        }
    }
}

pub(super) struct Invariant {
    pub(super) key: &'static str,
    pub(super) is_warning: bool,
    pub(super) expression: FhirPath,
    pub(super) meaning: &'static str,
}

impl Invariant {
    /// Reads `key, severity, expression, meaning`; `within` makes the expression out of the one that is written.
    /// None if the expression uses what our FHIRPath does not have.
    pub(super) fn parse(columns: &[&'static str], within: impl Fn(&str) -> String) -> Option<Self> {
        let [key, severity, expression, meaning] = *columns else { return None };
        let expression = FhirPath::parse(&within(expression)).ok()?;
        Some(Self { key, is_warning: severity == "warning", expression, meaning })
    }
}

/// Invariants whose expression does not say what is meant: que-7 asks a FHIR boolean whether it is a System Boolean.
const FAULTY: [&str; 1] = ["que-7"];

static INVARIANTS: LazyLock<HashMap<&'static str, Vec<Invariant>>> = LazyLock::new(|| {
    let mut invariants: HashMap<&'static str, Vec<Invariant>> = HashMap::new();
    for line in lines(include_str!("../../definitions/invariants.txt")) {
        let columns: Vec<&'static str> = line.split('\t').collect();
        if let Some((path, rule)) = columns.split_first()
            && let Some(invariant) = Invariant::parse(rule, str::to_owned)
            && !FAULTY.contains(&invariant.key)
        {
            invariants.entry(path).or_default().push(invariant);
        }
    }
    invariants
});

static CONCEPTS: LazyLock<HashMap<&'static str, ConceptSet>> = LazyLock::new(|| {
    let columns = lines(include_str!("../../definitions/concepts.txt")).filter_map(|line| {
        let mut columns = line.splitn(3, ' ');
        Some((columns.next()?, ConceptSet::parse(columns.next()?, columns.next()?)))
    });
    columns.collect()
});

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn findings(resource: &Value) -> Vec<String> {
        super::super::validate(resource).unwrap();
        let now = PartialDateTime::parse_fhir("2026-01-01T00:00:00Z").unwrap();
        let found = conformance(resource, now);
        found.iter().map(|finding| format!("{} {}", finding.fault.path, finding.fault.message)).collect()
    }

    #[test]
    fn all_invariants_can_be_read_but_those_of_html() {
        let mut unread: Vec<&str> = Vec::new();
        for line in lines(include_str!("../../definitions/invariants.txt")) {
            let columns: Vec<&str> = line.split('\t').collect();
            if FhirPath::parse(columns[3]).is_err() {
                unread.push(columns[1]);
            }
        }
        // What a narrative may hold is checked with the structure.
        assert_eq!(unread, ["txt-1", "txt-2"]);
    }

    #[test]
    fn a_resource_has_one_budget() {
        let options: Vec<Value> = (0..300).map(|index| json!({"linkId": index.to_string(), "type": "group"})).collect();
        let items: Vec<Value> = (0..300)
            .map(|index| json!({"linkId": format!("i{index}"), "type": "group", "item": options.clone()}))
            .collect();
        let found = findings(&json!({"resourceType": "Questionnaire", "status": "draft", "item": items}));
        assert!(found.iter().any(|finding| finding.contains("too large for all of its invariants")), "{found:?}");
    }

    #[test]
    fn invariants_of_resources_elements_and_types() {
        for (resource, expected) in [
            (json!({"resourceType": "Patient", "contact": [{"gender": "male"}]}), "Patient.contact[0] pat-1"),
            (
                json!({"resourceType": "Encounter", "status": "planned", "class": {"code": "AMB"},
                    "period": {"start": "2024-02-02", "end": "2024-02-01"}}),
                "Encounter.period per-1",
            ),
            (json!({"resourceType": "Patient", "extension": [{"url": "http://e"}]}), "Patient.extension[0] ext-1"),
            (json!({"resourceType": "Patient", "name": [{"id": "n"}]}), "Patient.name[0] ele-1"),
            (
                json!({"resourceType": "Observation", "status": "final", "code": {"text": "x"},
                    "dataAbsentReason": {"text": "y"}, "valueString": "z"}),
                "Observation obs-6",
            ),
            (
                json!({"resourceType": "Condition", "subject": {"reference": "Patient/1"},
                    "clinicalStatus": {"coding": [{"system": "http://x", "code": "active"}]}}),
                "Condition.clinicalStatus has no code of the value set condition-clinical",
            ),
            (
                json!({"resourceType": "Patient", "contained": [{"resourceType": "Patient", "id": "c",
                    "contact": [{"gender": "male"}]}], "link": [{"other": {"reference": "#c"}, "type": "seealso"}]}),
                "Patient.contained[0].contact[0] pat-1",
            ),
        ] {
            let found = findings(&resource);
            assert!(found.iter().any(|finding| finding.starts_with(expected)), "{expected}: {found:?}");
        }
        assert!(findings(&json!({"resourceType": "Patient", "name": [{"family": "a"}]})).is_empty());
    }
}
