//! Tasks and criteria: errors are reported by field when they are saved.

use serde_json::{Value, json};
use testkit::world::{self, Authored};
use testkit::{Caller, TestResponse, both_databases};
use verify::catalog as checks;

both_databases! {
    async fn a_scenario_is_checked_against_the_environment(server: TestServer) {
        let author = Author::new(server.organization("Author").await).await;
        for (scenario, faulty) in [
            (json!([]), vec!["scenario"]),
            (json!({"step": []}), vec!["scenario.step"]),
            (json!({"steps": {}}), vec!["scenario.steps"]),
            (json!({"steps": [{"do": "explode"}]}), vec!["scenario.steps.0.do"]),
            (json!({"steps": [good_step(), {"path": "x"}]}), vec!["scenario.steps.1.do"]),
            (
                json!({"steps": [good_step(), {"do": "fax_inbound", "document": {"title": "T"}}]}),
                vec!["scenario.steps.1.do"],
            ),
            (
                json!({"steps": [{"do": "drop_file_inbox", "path": "../x", "content": "c"}]}),
                vec!["scenario.steps.0.path"],
            ),
            (
                json!({"steps": [{"do": "drop_file_inbox", "path": "x", "content": "{{patient.name}}"}]}),
                vec!["scenario.steps.0.content"],
            ),
            (
                json!({"steps": [{"do": "drop_file_inbox", "path": "x", "content": "{{entity.name"}]}),
                vec!["scenario.steps.0.content"],
            ),
            (
                json!({"steps": [{"do": "drop_file_inbox", "path": "x", "content": "c", "colour": 1, "after_seconds": -1}]}),
                vec!["scenario.steps.0.after_seconds", "scenario.steps.0.colour"],
            ),
        ] {
            let refused = author.task(json!({"scenario": scenario})).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), faulty, "{scenario}");
            let task = format!("/tasks/{}", author.made.task);
            let refused =
                author.caller.patch(&task, json!({"scenario": scenario})).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), faulty, "{scenario}");
        }
        for good in [Value::Null, json!({}), json!({"steps": []}), json!({"steps": [good_step(), good_step()]})] {
            assert_eq!(author.task(json!({"scenario": good})).await.expect(201)["scenario"], good);
        }
    }

    async fn a_step_without_an_environment_says_so(server: TestServer) {
        let caller = server.organization("Author").await;
        let benchmark = caller.post("/benchmarks", json!({"name": "Bare"})).await.expect(201).id();
        let refused = caller.post("/tasks", world::task(&benchmark)).await.expect_error(400, "VALIDATION_ERROR");
        assert_eq!(refused.invalid_fields(), ["scenario.steps.0.do"]);
        caller.post("/tasks", json!({"benchmark_id": benchmark, "name": "Talk"})).await.expect(201);
    }

    async fn all_errors_of_a_task_are_reported_at_once(server: TestServer) {
        let author = Author::new(server.organization("Author").await).await;
        let refused = author
            .task(json!({
                "name": " ", "timeout": 0, "tags": ["a", "", "x".repeat(65)],
                "task_item": {"instruction": "Call {{caller.name}}", "deep": [{"x": "{{entity.}}"}]},
                "scenario": {"steps": [{"do": "explode"}]},
            }))
            .await
            .expect_error(400, "VALIDATION_ERROR");
        assert_eq!(
            refused.invalid_fields(),
            [
                "name",
                "scenario.steps.0.do",
                "tags.1",
                "tags.2",
                "task_item.deep.0.x",
                "task_item.instruction",
                "timeout"
            ]
        );
        for (field, value) in [
            ("task_item", json!([])),
            ("task_item", json!("text")),
            ("timeout", json!(604_801)),
            ("timeout", json!(1.5)),
            ("tags", json!(vec!["x"; 33])),
            ("benchmark_id", json!("bench_01K9Z3T5Q8W7N4M2R6V0XBHCDE")),
        ] {
            let refused = author.task(json!({field: value})).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), [field], "{value}");
        }
    }

    async fn a_task_shows_its_criteria_in_creation_order(server: TestServer) {
        let author = Author::new(server.organization("Author").await).await;
        let second = author.criterion(json!({})).await.expect(201);
        let task = author.caller.get(&format!("/tasks/{}", author.made.task)).await.expect(200);
        let ids: Vec<&Value> = task["criteria"].as_array().unwrap().iter().map(|criterion| &criterion["id"]).collect();
        assert_eq!(ids, [&json!(author.made.criterion), &second["id"]]);
        let listed = author.caller.get("/tasks").await.expect(200);
        assert_eq!(listed.data(), std::slice::from_ref(&task.json));
    }

    async fn entities_are_bound_once_and_in_order(server: TestServer) {
        let author = Author::new(server.organization("Author").await).await;
        let bound = format!("/tasks/{}/entities", author.made.task);
        let file = json!({"name": "the file", "ref": "inbox/a.txt"});
        let file = author
            .caller
            .post(&format!("/datasets/{}/entities", author.made.files_dataset), file)
            .await
            .expect(201)
            .id();
        for _ in 0..2 {
            author.caller.post(&bound, json!({"entity_id": file})).await.expect(200);
        }
        let ids = |response: &TestResponse| response.data().iter().map(|entity| entity["id"].clone()).collect::<Vec<_>>();
        assert_eq!(ids(&author.caller.get(&bound).await.expect(200)), [json!(author.made.entity), json!(file)]);
        let foreign = Author::new(server.organization("Other").await).await;
        let refused =
            foreign.caller.post(&format!("/tasks/{}/entities", foreign.made.task), json!({"entity_id": file})).await;
        assert_eq!(refused.expect_error(400, "VALIDATION_ERROR").invalid_fields(), ["entity_id"]);
        author.caller.delete(&format!("{bound}/{}", author.made.entity)).await.expect(204);
        author.caller.delete(&format!("{bound}/{}", author.made.entity)).await.expect_error(404, "NOT_FOUND");
        assert_eq!(ids(&author.caller.get(&bound).await.expect(200)), [json!(file)]);
    }

    async fn an_unknown_assertion_is_stored_with_a_warning(server: TestServer) {
        let author = Author::new(server.organization("Author").await).await;
        let assertion: Value =
            serde_json::from_str(r#"{"assert": "mind-reading", "depth": 1.10, "b": 1, "a": 2}"#).unwrap();
        let kept = author.criterion(json!({"assertion": assertion})).await.expect(201);
        assert_eq!(kept["assertion"].to_string(), assertion.to_string());
        let warning = kept["warnings"][0].as_str().unwrap();
        assert!(warning.contains("unsupported assertion") && warning.contains("`mind-reading`"), "{warning}");
        let path = format!("/criteria/{}", kept.id());
        assert_eq!(author.caller.get(&path).await.expect(200).json, kept.json);
        let known =
            author.caller.patch(&path, json!({"assertion": world::criterion("x")["assertion"]})).await.expect(200);
        assert_eq!(known["warnings"], json!([]));
    }

    async fn a_misspelled_assertion_is_rejected_with_its_path(server: TestServer) {
        let author = Author::new(server.organization("Author").await).await;
        for (assertion, faulty) in [
            (json!({}), "assertion.assert"),
            (json!([]), "assertion"),
            (
                json!({"assert": "fhir-resource-state", "resource_tpye": "Patient", "resource_type": "Patient"}),
                "assertion.resource_tpye",
            ),
            (json!({"assert": "fhir-resource-state", "resource_type": "Patiant"}), "assertion.resource_type"),
            (
                json!({"assert": "hl7-structural", "fields": [{"path": "PID.3", "op": "eqals", "expected": "1"}]}),
                "assertion.fields.0.op",
            ),
            (
                json!({"assert": "hl7-structural", "fields": [{"path": "PID.3", "exepcted": "1", "expected": "1"}]}),
                "assertion.fields.0.exepcted",
            ),
            (json!({"assert": "voice-transcript", "contains": ["{{x.y}}"]}), "assertion.contains.0"),
        ] {
            let refused = author.criterion(json!({"assertion": assertion})).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), [faulty], "{assertion}");
            let path = format!("/criteria/{}", author.made.criterion);
            author.caller.patch(&path, json!({"assertion": assertion})).await.expect_error(400, "VALIDATION_ERROR");
        }
    }

    async fn a_weight_is_an_exact_number_above_zero(server: TestServer) {
        let author = Author::new(server.organization("Author").await).await;
        assert_eq!(author.weighing(None).await.expect(201)["weight"].to_string(), "1");
        for (weight, shown) in [
            ("0.1", "0.1"),
            ("1", "1"),
            ("2.50", "2.5"),
            ("0.000001", "0.000001"),
            ("1000000", "1000000"),
            ("1e3", "1000"),
        ] {
            let made = author.weighing(Some(weight)).await.expect(201);
            assert_eq!(made["weight"].to_string(), shown);
            let read = author.caller.get(&format!("/criteria/{}", made.id())).await.expect(200);
            assert_eq!(read["weight"].to_string(), shown);
        }
        for bad in [
            "0",
            "0.0",
            "-0",
            "-1",
            "0.0000001",
            "1.0000001",
            "1e400",
            "1e-400",
            "1000000.000001",
            "\"1\"",
            "true",
            "[]",
        ] {
            let refused = author.weighing(Some(bad)).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), ["weight"], "{bad}");
        }
    }

    async fn an_axis_is_a_short_name_that_is_not_reserved(server: TestServer) {
        let author = Author::new(server.organization("Author").await).await;
        for good in [json!("safety"), json!("Größe 1"), json!("x".repeat(64)), Value::Null] {
            assert_eq!(author.criterion(json!({"axis": good})).await.expect(201)["axis"], good);
        }
        for bad in [json!(""), json!("x".repeat(65)), json!("__default__"), json!("__x"), json!("a\nb"), json!(1)] {
            let refused = author.criterion(json!({"axis": bad})).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), ["axis"], "{bad}");
        }
    }

    async fn a_template_needs_a_bound_entity(server: TestServer) {
        let author = Author::new(server.organization("Author").await).await;
        let assertion = json!({"assert": "fhir-resource-state", "resource_type": "Appointment", "search": {"patient": "Patient/{{entity.id}}"}});
        let refused = author.criterion(json!({"assertion": assertion})).await.expect_error(400, "VALIDATION_ERROR");
        assert_eq!(refused.invalid_fields(), ["input_entity_id"]);
        let bound =
            author.criterion(json!({"assertion": assertion, "input_entity_id": author.made.entity})).await.expect(201);
        let path = format!("/criteria/{}", bound.id());
        let refused =
            author.caller.patch(&path, json!({"input_entity_id": null})).await.expect_error(400, "VALIDATION_ERROR");
        assert_eq!(refused.invalid_fields(), ["input_entity_id"]);
        for (field, unknown) in
            [("input_entity_id", "ent_01K9Z3T5Q8W7N4M2R6V0XBHCDE"), ("task_id", "task_01K9Z3T5Q8W7N4M2R6V0XBHCDE")]
        {
            let refused = author.criterion(json!({field: unknown})).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), [field]);
        }
    }

    async fn an_example_of_every_check_is_accepted(server: TestServer) {
        let author = Author::new(server.organization("Author").await).await;
        assert!(!checks().is_empty());
        for check in checks() {
            let assertion: Value = serde_json::from_str(check.example).unwrap();
            let made = author
                .criterion(json!({"assertion": assertion, "input_entity_id": author.made.entity}))
                .await
                .expect(201);
            assert_eq!((&made["assertion"], &made["warnings"]), (&assertion, &json!([])), "{}", check.name);
        }
    }

    async fn an_example_of_every_simulator_and_step_is_accepted(server: TestServer) {
        let author = Author::new(server.organization("Author").await).await;
        let caller = &author.caller;
        assert!(!sims::catalog().is_empty());
        for info in sims::catalog() {
            let kind = info.kind.name();
            let body = json!({"type": kind.to_uppercase(), "name": format!("Example {kind}"), "config": info.example_config()});
            let made = caller.post("/simulators", body).await.expect(201);
            assert_eq!((&made["type"], &made["config"]), (&json!(kind), &info.example_config()));
            let refused =
                caller.post("/simulators", json!({"type": kind, "name": "x", "config": {"no_such": 1}})).await;
            assert_eq!(refused.expect_error(400, "VALIDATION_ERROR").invalid_fields(), ["config.no_such"], "{kind}");
            let attach = format!("/environments/{}/simulators/{}", author.made.environment, made.id());
            caller.send(reqwest::Method::POST, &attach, &[], None).await.expect(200);
            for step in info.steps {
                let mut example = step.example();
                example["sandbox"] = json!(format!("Example {kind}"));
                author.task(json!({"scenario": {"steps": [example]}})).await.expect(201);
            }
        }
    }
}

