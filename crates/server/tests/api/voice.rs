//! Phone calls: the agent calls an automated line, is called by people, and the calls are scored.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver};
use testkit::world::voice_sandbox;
use testkit::{Caller, TestServer, both_databases};

use crate::voice_kit::{Phone, heard};

/// A payer's line: a menu, a member id that is read back, a lookup, a hold, and a representative.
fn line() -> Value {
    json!({"phone_number": "+1 555 010 0100", "ivr": {"start": "welcome", "retries": 1, "timeout_seconds": 7, "nodes": {
        "welcome": {"type": "say", "prompt": "Thank you for calling Northwind Health.", "next": "menu"},
        "menu": {"type": "menu", "prompt": "For eligibility say eligibility or press 1. To leave a message press 2.",
            "options": [{"dtmf": "1", "phrases": ["eligibility", "benefits"], "next": "number"},
                {"dtmf": "2", "next": "message"}], "otherwise": "goodbye"},
        "number": {"type": "collect", "prompt": "Please say or enter the member's record number.", "field": "number",
            "kind": "digits", "min_length": 1, "max_length": 6, "confirm": true, "next": "find", "barge_in": false},
        "find": {"type": "lookup", "source": "fhir", "resource": "Patient", "match": {"identifier": "{{field.number}}"},
            "found": "wait", "not_found": "unknown"},
        "unknown": {"type": "say", "prompt": "I cannot find {{field.number}}.", "next": "number"},
        "wait": {"type": "hold", "prompt": "Please hold for {{record.name.0.family}}'s plan.", "seconds": 1200, "next": "dana"},
        "dana": {"type": "representative", "prompt": "This is Dana. How can I help?",
            "beats": [{"phrases": ["deductible"], "answer": "It is {{record.active}} for {{field.number}}; the balance is {{record.balance}}."},
                {"fields": ["procedure_code", "service_date"], "answer": "{{field.procedure_code}} on {{field.service_date}} needs an authorization."}],
            "fallback": "Could you say that again?", "next": "department"},
        "department": {"type": "transfer", "prompt": "I will connect you.", "number": "+15550100177"},
        "message": {"type": "voicemail", "prompt": "Leave a message after the tone.", "max_seconds": 2, "next": "goodbye"},
        "goodbye": {"type": "hangup", "prompt": "Goodbye."},
    }}})
}

/// A benchmark over an EHR whose patients have record numbers, and the line.
async fn published(server: &TestServer, scenario: Value, criteria: &[Value]) -> (Caller, Caller, String) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({"name": "Calls"})).await;
    let patients = [("p1", "456", "Stone"), ("p2", "789", "Lee")].map(|(id, number, family)| {
        json!({"resourceType": "Patient", "id": id, "active": true, "name": [{"family": family}],
            "identifier": [{"system": "urn:mrn", "value": number}]})
        .to_string()
    });
    let data = format!("/datasets/{}/data", bench.dataset);
    author.put_bytes(&data, "application/fhir+ndjson", patients.join("\n")).await.expect(200);
    let simulator =
        author.post("/simulators", json!({"type": "Voice", "name": "Line", "config": line()})).await.expect(201).id();
    let path = format!("/environments/{}/simulators/{simulator}", bench.environment);
    author.send(Method::POST, &path, &[], None).await.expect(200);
    bench.task_with(json!({"name": "Call", "scenario": scenario}), criteria).await;
    let reference = bench.publish().await;
    let solver = solver(server, &author, "agent-1").await;
    (author, solver, reference)
}

async fn begin(server: &TestServer, solver: &Caller, reference: &str) -> (Agent, String) {
    let agent = Agent::begin(server, solver, reference, false).await;
    let started = agent.start(0).await.expect(200);
    let endpoint = started["endpoints"]["voice"].as_str().unwrap().to_owned();
    let sandbox =
        started["sandboxes"].as_array().unwrap().iter().find(|sandbox| sandbox["type"] == "Voice").unwrap().clone();
    assert_eq!(sandbox["credentials"]["phone_number"], "+1 555 010 0100");
    let stream = sandbox["credentials"]["ws_url"].as_str().unwrap();
    assert!(stream.starts_with("ws://") && stream.ends_with(&format!("{endpoint}/stream")), "{stream}");
    (agent, endpoint)
}

