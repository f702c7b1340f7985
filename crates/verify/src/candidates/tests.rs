//! What each check says where nothing matches.

use model::event::EventType;
use model::simulator::SimulatorType;
use serde_json::{Value, json};

use crate::budget::Budget;
use crate::evidence::{EvaluationContext, Outcome};
use crate::testing::Playground;
use crate::{Parsed, parse};

const ORM: &str = "MSH|^~\\&|A|B|C|D|20260401||ORM^O01|7|P|2.5\rPID|||777^^^MRN";
const R271: &str = "ISA*00*          *00*          *ZZ*PAYER          *ZZ*CLINIC         *260401*1200*^*00501*000000001*0*P*:~\
GS*HB*PAYER*CLINIC*20260401*1200*1*X*005010X279A1~ST*271*0001*005010X279A1~BHT*0022*11*1*20260401*1200~HL*1**20*1~\
NM1*PR*2*PAYER*****PI*1~HL*2*1*21*1~NM1*1P*2*CLINIC*****XX*1~HL*3*2*22*0~NM1*IL*1*SMITH*ANN****MI*M2~AAA*N**73*C~\
SE*10*0001~GE*1*1~IEA*1*000000001~";

/// A playground in which the agent did something on every channel.
fn playground() -> Playground {
    let (hl7, x12, voice) = (SimulatorType::Hl7, SimulatorType::Clearinghouse, SimulatorType::Voice);
    let question = R271.replace("ST*271*", "ST*270*").replace("AAA*N**73*C~", "EQ*30~");
    let fax = json!({"direction": "outbound", "status": "sent", "to_number": "+15550100100", "pages": 2, "text": "x"});
    let file = json!({"sha256": "0", "size": 1, "text": "{}"});
    Playground::new(&[json!({"resourceType": "Task", "id": "t1", "status": "requested", "intent": "order"})])
        .fhir(&json!({"resourceType": "Basic", "id": "b1", "subject": {"reference": "Patient/p2"}}))
        .write(SimulatorType::Payer, "prior_auth_requests", "r1", &json!({"member": "M2", "status": "submitted"}))
        .write(SimulatorType::Files, "files", "outbox/return.json", &file)
        .write(SimulatorType::Files, "files", "other.txt", &file)
        .write(SimulatorType::Fax, "faxes", "f1", &fax)
        .event(hl7, EventType::Hl7Outbound, json!({"payload": ORM}))
        .event(x12, EventType::X12Request, json!({"payload": question}))
        .event(x12, EventType::X12Response, json!({"payload": R271, "in_reply_to": "000000001"}))
        .event(voice, EventType::VoiceTurn, json!({"call_id": "c1", "action": "dial", "to_number": "+15550100100"}))
        .event(voice, EventType::VoiceTurn, json!({"call_id": "c1", "index": 0, "speaker": "agent", "text": "hello"}))
        .event(
            SimulatorType::Message,
            EventType::MessageOutbound,
            json!({"channel": "sms", "to": "+15550100100", "body": "hello"}),
        )
        .event(
            SimulatorType::CdsHooks,
            EventType::CdsInvoke,
            json!({"hook": "patient-view", "service_id": "s", "invocation_id": "i1", "cards": []}),
        )
}

