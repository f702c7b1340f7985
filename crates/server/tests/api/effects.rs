//! Effects come from the change log: undone changes count, and an overwrite is not a creation.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver};
use testkit::{TestServer, both_databases};

both_databases! {
    async fn effects_that_were_undone_still_count(server: TestServer) {
        let stage = Stage::new(&server, json!({"require": ["fhir/ServiceRequest"], "at_most": {"fhir/ServiceRequest": 1}})).await;

        let right = stage.begin(&server).await;
        right.write(order("p1")).await.expect(201);
        assert_eq!(outcome(&right).await, ("pass".to_owned(), vec![]));

        let undone = stage.begin(&server).await;
        undone.write(order("p1")).await.expect(201);
        let wrong = undone.write(order("p2")).await.expect(201).json["id"].as_str().unwrap().to_owned();
        undone.fhir(Method::DELETE, &format!("ServiceRequest/{wrong}"), None).await.expect(204);
        let (result, unexpected) = outcome(&undone).await;
        assert_eq!(result, "fail");
        assert_eq!(unexpected, [format!("fhir/ServiceRequest/{wrong} create"), format!("fhir/ServiceRequest/{wrong} delete-own")]);

        let restored = stage.begin(&server).await;
        restored.write(order("p1")).await.expect(201);
        let patient = restored.fhir(Method::GET, "Patient/p2", None).await.expect(200).json;
        restored.fhir(Method::DELETE, "Patient/p2", None).await.expect(204);
        restored.fhir(Method::PUT, "Patient/p2", Some(patient)).await.expect(201);
        let (result, unexpected) = outcome(&restored).await;
        assert_eq!((result.as_str(), unexpected.len()), ("fail", 2), "{unexpected:?}");
    }

    async fn an_overwrite_does_not_count_as_a_creation(server: TestServer) {
        let stage = Stage::new(&server, json!({"require": ["fhir/Patient"], "at_most": {"fhir/Patient": 1}})).await;
        let new = json!({"resourceType": "Patient", "active": false});
        let created = stage.begin(&server).await;
        created.write(new.clone()).await.expect(201);
        assert_eq!(outcome(&created).await.0, "pass");
        let overwritten = stage.begin(&server).await;
        let mut patient = new;
        patient["id"] = json!("p2");
        overwritten.fhir(Method::PUT, "Patient/p2", Some(patient)).await.expect(200);
        assert_eq!(outcome(&overwritten).await, ("fail".to_owned(), vec!["fhir/Patient/p2 update".to_owned()]));
    }

    async fn a_required_effect_names_its_record(server: TestServer) {
        let stage = Stage::new(&server, json!({"require": ["fhir/Patient/p1:update"]})).await;
        for (id, result) in [("p1", "pass"), ("p2", "fail")] {
            let agent = stage.begin(&server).await;
            let patient = json!({"resourceType": "Patient", "id": id, "active": false});
            agent.fhir(Method::PUT, &format!("Patient/{id}"), Some(patient)).await.expect(200);
            assert_eq!(outcome(&agent).await.0, result, "{id}");
        }
    }
}

/// A benchmark of one task with one criterion.
struct Stage {
    version: String,
    solver: testkit::Caller,
}

impl Stage {
    async fn new(server: &TestServer, mut assertion: Value) -> Self {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        assertion["assert"] = json!("no-side-effects");
        bench.task("Order", &[json!({"label": "Only that", "assertion": assertion})]).await;
        Self { version: bench.publish().await, solver: solver(server, &author, "agent").await }
    }

    async fn begin(&self, server: &TestServer) -> Agent {
        let agent = Agent::begin(server, &self.solver, &self.version, false).await;
        agent.start(0).await.expect(200);
        agent
    }
}

fn order(patient: &str) -> Value {
    json!({"resourceType": "ServiceRequest", "status": "active", "intent": "order",
        "subject": {"reference": format!("Patient/{patient}")}, "code": {"text": "Potassium chloride"}})
}

/// The result of the only check, and its unexpected effects.
async fn outcome(agent: &Agent) -> (String, Vec<String>) {
    let check = agent.complete(0).await.expect(200).json["checks"][0].clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let unexpected = check["evidence"]["unexpected"].as_array().unwrap().iter();
    let unexpected = unexpected.map(|one| {
        assert!(one["seq"].as_i64().is_some_and(|seq| seq > 0), "{one}");
        format!("{} {}", text(&one["resource"]), text(&one["change"]))
    });
    (text(&check["result"]), unexpected.collect())
}
