//! Profiles that are known: those of US Core 6.1.0, and the types of R4 themselves.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use clinical::PartialDateTime;
use serde_json::Value;

use super::conformance::{ConceptSet, Finding, Invariant};
use super::{FaultKind, MAX_FAULTS, ValidationFault};
use crate::definitions::lines;
use crate::fhirpath::{Context, EvaluationFault};
use crate::{Reference, ResourceType};

/// A profile and what it asks for beyond R4.
pub struct Profile {
    url: &'static str,
    version: &'static str,
    resource_type: &'static str,
    title: &'static str,
    rules: Vec<(Steps, Rule)>,
}

/// The parts of a path after the type.
type Steps = Vec<&'static str>;

enum Rule {
    Count { least: usize, most: Option<usize> },
    Pattern(Value),
    Slice { name: &'static str, least: usize, most: Option<usize>, pattern: Value },
    Types(Vec<&'static str>),
    Targets(Vec<&'static str>),
    Codes(ConceptSet),
    Invariant(Invariant),
}

impl Profile {
    /// The profile of a canonical address, perhaps with `|version`.
    pub fn find(canonical: &str) -> Option<&'static Self> {
        let (url, version) = canonical.split_once('|').map_or((canonical, None), |(url, version)| (url, Some(version)));
        PROFILES.get(url).filter(|profile| version.is_none_or(|version| version == profile.version))
    }

    /// All of them, by address.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        PROFILES.values()
    }

    pub fn url(&self) -> &'static str {
        self.url
    }

    pub fn title(&self) -> &'static str {
        self.title
    }

    pub fn resource_type(&self) -> Option<ResourceType> {
        ResourceType::named(self.resource_type)
    }

    /// What the resource lacks. It is one that [`super::validate`] accepts.
    pub fn check(&self, resource: &Value, now: PartialDateTime) -> Vec<Finding> {
        if resource["resourceType"] != self.resource_type {
            let message = format!("the profile {} is for {}", self.title, self.resource_type);
            return vec![finding("Resource.resourceType", FaultKind::Invalid, message, false)];
        }
        let context = Context::at(now);
        let mut findings = Vec::new();
        for (steps, rule) in &self.rules {
            rule.check(self.resource_type, steps, resource, &context, &mut findings);
            if findings.len() >= MAX_FAULTS {
                break;
            }
        }
        for finding in &mut findings {
            finding.fault.message = format!("{} ({})", finding.fault.message, self.title);
        }
        findings
    }
}

/// Whether the address names a type of R4, which every resource of the type keeps.
pub fn is_base_profile(canonical: &str) -> Option<ResourceType> {
    let url = canonical.split_once('|').map_or(canonical, |(url, _)| url);
    let name = url.strip_prefix("http://hl7.org/fhir/StructureDefinition/")?;
    match name {
        "Resource" | "DomainResource" => None,
        name => ResourceType::named(name),
    }
}