/// The assertion, the list of its evidence with what it lists, and the nearest candidate.
#[expect(clippy::too_many_lines, reason = "a table, one row per case")]
fn cases() -> Vec<(Value, &'static str, Value, Value, &'static str)> {
    let field = |path: &str| json!([{"path": path, "expected": "x"}]);
    let unmet = |path: &str| json!([{"path": path, "expected": "x", "actual": null, "passed": false}]);
    let phrase = json!([{"phrase": "bye", "found": false, "turn": null}]);
    let to = "+15550100199";
    let mismatch = |parameter: &str, expected: &str, actual: &str| json!([{"parameter": parameter, "expected": expected, "actual": actual}]);
    vec![
        (
            json!({"assert": "fhir-resource-state", "resource_type": "Basic", "search": {"subject": "Patient/p1"}, "fields": field("code.text")}),
            "fieldResults",
            unmet("code.text"),
            json!({"candidate": "Basic/b1", "mismatches": [
                {"parameter": "search.subject", "expected": "Patient/p1", "actual": {"reference": "Patient/p2"}}]}),
            "no Basic found; nearest: Basic/b1: search.subject is {\"reference\":\"Patient/p2\"}, expected \"Patient/p1\"",
        ),
        (
            json!({"assert": "fhir-resource-state", "resource_type": "Task", "search": {"_id": "t1", "status": "completed"}, "fields": field("code.text")}),
            "fieldResults",
            unmet("code.text"),
            json!({"candidate": "Task/t1", "mismatches": mismatch("search.status", "completed", "requested")}),
            "nearest: Task/t1: search.status is \"requested\", expected \"completed\"",
        ),
        (
            json!({"assert": "hl7-structural", "correlate_by": {"message_type": "ORM", "PID.3.1": "123"}, "fields": field("PID.5.1")}),
            "field_results",
            unmet("PID.5.1"),
            json!({"candidate": "evt_00000000000000000000000001", "description": "ORM^O01 with control id 7",
                "mismatches": mismatch("correlate_by.PID.3.1", "123", "777")}),
            "no message found; nearest: ORM^O01 with control id 7: correlate_by.PID.3.1 is \"777\", expected \"123\"",
        ),
        (
            json!({"assert": "portal-state-match", "assertions": field("status"),
                "correlate_by": {"resource": "prior_auth_requests", "key": "member", "value": "M1"}}),
            "assertionResults",
            unmet("status"),
            json!({"candidate": "r1", "description": "prior_auth_requests r1 with status submitted",
                "mismatches": mismatch("correlate_by.value", "M1", "M2")}),
            "no row found; nearest: prior_auth_requests r1 with status submitted",
        ),
        (
            json!({"assert": "sftp-file-present", "path": "outbox/returns/*.json", "fields": field("reason")}),
            "fieldResults",
            unmet("reason"),
            json!({"candidate": "outbox/return.json", "mismatches": mismatch("path", "outbox/returns/*.json", "outbox/return.json")}),
            "no file found; nearest: outbox/return.json: path is",
        ),
        (
            json!({"assert": "sftp-file-present", "path": "**/x.txt", "contains": ["bye"]}),
            "phraseResults",
            phrase.clone(),
            json!({"candidate": "other.txt", "mismatches": mismatch("path", "**/x.txt", "other.txt")}),
            "no file found",
        ),
        (
            json!({"assert": "voice-transcript", "to": to, "contains": ["bye"]}),
            "phraseResults",
            phrase.clone(),
            json!({"candidate": "c1", "description": "call to +15550100100 with 1 turn", "mismatches": mismatch("to", to, "+15550100100")}),
            "no transcript found; nearest: call to +15550100100 with 1 turn: to is",
        ),
        (
            json!({"assert": "voice-transcript", "speaker": "caller", "contains": ["bye"]}),
            "phraseResults",
            phrase.clone(),
            json!({"candidate": "c1", "description": "call to +15550100100 with 1 turn", "mismatches": [
                {"parameter": "speaker", "expected": "caller", "actual": ["agent"], "reason": "said nothing in this call"}]}),
            "speaker: said nothing in this call",
        ),
        (
            json!({"assert": "x12-response", "transaction": "271", "correlate_by": {"NM1[1=IL].9": "M1"}, "fields": field("EB.1")}),
            "fieldResults",
            unmet("EB.1"),
            json!({"candidate": "evt_00000000000000000000000003", "description": "271 about M2 with AAA 73",
                "mismatches": mismatch("correlate_by.NM1[1=IL].9", "M1", "M2")}),
            "no transaction found; nearest: 271 about M2 with AAA 73: correlate_by.NM1[1=IL].9 is \"M2\", expected \"M1\"",
        ),
        (
            json!({"assert": "x12-response", "transaction": "278", "correlate_by": {"BHT.1": "0022", "NM1[1=IL].9": "M2", "EQ.1": "30"}}),
            "fieldResults",
            json!([]),
            json!({"candidate": "evt_00000000000000000000000002",
                "description": "270 about M2 was sent and answered 271 about M2 with AAA 73",
                "mismatches": mismatch("transaction", "278", "270")}),
            "nearest: 270 about M2 was sent and answered 271 about M2 with AAA 73: transaction is \"270\"",
        ),
        (
            json!({"assert": "fax-document", "to_number": to, "contains": ["bye"]}),
            "phraseResults",
            phrase.clone(),
            json!({"candidate": "f1", "description": "fax to +15550100100 with 2 pages", "mismatches": mismatch("to_number", to, "+15550100100")}),
            "no fax found; nearest: fax to +15550100100 with 2 pages: to_number is",
        ),
        (
            json!({"assert": "fax-document", "pages": {"min": 3}, "contains": ["bye"]}),
            "phraseResults",
            phrase,
            json!({"candidate": "f1", "description": "fax to +15550100100 with 2 pages",
                "mismatches": [{"parameter": "pages", "expected": {"min": 3}, "actual": 2}]}),
            "pages is 2",
        ),
        (
            json!({"assert": "message-transcript", "channel": "sms", "to": to, "contains": ["bye"], "not_contains": ["x"], "numbers": []}),
            "phraseResults",
            json!([
                {"phrase": "bye", "found": false, "turn": null},
                {"phrase": "x", "found": false, "turn": null, "forbidden": true},
                {"phrase": "another phone number", "found": false, "turn": null, "forbidden": true},
            ]),
            json!({"candidate": "evt_00000000000000000000000006", "description": "sms to +15550100100", "mismatches": mismatch("to", to, "+15550100100")}),
            "no message found; nearest: sms to +15550100100: to is",
        ),
        (
            json!({"assert": "cds-response", "hook": "order-sign", "fields": field("cards.0.summary")}),
            "fieldResults",
            unmet("cards.0.summary"),
            json!({"candidate": "evt_00000000000000000000000007", "description": "invocation of patient-view of service s",
                "mismatches": mismatch("hook", "order-sign", "patient-view")}),
            "no answer found; nearest: invocation of patient-view of service s: hook is",
        ),
    ]
}

