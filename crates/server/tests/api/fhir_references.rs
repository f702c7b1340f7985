//! A reference with the full URL of a resource refers to that resource.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::both_databases;
use testkit::runs::{Agent, Bench};

both_databases! {
    async fn a_full_url_is_a_reference_under_every_base(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let criterion = |label: &str, search: Value| json!({"label": label, "assertion": {
            "assert": "fhir-resource-state", "resource_type": "Observation", "search": search, "count": 4,
            "fields": [{"path": "subject.reference", "expected": "Patient/p1"}]}});
        let criteria = [
            criterion("by subject", json!({"subject": "Patient/p1"})),
            criterion("by chain", json!({"subject:Patient._id": "p1"})),
        ];
        bench.task("Record vital signs", &criteria).await;
        let created = author.post("/benchmark-runs", json!({"benchmark_id": bench.benchmark})).await.expect(201);
        let agent = Agent::from(&server, &created);
        let started = agent.start(0).await.expect(200).json;
        let sandbox = started["sandboxes"][0]["id"].as_str().unwrap().to_owned();
        let bases = [
            format!("/v1/benchmark-runs/{}/fhir", agent.run),
            format!("/v1/task-runs/{}/sandbox/fhir", agent.task_runs[0]),
        ];
        // Each base URL is used with the URLs of the other one.
        for (shown, written) in [(&bases[0], &bases[0]), (&bases[0], &bases[1]), (&bases[1], &bases[0])] {
            let found = agent.caller.get(&format!("{shown}/Patient?_id=p1")).await.expect(200).json;
            let full_url = found["entry"][0]["fullUrl"].as_str().unwrap().to_owned();
            assert!(full_url.contains(shown.as_str()), "{full_url}");
            let body = Some(observation(&full_url));
            agent.caller.send(Method::POST, &format!("{written}/Observation"), &[], body).await.expect(201);
        }
        let direct = format!("/sandboxes/{sandbox}/fhir");
        let found = author.get(&format!("{direct}/Patient?_id=p1")).await.expect(200).json;
        let body = Some(observation(found["entry"][0]["fullUrl"].as_str().unwrap()));
        agent.caller.send(Method::POST, &format!("{}/Observation", bases[0]), &[], body).await.expect(201);
        for address in [format!("http://any.example.org{}/Patient/p1", bases[1]), "Patient/p1".to_owned()] {
            let found = agent.caller.get(&format!("{}/Observation?subject={address}", bases[0])).await.expect(200).json;
            assert_eq!(found["total"], 4, "{address}");
        }
        let completed = agent.complete(0).await.expect(200).json;
        let results: Vec<&Value> = completed["checks"].as_array().unwrap().iter().map(|check| &check["result"]).collect();
        assert_eq!(results, ["pass", "pass"], "{completed}");
    }

    async fn the_base_url_of_another_run_is_an_external_server(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Record vital signs", &[]).await;
        let mut agents = Vec::new();
        for _ in 0..2 {
            let created = author.post("/benchmark-runs", json!({"benchmark_id": bench.benchmark})).await.expect(201);
            let agent = Agent::from(&server, &created);
            agent.start(0).await.expect(200);
            agents.push(agent);
        }
        let foreign = format!("{}/v1/benchmark-runs/{}/fhir/Patient/p1", server.base_url, agents[1].run);
        let kept = agents[0].write(observation(&foreign)).await.expect(201).json;
        assert_eq!(kept["subject"]["reference"], foreign.as_str());
    }
}

fn observation(subject: &str) -> Value {
    json!({"resourceType": "Observation", "status": "final", "code": {"text": "Pulse"}, "subject": {"reference": subject}})
}
