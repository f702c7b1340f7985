//! R7: the same work gives the same bytes: scored again, on another node, with the criteria in another order, and on the other
//! database.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver};
use testkit::{Caller, Database, TestServer, postgres_url};

use crate::dice::Dice;
use crate::fhir_client::{entry, transaction};

const TASKS: usize = 25;
const CRITERIA: usize = 16;
/// The number of runs, each with every task, in continuous integration; raise it for a longer run.
const RUNS: usize = 4;
const RUNS_AT_ONCE: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_state_gives_the_same_scores_on_every_node_and_database() {
    let on_sqlite = scored_on(Database::Sqlite).await;
    assert_eq!(on_sqlite.len(), RUNS);
    let worlds = RUNS * TASKS;
    eprintln!("{worlds} worlds and {} pairs of world and criterion, each scored 4 times", worlds * CRITERIA);
    if postgres_url().is_none() {
        return;
    }
    let on_postgres = scored_on(Database::Postgres).await;
    for (here, there) in on_sqlite.iter().zip(&on_postgres) {
        assert_eq!(here, there, "the databases differ");
    }
    let distinct: std::collections::BTreeSet<&String> = on_sqlite.iter().flatten().collect();
    eprintln!("alike on both databases; {} of {} texts are distinct", distinct.len(), worlds * (CRITERIA + 1));
}

/// The results of all criteria and tasks of all runs, as text.
async fn scored_on(database: Database) -> Vec<Vec<String>> {
    let server = TestServer::start(database).await;
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    let mut dice = Dice(11);
    for task in 0..TASKS {
        let criterion = |number| json!({"label": format!("c{number}"), "assertion": assertion(&mut dice)});
        bench.task(&format!("Task {task}"), &(0..CRITERIA).map(criterion).collect::<Vec<Value>>()).await;
    }
    let (reference, solver) = (bench.publish().await, solver(&server, &author, "agent-1").await);
    // It has nothing in memory, so it rebuilds all state from the log. On SQLite it only reads.
    let other = server.another_node().await;
    let mut all = Vec::new();
    for first in (0..RUNS).step_by(RUNS_AT_ONCE) {
        let run = async |number: usize| {
            let agent = Agent::begin(&server, &solver, &reference, false).await;
            let told = work(&agent, &mut Dice(number as u64)).await;
            for node in [&server, &other] {
                check_again(&node.caller(author.key()), &agent.run, &mut Dice(number as u64)).await;
            }
            told
        };
        all.extend(join_all((first..RUNS.min(first + RUNS_AT_ONCE)).map(run)).await);
    }
    all
}

/// Does every task, and returns the results without ids that differ between runs.
async fn work(agent: &Agent, dice: &mut Dice) -> Vec<String> {
    let mut told = Vec::new();
    for task in 0..TASKS {
        agent.start(task).await.expect(200);
        for _ in 0..1 + dice.below(2) {
            agent.fhir(Method::POST, "", Some(changes(dice))).await.expect(200);
        }
        agent.fhir(Method::GET, "Patient/p1", None).await;
        let result = agent.complete(task).await.expect(200).json;
        for check in result["checks"].as_array().unwrap() {
            told.push(
                json!([check["label"], check["result"], check["score"], check["details"], check["evidence"]])
                    .to_string(),
            );
        }
        told.push(json!([result["score"], result["verdict"], result["axes"]]).to_string());
    }
    told
}

/// Scores again, and once more with the assertions in another order.
async fn check_again(author: &Caller, run: &str, dice: &mut Dice) {
    let path = format!("/benchmark-runs/{run}/rescore");
    let again = author.post(&path, json!({})).await.expect(200).json;
    assert_eq!(again["identical"], true, "{again}");
    let version = author.get(&format!("/benchmark-runs/{run}")).await.expect(200).json;
    let reference = format!("{}@{}", version["benchmark"]["slug"].as_str().unwrap(), version["benchmark"]["version"]);
    let snapshot = author.get(&format!("/benchmarks/{reference}")).await.expect(200).json;
    let (mut moved, mut changes) = (BTreeMap::new(), Vec::new());
    for task in snapshot["tasks"].as_array().unwrap() {
        let criteria = task["criteria"].as_array().unwrap();
        let by = 1 + dice.below(criteria.len() - 1);
        for (number, criterion) in criteria.iter().enumerate() {
            let other = &criteria[(number + by) % criteria.len()];
            changes.push(json!({"criterion_id": criterion["id"], "assertion": other["assertion"]}));
            moved.insert(criterion["id"].to_string(), other["id"].to_string());
        }
    }
    let shuffled = author.post(&path, json!({"criteria": changes})).await.expect(200).json;
    let (plain, shuffled) = (outcomes(&again), outcomes(&shuffled));
    assert_eq!((plain.len(), shuffled.len()), (TASKS, TASKS));
    for (plain, shuffled) in plain.iter().zip(&shuffled) {
        for (place, outcome) in &shuffled.1 {
            assert_eq!(*outcome, plain.1[&moved[place]], "its place changes what a criterion comes to");
        }
        assert_eq!(plain.0, shuffled.0, "the order of criteria changes the score");
    }
}

type Outcomes = (Value, BTreeMap<String, String>);

