//! The evidence of each check, and how checks fail that find nothing.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic};
use testkit::{TestServer, both_databases};

both_databases! {
    async fn the_evidence_of_a_fhir_check_lists_every_field_and_its_match(server: TestServer) {
        let fields = json!([
            {"path": "code.text", "expected": "a"},
            {"path": "code.coding", "expected": null},
            {"fhirpath": "id.length()", "op": "gt", "expected": 3},
            {"path": "language", "expected": "de"},
        ]);
        let check =
            only_check(&server, json!({"assert": "fhir-resource-state", "resource_type": "Basic", "fields": fields}))
                .await;
        let evidence = &check["evidence"];
        let results = evidence["fieldResults"].as_array().unwrap();
        assert_eq!(
            results.iter().map(|result| result["passed"].as_bool().unwrap()).collect::<Vec<_>>(),
            [true, true, true, false]
        );
        for result in results {
            for member in ["path", "expected", "actual", "passed"] {
                assert!(result.get(member).is_some(), "{member} of {result}");
            }
        }
        assert_eq!((&results[0]["expected"], &results[0]["actual"]), (&json!("a"), &json!("a")));
        assert_eq!((&results[3]["expected"], &results[3]["actual"]), (&json!("de"), &Value::Null));
        assert_eq!(evidence["matched"].as_array().unwrap().len(), 1);
        assert!(evidence["matched"][0].to_string().contains("Basic/"), "{evidence}");
        assert_eq!((&check["result"], &check["score"]), (&json!("fail"), &json!(0.75)));
    }

    async fn a_fhir_check_without_a_candidate_scores_nothing_and_shows_nothing_matched(server: TestServer) {
        let fields = json!([{"path": "status", "expected": "active"}]);
        let check = only_check(
            &server,
            json!({"assert": "fhir-resource-state", "resource_type": "ServiceRequest", "fields": fields}),
        )
        .await;
        assert_eq!(
            (&check["result"], &check["score"], &check["evidence"]["matched"]),
            (&json!("fail"), &json!(0.0), &json!([]))
        );
        assert!(!check["details"].as_str().unwrap().is_empty());
    }

    async fn a_candidate_without_fields_is_enough_and_absence_can_be_asserted(server: TestServer) {
        let found = json!({"assert": "fhir-resource-state", "resource_type": "Basic"});
        assert_eq!(only_check(&server, found.clone()).await["score"], json!(1.0));
        let mut absent = found;
        absent["count"] = json!({"max": 0});
        assert_eq!(only_check(&server, absent.clone()).await["score"], json!(0.0));
        absent["fields"] = json!([{"path": "code.text", "expected": "other"}]);
        assert_eq!(only_check(&server, absent).await["score"], json!(1.0), "fields select what must not exist");
    }

    async fn side_effects_are_listed_one_by_one(server: TestServer) {
        let check = only_check(&server, json!({"assert": "no-side-effects", "allow": ["fhir/Appointment"]})).await;
        let unexpected = check["evidence"]["unexpected"].as_array().unwrap();
        assert_eq!((&check["result"], unexpected.len()), (&json!("fail"), 1), "{check}");
        assert!(unexpected[0].to_string().contains("Basic"), "{check}");
        let check = only_check(&server, json!({"assert": "no-side-effects", "allow": ["fhir/Basic"]})).await;
        assert_eq!((&check["result"], &check["evidence"]["unexpected"]), (&json!("pass"), &json!([])));
    }

    async fn a_budget_counts_the_requests_of_the_agent(server: TestServer) {
        let check = only_check(&server, json!({"assert": "interaction-budget", "max": {"fhir_request": 3}})).await;
        assert_eq!(
            (&check["result"], &check["evidence"]["counts"]["fhir_request"]),
            (&json!("pass"), &json!(3)),
            "{check}"
        );
        let check = only_check(&server, json!({"assert": "interaction-budget", "max": 2})).await;
        assert_eq!(check["result"], "fail", "{check}");
        assert!(check["evidence"]["counts"].is_object());
    }

    async fn a_check_of_a_missing_simulator_says_so(server: TestServer) {
        for (kind, assertion) in [
            ("Hl7", json!({"assert": "hl7-structural", "correlate_by": {"message_type": "ORM"}})),
            (
                "Portal",
                json!({"assert": "portal-state-match", "correlate_by": {"resource": "requests", "key": "id"}, "assertions": [{"path": "status", "expected": "x"}]}),
            ),
            ("Files", json!({"assert": "sftp-file-present", "path": "outbox/*.json"})),
            ("Voice", json!({"assert": "voice-transcript", "contains": ["hello"]})),
            ("Voice", json!({"assert": "voice-transcript", "not_contains": ["hello"]})),
            ("Clearinghouse", json!({"assert": "x12-response", "transaction": "271"})),
            ("Fax", json!({"assert": "fax-document", "contains": ["hello"]})),
            ("Fax", json!({"assert": "fax-document", "count": 0})),
            ("Message", json!({"assert": "message-transcript", "contains": ["hello"]})),
            ("Cds", json!({"assert": "cds-response", "hook": "order-sign"})),
        ] {
            let check = only_check(&server, assertion.clone()).await;
            assert_eq!((&check["result"], &check["score"]), (&json!("fail"), &json!(0.0)), "{kind}: {assertion}");
            let details = check["details"].as_str().unwrap();
            assert!(details.contains("sandbox"), "{kind}: {details}");
            assert!(check["evidence"].is_object());
            for line in check["evidence"]["phraseResults"].as_array().into_iter().flatten() {
                assert_eq!((&line["found"], &line["turn"]), (&json!(false), &Value::Null), "{assertion}: {check}");
            }
            let asks_for_phrases = assertion.get("contains").is_some();
            assert_eq!(check["evidence"].get("phraseResults").is_some(), asks_for_phrases || assertion.get("not_contains").is_some());
        }
    }

    async fn every_check_explains_that_nothing_was_found(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        for kind in ["Hl7", "Payer", "Files", "Voice", "Clearinghouse", "Fax", "Message", "CdsHooks"] {
            let simulator = author.post("/simulators", json!({"type": kind, "name": kind})).await.expect(201).id();
            let path = format!("/environments/{}/simulators/{simulator}", bench.environment);
            author.send(Method::POST, &path, &[], None).await.expect(200);
        }
        let cases = nothing_found();
        let criteria: Vec<Value> =
            cases.iter().map(|(assertion, ..)| json!({"label": assertion["assert"], "assertion": assertion})).collect();
        bench.task("Only", &criteria).await;
        let created = author.post("/benchmark-runs", json!({"benchmark_id": bench.benchmark})).await.expect(201);
        let agent = Agent::from(&server, &created);
        agent.start(0).await.expect(200);
        let written = agent.write(basic("a")).await.expect(201).json;
        let checks = agent.complete(0).await.expect(200).json["checks"].clone();
        for (assertion, list, line) in cases {
            let check = checks.as_array().unwrap().iter().find(|check| check["label"] == assertion["assert"]).unwrap();
            let evidence = &check["evidence"];
            assert_eq!((&check["result"], &check["score"]), (&json!("fail"), &json!(0.0)), "{check}");
            assert_eq!(evidence[list], json!([line]), "{check}");
            if let Some(count) = assertion.get("count") {
                assert_eq!(evidence["count"], json!({"expected": count, "actual": 0, "passed": false}), "{check}");
            }
            let name = format!("Basic/{}", written["id"].as_str().unwrap());
            let candidates = match assertion["assert"].as_str().unwrap() {
                "fhir-resource-state" => {
                    assert!(check["details"].as_str().unwrap().contains(&format!("nearest: {name}: search.code")), "{check}");
                    let actual = json!({"text": "a"});
                    let mismatch = json!({"parameter": "search.code", "expected": "http://x|b", "actual": actual});
                    json!([{"candidate": name, "mismatches": [mismatch]}])
                }
                "no-side-effects" => {
                    let done = format!("fhir/{name}:create");
                    let mismatch = json!({"parameter": "require.0", "expected": "fhir/Appointment", "actual": done});
                    json!([{"candidate": done, "mismatches": [mismatch]}])
                }
                _ => json!([]),
            };
            assert_eq!(evidence["candidates"], candidates, "{check}");
        }
    }

    async fn files_of_the_scenario_are_found_by_path(server: TestServer) {
        let author = server.organization("Acme").await;
        let made = testkit::world::Authored::create(&author).await;
        for (label, assertion) in [
            ("glob", json!({"assert": "sftp-file-present", "path": "inbox/ref*.txt", "count": 1})),
            (
                "scenario",
                json!({"assert": "sftp-file-present", "path": "inbox/referral.txt", "contains": ["Referral for the patient"]}),
            ),
            ("none", json!({"assert": "sftp-file-present", "path": "outbox/**"})),
            ("absent", json!({"assert": "sftp-file-present", "path": "outbox/**", "count": 0})),
        ] {
            author
                .post("/criteria", json!({"task_id": made.task, "label": label, "assertion": assertion}))
                .await
                .expect(201);
        }
        let created = author.post("/benchmark-runs", json!({"benchmark_id": made.benchmark})).await.expect(201);
        let agent = Agent::from(&server, &created);
        agent.start(0).await.expect(200);
        let checks = agent.complete(0).await.expect(200).json["checks"].clone();
        let of = |label: &str| checks.as_array().unwrap().iter().find(|check| check["label"] == label).unwrap();
        assert_eq!(
            of("glob")["evidence"],
            json!({"fieldResults": [], "field_results": [], "matched_paths": ["inbox/referral.txt"],
                "count": {"expected": 1, "actual": 1, "passed": true}}),
            "{checks}"
        );
        assert_eq!(of("scenario")["result"], "pass", "{checks}");
        assert_eq!((&of("none")["result"], &of("absent")["result"]), (&json!("fail"), &json!("pass")), "{checks}");
    }
}

