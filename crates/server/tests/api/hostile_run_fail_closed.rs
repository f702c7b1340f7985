//! V12: a check that cannot finish, finds nothing, or finds something unexpected does not pass,
//! and its weight still counts.

use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver, wants_code};
use testkit::{Caller, TestResponse, TestServer, both_databases};

both_databases! {
    async fn no_check_of_the_catalog_passes_without_evidence(server: TestServer) {
        let author = server.organization("Acme").await;
        let mut judged = 0;
        for with_simulators in [false, true] {
            let bench = Bench::new(&author, json!({})).await;
            if with_simulators {
                add_every_simulator(&author, &bench).await;
            }
            let entity = json!({"name": "nobody", "ref": "Patient/p1", "data": {}});
            let entity = author.post(&format!("/datasets/{}/entities", bench.dataset), entity).await.expect(201).id();
            let mut criteria = vec![weighing(1, wants_code("written")["assertion"].clone())];
            criteria.extend(examples().into_iter().map(|assertion| weighing(3, assertion)));
            criteria.extend(broken().into_iter().map(|assertion| weighing(3, assertion)));
            for criterion in &mut criteria {
                criterion["input_entity_id"] = json!(entity);
            }
            bench.task("Only", &criteria).await;
            let result = done(&server, &author, &bench, &[basic("written")]).await;
            let checks = result["checks"].as_array().unwrap();
            for check in &checks[1..] {
                assert_eq!((&check["result"], &check["score"]), (&json!("fail"), &json!(0.0)), "{check}");
                assert!(!check["details"].as_str().unwrap().is_empty(), "{check}");
            }
            let all = 1 + 3 * (checks.len() - 1);
            assert_eq!(checks[0]["result"], "pass");
            assert_eq!(result["axes"]["__default__"]["weight"], json!(all));
            let expected = 1.0 / all as f64;
            assert_eq!(result["score"].as_f64(), Some(expected), "{}", result["score"]);
            judged += checks.len() - 1;
        }
        eprintln!("{judged} criteria that cannot be told or find nothing, none passed");
    }

    async fn no_comparison_passes_on_missing_values_or_other_types(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let kept = odd_values();
        let mut criteria = Vec::new();
        for (number, _) in kept.iter().enumerate() {
            for (op, expected) in comparisons() {
                let mut field = json!({"path": "extension.0.valueString", "op": op});
                if let Some(expected) = expected {
                    field["expected"] = expected;
                }
                if op == "approx" {
                    field["tolerance"] = json!(0.5);
                }
                // A missing value is not equal to anything; `any` requires a value.
                if op == "not_equals" {
                    field["quantifier"] = json!("any");
                }
                let assertion = json!({"assert": "fhir-resource-state", "resource_type": "Basic",
                    "search": {"identifier": format!("urn:x|{number}")}, "fields": [field]});
                criteria.push(weighing(1, assertion));
            }
        }
        bench.task("Only", &criteria).await;
        let result = done(&server, &author, &bench, &kept).await;
        for (check, criterion) in result["checks"].as_array().unwrap().iter().zip(&criteria) {
            assert_eq!((&check["result"], &check["score"]), (&json!("fail"), &json!(0.0)), "{criterion}: {check}");
        }
        assert_eq!((&result["score"], &result["verdict"]), (&json!(0.0), &json!("fail")));
        assert_eq!(result["axes"]["__default__"]["weight"], json!(criteria.len()));
        eprintln!("{} comparisons with nothing or another type, none passed", criteria.len());
    }

    async fn rows_of_an_unexpected_shape_pass_no_check(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        add_every_simulator(&author, &bench).await;
        let row = |key: &str, row: Value| json!({"do": "portal_row", "resource": "prior_auth_requests", "key": key, "row": row});
        let steps = [
            row("a", json!({"request_id": null, "status": null})),
            row("b", json!({"request_id": [], "status": {}})),
            row("c", json!({"request_id": {"x": 1}, "status": 0, "auth_number": false})),
            json!({"do": "drop_file_inbox", "path": "inbox/a.json", "content": "{"}),
            json!({"do": "drop_file_inbox", "path": "inbox/b.json", "content": "null"}),
            json!({"do": "drop_file_inbox", "path": "inbox/c.csv", "content": ""}),
            json!({"do": "drop_file_inbox", "path": "inbox/d.hl7", "content": "MSH|"}),
        ];
        let portal = |field: Value| json!({"assert": "portal-state-match", "correlate_by": {"resource": "prior_auth_requests", "key": "request_id"}, "assertions": [field]});
        let file = |path: &str, parse: &str, field: Value| json!({"assert": "sftp-file-present", "path": path, "parse": parse, "fields": [field]});
        let criteria = [
            portal(json!({"path": "status", "expected": "submitted"})),
            portal(json!({"path": "determination.status", "op": "not_equals", "expected": "denied", "quantifier": "any"})),
            portal(json!({"path": "auth_number", "op": "matches", "expected": "."})),
            portal(json!({"path": "status", "op": "lt", "expected": 0})),
            file("inbox/a.json", "json", json!({"path": "x", "expected": null})),
            file("inbox/b.json", "json", json!({"path": "x", "op": "exists"})),
            file("inbox/c.csv", "csv", json!({"path": "0.x", "op": "not_equals", "expected": "y", "quantifier": "any"})),
            file("inbox/d.hl7", "hl7", json!({"path": "PID.3", "expected": null})),
            file("inbox/none.json", "json", json!({"path": "x", "expected": null})),
        ];
        let criteria: Vec<Value> = criteria.into_iter().map(|assertion| weighing(1, assertion)).collect();
        bench.task_with(json!({"name": "Only", "scenario": {"steps": steps}}), &criteria).await;
        let result = done(&server, &author, &bench, &[]).await;
        for check in result["checks"].as_array().unwrap() {
            assert_eq!((&check["result"], &check["score"]), (&json!("fail"), &json!(0.0)), "{check}");
        }
    }

    async fn a_check_that_exceeds_its_budget_fails_alone(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        // More text than one assertion may read.
        let text = json!({"path": "code.text", "op": "exists"});
        let many = vec![text.clone(); 199];
        let state = |fields: &[Value]| json!({"assert": "fhir-resource-state", "resource_type": "Basic", "match": "any", "fields": fields});
        // It would pass if the last field were evaluated.
        let mut absence = state(&[many.clone(), vec![json!({"path": "code.text", "expected": "never"})]].concat());
        absence["count"] = json!({"max": 0});
        bench.task("Only", &[weighing(1, state(&many)), weighing(1, absence), weighing(2, state(&[text]))]).await;
        let result = done(&server, &author, &bench, &[basic(&"\u{1d4b3}".repeat(1_000_000))]).await;
        let checks = result["checks"].as_array().unwrap();
        let last = checks[0]["evidence"]["fieldResults"][198].clone();
        assert!(last["reason"].as_str().unwrap_or_default().contains("budget"), "{last}");
        assert_eq!(checks[0]["result"], "fail");
        assert!(checks[0]["score"].as_f64() > Some(0.0), "{}", checks[0]["score"]);
        assert_eq!((&checks[1]["result"], &checks[2]["result"]), (&json!("fail"), &json!("pass")));
        assert!(result.body.len() < 1_000_000, "{} bytes", result.body.len());
        assert_eq!(result["axes"]["__default__"]["weight"], json!(4));
    }

    async fn a_task_without_criteria_fails(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Empty", &[]).await;
        let result = done(&server, &author, &bench, &[basic("all done")]).await;
        assert_eq!((&result["score"], &result["verdict"]), (&json!(0.0), &json!("fail")));
    }
}

