//! What each check leaves as evidence of a run, and how checks fail that have nothing to look at.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic};
use testkit::{TestServer, both_databases};

both_databases! {
    async fn a_fhir_check_tells_every_field_and_what_it_matched(server: TestServer) {
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

    async fn a_check_of_a_simulator_that_is_not_there_says_so(server: TestServer) {
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
        }
    }

    async fn files_that_the_scenario_brings_are_found_by_path(server: TestServer) {
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
            json!({"fieldResults": [], "field_results": [], "matched_paths": ["inbox/referral.txt"]}),
            "{checks}"
        );
        assert_eq!(of("scenario")["result"], "pass", "{checks}");
        assert_eq!((&of("none")["result"], &of("absent")["result"]), (&json!("fail"), &json!("pass")), "{checks}");
    }
}

/// What becomes of an assertion when an agent has searched twice and written one `Basic`.
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
