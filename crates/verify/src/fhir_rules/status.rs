//! Statuses that withdraw a record.

use fhir::definitions::Structure;
use serde_json::Value;

use crate::closed_world::Coverage;
use crate::scoring::FieldResult;

/// Codes of R4's status elements for records that are wrong, ended early, refused, or not in force.
const WITHDRAWN: [&str; 30] = [
    "aborted",
    "abandoned",
    "cancelled",
    "declined",
    "disapproved",
    "disputed",
    "entered-in-error",
    "error",
    "failed",
    "failure",
    "inactive",
    "ineligible",
    "not-billable",
    "not-done",
    "not-registered",
    "not-taken",
    "noshow",
    "off",
    "on-hold",
    "onhold",
    "refuted",
    "rejected",
    "retired",
    "revoked",
    "stopped",
    "superseded",
    "suspended",
    "terminated",
    "unsatisfactory",
    "withdrawn",
];

/// The elements with the status of a record.
const STATUS: [&str; 4] = ["lifecycleStatus", "participantStatus", "status", "verificationStatus"];

pub(super) fn is_withdrawn(structure: &Structure, resource: &Value) -> bool {
    withdrawn_statuses(structure, resource).next().is_some()
}

/// The violation for a withdrawn record, unless the assertion asks for its status.
pub(super) fn withdrawn(structure: &Structure, resource: &Value, coverage: &Coverage) -> Option<FieldResult> {
    let (key, status) = withdrawn_statuses(structure, resource).find(|(_, status)| !coverage.asserts_within(status))?;
    let reason = "the record's status takes it back, and the assertion does not ask for that status".to_owned();
    let code = codes(status).find(|code| WITHDRAWN.contains(code)).unwrap_or_default();
    Some(FieldResult::violation(key.to_owned(), "a status that is in force".into(), &code.into(), reason))
}

fn withdrawn_statuses<'v>(
    structure: &Structure,
    resource: &'v Value,
) -> impl Iterator<Item = (&'static str, &'v Value)> {
    let is_status = |key: &&str| structure.element(key).is_some_and(|(_, element, _)| element.is_modifier());
    let statuses: Vec<&'static str> = STATUS.into_iter().filter(is_status).collect();
    let statuses = statuses.into_iter().filter_map(|key| Some((key, resource.get(key)?)));
    statuses.filter(|(_, status)| codes(status).any(|code| WITHDRAWN.contains(&code)))
}

/// The codes of a `code` or a CodeableConcept.
pub(super) fn codes(value: &Value) -> impl Iterator<Item = &str> {
    let codings = value.get("coding").and_then(Value::as_array).into_iter().flatten();
    value.as_str().into_iter().chain(codings.filter_map(|coding| coding.get("code")?.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn withdrawn_codes_are_codes_of_r4() {
        let mut known: Vec<&str> = Structure::all()
            .flat_map(Structure::elements)
            .filter(|element| STATUS.contains(&element.name()))
            .filter_map(|element| element.codes()?.codes())
            .flatten()
            .copied()
            .collect();
        known.extend(["refuted", "error"]);
        for code in WITHDRAWN {
            assert!(known.contains(&code), "{code}");
        }
    }

    #[test]
    fn a_status_withdraws_unless_it_is_asserted() {
        let structure = Structure::find("Condition").expect("Condition");
        let refuted = json!({"verificationStatus": {"coding": [{"code": "refuted"}]}});
        assert!(is_withdrawn(structure, &refuted));
        let mut coverage = Coverage::default();
        assert!(withdrawn(structure, &refuted, &coverage).is_some());
        coverage.cover_asserted(&refuted["verificationStatus"]["coding"][0]["code"]);
        assert!(withdrawn(structure, &refuted, &coverage).is_none());
        for (name, status, is) in
            [("Task", "cancelled", true), ("Task", "completed", false), ("Slot", "entered-in-error", false)]
        {
            let structure = Structure::find(name).expect(name);
            assert_eq!(is_withdrawn(structure, &json!({"status": status})), is, "{name} {status}");
        }
    }
}