/// An author with one resource of each type.
struct Author {
    caller: Caller,
    made: Authored,
}

impl Author {
    async fn new(caller: Caller) -> Self {
        let made = Authored::create(&caller).await;
        Self { caller, made }
    }

    /// Creates a task that is valid except for these fields.
    async fn task(&self, but: Value) -> TestResponse {
        self.caller.post("/tasks", changed(world::task(&self.made.benchmark), but)).await
    }

    async fn criterion(&self, but: Value) -> TestResponse {
        self.caller.post("/criteria", changed(world::criterion(&self.made.task), but)).await
    }

    /// Creates a criterion with a weight as written.
    async fn weighing(&self, weight: Option<&str>) -> TestResponse {
        let mut body = world::criterion(&self.made.task);
        body.as_object_mut().unwrap().shift_remove("weight");
        let mut text = body.to_string();
        if let Some(weight) = weight {
            text.insert_str(1, &format!("\"weight\":{weight},"));
        }
        let body = Some(("application/json", text.into_bytes()));
        self.caller.send_bytes(reqwest::Method::POST, "/criteria", &[], body).await
    }
}

fn changed(mut body: Value, but: Value) -> Value {
    let Value::Object(members) = but else { panic!("not an object") };
    body.as_object_mut().unwrap().extend(members);
    body
}

fn good_step() -> Value {
    json!({"do": "drop_file_inbox", "path": "inbox/{{entity.id}}.txt", "content": "{{task.name}}", "after_seconds": 60})
}
