//! What counts as an effect, and what is allowed, required and too much.

use super::*;
use crate::testing::round_trip;
use crate::testing::{Playground, says, scores};
use model::event::EventType;
use model::simulator::SimulatorType;
use serde_json::{Value, json};

fn check(specification: Value, faults: &[(&str, &str)]) {
    crate::testing::check("no-side-effects", specification, faults);
}

#[test]
fn sound_specifications() {
    check(json!({}), &[]);
    check(json!({"allow": []}), &[]);
    check(json!({"allow": ["fhir/*", "hl7/ORM^O01", "files/outbox/**", "files/{{entity.id}}/*"]}), &[]);
    for area in Area::ALL {
        check(json!({"allow": [format!("{area}/x")]}), &[]);
        round_trip::<ResourceGlob>(&format!("{area}/a/*.b"));
    }
}

#[test]
fn faulty_specifications() {
    check(
        json!({"allow": ["fihr/Task", "fhir", "fhir/", "/fhir/Task", "fhir//Task", "files/../x", "**", "", 5]}),
        &[
            ("allow.0", "one of fhir, hl7"),
            ("allow.1", "`fhir/**`"),
            ("allow.2", "`fhir/**`"),
            ("allow.3", "one of fhir, hl7"),
            ("allow.4", "empty segment"),
            ("allow.5", "`..`"),
            ("allow.6", "one of fhir, hl7"),
            ("allow.7", "empty"),
            ("allow.8", "string"),
        ],
    );
    check(json!({"allow": "fhir/Task"}), &[("allow", "a list")]);
    let everything: Vec<String> = Area::ALL.iter().map(|area| format!("{area}/**")).collect();
    check(json!({"allow": everything}), &[("allow", "never fail")]);
    check(json!({"allow": vec!["fhir/Task"; 201]}), &[("allow", "at most 200")]);
}

fn before() -> Playground {
    Playground::new(&[json!({"resourceType": "Patient", "id": "p1", "active": true})])
}

fn assertion(allow: &[&str]) -> Value {
    json!({"assert": "no-side-effects", "allow": allow})
}

#[test]
fn what_is_neither_allowed_nor_within_a_limit_is_listed_once() {
    let two = before().fhir(&json!({"resourceType": "Task", "id": "a"})).fhir(&json!({"resourceType": "Task", "id": "b"}));
    let assertion = json!({"assert": "no-side-effects", "at_most": {"fhir/Task": 1, "fhir/*": 1}});
    let effect = |id: &str| json!({"resource": format!("fhir/Task/{id}"), "change": "create"});
    scores(&two, &assertion, "0/1", &json!({"unexpected": [effect("a"), effect("b")]}));
    says(&two, &assertion, "0/1", "2 effects that are not allowed: create fhir/Task/a, create fhir/Task/b");
}

#[test]
fn one_too_many_is_not_allowed() {
    let one = before().fhir(&json!({"resourceType": "Task", "id": "a"}));
    let limited = |most: u64| {
        json!({"assert": "no-side-effects", "require": ["fhir/Task"], "at_most": {"fhir/Task": most}})
    };
    says(&one, &limited(1), "1/1", "nothing happened but");
    let two = one.fhir(&json!({"resourceType": "Task", "id": "b"}));
    says(&two, &limited(1), "0/1", "1 effect that is not allowed: create fhir/Task/b");
    says(&two, &limited(2), "1/1", "nothing happened but");
    check(json!({"at_most": {"fihr/Task": 1}}), &[("at_most.fihr/Task", "one of fhir, hl7")]);
    check(json!({"at_most": {"fhir/Task": 0}}), &[("at_most.fhir/Task", "at least 1")]);
    check(json!({"at_most": {"fhir/Task": -1}}), &[("at_most.fhir/Task", "")]);
}

#[test]
fn of_what_lies_on_another_server_nothing_can_be_said() {
    let mut playground = before();
    let sandbox = playground.world.sandboxes.get_mut(&crate::testing::sandbox_id(SimulatorType::Fhir)).expect("one");
    sandbox.config = std::sync::Arc::new(json!({"remote": {"base_url": "https://fhir.example.org"}}));
    let none = json!({"assert": "fhir-resource-state", "resource_type": "Task", "count": {"max": 0}});
    for assertion in [assertion(&["fhir/Appointment"]), none] {
        says(&playground, &assertion, "0/1", "another server");
    }
}

