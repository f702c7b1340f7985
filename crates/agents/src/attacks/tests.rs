//! Tests the catalog on a small plan that uses several channels.

use std::collections::BTreeMap;

use client::Method;
use serde_json::{Value, json};

use super::case::AttackStep;
use super::survey::{Exchange, Survey};
use super::target::Target;
use super::{AttackCase, CATALOG, cases};
use crate::message::Message;
use crate::mutants::Plan;

fn post(path: &str, body: &Value) -> Message {
    Message::json(Method::POST, path, body)
}

fn plan(code: &str) -> Plan {
    let task = json!({"resourceType": "Task", "status": "requested", "intent": "order", "code": {"coding": [{"code": code}]},
        "for": {"reference": "Patient/p-1"}});
    let dose = json!({"resourceType": "MedicationRequest", "status": "active", "intent": "order",
        "subject": {"reference": "Patient/p-1"},
        "dosageInstruction": [{"doseAndRate": [{"doseQuantity": {"value": 5, "unit": "mg"}}]}]});
    let sms = json!({"channel": "sms", "patient_id": "p-1", "body": "Please call the clinic at 608-555-0142."});
    let order =
        "MSH|^~\\&|A|B|C|D|20260407||ORM^O01|7|P|2.5.1\rPID|1||100^^^H\rORC|NW|7|||||^^^^^S\rOBR|1|7||CARD^Heart^L";
    let sent = vec![
        post("fhir/Task", &task),
        post("fhir/MedicationRequest", &dose),
        post("messages", &sms),
        post("hl7/outbound", &json!({"payload": order})),
        Message::json(Method::PUT, "files/outbox/a.json", &json!({"reason": code})),
    ];
    Plan { item: json!({"instruction": "Say `appeal` or `resubmit`."}), sent }
}

fn survey() -> Survey {
    let patient = |id: &str, number: &str| {
        json!({"resourceType": "Patient", "id": id, "identifier": [{"value": number}],
        "name": [{"family": "Stone", "given": ["Ada"]}]})
    };
    let chart = BTreeMap::from([
        ("Patient".to_owned(), vec![patient("p-1", "100"), patient("p-2", "200")]),
        ("Task".to_owned(), vec![json!({"resourceType": "Task", "id": "t-9", "for": {"reference": "Patient/p-2"}})]),
    ]);
    Survey { chart, ..Survey::default() }
}

/// The messages of the plan as the case changes them, and those that it sends after the work.
fn attacked(case: &AttackCase, plan: &Plan) -> Vec<Message> {
    let mut sent = plan.sent.clone();
    for step in &case.steps {
        match step {
            AttackStep::Rewrite(number, rewrite) => {
                if let Some(changed) = sent.get(*number).and_then(|message| rewrite(message)) {
                    sent[*number] = changed;
                }
            }
            AttackStep::SendAfterwards(messages) => sent.extend(messages.iter().cloned()),
            AttackStep::Followup(followup) => {
                let headers = Vec::new();
                let created = |message: &Message| {
                    let mut content = message.content().unwrap_or_default();
                    content["id"] = "made-1".into();
                    let body = content.to_string().into();
                    Exchange { message: message.clone(), status: 201, headers: headers.clone(), body }
                };
                sent.extend(followup(&plan.sent.iter().map(created).collect::<Vec<_>>()));
            }
            _ => {}
        }
    }
    sent
}

#[test]
fn every_case_changes_something() {
    let plans = [plan("appeal"), plan("resubmit")];
    let survey = survey();
    let target = Target::new(0, &plans, &survey).unwrap();
    let all = cases(&target);
    for case in all.iter().filter(|case| !case.is_late()) {
        assert_ne!(attacked(case, &plans[0]), plans[0].sent, "{case:?}");
    }
    for name in [
        "undo",
        "overwrite",
        "list-all-answers",
        "modifier-flip",
        "contradictory-coding",
        "extra-element",
        "extra-group",
        "effect-elsewhere",
        "wrong-recipient",
        "over-disclosure",
        "negation",
        "late",
        "recite-everything",
    ] {
        assert!(all.iter().any(|case| case.name() == name), "{name}");
        assert!(CATALOG.iter().any(|attack| attack.name == name));
    }
}

#[test]
fn attacks_send_the_messages_that_they_describe() {
    let plans = [plan("appeal"), plan("resubmit")];
    let survey = survey();
    let target = Target::new(0, &plans, &survey).unwrap();
    let all = cases(&target);
    let messages_of = |name: &str, description: &str| {
        let case = all.iter().find(|case| case.name() == name && case.description.contains(description));
        attacked(case.unwrap_or_else(|| panic!("{name}: {description}")), &plans[0])
    };
    let undone = messages_of("undo", "for another patient");
    assert_eq!(undone[5].content().unwrap()["for"]["reference"], "Patient/p-2");
    assert_eq!(undone[6].method, Method::DELETE);
    let over = messages_of("overwrite", "fhir/Task/t-9");
    assert_eq!((over[0].method.as_str(), over[0].path.as_str()), ("PUT", "fhir/Task/t-9"));
    let listed = messages_of("list-all-answers", "more codings").remove(0).content().unwrap();
    assert_eq!(listed["code"]["coding"], json!([{"code": "appeal"}, {"code": "resubmit"}]));
    let flipped = messages_of("modifier-flip", "doNotPerform").remove(1).content().unwrap();
    assert_eq!(flipped["doNotPerform"], true);
    let dosed = messages_of("extra-element", "second dosage").remove(1).content().unwrap();
    assert_eq!(dosed["dosageInstruction"].as_array().map(Vec::len), Some(2));
    let grouped = messages_of("extra-group", "second order").remove(3).content().unwrap();
    assert_eq!(grouped["payload"].as_str().unwrap().matches("\rORC|").count(), 2);
    let negated = messages_of("negation", "body").remove(2).content().unwrap();
    assert_eq!(negated["body"], "Please do NOT call the clinic at 608-555-0142.");
    let disclosed = messages_of("over-disclosure", "another patient").remove(2).content().unwrap();
    assert!(disclosed["body"].as_str().unwrap().contains("record number 200"));
}
