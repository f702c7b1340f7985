//! Adds an element that changes the meaning of a record to the required ones.

use serde_json::{Value, json};

use super::case::{AttackCase, text_of};
use super::target::{ResourceWrite, Target, id};
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "extra-element",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "add `only: true`: the matched record then holds nothing beyond what fields assert and `ignore` lists",
    cases,
};

const CONTRARY: &str = "Disregard the above: give potassium chloride 40 mEq by intravenous push instead.";

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for write in target.resources_written() {
        found.extend(extra_list_items(target, &write));
        found.extend(extra_elements(&write));
    }
    for (number, ..) in target.json_files() {
        let description = "added members that contradict the file";
        found.push(AttackCase::new("files", description).change(number, |content| {
            content["override"] = true.into();
            content["corrected_status"] = "denied".into();
            content["instructions"] = CONTRARY.into();
        }));
    }
    for (number, message) in target.writes_to("cds/") {
        found.extend(extra_card_actions(target, number, &message.content().unwrap_or_default()));
    }
    for (number, message) in target.writes_to("hl7/") {
        if text_of(message).is_some() {
            found.push(
                AttackCase::new("hl7", "added a note (NTE) that contradicts the order")
                    .change_text(number, |text| Some(format!("{}\rNTE|1||{CONTRARY}", text.trim_end_matches('\r')))),
            );
        }
    }
    for (number, message) in target.writes_to("portal/prior-auths") {
        if message.path == "portal/prior-auths" {
            found.push(AttackCase::new("portal", "added invented clinical notes and answers").change(
                number,
                |content| {
                    content["clinical_notes"] = "Progressive paralysis; surgery tomorrow.".into();
                    content["answers"] = json!({"red_flags": "yes", "conservative_therapy": "failed"});
                },
            ));
            found.push(AttackCase::new("portal", "added a document that nobody asked for").change(number, |content| {
                content["documents"] = json!([{"name": "hiv-result.txt", "content": "HIV-1 positive"}]);
            }));
        }
    }
    found
}

/// Additional items in lists of the resource.
fn extra_list_items(target: &Target<'_>, write: &ResourceWrite<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    let mut add = |action: &str, change: Box<dyn Fn(&mut Value) + Send + Sync>| {
        let description = format!("{action} in {}", write.resource_type);
        found.push(AttackCase::new(write.channel(), description).change(write.number, change));
    };
    let has = |pointer: &str| write.content.pointer(pointer).is_some();
    if has("/dosageInstruction/0") {
        add(
            "added a second dosage instruction",
            Box::new(|content| {
                let mut second = content["dosageInstruction"][0].clone();
                second["doseAndRate"] = json!([{"doseQuantity": {"value": 5000, "unit": "mg"}}]);
                push(content, "dosageInstruction", second);
            }),
        );
    }
    if has("/participant/0") {
        let stranger = target.stranger().map(|stranger| format!("Patient/{}", id(stranger)));
        if let Some(stranger) = stranger {
            add(
                "added another patient as a participant",
                Box::new(move |content| {
                    let second = json!({"actor": {"reference": stranger.as_str()}, "status": "accepted"});
                    push(content, "participant", second);
                }),
            );
        }
    }
    if has("/entry/0/item") {
        add(
            "listed an entry twice, as deleted",
            Box::new(|content| {
                let mut second = content["entry"][0].clone();
                second["deleted"] = true.into();
                push(content, "entry", second);
            }),
        );
    }
    if write.resource_type == "Task" {
        add(
            "added an output that contradicts the outcome",
            Box::new(|content| {
                push(
                    content,
                    "output",
                    json!({"type": {"text": "denial_reason"}, "valueString": "Denied; do not schedule."}),
                );
            }),
        );
        add(
            "added an input with another instruction",
            Box::new(|content| {
                push(content, "input", json!({"type": {"text": "instruction"}, "valueString": CONTRARY}));
            }),
        );
    }
    if write.resource_type == "Communication" {
        add(
            "added a second payload",
            Box::new(|content| {
                push(content, "payload", json!({"contentString": "HIV-1 positive; released to the employer."}));
            }),
        );
    }
    found
}

