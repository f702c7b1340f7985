//! What counts as an effect, and what is allowed, required and too much.

use super::*;
use crate::testing::round_trip;
use crate::testing::{Playground, says, scores};
use model::event::EventType;
use model::simulator::SimulatorType;
use serde_json::{Value, json};

fn check(specification: Value, expected_errors: &[(&str, &str)]) {
    crate::testing::check("no-side-effects", specification, expected_errors);
}

#[test]
fn valid_specifications() {
    check(json!({}), &[]);
    check(json!({"allow": []}), &[]);
    check(json!({"allow": ["fhir/*", "hl7/ORM^O01", "files/outbox/**", "files/{{entity.id}}/*"]}), &[]);
    for channel in sims::effects::channels() {
        check(json!({"allow": [format!("{channel}/x")]}), &[]);
        round_trip::<EffectPattern>(&format!("{channel}/a/*.b"));
        round_trip::<EffectPattern>(&format!("{channel}/a\\:b:delete"));
    }
    for verb in Verb::ALL {
        check(json!({"allow": [format!("fhir/Task:{verb}")], "at_most": {format!("fhir/Task:{verb}"): 1}}), &[]);
    }
}

#[test]
fn invalid_specifications() {
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
    check(
        json!({"allow": ["fhir/Task:udpate", "files/a:b"], "require": ["fhir/:create"]}),
        &[("allow.0", "unknown verb `udpate`"), ("allow.1", "written `\\:`"), ("require.0", "`fhir/**`")],
    );
    check(json!({"allow": "fhir/Task"}), &[("allow", "a list")]);
    let everything: Vec<String> = sims::effects::channels().map(|channel| format!("{channel}/**:*")).collect();
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
    let two =
        before().fhir(&json!({"resourceType": "Task", "id": "a"})).fhir(&json!({"resourceType": "Task", "id": "b"}));
    let assertion = json!({"assert": "no-side-effects", "at_most": {"fhir/Task": 1, "fhir/*": 1}});
    let effect = |id: &str, seq: i64| json!({"resource": format!("fhir/Task/{id}"), "change": "create", "seq": seq});
    scores(&two, &assertion, "0/1", &json!({"unexpected": [effect("a", 1), effect("b", 2)]}));
    says(&two, &assertion, "0/1", "2 effects that are not allowed: fhir/Task/a:create, fhir/Task/b:create");
}

#[test]
fn one_too_many_is_not_allowed() {
    let one = before().fhir(&json!({"resourceType": "Task", "id": "a"}));
    let limited =
        |most: u64| json!({"assert": "no-side-effects", "require": ["fhir/Task"], "at_most": {"fhir/Task": most}});
    says(&one, &limited(1), "1/1", "only allowed effects");
    let two = one.fhir(&json!({"resourceType": "Task", "id": "b"}));
    says(&two, &limited(1), "0/1", "1 effect that is not allowed: fhir/Task/b:create");
    says(&two, &limited(2), "1/1", "only allowed effects");
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
            {"resource": "fhir/Appointment/a", "change": "create", "seq": 1},
            {"resource": "fhir/Patient/p1", "change": "delete", "seq": 2},
            {"resource": "files/outbox/x/a.txt", "change": "create", "seq": 3},
            {"resource": "hl7/ORM^O01", "change": "send", "seq": 4},
            {"resource": "portal/drafts/d", "change": "create", "seq": 4},
        ]}),
    );
    let all = ["fhir/Appointment", "fhir/Patient/p1:delete", "files/outbox/**", "portal/drafts", "hl7/ORM^O01"];
    scores(&playground, &assertion(&all), "1/1", &json!({"unexpected": []}));
    says(&playground, &assertion(&all[1..]), "0/1", "1 effect that");
    says(&playground, &assertion(&["fhir/*:*", "files/*", "portal/*", "hl7/ORM^O0?"]), "0/1", "1 effect that");
    says(&Playground::empty(), &assertion(&[]), "0/1", "no sandbox");
}

#[test]
fn what_is_required_must_happen_and_is_allowed() {
    let required = |require: &[&str]| json!({"assert": "no-side-effects", "require": require});
    let missing = json!({"unexpected": [], "missing": ["fhir/Appointment", "hl7/ORM^*"], "candidates": []});
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
    says(&same, &assertion(&[]), "1/1", "only allowed effects");
    let changed = before().fhir(&json!({"resourceType": "Patient", "id": "p1", "active": false, "meta": meta}));
    says(&changed, &assertion(&[]), "0/1", "1 effect that");
    let undone = changed.fhir(&json!({"resourceType": "Patient", "id": "p1", "active": true}));
    says(&undone, &assertion(&[]), "0/1", "2 effects that");
    let dropped = before().write(SimulatorType::Files, "files", "inbox/a", &json!({"size": 1}));
    let dropped = dropped.event(SimulatorType::Files, EventType::ScenarioStep, json!({}));
    says(&dropped, &assertion(&[]), "1/1", "only allowed effects");
    let deleted = dropped.write(SimulatorType::Files, "files", "inbox/a", &Value::Null);
    says(&deleted, &assertion(&[]), "0/1", "1 effect that");
    let deferred = before().write(SimulatorType::Files, "scheduled", "000001", &json!({"index": 1}));
    says(&deferred, &assertion(&[]), "1/1", "only allowed effects");
}

