//! Records that contain more than, or the opposite of, what a criterion asserts do not pass.

use serde_json::{Value, json};
use testkit::runs::{Agent, Bench};
use testkit::{TestServer, both_databases};

const LOINC: &str = "http://loinc.org";

/// One order for a patient, with the code and nothing else about it.
fn order() -> Value {
    json!({"resourceType": "ServiceRequest", "status": "active", "intent": "order",
        "subject": {"reference": "Patient/p1"}, "code": {"coding": [{"system": LOINC, "code": "36643-5"}]}})
}

fn ordered() -> Value {
    json!({"assert": "fhir-resource-state", "resource_type": "ServiceRequest",
        "search": {"subject": "Patient/p1", "code": format!("{LOINC}|36643-5"), "intent": "order"},
        "fields": [{"path": "subject.reference", "expected": "Patient/p1"}]})
}

fn with(base: Value, more: &Value) -> Value {
    let mut changed = base;
    more.as_object().expect("members").iter().for_each(|(key, value)| changed[key] = value.clone());
    changed
}

/// The results of the criteria after an agent has written the resources, by label.
async fn results(server: &TestServer, criteria: &[(&str, Value)], resources: &[Value]) -> Value {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    let criteria: Vec<Value> =
        criteria.iter().map(|(label, assertion)| json!({"label": label, "assertion": assertion})).collect();
    bench.task("Order", &criteria).await;
    let created = author.post("/benchmark-runs", json!({"benchmark_id": bench.benchmark})).await.expect(201);
    let agent = Agent::from(server, &created);
    agent.start(0).await.expect(200);
    for resource in resources {
        agent.write(resource.clone()).await.expect(201);
    }
    let checks = agent.complete(0).await.expect(200).json["checks"].clone();
    let checks = checks.as_array().expect("checks").iter();
    checks
        .map(|check| (check["label"].as_str().unwrap_or_default().to_owned(), check.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

both_databases! {
    async fn modifiers_statuses_and_codings_that_contradict_the_assertion_fail_it(server: TestServer) {
        let second = json!({"coding": [{"system": LOINC, "code": "36643-5"}, {"system": LOINC, "code": "2823-3"}]});
        for (change, path) in [
            (json!({}), None),
            (json!({"doNotPerform": false}), None),
            (json!({"doNotPerform": true}), Some("doNotPerform")),
            (json!({"status": "revoked"}), Some("status")),
            (json!({"code": second}), Some("code.coding.1.code")),
            (json!({"quantityQuantity": {"value": 1, "comparator": "<"}}), Some("quantityQuantity.comparator")),
        ] {
            let results = results(&server, &[("ordered", ordered())], &[with(order(), &change)]).await;
            let check = &results["ordered"];
            let lines = check["evidence"]["fieldResults"].as_array().unwrap();
            let failed: Vec<&str> =
                lines.iter().filter(|line| line["passed"] == false).map(|line| line["path"].as_str().unwrap()).collect();
            let score = if path.is_none() { 1.0 } else { 0.0 };
            assert_eq!((&check["score"], failed), (&json!(score), path.into_iter().collect()), "{change}: {check}");
        }
    }

    async fn listing_every_answer_does_not_pass(server: TestServer) {
        let results_of = |id: &str, codes: &[&str]| {
            let entries: Vec<Value> = codes.iter().map(|code| json!({"text": code})).collect();
            json!({"resourceType": "Observation", "id": id, "status": "final", "code": {"text": "critical values"},
                "subject": {"reference": "Patient/p1"}, "note": entries})
        };
        let asserted = |quantifier: Option<&str>| {
            let mut field = json!({"path": "note.*.text", "expected": "potassium"});
            quantifier.into_iter().for_each(|quantifier| field["quantifier"] = quantifier.into());
            json!({"assert": "fhir-resource-state", "resource_type": "Observation",
                "search": {"subject": "Patient/p1"}, "fields": [field]})
        };
        let criteria = [("all", asserted(None)), ("any", asserted(Some("any"))), ("first", asserted(Some("first")))];
        let one = results(&server, &criteria, &[results_of("a", &["potassium"])]).await;
        assert!(["all", "any", "first"].iter().all(|label| one[label]["result"] == "pass"), "{one}");
        let every = results(&server, &criteria, &[results_of("a", &["sodium", "potassium", "calcium"])]).await;
        assert_eq!(
            [&every["all"]["result"], &every["any"]["result"], &every["first"]["result"]],
            [&json!("fail"), &json!("pass"), &json!("fail")],
            "{every}"
        );
        assert_eq!(every["any"]["evidence"]["fieldResults"][0]["quantifier"], "any", "{every}");
        assert_eq!(every["all"]["evidence"]["fieldResults"][0].get("quantifier"), None, "{every}");
    }

    async fn only_fails_on_content_that_is_not_asserted(server: TestServer) {
        let only = with(ordered(), &json!({"only": true, "ignore": ["status"]}));
        for (change, path) in [
            (json!({}), None),
            (json!({"note": [{"text": "do not perform"}]}), Some("note")),
            (json!({"contained": [{"resourceType": "Medication", "id": "m"}]}), Some("contained")),
            (json!({"occurrencePeriod": {"start": "2001-01-01", "end": "2001-01-02"}}), Some("occurrencePeriod")),
        ] {
            let results = results(&server, &[("only", only.clone()), ("open", ordered())], &[with(order(), &change)]).await;
            assert_eq!(results["open"]["score"], json!(1.0), "{change}: {results}");
            let lines = results["only"]["evidence"]["fieldResults"].as_array().unwrap();
            let extra = lines.iter().find(|line| line["passed"] == false).and_then(|line| line["path"].as_str());
            let score = if path.is_none() { 1.0 } else { 0.0 };
            assert_eq!((&results["only"]["score"], extra), (&json!(score), path), "{change}: {results}");
        }
    }
}