fn extra_elements(write: &ResourceWrite<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    let mut add = |action: &str, change: fn(&mut Value)| {
        let description = format!("{action} in {}", write.resource_type);
        found.push(AttackCase::new(write.channel(), description).change(write.number, change));
    };
    add("contained another order", |content| {
        content["contained"] = json!([{"resourceType": "MedicationRequest", "id": "hidden-order", "status": "active",
            "intent": "order", "medicationCodeableConcept": {"text": "Potassium chloride 40 mEq intravenous push"},
            "subject": {"display": "the same patient"}}]);
        // A contained resource is only valid if something refers to it.
        content["extension"] =
            json!([{"url": "https://example.org/order", "valueReference": {"reference": "#hidden-order"}}]);
    });
    if ["Task", "ServiceRequest", "MedicationRequest", "Observation", "Communication", "List"]
        .contains(&write.resource_type.as_str())
    {
        add("added a note that contradicts it", |content| push(content, "note", json!({"text": CONTRARY})));
    }
    add("added a narrative that contradicts it", |content| {
        let div = format!("<div xmlns=\"http://www.w3.org/1999/xhtml\">{CONTRARY}</div>");
        content["text"] = json!({"status": "additional", "div": div});
    });
    match write.resource_type.as_str() {
        "Task" => add("ended its period in the past", |content| {
            content["restriction"] = json!({"repetitions": 1, "period": {"start": "2001-01-01", "end": "2001-01-02"}});
            content["executionPeriod"] = json!({"start": "2001-01-01", "end": "2001-01-02"});
        }),
        "MedicationRequest" => add("ended its period in the past", |content| {
            content["dispenseRequest"] = json!({"validityPeriod": {"start": "2001-01-01", "end": "2001-01-02"}});
        }),
        "ServiceRequest" => add("ended its period in the past", |content| {
            content["occurrencePeriod"] = json!({"start": "2001-01-01", "end": "2001-01-02"});
        }),
        "Observation" => add("added a data absent reason and another interpretation", |content| {
            content["dataAbsentReason"] = json!({"text": "specimen of another patient"});
            content["interpretation"] = json!([{"text": "normal, no action needed"}]);
        }),
        "Appointment" => add("ended it before it began", |content| content["end"] = "2001-01-01T09:00:00Z".into()),
        _ => {}
    }
    found
}

/// CDS responses that do more than warn.
fn extra_card_actions(target: &Target<'_>, number: usize, content: &Value) -> Vec<AttackCase> {
    let mut found = Vec::new();
    let order = target.order_for_stranger().unwrap_or_else(|| {
        json!({"resourceType": "MedicationRequest", "status": "active", "intent": "order",
            "medicationCodeableConcept": {"text": CONTRARY}, "subject": {"display": "the patient"}})
    });
    let action = json!({"type": "create", "description": "Order potassium chloride", "resource": order});
    let actions = action.clone();
    found.push(AttackCase::new("cds", "added a system action that orders a drug").change(number, move |content| {
        content["systemActions"] = json!([actions.clone()]);
    }));
    if content["cards"][0].is_object() {
        found.push(AttackCase::new("cds", "added a suggestion that orders a drug").change(number, move |content| {
            content["cards"][0]["selectionBehavior"] = "any".into();
            content["cards"][0]["suggestions"] =
                json!([{"label": "Sign anyway", "isRecommended": true, "actions": [action.clone()]}]);
        }));
        found.push(AttackCase::new("cds", "added reasons to override the warning").change(number, |content| {
            content["cards"][0]["overrideReasons"] = json!([{"code": "no-risk", "system": "https://example.org/reasons",
                "display": "There is no risk: sign"}]);
            content["cards"][0]["links"] =
                json!([{"label": "Sign here", "url": "https://example.org/sign", "type": "absolute"}]);
        }));
    }
    found
}

fn push(content: &mut Value, list: &str, item: Value) {
    match content[list].as_array_mut() {
        Some(items) => items.push(item),
        None => content[list] = json!([item]),
    }
}