#[test]
fn every_check_lists_what_it_expected_and_what_was_there() {
    let playground = playground();
    for (assertion, list, lines, nearest, expected_text) in cases() {
        let outcome = playground.evaluate(&assertion);
        assert_eq!(outcome.score, model::score::Score::zero(), "{assertion}: {outcome:?}");
        assert_eq!(outcome.evidence[list], lines, "{assertion}");
        assert_eq!(outcome.evidence["candidates"][0], nearest, "{assertion}: {}", outcome.evidence);
        assert!(outcome.details.contains(expected_text), "{assertion}: {}", outcome.details);
        assert_eq!(outcome.evidence.get("count"), None, "{assertion}");
        let mut counted = assertion.clone();
        if counted["assert"] != "voice-transcript" {
            counted["count"] = json!({"min": 1});
            let outcome = playground.evaluate(&counted);
            let count = json!({"expected": {"min": 1}, "actual": 0, "passed": false});
            assert_eq!(outcome.evidence["count"], count, "{counted}");
            assert_eq!(outcome.evidence["candidates"][0], nearest, "{counted}");
        }
    }
}

#[test]
fn nothing_there_and_no_sandbox_leave_the_expectations() {
    for (assertion, list, lines, ..) in cases() {
        let nothing = Playground::new(&[]).evaluate(&assertion);
        assert_eq!((&nothing.evidence[list], &nothing.evidence["candidates"]), (&lines, &json!([])), "{assertion}");
        let no_sandbox = Playground::empty().evaluate(&assertion);
        let listed = no_sandbox.evidence.get(list).cloned().unwrap_or_else(|| json!([]));
        assert_eq!(listed, lines, "{assertion}");
        assert!(no_sandbox.details.contains("sandbox"), "{}", no_sandbox.details);
    }
}