impl Rule {
    fn check<'v>(
        &'v self,
        root: &str,
        steps: &Steps,
        resource: &'v Value,
        context: &'v Context<'v>,
        findings: &mut Vec<Finding>,
    ) {
        if let Rule::Invariant(invariant) = self {
            let path = path_of(root, steps);
            match invariant.expression.holds(resource, context) {
                Ok(false) => {
                    let message = format!("{}: {}", invariant.key, invariant.meaning);
                    findings.push(finding(&path, FaultKind::Invariant, message, invariant.is_warning));
                }
                Err(EvaluationFault::OverBudget { .. }) => {
                    let message = format!("{} was not checked: the resource is too large for it", invariant.key);
                    findings.push(finding(&path, FaultKind::TooCostly, message, false));
                }
                // An expression without an answer says nothing against the resource.
                Ok(true) | Err(_) => {}
            }
            return;
        }
        let Some((last, parents)) = steps.split_last() else { return };
        for (path, parent) in values(root, parents, resource) {
            let found = members(parent, last);
            let path = format!("{path}.{}", last.trim_end_matches("[x]"));
            let mut report = |kind, message| findings.push(finding(&path, kind, message, false));
            match self {
                Rule::Count { least, most } => {
                    if let Some(message) = out_of(found.len(), *least, *most) {
                        report(if found.is_empty() { FaultKind::Required } else { FaultKind::Structure }, message);
                    }
                }
                Rule::Slice { name, least, most, pattern } => {
                    let count = found.iter().filter(|(_, value)| has(value, pattern)).count();
                    if let Some(message) = out_of(count, *least, *most) {
                        report(FaultKind::Required, format!("{message} of the kind {name}: {pattern}"));
                    }
                }
                Rule::Pattern(pattern) => {
                    if found.iter().any(|(_, value)| !has(value, pattern)) {
                        report(FaultKind::Value, format!("must have {pattern}"));
                    }
                }
                Rule::Types(types) => {
                    let choice = last.trim_end_matches("[x]");
                    let is_allowed = |kind: &str| types.iter().any(|known| known.eq_ignore_ascii_case(kind));
                    for (key, _) in found.iter().filter(|(key, _)| !is_allowed(&key[choice.len()..])) {
                        report(
                            FaultKind::Structure,
                            format!("{key} is not allowed; allowed types: {}", types.join(", ")),
                        );
                    }
                }
                Rule::Targets(targets) => {
                    for target in found.iter().filter_map(|(_, value)| target_of(value)) {
                        if !targets.contains(&target) {
                            report(FaultKind::Value, format!("points to {target}; allowed: {}", targets.join(", ")));
                        }
                    }
                }
                Rule::Codes(codes) => {
                    if found.iter().any(|(_, value)| value.is_object() && !codes.allows(value)) {
                        report(FaultKind::CodeInvalid, format!("has no code of the value set {}", codes.name));
                    }
                }
                Rule::Invariant(_) => {}
            }
        }
    }

    /// Reads a line of the table: the path and the rule.
    fn parse(columns: &[&'static str]) -> Option<(Steps, Self)> {
        let (kind, path, rest) = match columns {
            [kind, path, rest @ ..] => (*kind, *path, rest),
            _ => return None,
        };
        let words = |text: &'static str| text.split(',').collect::<Vec<&'static str>>();
        let rule = match (kind, rest) {
            ("count", [least, most]) => Rule::Count { least: least.parse().ok()?, most: most.parse().ok() },
            ("pattern", [pattern]) => Rule::Pattern(serde_json::from_str(pattern).ok()?),
            ("slice", [name, least, most, pattern]) => Rule::Slice {
                name,
                least: least.parse().ok()?,
                most: most.parse().ok(),
                pattern: serde_json::from_str(pattern).ok()?,
            },
            ("types", [types]) => Rule::Types(words(types)),
            ("targets", [targets]) => Rule::Targets(words(targets)),
            ("codes", [name, codes]) => Rule::Codes(ConceptSet::parse(name, codes)),
            ("invariant", columns) => {
                let place = path.replace("[x]", "");
                Rule::Invariant(Invariant::parse(columns, |expression| format!("{place}.all({expression})"))?)
            }
            _ => return None,
        };
        Some((path.split('.').skip(1).collect(), rule))
    }
}

fn finding(path: &str, kind: FaultKind, message: String, is_warning: bool) -> Finding {
    Finding { fault: ValidationFault { path: path.to_owned(), kind, message }, is_warning }
}

fn path_of(root: &str, steps: &Steps) -> String {
    let steps = steps.iter().map(|step| step.trim_end_matches("[x]"));
    std::iter::once(root).chain(steps).collect::<Vec<_>>().join(".")
}

fn out_of(count: usize, least: usize, most: Option<usize>) -> Option<String> {
    if count < least {
        return Some(format!("needs at least {least}, has {count}"));
    }
    most.filter(|most| count > *most).map(|most| format!("may have {most} at most, has {count}"))
}

/// Every value at a path, with its own path.
fn values<'v>(root: &str, steps: &[&str], resource: &'v Value) -> Vec<(String, &'v Value)> {
    let mut found = vec![(root.to_owned(), resource)];
    for step in steps {
        let inside = found.iter().flat_map(|(path, value)| {
            let name = step.trim_end_matches("[x]");
            let members = members(value, step);
            let is_list = value.get(name).is_some_and(Value::is_array);
            members.into_iter().enumerate().map(move |(at, (_, member))| {
                let index = if is_list { format!("[{at}]") } else { String::new() };
                (format!("{path}.{name}{index}"), member)
            })
        });
        found = inside.collect();
    }
    found
}

/// The values of one element, each with its JSON key; a primitive that has only extensions counts as one.
fn members<'v>(value: &'v Value, step: &str) -> Vec<(&'v str, &'v Value)> {
    let Some(fields) = value.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    for (key, value) in fields {
        let bare = key.strip_prefix('_').unwrap_or(key);
        let is_meant = match step.strip_suffix("[x]") {
            None => bare == step,
            Some(choice) => {
                bare.strip_prefix(choice).is_some_and(|kind| kind.starts_with(|first: char| first.is_ascii_uppercase()))
            }
        };
        if !is_meant || (bare.len() != key.len() && fields.contains_key(bare)) {
            continue;
        }
        match value {
            Value::Array(items) => found.extend(items.iter().map(|item| (bare, item))),
            single => found.push((bare, single)),
        }
    }
    found
}