/// For each task its score and the results of its criteria.
fn outcomes(rescored: &Value) -> Vec<Outcomes> {
    let outcome = |criterion: &Value| {
        let [passed, score, details, evidence] =
            ["passed_after", "score_after", "details_after", "evidence_after"].map(|member| &criterion[member]);
        (criterion["criterion_id"].to_string(), json!([passed, score, details, evidence]).to_string())
    };
    let task = |task: &Value| {
        (task["score_after"].clone(), task["criteria"].as_array().unwrap().iter().map(outcome).collect())
    };
    rescored["task_runs"].as_array().unwrap().iter().map(task).collect()
}

const PATIENTS: [&str; 4] = ["p1", "p2", "p3", "p4"];
const TEXTS: [&str; 6] = ["a", "b", "ab", "é", "e\u{301}", "A long text, with {{entity.name}} and (a+)+$ in it"];
const KINDS: [&str; 5] = ["Patient", "Observation", "Appointment", "ServiceRequest", "Basic"];

/// A transaction that writes and deletes some resources.
fn changes(dice: &mut Dice) -> Value {
    let mut entries = BTreeMap::new();
    for _ in 0..1 + dice.below(14) {
        let (kind, id) = (dice.pick(&KINDS), dice.pick(&PATIENTS));
        let address = format!("{kind}/{id}");
        let made = match dice.below(8) {
            0 if kind != "Patient" => entry("DELETE", &address, None),
            _ => entry("PUT", &address, Some(resource(kind, id, dice))),
        };
        entries.insert(address, made);
    }
    transaction(entries.into_values().collect())
}

fn resource(kind: &str, id: &str, dice: &mut Dice) -> Value {
    let subject = json!({"reference": format!("Patient/{}", dice.pick(&["p1", "p2", "p3"]))});
    let text = json!({"text": dice.pick(&TEXTS)});
    let mut resource = match kind {
        "Patient" => json!({"active": dice.below(2) == 0, "name": [{"family": dice.pick(&TEXTS)}],
            "birthDate": dice.pick(&["1980", "1980-02", "1980-02-29"])}),
        "Observation" => json!({"status": dice.pick(&["final", "preliminary"]), "code": text, "subject": subject,
            "valueQuantity": {"value": dice.below(10), "unit": "mg"}}),
        "Appointment" => {
            json!({"status": dice.pick(&["booked", "cancelled", "pending"]), "minutesDuration": 5 + dice.below(40),
            "participant": [{"actor": subject, "status": dice.pick(&["accepted", "declined"])}]})
        }
        "ServiceRequest" => {
            json!({"status": dice.pick(&["active", "draft"]), "intent": "order", "subject": subject, "code": text})
        }
        _ => json!({"code": text, "subject": subject}),
    };
    (resource["resourceType"], resource["id"]) = (json!(kind), json!(id));
    resource
}

/// Assertions of all shapes of the catalog that match these resources, and the catalog's examples, which match nothing here.
fn assertion(dice: &mut Dice) -> Value {
    match dice.below(10) {
        0 => json!({"assert": "no-side-effects", "allow": [format!("fhir/{}", dice.pick(&KINDS)), "fhir/Basic"]}),
        1 => json!({"assert": "interaction-budget", "max": 1 + dice.below(4)}),
        2 => {
            // The id of a task differs between runs, and a reason may contain it.
            let example = dice.pick(verify::catalog()).example.replace("{{entity.id}}", "p1");
            let example = example.replace("{{entity.", "{{task.");
            serde_json::from_str(&example).unwrap()
        }
        _ => state(dice),
    }
}

fn state(dice: &mut Dice) -> Value {
    let fields: Vec<Value> = (0..dice.below(4)).map(|_| dice.pick(&fields())).collect();
    let mut assertion = json!({"assert": "fhir-resource-state", "resource_type": dice.pick(&KINDS), "fields": fields,
        "match": dice.pick(&["first", "any", "all"])});
    let count = [json!(1), json!({"min": 2}), json!({"max": 0}), json!({"min": 1, "max": 3})];
    if dice.below(2) == 0 {
        assertion["count"] = dice.pick(&count);
    }
    if dice.below(3) == 0 {
        assertion["search"] = dice.pick(&[json!({"_id": "p1,p2"}), json!({"_sort": "_id"}), json!({"_id": "p3"})]);
    }
    assertion
}

fn fields() -> Vec<Value> {
    vec![
        json!({"path": "status", "op": "one_of", "expected": ["booked", "final", "active"]}),
        json!({"path": "status", "op": "not_equals", "expected": "final"}),
        json!({"path": "code.text", "op": "contains", "expected": "b"}),
        json!({"path": "code.text", "op": "matches", "expected": "^[aé]+$"}),
        json!({"path": "code.text", "expected": "é"}),
        json!({"path": "valueQuantity.value", "op": "gt", "expected": 4}),
        json!({"path": "valueQuantity.value", "op": "between", "expected": [1, 7.50]}),
        json!({"path": "valueQuantity.value", "op": "approx", "expected": 5, "tolerance": 1}),
        json!({"path": "birthDate", "op": "date", "expected": "1980-02"}),
        json!({"path": "participant.*.status", "expected": "accepted"}),
        json!({"path": "meta.versionId", "expected": "2"}),
        json!({"path": "active", "expected": true}),
        json!({"path": "minutesDuration", "op": "lte", "expected": 20}),
        json!({"path": "implicitRules", "expected": null}),
        json!({"fhirpath": "participant.count()", "op": "gte", "expected": 1}),
        json!({"fhirpath": "name.family.first()", "expected": "ab"}),
    ]
}