#[test]
fn counts_are_shown_as_written_and_say_what_is_too_much() {
    let playground = playground();
    let orders =
        |count: Value| json!({"assert": "hl7-structural", "correlate_by": {"message_type": "ORM"}, "count": count});
    let sent = json!([{"candidate": "evt_00000000000000000000000001", "description": "ORM^O01 with control id 7", "mismatches": []}]);
    for (count, passed, candidates) in [
        (json!(1), true, None),
        (json!({"min": 1, "max": 2}), true, None),
        (json!({"max": 0}), false, Some(&sent)),
        (json!(0), false, Some(&sent)),
        (json!(2), false, Some(&json!([]))),
    ] {
        let outcome = playground.evaluate(&orders(count.clone()));
        let line = json!({"expected": count, "actual": 1, "passed": passed});
        assert_eq!((&outcome.evidence["count"], outcome.passed), (&line, passed));
        assert_eq!(outcome.evidence.get("candidates"), candidates, "{count}");
    }
    let again = playground.event(SimulatorType::Hl7, EventType::Hl7Outbound, json!({"payload": ORM}));
    let outcome = again.evaluate(&orders(json!(1)));
    assert_eq!(outcome.evidence["count"], json!({"expected": 1, "actual": 2, "passed": false}));
    assert_eq!(outcome.evidence["candidates"].as_array().map(Vec::len), Some(2));
    assert!(outcome.details.starts_with("expected 1 message, found 2; found: ORM^O01"), "{}", outcome.details);
}

#[test]
fn what_was_taken_back_is_a_candidate_with_its_fields() {
    let cancelled = Playground::new(&[])
        .fhir(&json!({"resourceType": "Task", "id": "t1", "status": "cancelled", "intent": "order"}));
    let assertion = json!({"assert": "fhir-resource-state", "resource_type": "Task", "fields": [{"path": "intent", "expected": "order"}], "count": 1});
    let outcome = cancelled.evaluate(&assertion);
    assert_eq!(
        outcome.evidence["fieldResults"][0],
        json!({"path": "intent", "expected": "order", "actual": "order", "passed": true})
    );
    assert_eq!(outcome.evidence["fieldResults"][1]["path"], "status");
    let candidate = &outcome.evidence["candidates"][0];
    assert_eq!(
        (&candidate["candidate"], &candidate["mismatches"][0]["actual"]),
        (&json!("Task/t1"), &json!("cancelled"))
    );
    assert_eq!(outcome.evidence["count"], json!({"expected": 1, "actual": 0, "passed": false}));

    let refused = Playground::new(&[]).event(
        SimulatorType::Hl7,
        EventType::Hl7Outbound,
        json!({"payload": ORM, "accepted": false}),
    );
    let outcome = refused.evaluate(&json!({"assert": "hl7-structural", "correlate_by": {"message_type": "ORM"}}));
    assert_eq!(
        outcome.details,
        "no message found; nearest: ORM^O01 with control id 7: accepted: the interface refused the message"
    );
}

#[test]
fn missing_effects_are_compared_with_what_happened() {
    let assertion = json!({"assert": "no-side-effects", "allow": ["fhir/**"], "require": ["fhir/Appointment"]});
    let outcome = Playground::new(&[])
        .fhir(&json!({"resourceType": "Basic", "id": "b1"}))
        .fhir(&json!({"resourceType": "Appointment", "id": "a1", "status": "booked"}))
        .evaluate(&json!({"assert": "no-side-effects", "require": ["fhir/Appointment:delete"], "allow": ["fhir/**"]}));
    let mismatch = json!([{"parameter": "require.0", "expected": "fhir/Appointment:delete", "actual": "fhir/Appointment/a1:create"}]);
    assert_eq!(
        outcome.evidence["candidates"][0],
        json!({"candidate": "fhir/Appointment/a1:create", "mismatches": mismatch})
    );
    assert!(outcome.details.contains("; nearest: fhir/Appointment/a1:create: require.0 is"), "{}", outcome.details);
    let idle = Playground::new(&[]).evaluate(&assertion);
    assert_eq!(idle.evidence["candidates"], json!([]));
}

#[test]
fn candidates_are_few_and_small_and_the_agents_come_first() {
    let long = "\u{1}".repeat(50_000);
    let mut playground =
        Playground::new(&[json!({"resourceType": "Basic", "id": "given", "subject": {"reference": "Patient/p9"}})]);
    for number in 0..30 {
        let subject = json!({"reference": format!("Patient/p{number}"), "display": long});
        playground = playground.fhir(&json!({"resourceType": "Basic", "id": format!("b{number}"), "subject": subject}));
    }
    let search: serde_json::Map<String, Value> = [("subject", json!("Patient/x")), ("code", json!("http://x|y"))]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let outcome =
        playground.evaluate(&json!({"assert": "fhir-resource-state", "resource_type": "Basic", "search": search}));
    let candidates = outcome.evidence["candidates"].as_array().unwrap();
    let names: Vec<&str> = candidates.iter().filter_map(|candidate| candidate["candidate"].as_str()).collect();
    assert_eq!(names, ["Basic/b29", "Basic/b28", "Basic/b27", "Basic/b26", "Basic/b25"]);
    assert!(candidates.iter().all(|candidate| candidate.to_string().len() <= super::LARGEST_BYTES), "{candidates:?}");
    assert!(outcome.details.len() < 4_000, "{}", outcome.details.len());
}