/// Assertions that find nothing, each with a list of its evidence and the only entry of it.
fn nothing_found() -> Vec<(Value, &'static str, Value)> {
    let fields = |path: &str| json!([{"path": path, "expected": "x"}]);
    let field = |path: &str| json!({"path": path, "expected": "x", "actual": null, "passed": false});
    let phrase = json!({"phrase": "bye", "found": false, "turn": null});
    vec![
        (
            json!({"assert": "fhir-resource-state", "resource_type": "Basic", "search": {"code": "http://x|b"}, "fields": fields("language"), "count": 1}),
            "fieldResults",
            field("language"),
        ),
        (
            json!({"assert": "hl7-structural", "fields": fields("PID.3"), "count": {"min": 1}}),
            "field_results",
            field("PID.3"),
        ),
        (
            json!({"assert": "portal-state-match", "correlate_by": {"resource": "prior_auth_requests", "key": "id"}, "assertions": fields("status")}),
            "assertionResults",
            field("status"),
        ),
        (
            json!({"assert": "sftp-file-present", "path": "outbox/*.json", "fields": fields("reason"), "count": 1}),
            "fieldResults",
            field("reason"),
        ),
        (json!({"assert": "voice-transcript", "contains": ["bye"]}), "phraseResults", phrase.clone()),
        (
            json!({"assert": "x12-response", "transaction": "271", "fields": fields("EB.1"), "count": 1}),
            "fieldResults",
            field("EB.1"),
        ),
        (
            json!({"assert": "fax-document", "contains": ["bye"], "count": {"min": 1, "max": 2}}),
            "phraseResults",
            phrase.clone(),
        ),
        (json!({"assert": "message-transcript", "contains": ["bye"], "count": 1}), "phraseResults", phrase),
        (
            json!({"assert": "cds-response", "fields": fields("cards.0.summary"), "count": 1}),
            "fieldResults",
            field("cards.0.summary"),
        ),
        (
            json!({"assert": "no-side-effects", "allow": ["fhir/**"], "require": ["fhir/Appointment"]}),
            "missing",
            json!("fhir/Appointment"),
        ),
    ]
}

/// The result of an assertion after an agent has searched twice and written one `Basic`.
async fn only_check(server: &TestServer, assertion: Value) -> Value {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    bench.task("Only", &[json!({"label": "Only", "assertion": assertion})]).await;
    let created = author.post("/benchmark-runs", json!({"benchmark_id": bench.benchmark})).await.expect(201);
    let agent = Agent::from(server, &created);
    agent.start(0).await.expect(200);
    agent.fhir(Method::GET, "Patient", None).await.expect(200);
    agent.fhir(Method::GET, "Patient/p1", None).await.expect(200);
    agent.write(basic("a")).await.expect(201);
    agent.complete(0).await.expect(200).json["checks"][0].clone()
}