fn weighing(weight: u32, assertion: Value) -> Value {
    let mut criterion = json!({"label": assertion["assert"], "weight": weight});
    criterion["assertion"] = assertion;
    criterion
}

async fn done(server: &TestServer, author: &Caller, bench: &Bench, written: &[Value]) -> TestResponse {
    let solvers = author.get("/solvers?limit=100").await.expect(200).data().len();
    let solver = solver(server, author, &format!("agent-{solvers}")).await;
    let reference = format!("closed-{solvers}");
    let publish = format!("/benchmarks/{}/publish", bench.benchmark);
    author.post(&publish, json!({"slug": reference})).await.expect(201);
    let agent = Agent::begin(server, &solver, &format!("{reference}@1"), false).await;
    agent.start(0).await.expect(200);
    for resource in written {
        agent.write(resource.clone()).await.expect(201);
    }
    agent.complete(0).await.expect(200)
}

async fn add_every_simulator(author: &Caller, bench: &Bench) {
    for simulator in sims::catalog().iter().filter(|simulator| simulator.kind.name() != "Fhir") {
        let body =
            json!({"type": simulator.kind.name(), "name": simulator.kind.name(), "config": simulator.example_config()});
        let id = author.post("/simulators", body).await.expect(201).id();
        let path = format!("/environments/{}/simulators/{id}", bench.environment);
        author.send(reqwest::Method::POST, &path, &[], None).await.expect(200);
    }
}

