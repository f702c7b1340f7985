//! Scenarios of tasks, at the start and later, and templates that are bound to entities.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, wants_code};
use testkit::{Caller, TestServer, both_databases};

both_databases! {
    async fn scenario_data_exists_when_the_task_starts(server: TestServer) {
        let (_, agent) =
            run(&server, json!({"name": "Lab", "scenario": {"steps": [loads("potassium", None)]}}), &[wants_code("a")])
                .await;
        agent.start(0).await.expect(200);
        assert_eq!(agent.fhir(Method::GET, "Observation/potassium", None).await.expect(200)["status"], "final");
        assert_eq!(observations(&agent).await, 1);
    }

    async fn a_delayed_step_happens_when_it_is_due(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let steps = json!({"steps": [loads("first", None), loads("second", Some(60)), loads("third", Some(120))]});
        let (_, agent) = run(&server, json!({"name": "Labs", "timeout": 600, "scenario": steps}), &[]).await;
        agent.start(0).await.expect(200);
        assert_eq!(observations(&agent).await, 1);
        server.clock.advance(59_999);
        assert_eq!(observations(&agent).await, 1);
        server.clock.advance(1);
        agent.fhir(Method::GET, "Observation/second", None).await.expect(200);
        assert_eq!(observations(&agent).await, 2);
        server.clock.advance(60_000);
        let seen = agent
            .fhir(
                Method::PUT,
                "Observation/third",
                Some(json!({"resourceType": "Observation", "id": "third", "status": "amended", "code": {"text": "x"}})),
            )
            .await;
        assert_eq!(seen.expect(200)["meta"]["versionId"], "2", "a write finds what is due before it");
    }

    async fn steps_due_at_completion_are_carried_out(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let steps = json!({"steps": [loads("late", Some(60)), loads("never", Some(300))]});
        let found = |id: &str, count: i64| {
            let search = json!({"_id": id});
            let assertion = json!({"assert": "fhir-resource-state", "resource_type": "Observation", "search": search, "count": count});
            json!({"label": id, "assertion": assertion})
        };
        let task = json!({"name": "Labs", "timeout": 600, "scenario": steps});
        let (_, agent) = run(&server, task, &[found("late", 1), found("never", 0)]).await;
        agent.start(0).await.expect(200);
        server.clock.advance(60_000);
        assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
    }

    async fn scenario_changes_do_not_count_as_the_agents(server: TestServer) {
        let clean =
            json!({"label": "Nothing else", "assertion": {"assert": "no-side-effects", "allow": ["fhir/Basic"]}});
        let budget = json!({"label": "Few", "assertion": {"assert": "interaction-budget", "max": 1}});
        let (_, agent) =
            run(&server, json!({"name": "Lab", "scenario": {"steps": [loads("potassium", None)]}}), &[clean, budget])
                .await;
        let result = agent.do_task(0, &["a"]).await;
        assert_eq!(result["score"], json!(1.0), "{result}");
    }

    async fn a_broken_scenario_fails_the_task_without_blaming_the_agent(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task_with(json!({"name": "Broken", "scenario": broken()}), &[wants_code("a")]).await;
        bench.task("Sound", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        let refused = agent.start(0).await.expect_error(409, "CONFLICT");
        assert!(refused.message().contains("no fault of the agent"), "{}", refused.message());
        // The errors of a scenario are shown to its author, not to the agent.
        assert!(refused.invalid_fields().is_empty(), "{}", refused.text());
        let seen = agent.result(0).await;
        assert_eq!(
            (&seen["phase"], &seen["status"], &seen["verdict"], &seen["score"]),
            (&json!("completed"), &json!("failed"), &json!("fail"), &json!(0.0))
        );
        let internal = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        assert!(internal["failure"].as_str().is_some_and(|text| !text.is_empty()), "{}", internal.text());
        let again = agent.start(0).await.expect_error(409, "CONFLICT");
        assert!(again.message().contains("failed"), "{}", again.message());
        let last = agent.do_task(1, &["a"]).await;
        assert_eq!(last["benchmark_run"]["score"], json!(0.5), "failed counts 0, and the run goes on");
    }

    async fn a_task_with_a_broken_scenario_waits_for_the_started_task(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Sound", &[wants_code("a")]).await;
        bench.task_with(json!({"name": "Broken", "scenario": broken()}), &[]).await;
        let agent = bench.begin(&server).await;
        agent.start(0).await.expect(200);
        for headers in [&[][..], &[("idempotency-key", "k")]] {
            let path = format!("/v1/task-runs/{}/start", agent.task_runs[1]);
            let refused = agent.caller.send(Method::POST, &path, headers, None).await.expect_error(409, "CONFLICT");
            assert!(refused.message().contains(&agent.task_runs[0]), "{}", refused.message());
        }
        assert_eq!(agent.result(1).await["phase"], "created");
    }

    async fn entities_are_bound_to_templates_of_task_scenario_and_assertions(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let entities = format!("/datasets/{}/entities", bench.dataset);
        let entity =
            json!({"name": "Maria Lopez", "ref": "Patient/p2", "data": {"mrn": "MRN-7", "wants": {"code": "b"}}});
        let entity = author.post(&entities, entity).await.expect(201).id();
        let other = author
            .post(&entities, json!({"name": "Other", "ref": "Patient/p3", "data": {"wants": {"code": "c"}}}))
            .await
            .expect(201)
            .id();
        let mut step = loads("potassium", None);
        step["bundle"]["entry"][0]["resource"]["subject"] = json!({"reference": "{{entity.ref}}"});
        let item = json!({"instruction": "Order for {{entity.name}} ({{entity.data.mrn}})", "list": ["{{entity.ref}}"], "of": "{{task.name}}"});
        let task =
            bench.task_with(json!({"name": "Order", "task_item": item, "scenario": {"steps": [step]}}), &[]).await;
        author.post(&format!("/tasks/{task}/entities"), json!({"entity_id": entity})).await.expect(200);
        for (label, input) in [("first", &entity), ("second", &other)] {
            let mut criterion = wants_code("{{entity.data.wants.code}}");
            criterion["label"] = json!(label);
            criterion["task_id"] = json!(task);
            criterion["input_entity_id"] = json!(input);
            author.post("/criteria", criterion).await.expect(201);
        }
        let agent = bench.begin(&server).await;
        let started = agent.start(0).await.expect(200);
        let item = json!({"instruction": "Order for Maria Lopez (MRN-7)", "list": ["Patient/p2"], "of": "Order"});
        assert_eq!(started["task"]["task_item"], item);
        let subject = agent.fhir(Method::GET, "Observation/potassium", None).await.expect(200)["subject"].clone();
        assert_eq!(subject["reference"], "Patient/p2");
        agent.write(basic("b")).await.expect(201);
        let result = agent.complete(0).await.expect(200).json;
        let results: Vec<&Value> = result["checks"].as_array().unwrap().iter().map(|check| &check["result"]).collect();
        assert_eq!(results, ["pass", "fail"]);
        assert_eq!(result["checks"][1]["evidence"]["fieldResults"][0]["expected"], "c", "{result}");
    }

    async fn text_written_by_an_agent_is_never_a_template(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Literal", &[wants_code("Literal")]).await;
        let agent = bench.begin(&server).await;
        assert_eq!(agent.do_task(0, &["{{task.name}}"]).await["score"], json!(0.0));
    }
}

/// A run of one task.
async fn run(server: &TestServer, task: Value, criteria: &[Value]) -> (Caller, Agent) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    bench.task_with(task, criteria).await;
    let agent = bench.begin(server).await;
    (author, agent)
}

/// A step that creates an observation.
fn loads(id: &str, after_seconds: Option<i64>) -> Value {
    let resource = json!({"resourceType": "Observation", "id": id, "status": "final", "code": {"text": "Potassium"}});
    let mut step = json!({"do": "fhir", "bundle": {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": resource}]}});
    if let Some(seconds) = after_seconds {
        step["after_seconds"] = json!(seconds);
    }
    step
}

/// A transaction that the FHIR server rejects because of its condition.
fn broken() -> Value {
    let resource = json!({"resourceType": "Patient", "id": "p1"});
    let entry = json!({"resource": resource, "request": {"method": "PUT", "url": "Patient/p1", "ifMatch": "W/\"99\""}});
    json!({"steps": [{"do": "fhir", "bundle": {"resourceType": "Bundle", "type": "transaction", "entry": [entry]}}]})
}

async fn observations(agent: &Agent) -> i64 {
    agent.fhir(Method::GET, "Observation?_summary=count", None).await.expect(200)["total"].as_i64().unwrap()
}
