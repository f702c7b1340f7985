//! Authoring mistakes and how each interface reports them: `lint` with file, line and a suggestion; `push` and
//! `run --local` with the same message, without writing anything; the API with the field's path, or with a warning.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Caller, Database};

use crate::process::{ServerData, output, verial};

const TASK: &str = "tasks/10-order.yaml";
const DATASET: &str = "datasets/chart/dataset.yaml";
const DATA: &str = "datasets/chart/data.ndjson";
const BENCHMARK: &str = "benchmark.yaml";

struct Mistake {
    file: &'static str,
    from: &'static str,
    to: &'static str,
    /// The start of the finding after the severity: `file:line: path`.
    location: &'static str,
    remedy: &'static str,
    api: Api,
}

/// The API's response to the same mistake.
enum Api {
    /// 400 with this field, for a body at a path.
    Refused(&'static str, Value, &'static str),
    /// A criterion that is stored with this warning.
    Warned(Value, &'static str),
    /// 404: the path refers to something that does not exist.
    Missing(&'static str),
    /// 400 with this field for the content of a dataset.
    Data(&'static str, &'static str),
    /// Stored: the error depends on the entity that is bound later.
    Stored(&'static str, Value),
}
use Api::{Data, Missing, Refused, Stored, Warned};

fn mistake(
    (file, from, to): (&'static str, &'static str, &'static str),
    (location, remedy): (&'static str, &'static str),
    api: Api,
) -> Mistake {
    Mistake { file, from, to, location, remedy, api }
}

/// A criterion with one member changed.
fn criterion(member: &str, value: Value) -> Value {
    let mut criterion = json!({"task_id": "TASK", "label": "x", "assertion": effects("require", json!(["fhir/Task"]))});
    criterion[member] = value;
    criterion
}

fn effects(member: &str, value: Value) -> Value {
    let mut assertion = json!({"assert": "no-side-effects", "require": ["fhir/Task"]});
    assertion[member] = value;
    assertion
}

fn order(member: &str, value: Value) -> Value {
    let mut assertion = json!({"assert": "fhir-resource-state", "resource_type": "ServiceRequest",
        "fields": [{"path": "status", "expected": "active"}]});
    assertion[member] = value;
    criterion("assertion", assertion)
}

fn of_criteria() -> Vec<Mistake> {
    const LONG: &str = "axis: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let no_check = effects("assert", json!("no_sideeffects"));
    vec![
        mistake(
            (TASK, "axis: safety", "axes: safety"),
            ("tasks/10-order.yaml:20: criteria.1.axes: ", "known: `label`, `weight`, `axis`"),
            Refused("/criteria", criterion("axes", json!("safety")), "axes"),
        ),
        mistake(
            (TASK, "axis: safety", LONG),
            ("tasks/10-order.yaml:20: criteria.1.axis: ", "64"),
            Refused("/criteria", criterion("axis", json!("a".repeat(65))), "axis"),
        ),
        mistake(
            (TASK, "weight: 2", "weight: -2"),
            ("tasks/10-order.yaml:10: criteria.0.weight: ", "a number above 0"),
            Refused("/criteria", criterion("weight", json!(-2)), "weight"),
        ),
        mistake(
            (TASK, "no-side-effects", "no_sideeffects"),
            ("tasks/10-order.yaml:21: criteria.1.assertion.assert: ", "did you mean `no-side-effects`?"),
            Warned(criterion("assertion", no_check), "unsupported assertion"),
        ),
        mistake(
            (TASK, "require: [", "requires: ["),
            ("tasks/10-order.yaml:21: criteria.1.assertion.requires: ", "known: `allow`, `require`"),
            Refused("/criteria", criterion("assertion", effects("requires", json!([]))), "assertion.requires"),
        ),
        mistake(
            (TASK, "require: [fhir/ServiceRequest]", "require: [fhir/ServiceReqest]"),
            ("tasks/10-order.yaml:21: criteria.1.assertion.require.0: ", "did you mean \"ServiceRequest\"?"),
            Warned(criterion("assertion", effects("require", json!(["fhir/ServiceReqest"]))), "assertion.require.0"),
        ),
        mistake(
            (TASK, "resource_type: ServiceRequest", "resource_type: ServiceReqest"),
            ("tasks/10-order.yaml:14: criteria.0.assertion.resource_type: ", "did you mean `ServiceRequest`?"),
            Refused("/criteria", order("resource_type", json!("ServiceReqest")), "assertion.resource_type"),
        ),
        mistake(
            (TASK, "{subject:", "{subjct:"),
            ("tasks/10-order.yaml:15: criteria.0.assertion.search.subjct: ", "did you mean `subject`?"),
            Warned(order("search", json!({"subjct": "Patient/ada"})), "assertion.search.subjct"),
        ),
        mistake(
            (TASK, "path: status", "path: stauts"),
            ("tasks/10-order.yaml:16: criteria.0.assertion.fields.0.path: ", "did you mean `status`?"),
            Warned(order("fields", json!([{"path": "stauts", "expected": "active"}])), "assertion.fields.0.path"),
        ),
        mistake(
            (TASK, "path: status,", "path: status, op: equal,"),
            ("tasks/10-order.yaml:16: criteria.0.assertion.fields.0.op: ", "must be one of `equals`"),
            Refused(
                "/criteria",
                order("fields", json!([{"path": "status", "op": "equal", "expected": "active"}])),
                "assertion.fields.0.op",
            ),
        ),
        mistake(
            (TASK, "path: status,", "path: status, oper: equals,"),
            ("tasks/10-order.yaml:16: criteria.0.assertion.fields.0.oper: ", "`op`"),
            Refused("/criteria", order("fields", json!([{"path": "status", "oper": "x"}])), "assertion.fields.0.oper"),
        ),
        mistake(
            (TASK, "count: 1", "count: one"),
            ("tasks/10-order.yaml:17: criteria.0.assertion.count: ", "an object with `min` and `max`"),
            Refused("/criteria", order("count", json!("one")), "assertion.count"),
        ),
    ]
}

fn of_tasks() -> Vec<Mistake> {
    let task = |member: &str, value: Value| {
        let mut task = json!({"benchmark_id": "BENCHMARK", "name": "x"});
        task[member] = value;
        task
    };
    let steps = json!({"steps": [{"do": "fhirr"}]});
    vec![
        mistake(
            (TASK, "tags: [action]", "timeout: 0"),
            ("tasks/10-order.yaml:5: timeout: ", "from 1"),
            Refused("/tasks", task("timeout", json!(0)), "timeout"),
        ),
        mistake(
            (TASK, "tags: [action]", "tag: [action]"),
            ("tasks/10-order.yaml:5: tag: ", "`timeout`, `tags`"),
            Refused("/tasks", task("tag", json!(["action"])), "tag"),
        ),
        mistake(
            (TASK, "criteria:", "scenario: {steps: [{do: fhirr}]}\ncriteria:"),
            ("tasks/10-order.yaml:8: scenario.steps.0.do: ", "steps are fhir"),
            Refused("/tasks", task("scenario", steps), "scenario.steps.0.do"),
        ),
        mistake(
            (TASK, "chart/Ben Wells", "chart/Ben Well"),
            ("tasks/10-order.yaml:4: each: there is no entity `chart/Ben Well`", "did you mean `chart/Ben Wells`?"),
            Refused("/tasks/TASK/entities", json!({"entity_id": "ent_01K9Z3T5Q8W7N4M2R6V0XBHCDE"}), "entity_id"),
        ),
        mistake(
            (TASK, "{{entity.mrn}}", "{{entity.mrm}}"),
            ("tasks/10-order.yaml:7: task_item.instruction: ", "the entity has `name`, `ref`, `id`, `mrn`"),
            Stored("/tasks", task("task_item", json!({"instruction": "{{entity.mrm}}"}))),
        ),
    ]
}

fn of_the_rest() -> Vec<Mistake> {
    let benchmark = |member: &str, value: Value| {
        let mut benchmark = json!({"name": "x"});
        benchmark[member] = value;
        benchmark
    };
    vec![
        mistake(
            (BENCHMARK, "timeout: 900", "concurrency: 300"),
            ("benchmark.yaml:5: concurrency: ", "256"),
            Refused("/benchmarks", benchmark("concurrency", json!(300)), "concurrency"),
        ),
        mistake(
            (BENCHMARK, "visibility: Private", "visibility: Secret"),
            ("benchmark.yaml:6: visibility: ", "Private"),
            Refused("/benchmarks", benchmark("visibility", json!("Secret")), "visibility"),
        ),
        mistake(
            (BENCHMARK, "slug: ", "slug: My "),
            ("benchmark.yaml:2: slug: ", "lower-case letters"),
            Refused("/benchmarks", benchmark("slug", json!("My bench")), "slug"),
        ),
        mistake(
            (BENCHMARK, "type: Fhir", "type: Fihr"),
            ("benchmark.yaml:11: environment.simulators.0.type: ", "must be one of Fhir"),
            Refused("/simulators", json!({"name": "x", "type": "Fihr"}), "type"),
        ),
        mistake(
            (BENCHMARK, "type: Fhir", "type: Fhir\n      config: {modes: strict}"),
            ("benchmark.yaml:12: environment.simulators.0.config.modes: ", "known: `remote`, `validation`"),
            Refused("/simulators", json!({"name": "x", "type": "Fhir", "config": {"modes": 1}}), "config.modes"),
        ),
        mistake(
            (BENCHMARK, "datasets: [chart]", "datasets: [charts]"),
            ("benchmark.yaml:12: environment.simulators.0.datasets: ", "did you mean `chart`?"),
            Missing("/simulators/SIMULATOR/datasets/ds_01K9Z3T5Q8W7N4M2R6V0XBHCDE"),
        ),
        mistake(
            (DATASET, "type: fhir", "type: fihr"),
            ("datasets/chart/dataset.yaml:3: type: ", "`fhir`"),
            Refused("/datasets", json!({"name": "x", "type": "fihr"}), "type"),
        ),
        mistake(
            (DATA, "{\"resourceType\":\"Patient\"", "{\"resourceType\":\"Patiend\""),
            ("datasets/chart/data.ndjson:1: ", "did you mean \"Patient\"?"),
            Data("{\"resourceType\":\"Patiend\",\"id\":\"a\"}\n", "line 1"),
        ),
        mistake(
            (DATA, "{\"resourceType\":\"Patient\"", "\"resourceType\":\"Patient\""),
            ("datasets/chart/data.ndjson:1: ", "is not a JSON object"),
            Data("\"id\":\"a\"}\n", "line 1"),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mistake_is_reported_by_every_interface() {
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let author = server.first_caller();
    let directory = tempfile::tempdir().unwrap();
    let sound = directory.path().join("sound");
    output(&mut verial(&["benchmarks", "init", sound.to_str().unwrap()]));
    let ids = Ids::create(&author).await;
    let before = everything(&author).await;
    let mistakes: Vec<Mistake> = [of_criteria(), of_tasks(), of_the_rest()].into_iter().flatten().collect();
    assert!(mistakes.len() >= 20);
    let mut wrong = Vec::new();
    for (number, mistake) in mistakes.iter().enumerate() {
        let folder = directory.path().join(format!("mistake-{number}"));
        copy(&sound, &folder);
        let file = folder.join(mistake.file);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(mistake.from), "{}: no {:?}", mistake.file, mistake.from);
        std::fs::write(&file, text.replacen(mistake.from, mistake.to, 1)).unwrap();
        let folder = folder.to_str().unwrap();
        let command = |arguments: &[&str]| {
            let mut command = verial(arguments);
            command.env("VERIAL_URL", &server.base_url).env("VERIAL_API_KEY", server.first_key.as_deref().unwrap());
            command.current_dir(directory.path());
            let output = command.output().unwrap();
            let output_text = [output.stdout, output.stderr].concat();
            (output.status.code(), String::from_utf8(output_text).unwrap())
        };
        for arguments in [
            vec!["benchmarks", "lint", folder],
            vec!["benchmarks", "push", folder],
            vec!["run", folder, "--local", "--agent", "true"],
        ] {
            let (code, text) = command(&arguments);
            let found = text.lines().find(|line| line.contains(mistake.location));
            let is_reported = found.is_some_and(|line| line.contains(mistake.remedy));
            if code != Some(1) || !is_reported {
                wrong.push(format!(
                    "{}: exit {code:?}, wanted {} … {}:\n{text}",
                    arguments[1], mistake.location, mistake.remedy
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(everything(&author).await, before, "nothing was pushed");
    for mistake in &mistakes {
        ids.check(&author, &mistake.api).await;
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

async fn everything(author: &Caller) -> Vec<usize> {
    let mut counts = Vec::new();
    for path in ["/benchmarks", "/environments", "/simulators", "/datasets", "/tasks", "/criteria"] {
        counts.push(author.get(path).await.expect(200).data().len());
    }
    counts
}

struct Ids {
    benchmark: String,
    task: String,
    simulator: String,
    dataset: String,
}

impl Ids {
    async fn create(author: &Caller) -> Self {
        let benchmark = author.post("/benchmarks", json!({"name": "B"})).await.expect(201).id();
        let task = author.post("/tasks", json!({"benchmark_id": benchmark, "name": "T"})).await.expect(201).id();
        let simulator = author.post("/simulators", json!({"name": "S", "type": "Fhir"})).await.expect(201).id();
        let dataset = author.post("/datasets", json!({"name": "D", "type": "fhir"})).await.expect(201).id();
        Self { benchmark, task, simulator, dataset }
    }

    fn fill(&self, text: &str) -> String {
        let ids = [("BENCHMARK", &self.benchmark), ("TASK", &self.task), ("SIMULATOR", &self.simulator)];
        ids.iter().fold(text.to_owned(), |text, (name, id)| text.replace(name, id))
    }

    async fn check(&self, author: &Caller, api: &Api) {
        let body = |value: &Value| serde_json::from_str::<Value>(&self.fill(&value.to_string())).unwrap();
        match api {
            Refused(path, value, field) => {
                let response = author.post(&self.fill(path), body(value)).await.expect_error(400, "VALIDATION_ERROR");
                assert!(response["error"]["details"][field].is_array(), "{path} {value}: {}", response.text());
            }
            Warned(value, warning) => {
                let response = author.post("/criteria", body(value)).await.expect(201);
                let warnings = response["warnings"].to_string();
                assert!(warnings.contains(warning), "{value}: {warnings}");
            }
            Missing(path) => {
                author.send(Method::POST, &self.fill(path), &[], None).await.expect_error(404, "NOT_FOUND");
            }
            Data(content, field) => {
                let path = format!("/datasets/{}/data", self.dataset);
                let response = author.put_bytes(&path, "application/fhir+ndjson", *content).await;
                let response = response.expect_error(400, "VALIDATION_ERROR");
                assert!(response["error"]["details"][field].is_array(), "{content}: {}", response.text());
            }
            Stored(path, value) => {
                author.post(path, body(value)).await.expect(201);
            }
        }
    }
}