fn says(specification: Value) -> Value {
    let mut assertion = specification;
    assertion["assert"] = json!("voice-transcript");
    json!({"label": assertion.to_string().chars().take(60).collect::<String>(), "assertion": assertion})
}

both_databases! {
    async fn a_call_is_made_and_scored(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let criteria = [
            says(json!({"speaker": "agent", "contains": ["456", ["deductible", "benefits"], "J0123", "2026-03-01"], "in_order": true})),
            says(json!({"speaker": "caller", "contains": ["balance is", "needs an authorization"]})),
            says(json!({"speaker": "agent", "forbidden": ["social security number"]})),
            says(json!({"speaker": "agent", "contains": ["789"]})),
            json!({"label": "budget", "assertion": {"assert": "interaction-budget", "max": {"voice_turn": 6}}}),
            json!({"label": "only calls", "assertion": {"assert": "no-side-effects", "allow": ["voice/*"]}}),
        ];
        let (author, solver, reference) = published(&server, json!({"steps": []}), &criteria).await;
        let (agent, endpoint) = begin(&server, &solver, &reference).await;
        let (phone, dialled) = Phone::dial(&agent.caller, &format!("{endpoint}/calls")).await;
        assert!(heard(&dialled).starts_with("Thank you for calling Northwind Health. For eligibility"), "{}", heard(&dialled));
        assert_eq!(phone.says("I would like to check benefits, please").await, "Please say or enter the member's record number.");
        assert_eq!(phone.says("it is four fifty-six").await, "I have 4 5 6. Is that right? Say yes or press 1, say no or press 2.");
        let held = phone.act(json!({"say": "yes"})).await.expect(201);
        assert_eq!(heard(&held), "Please hold for Stone's plan. This is Dana. How can I help?");
        assert_eq!(held["turns"][1]["hold_seconds"], 1200);
        let times: Vec<&str> = held["turns"].as_array().unwrap().iter().map(|turn| turn["at"].as_str().unwrap()).collect();
        assert!(times[0] == times[1] && times[1] < times[2], "twenty minutes later, and nobody waited: {times:?}");
        assert_eq!(phone.says("What is the deductible?").await, "It is yes for 456; the balance is not on file.");
        assert_eq!(phone.says("And J as in John 0 1 2 3 on March first, 2026?").await, "J0123 on 2026-03-01 needs an authorization.");
        let ended = phone.act(json!({"say": "No thank you, that is all."})).await.expect(201);
        assert_eq!((&ended["call"]["status"], &ended["call"]["transferred_to"]), (&json!("transferred"), &json!("+15550100177")));
        assert_eq!(ended["call"]["duration_seconds"], 1200);
        phone.act(json!({"say": "Hello?"})).await.expect_error(409, "CONFLICT");
        // The same call at every address.
        let turns = agent.caller.get(&format!("/v1/benchmark-runs/{}/voice/calls/{}/turns?limit=100", agent.run, phone.call)).await.expect(200);
        assert_eq!(turns.data().len(), 15);
        let result = agent.complete(0).await.expect(200);
        let results: Vec<&Value> = result["checks"].as_array().unwrap().iter().map(|check| &check["result"]).collect();
        assert_eq!(results, ["pass", "pass", "pass", "fail", "pass", "pass"], "{}", result.text());
        let evidence = &result["checks"][0]["evidence"]["phraseResults"];
        assert_eq!(evidence, &json!([
            {"phrase": "456", "found": true, "turn": 4},
            {"phrase": ["deductible", "benefits"], "found": true, "turn": 9},
            {"phrase": "J0123", "found": true, "turn": 11},
            {"phrase": "2026-03-01", "found": true, "turn": 11},
        ]));
        phone.act(json!({"say": "Hello?"})).await.expect_error(409, "CONFLICT");
        let sandbox = author.get("/sandboxes").await.expect(200);
        let sandbox = sandbox.data().iter().find(|sandbox| sandbox["type"] == "Voice").unwrap()["id"].clone();
        let events = author.get(&format!("/sandboxes/{}/events?type=voice_turn&limit=100", sandbox.as_str().unwrap())).await.expect(200);
        assert_eq!(events.data().iter().filter(|event| event["payload"]["speaker"] == "agent").count(), 6);
    }

    async fn incoming_calls_and_voicemails_can_be_answered(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let scenario = json!({"steps": [
            {"do": "voicemail", "from_number": "+15550100123", "caller_name": "Ada Stone", "text": "Please call me back."},
            {"do": "inbound_call", "after_seconds": 30, "caller_name": "Bo Lee", "opening": "Hello, I would like to move my appointment.",
                "answers": [{"phrases": ["date of birth", "born"], "answer": "March first, nineteen eighty."}], "fallback": "Pardon?"},
            {"do": "inbound_call", "after_seconds": 30, "opening": "Is this the clinic?"},
        ]});
        let criteria = [says(json!({"speaker": "caller", "contains": ["1980-03-01"]})), says(json!({"speaker": "caller", "contains": ["Is this the clinic"]}))];
        let (_, solver, reference) = published(&server, scenario, &criteria).await;
        let (agent, endpoint) = begin(&server, &solver, &reference).await;
        let calls = format!("{endpoint}/calls");
        let left = agent.caller.get(&format!("{endpoint}/voicemails")).await.expect(200);
        assert_eq!((&left.data()[0]["text"], &left.data()[0]["heard"]), (&json!("Please call me back."), &json!(false)));
        let one = format!("{endpoint}/voicemails/{}", left.data()[0]["id"].as_str().unwrap());
        assert_eq!(agent.caller.get(&one).await.expect(200)["heard"], json!(true));
        assert_eq!(agent.caller.get(&format!("{endpoint}/voicemails")).await.expect(200).data()[0]["heard"], json!(true));
        agent.caller.get(&format!("{endpoint}/voicemails/vm_1")).await.expect_error(404, "NOT_FOUND");
        assert!(agent.caller.get(&format!("{calls}?status=ringing")).await.expect(200).data().is_empty());
        server.clock.advance(30_000);
        let ringing = agent.caller.get(&format!("{calls}?status=ringing")).await.expect(200);
        let [bo, nobody] = ringing.data() else { panic!("two calls: {}", ringing.text()) };
        assert_eq!((&bo["caller_name"], &bo["direction"], &nobody["from_number"]), (&json!("Bo Lee"), &json!("inbound"), &json!(null)));
        let phone = Phone { caller: agent.caller.clone(), path: calls.clone(), call: bo["id"].as_str().unwrap().to_owned() };
        assert!(phone.transcript().await.is_empty(), "nobody has answered yet");
        assert_eq!(phone.says("Clinic, how can I help?").await, "Hello, I would like to move my appointment.");
        assert_eq!(phone.says("When were you born?").await, "March first, nineteen eighty.");
        assert_eq!(phone.says("{{opening}} [a-z]*").await, "Pardon?");
        assert_eq!(phone.says("Done. Goodbye!").await, "Goodbye.");
        assert_eq!(phone.status().await, "completed");
        let other = nobody["id"].as_str().unwrap();
        let answer_path = format!("{calls}/{other}/answer");
        let answered = agent.caller.send(Method::POST, &answer_path, &[], None).await.expect(200);
        assert_eq!(heard(&answered), "Is this the clinic?");
        agent.caller.send(Method::POST, &answer_path, &[], None).await.expect_error(409, "CONFLICT");
        for _ in 0..2 {
            let ended = agent.caller.send(Method::POST, &format!("{calls}/{other}/hangup"), &[], None).await.expect(200);
            assert_eq!((&ended["call"]["status"], &ended["call"]["ended_by"]), (&json!("completed"), &json!("agent")));
        }
        let result = agent.complete(0).await.expect(200);
        assert_eq!(result["score"], json!(1.0), "{}", result.text());
    }

    async fn a_line_repeats_its_question_and_then_hangs_up(server: TestServer) {
        let author = server.organization("Acme").await;
        let sandbox = voice_sandbox(&author, line()).await;
        let calls = format!("/sandboxes/{}/voice/calls", sandbox.id());
        // Neither unknown words nor silence select an option; then the line hangs up.
        let (phone, _) = Phone::dial(&author, &calls).await;
        let menu = "For eligibility say eligibility or press 1. To leave a message press 2.";
        assert_eq!(phone.says("Hm, what?").await, format!("I'm sorry, I did not understand that. {menu}"));
        assert_eq!(heard(&phone.act(json!({"silence": true})).await.expect(201)), "Goodbye.");
        assert_eq!(phone.status().await, "completed");
        // A prompt that cannot be interrupted ignores input; a value that is read back can be rejected.
        let (phone, _) = Phone::dial(&author, &calls).await;
        phone.presses("1").await;
        let unheard = phone.act(json!({"dtmf": "123456", "interrupts": true})).await.expect(201);
        assert_eq!((unheard["turns"].as_array().unwrap().len(), &unheard["turns"][0]["note"]), (1, &json!("unheard")));
        for key in ["7", "8"] {
            assert_eq!(phone.presses(key).await, "", "more keys may come");
        }
        assert!(phone.presses("#").await.starts_with("I have 7 8. Is that right?"));
        assert_eq!(phone.says("No, that is not right").await, "I'm sorry, I did not understand that. Please say or enter the member's record number.");
        assert!(phone.presses("456").await.starts_with("I have 4 5 6."));
        // No member is found, because the playground has no EHR.
        assert_eq!(phone.presses("1").await, "I cannot find 456. Please say or enter the member's record number.");
        author.send(Method::POST, &format!("{calls}/{}/hangup", phone.call), &[], None).await.expect(200);
        // A voicemail is cut at its maximum length.
        let (phone, _) = Phone::dial(&author, &calls).await;
        phone.presses("2").await;
        let left = phone.act(json!({"say": "one two three four five six seven"})).await.expect(201);
        assert_eq!((&left["turns"][0]["text"], &left["turns"][0]["note"]), (&json!("one two three four five"), &json!("cut_off")));
        assert_eq!(heard(&left), "Goodbye.");
        // A line without a graph is not answered, and another number is not in service.
        let silent = voice_sandbox(&author, json!({})).await;
        assert!(silent["credentials"]["phone_number"].as_str().unwrap().starts_with("+1555"));
        let (phone, _) = Phone::dial(&author, &format!("/sandboxes/{}/voice/calls", silent.id())).await;
        assert_eq!(phone.status().await, "no_answer");
        let wrong = author.post(&calls, json!({"to": "+1 555 010 0199"})).await.expect(201);
        assert_eq!((&wrong["call"]["status"], &wrong["call"]["error"]), (&json!("failed"), &json!("the number is not in service")));
        let right = author.post(&calls, json!({"to": "(555) 010-0100"})).await.expect(201);
        assert_eq!(right["call"]["status"], "in_progress");
    }

    async fn spoken_text_is_only_a_search_value(server: TestServer) {
        let author = server.organization("Acme").await;
        let simulator = author.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
        let records = author.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201);
        let stone = json!({"resourceType": "Patient", "id": "p1", "birthDate": "1980-03-01", "name": [{"family": "Stone"}],
            "identifier": [{"system": "urn:mrn", "value": "W123"}]});
        author.send(Method::PUT, &format!("/sandboxes/{}/fhir/Patient/p1", records.id()), &[], Some(stone)).await.expect(201);
        for (parameter, said, is_found) in [
            ("identifier", "W123", true),
            ("identifier", "W as in Whiskey, one two dash three", true),
            ("identifier", "W999,W123", false),
            ("identifier", "urn:mrn|W123", false),
            ("identifier", "{{record.id}}", false),
            ("identifier", "W123&birthdate=x", false),
            ("birthdate", "1980-03-01", true),
            ("birthdate", "gt1900-01-01", false),
            ("birthdate", "ne1999-01-01", false),
            ("family:exact", "Stone", true),
            ("family:exact", "S*", false),
        ] {
            let nodes = json!({"ask": {"type": "collect", "prompt": "Well?", "field": "it", "kind": "free", "next": "find"},
                "find": {"type": "lookup", "source": "fhir", "resource": "Patient", "match": {parameter: "{{field.it}}"}, "found": "yes", "not_found": "no"},
                "yes": {"type": "hangup", "prompt": "Found."}, "no": {"type": "hangup", "prompt": "No {{field.it}}."}});
            let config = json!({"ivr": {"start": "ask", "nodes": nodes}});
            let simulator = author.post("/simulators", json!({"type": "Voice", "name": "Line", "config": config})).await.expect(201).id();
            let new = json!({"simulator_id": simulator, "playground_id": records["own_playground_id"]});
            let line = author.post("/sandboxes", new).await.expect(201).id();
            let (phone, _) = Phone::dial(&author, &format!("/sandboxes/{line}/voice/calls")).await;
            let expected = if is_found { "Found.".to_owned() } else { format!("No {said}.") };
            assert_eq!(phone.says(said).await, expected, "{parameter}");
        }
    }

    /// The config and the call of docs/voice.md.
    async fn the_example_of_the_manual_works(server: TestServer) {
        let page = include_str!("../../../../docs/voice.md");
        let block = |kind: &str| page.split(&format!("```{kind}\n")).nth(1).unwrap().split("```").next().unwrap();
        let author = server.organization("Acme").await;
        let simulator = author.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
        let records = author.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201);
        let stone = json!({"resourceType": "Patient", "id": "p1", "name": [{"family": "Stone"}], "identifier": [{"value": "456"}]});
        author.send(Method::PUT, &format!("/sandboxes/{}/fhir/Patient/p1", records.id()), &[], Some(stone)).await.expect(201);
        let config: Value = serde_json::from_str(block("json")).unwrap();
        let simulator = author.post("/simulators", json!({"type": "Voice", "name": "Line", "config": config})).await.expect(201).id();
        let new = json!({"simulator_id": simulator, "playground_id": records["own_playground_id"]});
        let line = author.post("/sandboxes", new).await.expect(201).id();
        let (phone, _) = Phone::dial(&author, &format!("/sandboxes/{line}/voice/calls")).await;
        for turn in block("text").lines() {
            match turn.split_once(": ").unwrap() {
                ("agent", words) => drop(phone.says(words).await),
                ("keys", keys) => drop(phone.presses(keys).await),
                _ => {}
            }
        }
        let told = phone.transcript().await.into_iter().map(|turn| match (turn["speaker"].as_str().unwrap(), turn["dtmf"].as_str()) {
            (_, Some(keys)) => format!("keys: {keys}\n"),
            ("agent", None) => format!("agent: {}\n", turn["text"].as_str().unwrap()),
            _ => format!("line: {}\n", turn["text"].as_str().unwrap()),
        });
        assert_eq!(told.collect::<String>(), block("text"));
        assert_eq!(phone.status().await, "completed");
    }

    async fn invalid_turns_are_rejected_and_change_nothing(server: TestServer) {
        let author = server.organization("Acme").await;
        let sandbox = voice_sandbox(&author, line()).await.id();
        let calls = format!("/sandboxes/{sandbox}/voice/calls");
        let (phone, _) = Phone::dial(&author, &calls).await;
        let before = phone.transcript().await;
        for (turn, fields) in [
            (json!({}), vec!["say"]),
            (json!({"say": "x", "dtmf": "1"}), vec!["say"]),
            (json!({"say": " "}), vec!["say"]),
            (json!({"say": "x".repeat(10_001)}), vec!["say"]),
            (json!({"dtmf": "12a"}), vec!["dtmf"]),
            (json!({"dtmf": "1".repeat(65)}), vec!["dtmf"]),
            (json!({"dtmf": "www"}), vec!["dtmf"]),
            (json!({"silence": false}), vec!["say"]),
            (json!({"say": "x", "speaker": "caller"}), vec!["speaker"]),
        ] {
            let refused = phone.act(turn.clone()).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), fields, "{turn}");
        }
        for query in ["?status=busy", "?direction=up", "?limit=0", "?call=1"] {
            author.get(&format!("{calls}{query}")).await.expect_error(400, "VALIDATION_ERROR");
        }
        author.post(&calls, json!({"to": "home"})).await.expect_error(400, "VALIDATION_ERROR");
        author.get(&format!("{calls}/call_1")).await.expect_error(404, "NOT_FOUND");
        author.post(&format!("{calls}/call_1/turns"), json!({"say": "x"})).await.expect_error(404, "NOT_FOUND");
        author.get(&format!("{calls}/{}/stream", phone.call)).await.expect_error(400, "BAD_REQUEST");
        assert_eq!(phone.transcript().await, before);
        // A retry creates one turn and one call.
        let turns = format!("{calls}/{}/turns", phone.call);
        let once = [("idempotency-key", "a")];
        let first = author.send(Method::POST, &turns, &once, Some(json!({"say": "benefits"}))).await.expect(201);
        let again = author.send(Method::POST, &turns, &once, Some(json!({"say": "benefits"}))).await.expect(201);
        assert_eq!(first.json, again.json);
        author.send(Method::POST, &turns, &once, Some(json!({"say": "other"}))).await.expect_error(409, "CONFLICT");
        assert_eq!(phone.transcript().await.len(), before.len() + 2);
        let dial = [("idempotency-key", "b")];
        let first = author.send(Method::POST, &calls, &dial, Some(json!({}))).await.expect(201);
        let again = author.send(Method::POST, &calls, &dial, Some(json!({}))).await.expect(201);
        assert_eq!(first["call"]["id"], again["call"]["id"]);
        // A reset removes all calls; a line that was torn down accepts none.
        let playground = author.get(&format!("/sandboxes/{sandbox}")).await.expect(200)["own_playground_id"].clone();
        author.send(Method::POST, &format!("/playgrounds/{}/reset", playground.as_str().unwrap()), &[], None).await.expect(200);
        assert!(author.get(&calls).await.expect(200).data().is_empty());
        author.send(Method::POST, &format!("/sandboxes/{sandbox}/teardown"), &[], None).await.expect(200);
        author.post(&calls, json!({})).await.expect_error(409, "CONFLICT");
    }

    async fn a_call_has_a_recording_if_there_is_a_synthesizer(server: TestServer) {
        let author = server.organization("Acme").await;
        let sandbox = voice_sandbox(&author, line()).await.id();
        let calls = format!("/sandboxes/{sandbox}/voice/calls");
        let (phone, _) = Phone::dial(&author, &calls).await;
        phone.says("Benefits [[h@l'oU]] --version <speak>").await;
        let recording = author.get(&format!("{calls}/{}/recording", phone.call)).await;
        if std::process::Command::new("espeak-ng").arg("--version").output().is_err() {
            let refused = recording.expect_error(409, "CONFLICT");
            return assert!(refused.message().contains("espeak-ng"), "{}", refused.text());
        }
        let wav = recording.expect(200).body;
        assert_eq!((&wav[..4], &wav[8..16]), (&b"RIFF"[..], &b"WAVEfmt "[..]));
        let length = u32::from_le_bytes(wav[40..44].try_into().unwrap()) as usize;
        assert_eq!(length + 44, wav.len());
        assert!(length > 2 * 11_025 * 5, "more than five seconds of {length} bytes");
        assert!(wav[44..].iter().any(|byte| *byte != 0));
        author.get(&format!("{calls}/call_1/recording")).await.expect_error(404, "NOT_FOUND");
        let silent = voice_sandbox(&author, json!({})).await.id();
        let (phone, _) = Phone::dial(&author, &format!("/sandboxes/{silent}/voice/calls")).await;
        author.get(&format!("/sandboxes/{silent}/voice/calls/{}/recording", phone.call)).await.expect_error(409, "CONFLICT");
    }
}