/// The examples of the manual. Those that pass on absence are changed to require something impossible.
fn examples() -> Vec<Value> {
    let examples = verify::catalog().iter().map(|check| serde_json::from_str(check.example).unwrap());
    let wanting = examples.map(|mut example: Value| {
        match example["assert"].as_str().unwrap() {
            "no-side-effects" => example["allow"] = json!(["fhir/Appointment"]),
            "interaction-budget" => example["max"] = json!(0),
            "no-disclosure" => example["patients"] = json!(["nobody"]),
            _ => {}
        }
        example
    });
    wanting.collect()
}

/// Assertions with a template that cannot be bound, for every check that accepts one, and without a check.
fn broken() -> Vec<Value> {
    let nobody = "{{entity.data.nobody}}";
    let field = |path: &str| json!([{"path": path, "expected": nobody}]);
    vec![
        json!({"assert": "fhir-resource-state", "resource_type": "Basic", "count": {"max": 0}, "fields": field("code.text")}),
        json!({"assert": "fhir-resource-state", "resource_type": "Appointment", "count": {"max": 0}, "search": {"patient": nobody}}),
        json!({"assert": "hl7-structural", "count": {"max": 0}, "fields": field("PID.3")}),
        json!({"assert": "no-disclosure", "patients": [nobody]}),
        json!({"assert": "portal-state-match", "correlate_by": {"resource": "drafts", "key": "a"}, "count": {"max": 0}, "assertions": field("a")}),
        json!({"assert": "sftp-file-present", "path": format!("outbox/{nobody}"), "count": {"max": 0}}),
        json!({"assert": "voice-transcript", "not_contains": [nobody]}),
        json!({"assert": "x12-response", "transaction": "271", "count": {"max": 0}, "fields": field("EB.1")}),
        json!({"assert": "fax-document", "not_contains": [nobody], "count": {"max": 0}}),
        json!({"assert": "message-transcript", "not_contains": [nobody], "count": {"max": 0}}),
        json!({"assert": "cds-response", "count": {"max": 0}, "fields": field("hook")}),
        json!({"assert": "no-side-effects", "allow": [format!("fhir/{nobody}"), "fhir/Basic"]}),
        json!({"assert": "mind-reading"}),
        json!({"assert": "Fhir-Resource-State", "resource_type": "Basic"}),
    ]
}

/// Resources whose `extension.0.valueString` is missing, or a value that no comparison below accepts.
fn odd_values() -> Vec<Value> {
    let extensions = [
        json!(null),
        json!([{"url": "urn:x"}]),
        json!([{"url": "urn:x", "valueBoolean": true}]),
        json!([{"url": "urn:x", "valueInteger": 7}]),
        json!([{"url": "urn:x", "valueDecimal": 7.0}]),
        json!([{"url": "urn:x", "valueDate": "2026-04-02"}]),
        json!([{"url": "urn:x", "_valueString": {"id": "a"}}]),
        json!([{"url": "urn:x", "valueCoding": {"code": "seven"}}]),
        json!([{"url": "urn:x", "extension": [{"url": "urn:y", "valueString": "seven"}]}]),
    ];
    let kept = extensions.into_iter().enumerate().map(|(number, extension)| {
        let mut made = basic("odd");
        made["identifier"] = json!([{"system": "urn:x", "value": number.to_string()}]);
        if !extension.is_null() {
            made["extension"] = extension;
        }
        made
    });
    kept.collect()
}

/// Every comparison except the two that accept a missing value.
fn comparisons() -> Vec<(&'static str, Option<Value>)> {
    vec![
        ("equals", Some(json!("seven"))),
        ("equals", Some(json!(7))),
        ("equals", Some(json!(""))),
        ("not_equals", Some(json!("eight"))),
        ("equals_ignore_case", Some(json!("SEVEN"))),
        ("contains", Some(json!("e"))),
        ("matches", Some(json!(".*"))),
        ("matches", Some(json!("^$"))),
        ("one_of", Some(json!(["seven", 7, true]))),
        ("exists", None),
        ("gt", Some(json!(-1))),
        ("gte", Some(json!("a"))),
        ("lt", Some(json!(100))),
        ("lte", Some(json!("2100-01-01"))),
        ("between", Some(json!([-100, 100]))),
        ("approx", Some(json!(7))),
        ("date", Some(json!("2026-04-02"))),
    ]
}