#[test]
fn phrases_of_a_field_say_what_broke_them() {
    let text = "Do not call 900-555-0169 about the diagnosis";
    let playground = Playground::new(&[]).fhir(&json!({"resourceType": "Basic", "id": "b1", "code": {"text": text}}));
    let rules = json!({"contains": ["call", "visit"], "not_contains": ["diagnosis"], "negation": "reject",
        "numbers": ["608 555 0142"], "words": ["about"]});
    let fields = json!([{"path": "code.text", "op": "phrases", "expected": rules}]);
    let outcome =
        playground.evaluate(&json!({"assert": "fhir-resource-state", "resource_type": "Basic", "fields": fields}));
    let line = &outcome.evidence["fieldResults"][0];
    assert_eq!(
        line["failed_phrases"],
        json!([
            {"rule": "contains", "phrase": "call", "found": false, "turn": 0, "negated": true},
            {"rule": "contains", "phrase": "visit", "found": false, "turn": null},
            {"rule": "not_contains", "phrase": "diagnosis", "found": true, "turn": 0, "forbidden": true},
            {"rule": "numbers", "phrase": "9005550169", "found": true, "turn": 0, "forbidden": true},
            {"rule": "words", "phrase": "not", "found": true, "turn": 0, "forbidden": true},
        ])
    );
    // The reason would mean that the field cannot be compared, which decides where absence is asserted.
    assert_eq!(line.get("reason"), None);
}

#[test]
fn turns_name_their_call_where_there_are_several() {
    let turn = |playground: Playground, call: &str, expected_text: &str| {
        let payload = json!({"call_id": call, "index": 0, "speaker": "agent", "text": expected_text});
        playground.event(SimulatorType::Voice, EventType::VoiceTurn, payload)
    };
    let one = turn(Playground::new(&[]), "c1", "hello");
    let assertion = json!({"assert": "voice-transcript", "contains": ["hello"]});
    assert_eq!(
        one.evaluate(&assertion).evidence["phraseResults"],
        json!([{"phrase": "hello", "found": true, "turn": 0}])
    );
    let two = turn(turn(Playground::new(&[]), "c1", "wait"), "c2", "hello");
    assert_eq!(
        two.evaluate(&json!({"assert": "voice-transcript", "contains": ["hello", "bye"]})).evidence["phraseResults"],
        json!([
            {"phrase": "hello", "found": true, "turn": 0, "call_id": "c2"},
            {"phrase": "bye", "found": false, "turn": null},
        ])
    );
}

/// The budget runs out before, in or after the search for candidates.
#[test]
fn a_spent_budget_leaves_candidates_out_and_the_score_as_it_is() {
    let assertion = json!({"assert": "hl7-structural", "correlate_by": {"PID.3.1": "1"}, "fields": [{"path": "PID.5", "expected": "x"}]});
    let Ok(Parsed::Known(check)) = parse(&assertion) else { panic!("a known assertion") };
    let playground = playground();
    let evaluate = |steps: u64| -> Outcome {
        let context = EvaluationContext { budget: Budget::of(steps), ..EvaluationContext::new(playground.evidence()) };
        check.evaluate(&context).unwrap()
    };
    let outcomes: Vec<Outcome> = (0..600).map(evaluate).collect();
    assert!(outcomes.iter().all(|outcome| outcome.score == model::score::Score::zero()));
    assert!(outcomes.iter().all(|outcome| outcome.evidence["field_results"][0]["passed"] == false));
    let begins =
        |expected_text: &str| outcomes.iter().filter(|outcome| outcome.details.starts_with(expected_text)).count();
    let with = outcomes.iter().filter(|outcome| outcome.evidence.get("candidates").is_some()).count();
    assert!(begins("the evaluation exceeds its budget") > 0 && with > 0 && begins("no message found") > with);
}