#[test]
fn looking_for_answers_is_no_effect() {
    let x12 = |payload: Value| before().event(SimulatorType::Clearinghouse, EventType::X12Request, payload);
    says(&x12(json!({"operation": "responses"})), &assertion(&[]), "1/1", "only allowed effects");
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

/// Story by story: what was done, the assertion, and what it scores.
#[test]
fn verbs_and_keys() {
    let task = |id: &str, status: &str| json!({"resourceType": "Task", "id": id, "status": status});
    let given = || Playground::new(&[task("given", "requested")]);
    let one = json!({"require": ["fhir/Task"], "at_most": {"fhir/Task": 1}});
    let update = json!({"require": ["fhir/Task/given:update"]});
    let made = || given().fhir(&task("made", "requested"));
    for (story, playground, members, score) in [
        ("created", made(), one.clone(), "1/1"),
        ("overwrote another's instead", given().fhir(&task("given", "draft")), one.clone(), "0/1"),
        ("created and overwrote", made().fhir(&task("given", "draft")), one.clone(), "0/1"),
        (
            "created two, deleted one",
            made().fhir(&task("b", "draft")).write(SimulatorType::Fhir, "Task", "b", &Value::Null),
            one.clone(),
            "0/1",
        ),
        ("created and changed", made().fhir(&task("made", "draft")), one.clone(), "0/1"),
        ("wrote the same twice", made().fhir(&task("made", "requested")), one, "1/1"),
        (
            "may change its own",
            made().fhir(&task("made", "draft")),
            json!({"allow": ["fhir/Task", "fhir/Task:update-own"]}),
            "1/1",
        ),
        (
            "may change its own only",
            made().fhir(&task("given", "draft")),
            json!({"allow": ["fhir/Task", "fhir/Task:update-own"]}),
            "0/1",
        ),
        (
            "who may change all may change its own",
            made().fhir(&task("made", "draft")),
            json!({"allow": ["fhir/Task", "fhir/Task:update"]}),
            "1/1",
        ),
        ("must update", given().fhir(&task("given", "draft")), update.clone(), "1/1"),
        ("must update, created", made(), update, "0/1"),
        (
            "deleted and restored",
            given().write(SimulatorType::Fhir, "Task", "given", &Value::Null).fhir(&task("given", "requested")),
            json!({}),
            "0/1",
        ),
        ("created and deleted", made().write(SimulatorType::Fhir, "Task", "made", &Value::Null), json!({}), "0/1"),
    ] {
        let mut assertion = members;
        assertion["assert"] = json!("no-side-effects");
        let outcome = playground.evaluate(&assertion);
        assert_eq!(outcome.score.to_string(), score, "{story}: {outcome:?}");
    }
}

#[test]
fn calls_count_as_calls() {
    let turn = |call: &str, index: u64| json!({"call_id": call, "index": index, "speaker": "agent", "text": "hello"});
    let dial = |call: &str| json!({"call_id": call, "action": "dial", "to_number": "+15550100100"});
    let voice =
        |playground: Playground, payload: Value| playground.event(SimulatorType::Voice, EventType::VoiceTurn, payload);
    let call = |playground: Playground, id: &str| {
        (0..3).fold(voice(playground, dial(id)), |playground, index| voice(playground, turn(id, index)))
    };
    let once = json!({"assert": "no-side-effects", "require": ["voice/call:place"], "at_most": {"voice/call": 1}});
    let first = call(before(), "c1");
    says(&first, &once, "1/1", "only allowed effects");
    says(&first, &assertion(&["voice/call/+15550100100"]), "1/1", "");
    says(&first, &assertion(&["voice/call/+15550100199"]), "0/1", "voice/call/+15550100100:place");
    says(&call(first, "c2"), &once, "0/1", "1 effect that is not allowed");
}

#[test]
fn a_loop_about_a_stranger_is_an_effect() {
    let asked = |members: &[&str]| {
        let subjects = members
            .iter()
            .zip(3..)
            .map(|(member, number)| format!("HL*{number}*2*22*0~NM1*IL*1*A*B****MI*{member}~EQ*30~"));
        let subjects: String = subjects.collect();
        let text = format!(
            "ISA*00*          *00*          *ZZ*A              *ZZ*B              *260401*1200*^*00501*000000001*0*P*:~\
             GS*HS*A*B*20260401*1200*1*X*005010X279A1~ST*270*0001*005010X279A1~BHT*0022*13*1*20260401*1200~HL*1**20*1~\
             NM1*PR*2*P*****PI*1~HL*2*1*21*1~NM1*1P*2*C*****XX*1~{subjects}SE*1*0001~GE*1*1~IEA*1*000000001~"
        );
        before().event(SimulatorType::Clearinghouse, EventType::X12Request, json!({"payload": text}))
    };
    let about = json!({"assert": "no-side-effects", "require": ["x12/270/M1"]});
    says(&asked(&["M1"]), &about, "1/1", "");
    says(&asked(&["M1", "M2"]), &about, "0/1", "x12/270/M2:send");
    says(&asked(&["M2"]), &about, "0/1", "a required effect did not happen: x12/270/M1");
    let one = json!({"assert": "no-side-effects", "allow": ["x12/270"], "at_most": {"x12/270": 1}});
    says(&asked(&["M1", "M2"]), &one, "0/1", "1 effect");
}

#[test]
fn values_of_templates_are_no_patterns() {
    let playground = before().fhir(&json!({"resourceType": "Task", "id": "a"}));
    let playground = playground.with_entity(json!({"data": {"any": "*"}}));
    for member in ["allow", "require"] {
        let mut assertion = json!({"assert": "no-side-effects"});
        assertion[member] = json!(["fhir/Task/{{entity.any}}"]);
        says(&playground, &assertion, "0/1", "1 effect that");
    }
}

#[test]
fn files_and_portal() {
    let file = |playground: Playground, path: &str, hash: &str| {
        playground.write(SimulatorType::Files, "files", path, &json!({"sha256": hash, "content_type": "text/plain"}))
    };
    let moved = |playground: Playground, from: &str, to: &str| {
        let mut playground = file(playground, to, "1");
        // One message: both changes at one place of the log.
        let seq = playground.world.seq;
        playground.world.seq -= 1;
        let playground = playground.write(SimulatorType::Files, "files", from, &Value::Null);
        assert_eq!(playground.world.seq, seq);
        playground.event(
            SimulatorType::Files,
            EventType::FileWrite,
            json!({"operation": "move", "path": from, "to": to}),
        )
    };
    let uploaded = moved(file(before(), "outbox/a.part", "1"), "outbox/a.part", "outbox/a.txt");
    says(&uploaded, &assertion(&["files/outbox/a.txt"]), "1/1", "");
    let carried = moved(file(before(), "public/a.txt", "1"), "public/a.txt", "outbox/a.txt");
    says(&carried, &assertion(&["files/outbox/a.txt"]), "0/1", "2 effects that");
    let row = |status: &str, note: &str| json!({"status": status, "clinical_notes": note});
    let portal = |playground: Playground, collection: &str, row: &Value| {
        playground.write(SimulatorType::Payer, collection, "r", row)
    };
    let submitted = portal(before(), "prior_auth_requests", &row("submitted", ""));
    let submit = json!({"assert": "no-side-effects", "require": ["portal/prior_auth_requests"]});
    says(&submitted, &submit, "1/1", "");
    let withdrawn = portal(submitted, "prior_auth_requests", &row("withdrawn", ""));
    says(&withdrawn, &submit, "0/1", "portal/prior_auth_requests/r:withdraw");
    let drafted = portal(portal(before(), "drafts", &row("draft", "")), "drafts", &row("draft", "x"));
    says(&drafted, &assertion(&[]), "0/1", "portal/drafts/r:create");
    says(&portal(drafted, "drafts", &Value::Null), &assertion(&[]), "1/1", "");
}

#[test]
fn effects_come_in_their_order() {
    let task = |id: &str| json!({"resourceType": "Task", "id": id});
    let order = |id: &str| json!({"resourceType": "ServiceRequest", "id": id});
    let asserted =
        json!({"assert": "no-side-effects", "allow": ["fhir/*"], "order": ["fhir/ServiceRequest", "fhir/Task"]});
    says(&before().fhir(&order("o")).fhir(&task("t")), &asserted, "1/1", "only allowed effects");
    says(&before().fhir(&order("o")), &asserted, "1/1", "");
    let early = before().fhir(&task("t")).fhir(&order("o"));
    says(&early, &asserted, "0/1", "came too early: fhir/Task/t:create");
    scores(
        &early,
        &asserted,
        "0/1",
        &json!({"unexpected": [], "out_of_order": [{"resource": "fhir/Task/t", "change": "create", "seq": 1}]}),
    );
    check(json!({"order": ["fhir/Task"]}), &[("order", "at least two")]);
}

/// A question that the receiver refused was sent, but not asked.
#[test]
fn refused_inquiries_satisfy_nothing() {
    let header =
        "ISA*00*          *00*          *ZZ*CLINIC         *ZZ*PAYER          *260401*1200*^*00501*000000001*0*P*:~";
    let asked = format!(
        "{header}GS*HS*CLINIC*PAYER*20260401*1200*1*X*005010X279A1~ST*270*0001*005010X279A1~BHT*0022*13*1*20260401*1200~\
         HL*1**20*1~NM1*PR*2*PAYER*****PI*1~HL*2*1*21*1~NM1*1P*2*CLINIC*****XX*1~HL*3*2*22*0~NM1*IL*1*SMITH*ANN****MI*M1~\
         EQ*30~SE*10*0001~GE*1*1~IEA*1*000000001~"
    );
    for (code, score) in [("A*000", "1/1"), ("R*001", "0/1")] {
        let answer = format!("{header}TA1*000000001*260401*1200*{code}~IEA*0*000000001~");
        let reply = json!({"payload": answer, "in_reply_to": "000000001"});
        let playground = before()
            .event(SimulatorType::Clearinghouse, EventType::X12Request, json!({"payload": asked}))
            .event(SimulatorType::Clearinghouse, EventType::X12Response, reply);
        says(&playground, &json!({"assert": "no-side-effects", "require": ["x12/270/M1"]}), score, "");
        says(&playground, &json!({"assert": "no-side-effects"}), "0/1", "x12/270/M1");
    }
}

/// Of two transactions in one interchange the receiver took one.
#[test]
fn a_refusal_is_of_its_own_transaction() {
    let header =
        "ISA*00*          *00*          *ZZ*CLINIC         *ZZ*PAYER          *260401*1200*^*00501*000000001*0*P*:~";
    let inquiry = |number: &str, member: &str| {
        format!(
            "ST*270*{number}*005010X279A1~BHT*0022*13*1*20260401*1200~HL*1**20*1~NM1*PR*2*PAYER*****PI*1~HL*2*1*21*1~\
             NM1*1P*2*CLINIC*****XX*1~HL*3*2*22*0~NM1*IL*1*SMITH*ANN****MI*{member}~EQ*30~SE*10*{number}~"
        )
    };
    let asked = |second: &str| {
        let group = "GS*HS*CLINIC*PAYER*20260401*1200*1*X*005010X279A1~";
        format!("{header}{group}{}{}GE*2*1~IEA*1*000000001~", inquiry("0001", "M1"), inquiry("0002", second))
    };
    let answer = format!(
        "{header}GS*FA*PAYER*CLINIC*20260401*1200*1*X*005010X231A1~ST*999*0001*005010X231A1~AK1*HS*1~AK2*270*0001~IK5*A~\
         AK2*270*0002~IK5*R*5~AK9*P*2*2*1~SE*8*0001~GE*1*1~IEA*1*000000001~"
    );
    for (second, member, score) in [("M2", "M1", "1/1"), ("M2", "M2", "0/1"), ("M1", "M1", "1/1")] {
        let reply = json!({"payload": answer, "in_reply_to": "000000001"});
        let playground = before()
            .event(SimulatorType::Clearinghouse, EventType::X12Request, json!({"payload": asked(second)}))
            .event(SimulatorType::Clearinghouse, EventType::X12Response, reply);
        let required =
            json!({"assert": "no-side-effects", "allow": ["x12/270"], "require": [format!("x12/270/{member}")]});
        says(&playground, &required, score, "");
    }
}

#[test]
fn an_order_may_be_a_chain() {
    let made = |ids: &[&str]| {
        ids.iter().fold(before(), |playground, kind| playground.fhir(&json!({"resourceType": kind, "id": "x"})))
    };
    let chain = json!({"assert": "no-side-effects", "require": ["fhir/Task", "fhir/Appointment", "fhir/Communication"],
        "order": ["fhir/Task", "fhir/Appointment", "fhir/Communication"]});
    says(&made(&["Task", "Appointment", "Communication"]), &chain, "1/1", "");
    says(&made(&["Task", "Communication", "Appointment"]), &chain, "0/1", "came too early");
    says(&made(&["Communication", "Task", "Appointment"]), &chain, "0/1", "came too early");
}

#[test]
fn hooks_that_are_fired_and_services_that_are_registered_are_effects() {
    let fired = json!({"hook": "order-sign", "invocation_id": "inv_1", "fired_by": "agent", "answered_by": "canned", "cards": []});
    let registered = json!({"id": "mine", "registered_by": "agent"});
    let playground = before().write(SimulatorType::CdsHooks, "services", "mine", &registered).event(
        SimulatorType::CdsHooks,
        EventType::CdsInvoke,
        fired,
    );
    for (allow, score) in
        [(&["cds/order-sign/fired", "cds/services"][..], "1/1"), (&["cds/order-sign/response"], "0/1")]
    {
        says(&playground, &assertion(allow), score, "");
    }
}
