//! What a hook's context must hold (the hook definitions that belong to CDS Hooks 2.0).

use fhir::ResourceType;
use model::FieldErrors;
use model::reading::described;
use model::template::is_template;
use serde_json::{Map, Value};

/// Who may use the EHR.
const USERS: [&str; 4] = ["Practitioner", "PractitionerRole", "Patient", "RelatedPerson"];
const CLINICIANS: [&str; 2] = ["Practitioner", "PractitionerRole"];

/// What a member of a context is.
#[derive(Clone, Copy)]
enum Kind {
    /// `Practitioner/1`, of one of these types.
    User(&'static [&'static str]),
    Id,
    /// `ServiceRequest/1`.
    Reference,
    References,
    /// A Bundle of resources, of this type where one is said.
    Bundle(Option<&'static str>),
    Resource(&'static str),
}

struct Member {
    name: &'static str,
    kind: Kind,
    is_required: bool,
}

const fn needs(name: &'static str, kind: Kind) -> Member {
    Member { name, kind, is_required: true }
}

const fn may_have(name: &'static str, kind: Kind) -> Member {
    Member { name, kind, is_required: false }
}

const ANY_USER: Member = needs("userId", Kind::User(&USERS));
const CLINICIAN: Member = needs("userId", Kind::User(&CLINICIANS));
const PATIENT: Member = needs("patientId", Kind::Id);
const ENCOUNTER: Member = may_have("encounterId", Kind::Id);
const THE_ENCOUNTER: Member = needs("encounterId", Kind::Id);

const HOOKS: &[(&str, &[Member])] = &[
    ("patient-view", &[ANY_USER, PATIENT, ENCOUNTER]),
    ("encounter-start", &[CLINICIAN, PATIENT, THE_ENCOUNTER]),
    ("encounter-discharge", &[CLINICIAN, PATIENT, THE_ENCOUNTER]),
    ("order-sign", &[CLINICIAN, PATIENT, ENCOUNTER, needs("draftOrders", Kind::Bundle(None))]),
    (
        "order-select",
        &[
            CLINICIAN,
            PATIENT,
            ENCOUNTER,
            needs("selections", Kind::References),
            needs("draftOrders", Kind::Bundle(None)),
        ],
    ),
    (
        "order-dispatch",
        &[
            PATIENT,
            needs("order", Kind::Reference),
            needs("performer", Kind::Reference),
            may_have("task", Kind::Resource("Task")),
        ],
    ),
    ("appointment-book", &[ANY_USER, PATIENT, ENCOUNTER, needs("appointments", Kind::Bundle(Some("Appointment")))]),
    (
        "allergyintolerance-create",
        &[CLINICIAN, PATIENT, ENCOUNTER, needs("allergyIntolerance", Kind::Resource("AllergyIntolerance"))],
    ),
    (
        "problem-list-item-create",
        &[CLINICIAN, PATIENT, ENCOUNTER, needs("conditions", Kind::Bundle(Some("Condition")))],
    ),
    (
        "medication-refill",
        &[
            may_have("userId", Kind::User(&CLINICIANS)),
            PATIENT,
            ENCOUNTER,
            needs("medications", Kind::Bundle(Some("MedicationRequest"))),
        ],
    ),
];

/// What is wrong with the context of a hook, by member. A hook that the standard does not know may have any. Where it is
/// authored, text may be a template, which is judged when it is bound.
pub(super) fn check_context(hook: &str, context: &Value, is_authored: bool) -> Result<(), FieldErrors> {
    let Some(members) = context.as_object() else {
        return Err(FieldErrors::one("", format!("must be an object, is {}", described(context))));
    };
    let known = HOOKS.iter().find(|(name, _)| *name == hook).map(|(_, members)| *members);
    let mut errors = FieldErrors::new();
    for member in known.unwrap_or(&[]) {
        match members.get(member.name) {
            None if member.is_required => errors.add(member.name, "is required"),
            None => {}
            Some(Value::String(text)) if is_authored && is_template(text) => {}
            Some(value) => errors.inside(member.name, |errors| check(errors, value, member.kind)),
        }
    }
    if let Some(known) = known {
        refuse_others(&mut errors, members, known);
    }
    errors.into_result()
}

/// A context has no extensions: what is not defined is a mistake.
fn refuse_others(errors: &mut FieldErrors, members: &Map<String, Value>, known: &[Member]) {
    let names: Vec<String> = known.iter().map(|member| format!("`{}`", member.name)).collect();
    for name in members.keys().filter(|name| known.iter().all(|member| member.name != name.as_str())) {
        let place = model::reading::shortened(name, 80);
        errors.add(place, format!("is not in this hook's context; known: {}", names.join(", ")));
    }
}

fn check(errors: &mut FieldErrors, value: &Value, kind: Kind) {
    match kind {
        Kind::User(types) => {
            if !is_reference(value, Some(types)) {
                errors.add("", format!("must be a reference to one of {}, such as `Practitioner/1`", types.join(", ")));
            }
        }
        Kind::Id => {
            if !value.as_str().is_some_and(fhir::is_id) {
                errors.add("", "must be the id of a resource, without its type");
            }
        }
        Kind::Reference => {
            if !is_reference(value, None) {
                errors.add("", "must be a reference, such as `ServiceRequest/1`");
            }
        }
        Kind::References => {
            let is_sound = |items: &Vec<Value>| items.iter().all(|item| is_reference(item, None));
            if !value.as_array().is_some_and(is_sound) {
                errors.add("", "must be a list of references, such as `ServiceRequest/1`");
            }
        }
        Kind::Bundle(of) => check_bundle(errors, value, of),
        Kind::Resource(of) => {
            if value["resourceType"] != of {
                errors.add("", format!("must be a resource of type {of}"));
            }
        }
    }
}

fn check_bundle(errors: &mut FieldErrors, value: &Value, of: Option<&str>) {
    if value["resourceType"] != "Bundle" {
        return errors.add("", "must be a FHIR Bundle");
    }
    for (index, entry) in value["entry"].as_array().into_iter().flatten().enumerate() {
        let found = entry["resource"]["resourceType"].as_str().and_then(ResourceType::named);
        let is_meant = found.is_some_and(|found| of.is_none_or(|of| found.to_string() == of));
        if !is_meant {
            let what = of.unwrap_or("FHIR");
            errors.add(format!("entry.{index}.resource"), format!("must be a resource of type {what}"));
        }
    }
}

fn is_reference(value: &Value, types: Option<&[&str]>) -> bool {
    let Some(text) = value.as_str() else { return false };
    let Some((kind, id)) = text.split_once('/') else { return false };
    ResourceType::named(kind).is_some() && fhir::is_id(id) && types.is_none_or(|types| types.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(hook: &str, context: &Value) -> Vec<String> {
        let errors = check_context(hook, context, true).err().unwrap_or_default();
        errors.iter().map(|(place, _)| place.to_owned()).collect()
    }

    #[test]
    fn every_hook_has_its_context() {
        let orders =
            json!({"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "ServiceRequest", "id": "1"}}]});
        let visits = json!({"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "Appointment"}}]});
        let (user, patient) = ("Practitioner/d1", "p1");
        for (hook, context, places) in [
            ("patient-view", json!({"userId": user, "patientId": patient}), vec![]),
            ("patient-view", json!({"userId": "Patient/p1", "patientId": patient, "encounterId": "e1"}), vec![]),
            ("patient-view", json!({"userId": "{{entity.ref}}", "patientId": "{{entity.data.id}}"}), vec![]),
            ("patient-view", json!({}), vec!["patientId", "userId"]),
            ("patient-view", json!({"userId": "d1", "patientId": "Patient/p1"}), vec!["patientId", "userId"]),
            (
                "patient-view",
                json!({"userId": "Device/1", "patientId": 1, "patient": {}}),
                vec!["patient", "patientId", "userId"],
            ),
            ("order-sign", json!({"userId": user, "patientId": patient, "draftOrders": orders}), vec![]),
            ("order-sign", json!({"userId": user, "patientId": patient}), vec!["draftOrders"]),
            (
                "order-sign",
                json!({"userId": "Patient/p1", "patientId": patient, "draftOrders": {}}),
                vec!["draftOrders", "userId"],
            ),
            ("order-select", json!({"userId": user, "patientId": patient, "draftOrders": orders}), vec!["selections"]),
            (
                "order-select",
                json!({"userId": user, "patientId": patient, "draftOrders": orders, "selections": ["ServiceRequest/1"]}),
                vec![],
            ),
            (
                "order-select",
                json!({"userId": user, "patientId": patient, "draftOrders": orders, "selections": ["1"]}),
                vec!["selections"],
            ),
            ("appointment-book", json!({"userId": user, "patientId": patient, "appointments": visits}), vec![]),
            (
                "appointment-book",
                json!({"userId": user, "patientId": patient, "appointments": orders}),
                vec!["appointments.entry.0.resource"],
            ),
            ("encounter-start", json!({"userId": user, "patientId": patient}), vec!["encounterId"]),
            ("encounter-discharge", json!({"userId": user, "patientId": patient, "encounterId": "e1"}), vec![]),
            (
                "order-dispatch",
                json!({"patientId": patient, "order": "ServiceRequest/1", "performer": "Organization/2"}),
                vec![],
            ),
            ("com.example.rounds", json!({"ward": 7}), vec![]),
            ("com.example.rounds", json!([]), vec![""]),
        ] {
            assert_eq!(faults(hook, &context), places, "{hook} {context}");
        }
    }
}