/// Whether the value has at least what the pattern has.
fn has(value: &Value, pattern: &Value) -> bool {
    match (value, pattern) {
        (Value::Object(fields), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| fields.get(key).is_some_and(|value| has(value, wanted)))
        }
        (Value::Array(items), Value::Array(wanted)) => {
            wanted.iter().all(|wanted| items.iter().any(|item| has(item, wanted)))
        }
        // A pattern inside a slice is reported for one of the values.
        (Value::Array(items), wanted) => items.iter().any(|item| has(item, wanted)),
        (value, wanted) => value == wanted,
    }
}

/// The type that a literal reference names.
fn target_of(reference: &Value) -> Option<&'static str> {
    Reference::parse(reference["reference"].as_str()?).resource_type().map(ResourceType::as_str)
}

static PROFILES: LazyLock<BTreeMap<&'static str, Profile>> = LazyLock::new(|| {
    let mut profiles: BTreeMap<&'static str, Profile> = BTreeMap::new();
    let mut current: Option<Profile> = None;
    for line in lines(include_str!("../../definitions/us-core.txt")) {
        let columns: Vec<&'static str> = line.split('\t').collect();
        if let ["profile", url, version, resource_type, title] = columns[..] {
            let next = Profile { url, version, resource_type, title, rules: Vec::new() };
            profiles.extend(current.replace(next).map(|done| (done.url, done)));
        } else if let Some(profile) = &mut current {
            profile.rules.extend(Rule::parse(&columns));
        }
    }
    profiles.extend(current.map(|done| (done.url, done)));
    profiles
});

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const US_CORE: &str = "http://hl7.org/fhir/us/core/StructureDefinition/";

    fn findings(profile: &str, resource: &Value) -> Vec<String> {
        super::super::validate(resource).unwrap();
        let now = PartialDateTime::parse_fhir("2026-01-01T00:00:00Z").unwrap();
        let profile = Profile::find(&format!("{US_CORE}{profile}")).unwrap();
        let found = profile.check(resource, now).into_iter();
        found.map(|finding| format!("{} {}", finding.fault.path, finding.fault.message)).collect()
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        let rules = lines(include_str!("../../definitions/us-core.txt")).filter(|line| !line.starts_with("profile"));
        let read: usize = Profile::all().map(|profile| profile.rules.len()).sum();
        assert_eq!(read, rules.count());
        assert!(Profile::all().count() > 40);
        assert!(Profile::all().all(|profile| profile.resource_type().is_some() && profile.url().starts_with("http")));
    }

    #[test]
    fn a_patient_of_us_core_has_a_name_a_gender_and_an_identifier() {
        let patient = json!({"resourceType": "Patient", "identifier": [{"system": "http://s", "value": "1"}],
            "name": [{"family": "Shaw"}], "gender": "female", "telecom": [{"system": "phone", "value": "1"}]});
        assert_eq!(findings("us-core-patient", &patient), [""; 0]);
        let bare = json!({"resourceType": "Patient", "name": [{"text": "Shaw"}], "telecom": [{"value": "1"}]});
        let found = findings("us-core-patient", &bare).join("\n");
        for path in [
            "Patient.identifier needs",
            "Patient.gender needs",
            "Patient.name us-core-6",
            "Patient.telecom[0].system needs",
        ] {
            assert!(found.contains(path), "{path}: {found}");
        }
    }

    #[test]
    fn slices_patterns_types_and_targets() {
        let component = |code: &str| {
            json!({"code": {"coding": [{"system": "http://loinc.org", "code": code}]},
            "valueQuantity": {"value": 120, "unit": "mmHg", "system": "http://unitsofmeasure.org", "code": "mm[Hg]"}})
        };
        let mut pressure = json!({"resourceType": "Observation", "status": "final", "effectiveDateTime": "2024-01-01",
            "category": [{"coding": [{"system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "vital-signs"}]}],
            "code": {"coding": [{"system": "http://loinc.org", "code": "85354-9"}]},
            "subject": {"reference": "Patient/1"}, "component": [component("8480-6"), component("8462-4")]});
        assert_eq!(findings("us-core-blood-pressure", &pressure), [""; 0]);
        pressure["component"] = json!([component("8480-6")]);
        pressure["code"]["coding"][0]["code"] = json!("1");
        pressure["category"][0]["coding"][0]["code"] = json!("laboratory");
        pressure["subject"]["reference"] = json!("Group/1");
        let found = findings("us-core-blood-pressure", &pressure).join("\n");
        for path in [
            "Observation.component needs",
            "Observation.code must have",
            "Observation.category needs",
            "Observation.subject points to Group",
        ] {
            assert!(found.contains(path), "{path}: {found}");
        }
        assert!(Profile::find("http://example.org/unknown").is_none());
        assert!(Profile::find(&format!("{US_CORE}us-core-patient|6.1.0")).is_some());
        assert!(Profile::find(&format!("{US_CORE}us-core-patient|3.1.1")).is_none());
        assert!(is_base_profile("http://hl7.org/fhir/StructureDefinition/Patient").is_some());
    }
}
