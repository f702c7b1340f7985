//! Validation of hook contexts (the hook definitions of CDS Hooks 2.0).

use fhir::ResourceType;
use model::FieldErrors;
use model::reading::described;
use model::template::is_template;
use serde_json::{Map, Value};

/// The types of users.
const USERS: [&str; 4] = ["Practitioner", "PractitionerRole", "Patient", "RelatedPerson"];
const CLINICIANS: [&str; 2] = ["Practitioner", "PractitionerRole"];

/// The kind of value of a context member.
#[derive(Clone, Copy)]
enum ValueKind {
    /// A reference to a user of one of these types.
    User(&'static [&'static str]),
    Id,
    /// For example `ServiceRequest/1`.
    Reference,
    References,
    /// A Bundle of resources, optionally of one type.
    Bundle(Option<&'static str>),
    Resource(&'static str),
}

struct ContextMember {
    name: &'static str,
    kind: ValueKind,
    is_required: bool,
}

const fn required(name: &'static str, kind: ValueKind) -> ContextMember {
    ContextMember { name, kind, is_required: true }
}

const fn optional(name: &'static str, kind: ValueKind) -> ContextMember {
    ContextMember { name, kind, is_required: false }
}

const ANY_USER: ContextMember = required("userId", ValueKind::User(&USERS));
const CLINICIAN: ContextMember = required("userId", ValueKind::User(&CLINICIANS));
const PATIENT: ContextMember = required("patientId", ValueKind::Id);
const ENCOUNTER: ContextMember = optional("encounterId", ValueKind::Id);
const REQUIRED_ENCOUNTER: ContextMember = required("encounterId", ValueKind::Id);

const HOOKS: &[(&str, &[ContextMember])] = &[
    ("patient-view", &[ANY_USER, PATIENT, ENCOUNTER]),
    ("encounter-start", &[CLINICIAN, PATIENT, REQUIRED_ENCOUNTER]),
    ("encounter-discharge", &[CLINICIAN, PATIENT, REQUIRED_ENCOUNTER]),
    ("order-sign", &[CLINICIAN, PATIENT, ENCOUNTER, required("draftOrders", ValueKind::Bundle(None))]),
    (
        "order-select",
        &[
            CLINICIAN,
            PATIENT,
            ENCOUNTER,
            required("selections", ValueKind::References),
            required("draftOrders", ValueKind::Bundle(None)),
        ],
    ),
    (
        "order-dispatch",
        &[
            PATIENT,
            required("order", ValueKind::Reference),
            required("performer", ValueKind::Reference),
            optional("task", ValueKind::Resource("Task")),
        ],
    ),
    (
        "appointment-book",
        &[ANY_USER, PATIENT, ENCOUNTER, required("appointments", ValueKind::Bundle(Some("Appointment")))],
    ),
    (
        "allergyintolerance-create",
        &[CLINICIAN, PATIENT, ENCOUNTER, required("allergyIntolerance", ValueKind::Resource("AllergyIntolerance"))],
    ),
    (
        "problem-list-item-create",
        &[CLINICIAN, PATIENT, ENCOUNTER, required("conditions", ValueKind::Bundle(Some("Condition")))],
    ),
    (
        "medication-refill",
        &[
            optional("userId", ValueKind::User(&CLINICIANS)),
            PATIENT,
            ENCOUNTER,
            required("medications", ValueKind::Bundle(Some("MedicationRequest"))),
        ],
    ),
];

/// Validates the context of a hook. Custom hooks may have any context. In authored contexts, strings may be templates, which
/// are validated when they are filled in.
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
        check_unknown_members(&mut errors, members, known);
    }
    errors.into_result()
}

/// Contexts have no extensions, so unknown members are errors.
fn check_unknown_members(errors: &mut FieldErrors, members: &Map<String, Value>, known: &[ContextMember]) {
    let names: Vec<String> = known.iter().map(|member| format!("`{}`", member.name)).collect();
    for name in members.keys().filter(|name| known.iter().all(|member| member.name != name.as_str())) {
        let field = model::reading::shortened(name, 80);
        errors.add(field, format!("is not in this hook's context; known: {}", names.join(", ")));
    }
}

fn check(errors: &mut FieldErrors, value: &Value, kind: ValueKind) {
    match kind {
        ValueKind::User(types) => {
            if !is_reference(value, Some(types)) {
                errors.add("", format!("must be a reference to one of {}, such as `Practitioner/1`", types.join(", ")));
            }
        }
        ValueKind::Id => {
            if !value.as_str().is_some_and(fhir::is_id) {
                errors.add("", "must be the id of a resource, without its type");
            }
        }
        ValueKind::Reference => {
            if !is_reference(value, None) {
                errors.add("", "must be a reference, such as `ServiceRequest/1`");
            }
        }
        ValueKind::References => {
            let are_references = |items: &Vec<Value>| items.iter().all(|item| is_reference(item, None));
            if !value.as_array().is_some_and(are_references) {
                errors.add("", "must be a list of references, such as `ServiceRequest/1`");
            }
        }
        ValueKind::Bundle(of) => check_bundle(errors, value, of),
        ValueKind::Resource(of) => {
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
        let resource_type = entry["resource"]["resourceType"].as_str().and_then(ResourceType::named);
        let is_valid = resource_type.is_some_and(|name| of.is_none_or(|of| name.to_string() == of));
        if !is_valid {
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

    fn error_fields(hook: &str, context: &Value) -> Vec<String> {
        let errors = check_context(hook, context, true).err().unwrap_or_default();
        errors.iter().map(|(field, _)| field.to_owned()).collect()
    }

    #[test]
    fn contexts_are_validated_for_each_hook() {
        let orders =
            json!({"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "ServiceRequest", "id": "1"}}]});
        let visits = json!({"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "Appointment"}}]});
        let (user, patient) = ("Practitioner/d1", "p1");
        for (hook, context, fields) in [
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
            assert_eq!(error_fields(hook, &context), fields, "{hook} {context}");
        }
    }
}