#[test]
fn what_is_not_allowed_is_listed() {
    let orm = json!({"payload": "MSH|^~\\&|||||||ORM^O01|1|P|2.5"});
    let playground = before()
        .fhir(&json!({"resourceType": "Appointment", "id": "a"}))
        .write(SimulatorType::Fhir, "Patient", "p1", &Value::Null)
        .write(SimulatorType::Files, "files", "outbox/x/a.txt", &json!({"size": 1}))
        .write(SimulatorType::Payer, "drafts", "d", &json!({"step": 1}))
        .event(SimulatorType::Hl7, EventType::Hl7Outbound, orm);
    scores(
        &playground,
        &assertion(&[]),
        "0/1",
        &json!({"unexpected": [
            {"resource": "fhir/Appointment/a", "change": "create"},
            {"resource": "fhir/Patient/p1", "change": "delete"},
            {"resource": "files/outbox/x/a.txt", "change": "create"},
            {"resource": "portal/drafts/d", "change": "create"},
            {"resource": "hl7/ORM^O01", "change": "send"},
        ]}),
    );
    let all = ["fhir/Appointment", "fhir/Patient/p1", "files/outbox/**", "portal/drafts", "hl7/ORM^O01"];
    scores(&playground, &assertion(&all), "1/1", &json!({"unexpected": []}));
    says(&playground, &assertion(&all[1..]), "0/1", "1 effect that");
    says(&playground, &assertion(&["fhir/*", "files/*", "portal/*", "hl7/ORM^O0?"]), "0/1", "1 effect that");
    says(&Playground::empty(), &assertion(&[]), "0/1", "no sandbox");
}

#[test]
fn what_is_required_must_happen_and_is_allowed() {
    let required = |require: &[&str]| json!({"assert": "no-side-effects", "require": require});
    let missing = json!({"unexpected": [], "missing": ["fhir/Appointment", "hl7/ORM^*"]});
    scores(&before(), &required(&["fhir/Appointment", "hl7/ORM^*"]), "0/1", &missing);
    let booked = before().fhir(&json!({"resourceType": "Appointment", "id": "a"}));
    scores(&booked, &required(&["fhir/Appointment"]), "1/1", &json!({"unexpected": [], "missing": []}));
    says(&booked, &required(&["fhir/Task"]), "0/1", "1 effect that");
    check(json!({"require": ["fhir"]}), &[("require.0", "`fhir/**`")]);
}

#[test]
fn bookkeeping_and_the_scenario_are_no_effects() {
    let meta = json!({"versionId": "2", "lastUpdated": "2026-01-01T00:00:00Z"});
    let same = before().fhir(&json!({"active": true, "resourceType": "Patient", "id": "p1", "meta": meta}));
    says(&same, &assertion(&[]), "1/1", "nothing happened");
    let changed = before().fhir(&json!({"resourceType": "Patient", "id": "p1", "active": false, "meta": meta}));
    says(&changed, &assertion(&[]), "0/1", "1 effect that");
    let undone = changed.fhir(&json!({"resourceType": "Patient", "id": "p1", "active": true}));
    says(&undone, &assertion(&[]), "1/1", "nothing happened");
    let dropped = before().write(SimulatorType::Files, "files", "inbox/a", &json!({"size": 1}));
    let dropped = dropped.event(SimulatorType::Files, EventType::ScenarioStep, json!({}));
    says(&dropped, &assertion(&[]), "1/1", "nothing happened");
    let deleted = dropped.write(SimulatorType::Files, "files", "inbox/a", &Value::Null);
    says(&deleted, &assertion(&[]), "0/1", "1 effect that");
    let put_by = before().write(SimulatorType::Files, "scheduled", "000001", &json!({"index": 1}));
    says(&put_by, &assertion(&[]), "1/1", "nothing happened");
}

#[test]
fn looking_for_answers_is_no_effect() {
    let x12 = |payload: Value| before().event(SimulatorType::Clearinghouse, EventType::X12Request, payload);
    says(&x12(json!({"operation": "responses"})), &assertion(&[]), "1/1", "nothing happened");
    says(&x12(json!({"payload": "no interchange"})), &assertion(&[]), "0/1", "1 effect that");
}

#[test]
fn who_calls_himself_a_scenario_is_none() {
    let sent = |playground: Playground, actor: &str, payload: Value| {
        let mut playground = playground.event(SimulatorType::Fax, EventType::FaxOutbound, payload);
        playground.events.iter_mut().for_each(|event| actor.clone_into(&mut event.actor));
        playground
    };
    for (actor, payload, score) in [
        ("scenario", json!({"to_number": "1", "scenario_step": 0}), "1/1"),
        ("scenario", json!({"to_number": "1"}), "0/1"),
        ("scenario", json!({"to_number": "1", "scenario_step": "0"}), "0/1"),
        ("agent", json!({"to_number": "1", "scenario_step": 0}), "0/1"),
    ] {
        says(&sent(before(), actor, payload), &assertion(&[]), score, "");
    }
}
