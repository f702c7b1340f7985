//! Every operation of the OpenAPI document, with sample ids and bodies.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Map, Value, json};
use testkit::world::{self, Authored};
use testkit::{Caller, Contract, TestResponse, TestServer};

/// All operations of the API.
pub(crate) struct Surface {
    pub(crate) contract: Contract,
    pub(crate) operations: Vec<Operation>,
}

pub(crate) struct Operation {
    pub(crate) method: Method,
    pub(crate) pattern: String,
    pub(crate) description: Value,
}

impl Surface {
    pub(crate) fn load() -> Self {
        let contract = Contract::load();
        let operations = contract.operations().into_iter().map(|(method, pattern)| {
            let description = contract.document()["paths"][&pattern][method.as_str().to_lowercase()].clone();
            Operation { method, pattern, description }
        });
        let operations = operations.collect();
        Self { contract, operations }
    }

    /// Operations that require an organization key.
    pub(crate) fn internal(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| {
            operation.description["tags"][0] != "operations" && !operation.pattern.starts_with("/v1/")
        })
    }

    /// Operations with a JSON body, each with its schema.
    pub(crate) fn with_json_body(&self) -> impl Iterator<Item = (&Operation, Value)> {
        self.internal().filter_map(|operation| Some((operation, self.body_schema(operation)?)))
    }

    pub(crate) fn body_schema(&self, operation: &Operation) -> Option<Value> {
        let writes = [Method::POST, Method::PATCH, Method::PUT].contains(&operation.method);
        let schema = &operation.description["requestBody"]["content"]["application/json"]["schema"];
        (writes && schema.is_object()).then(|| self.resolve(schema).clone())
    }

    /// Follows references, also through the `oneOf` of an optional value.
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.contract.document().pointer(reference.trim_start_matches('#')).expect("a schema");
        }
        let choices = schema["oneOf"].as_array();
        match choices.and_then(|choices| choices.iter().find(|choice| choice["$ref"].is_string())) {
            Some(choice) => self.resolve(choice),
            None => schema,
        }
    }

    /// A body with only the required fields; ids are the tenant's.
    pub(crate) fn sample(&self, schema: &Value, tenant: &Tenant, number: usize) -> Value {
        let mut body = Map::new();
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let value = match name {
                "name" | "label" => json!(format!("Sample {number}")),
                "alias" => json!(format!("sample-{number}")),
                "move_to" => json!(format!("outbox/sample-{number}")),
                "type" => self.resolve(&schema["properties"]["type"])["enum"][0].clone(),
                "floor" => json!(0),
                "read" => json!(true),
                "digits" => json!("1"),
                "payload" => json!(world::hl7_update("1")),
                "assertion" => world::criterion("")["assertion"].clone(),
                "patient_member_id" => world::prior_auth()[name].clone(),
                "patient_id" => json!("p1"),
                "to_number" => world::fax()[name].clone(),
                "channel" | "body" => world::message()[name].clone(),
                "cards" => world::cards(),
                "suggestion" => json!(world::SUGGESTION),
                id if is_id(id) => json!(tenant.body_id(id)),
                other => panic!("say here what a body has as `{other}`"),
            };
            body.insert(name.to_owned(), value);
        }
        // Exactly one of the two is required, which the schema does not express.
        let names = |field: &str| schema["properties"][field].is_object();
        if names("benchmark") && names("benchmark_id") {
            body.insert("benchmark_id".to_owned(), json!(tenant.body_id("benchmark_id")));
        }
        if names("to_number") && names("base64") {
            body.insert("base64".to_owned(), world::fax()["base64"].clone());
        }
        if names("channel") && names("to") {
            body.insert("to".to_owned(), world::message()["to"].clone());
        }
        if names("say") && names("dtmf") {
            body.insert("say".to_owned(), json!("one"));
        }
        if names("base_url") && names("service") {
            body.insert("service".to_owned(), world::cds_service(&format!("sample-{number}")));
        }
        if names("context") && names("patient_id") {
            body.insert("context".to_owned(), world::hook_context());
        }
        if names("feedback") && names("card_id") {
            body.insert("feedback".to_owned(), json!([{"card": world::CARD, "outcome": "overridden"}]));
        }
        if names("procedure_code") && names("drug") {
            body.insert("drug".to_owned(), json!("Adalimumab"));
        } else if names("clinical_notes") {
            body.insert("clinical_notes".to_owned(), json!("Something must be said"));
        }
        Value::Object(body)
    }
}

/// Whether a field holds an id of this server. Member ids belong to the payer, and other ids to the FHIR data.
pub(crate) fn is_id(field: &str) -> bool {
    let of_record = ["patient_id", "user_id", "encounter_id", "card_id"];
    field.ends_with("_id") && !field.ends_with("member_id") && !of_record.contains(&field)
}

impl Operation {
    pub(crate) fn variables(&self) -> Vec<&str> {
        self.pattern.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}')).collect()
    }

    pub(crate) fn path(&self, value: impl Fn(&str) -> String) -> String {
        let segments = self.pattern.split('/').map(|segment| {
            match segment.strip_prefix('{').and_then(|segment| segment.strip_suffix('}')) {
                Some(variable) => value(variable),
                None => segment.to_owned(),
            }
        });
        segments.collect::<Vec<_>>().join("/")
    }

    /// The path with the tenant's own ids.
    pub(crate) fn path_of(&self, tenant: &Tenant) -> String {
        self.path(|variable| tenant.path_id(variable, &self.pattern))
    }

    pub(crate) fn query_parameters(&self) -> Vec<&str> {
        self.parameters("query")
    }

    pub(crate) fn header_parameters(&self) -> Vec<&str> {
        self.parameters("header")
    }

    fn parameters(&self, place: &str) -> Vec<&str> {
        let parameters = self.description["parameters"].as_array().into_iter().flatten();
        parameters.filter(|one| one["in"] == place).filter_map(|one| one["name"].as_str()).collect()
    }

    pub(crate) fn is_list(&self) -> bool {
        self.method == Method::GET && self.query_parameters().contains(&"limit")
    }
}

/// An organization with one resource of each type.
pub(crate) struct Tenant {
    pub(crate) caller: Caller,
    pub(crate) made: Authored,
    /// `slug@1` of its published benchmark.
    pub(crate) reference: String,
}

impl Tenant {
    pub(crate) async fn create(server: &TestServer, name: &str, visibility: &str) -> Self {
        let caller = server.organization(name).await;
        let made = Authored::create(&caller).await;
        caller.patch(&format!("/benchmarks/{}", made.benchmark), json!({"visibility": visibility})).await.expect(200);
        let slug = format!("{}-intake", name.to_lowercase());
        caller.post(&format!("/benchmarks/{}/publish", made.benchmark), json!({"slug": slug})).await.expect(201);
        Self { caller, made, reference: format!("{slug}@1") }
    }

    /// The value of a path parameter. An unknown parameter fails the test.
    pub(crate) fn path_id(&self, variable: &str, pattern: &str) -> String {
        let made = &self.made;
        let id = match variable {
            "environment_id" => &made.environment,
            "simulator_id" => &made.simulator,
            "dataset_id" if pattern.contains("/files") => &made.files_dataset,
            "dataset_id" => &made.dataset,
            "entity_id" => &made.entity,
            "benchmark_id" if ["/stats", "/audit", "/content"].iter().any(|end| pattern.contains(end)) => {
                return self.reference.clone();
            }
            // The only file of the published files dataset.
            "sha256" => &made.file_sha256,
            "benchmark_id" => &made.benchmark,
            "task_id" => &made.task,
            "criterion_id" => &made.criterion,
            "solver_id" => &made.solver,
            "key_id" if pattern.starts_with("/solvers") => &made.solver_key,
            "key_id" => &made.api_key,
            "playground_id" => &made.playground,
            "sandbox_id" if pattern.contains("/x12/") || pattern.contains("/clearinghouse/") => &made.clearinghouse,
            "response_id" => &made.x12_response,
            "sandbox_id" if pattern.contains("/hl7/") => &made.hl7_sandbox,
            "sandbox_id" if pattern.contains("/fax/") => &made.fax_line,
            "fax_id" if pattern.contains("/inbox/") => &made.inbound_fax,
            "fax_id" => &made.fax,
            "page" => return "1.png".into(),
            "sandbox_id" if pattern.contains("/messages") => &made.message_sandbox,
            "sandbox_id" if pattern.contains("/voice/") => &made.voice_sandbox,
            "call_id" => &made.call,
            "voicemail_id" => return world::VOICEMAIL.into(),
            "sandbox_id" if pattern.contains("/cds/") => &made.cds_sandbox,
            "service_id" => &made.cds_service,
            "invocation_id" if pattern.ends_with("/response") => &made.pending_invocation,
            "invocation_id" => &made.answered_invocation,
            "hook" => return "patient-view".into(),
            "sandbox_id" if pattern.contains("/files") => &made.files_sandbox,
            "sandbox_id" if pattern.contains("/portal/") => &made.portal,
            "sandbox_id" => &made.sandbox,
            "message_id" if pattern.contains("/hl7/") => return world::HL7_MESSAGE.into(),
            "message_id" => &made.message,
            "auth_number" => &made.prior_auth,
            "benchmark_run_id" => &made.run,
            "task_run_id" => &made.task_run,
            "criterion_run_id" => &made.criterion_run,
            "reference" => return self.reference.clone(),
            "path" => return "inbox/a.txt".into(),
            other => panic!("{pattern}: say here what `{other}` is, and whose"),
        };
        id.clone()
    }

    /// The value of an id in a body or a filter.
    pub(crate) fn body_id(&self, field: &str) -> String {
        let made = &self.made;
        let id = match field {
            "environment_id" => &made.environment,
            "benchmark_id" => &made.benchmark,
            "task_id" => &made.task,
            "simulator_id" => &made.simulator,
            "dataset_id" => &made.dataset,
            "playground_id" => &made.playground,
            "entity_id" | "input_entity_id" => &made.entity,
            "parent_id" => &made.dataset,
            "solver_id" => &made.solver,
            "benchmark_run_id" => &made.run,
            "task_run_id" => &made.task_run,
            other => panic!("say here what `{other}` is, and whose"),
        };
        id.clone()
    }

    pub(crate) fn ids(&self) -> Vec<&str> {
        let made = &self.made;
        let ids = [
            &made.environment,
            &made.simulator,
            &made.files_simulator,
            &made.dataset,
            &made.files_dataset,
            &made.entity,
            &made.benchmark,
            &made.task,
            &made.criterion,
            &made.solver,
            &made.solver_key,
            &made.api_key,
            &made.playground,
            &made.sandbox,
            &made.clearinghouse,
            &made.x12_response,
            &made.hl7_sandbox,
            &made.message_sandbox,
            &made.message,
            &made.fax_line,
            &made.fax,
            &made.inbound_fax,
            &made.cds_sandbox,
            &made.pending_invocation,
            &made.answered_invocation,
            &made.files_sandbox,
            &made.voice_sandbox,
            &made.call,
            &made.run,
            &made.task_run,
            &made.criterion_run,
            &made.portal,
            &made.portal_playground,
        ];
        ids.into_iter().map(String::as_str).collect()
    }
}

/// Everything that `caller` can read of the tenant, by path: every GET of the document, with filters.
pub(crate) async fn crawl(surface: &Surface, caller: &Caller, tenant: &Tenant) -> BTreeMap<String, String> {
    let mut paths = vec![format!("/benchmarks/{}", tenant.reference)];
    for operation in surface.internal().filter(|operation| operation.method == Method::GET) {
        let path = operation.path_of(tenant);
        paths.push(if operation.is_list() { format!("{path}?limit=100") } else { path.clone() });
        for filter in operation.query_parameters().into_iter().filter(|name| is_id(name)) {
            paths.push(format!("{path}?limit=100&{filter}={}", tenant.body_id(filter)));
        }
    }
    let mut read = BTreeMap::new();
    for path in paths {
        let response = caller.get(&path).await;
        read.insert(path, format!("{} {}", response.status, without_volatile_fields(&response)));
    }
    read
}

/// The body without volatile fields.
pub(crate) fn without_volatile_fields(response: &TestResponse) -> String {
    if response.json.is_null() {
        return response.text();
    }
    let mut json = response.json.clone();
    // Reading a voicemail marks it as heard.
    remove_fields(&mut json, &["last_used_at", "request_id", "heard"]);
    json.to_string()
}

fn remove_fields(value: &mut Value, members: &[&str]) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| remove_fields(item, members)),
        Value::Object(object) => {
            object.retain(|key, _| !members.contains(&key.as_str()));
            object.values_mut().for_each(|member| remove_fields(member, members));
        }
        _ => {}
    }
}

/// The document describes every check, simulator and step, and its schemas accept everything that the server stores.
#[test]
fn authored_json_is_described() {
    let contract = testkit::Contract::load();
    let schemas = &contract.document()["components"]["schemas"];
    let of = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    assert_eq!(schemas["NewCriterion"]["properties"]["assertion"]["$ref"], "#/components/schemas/Assertion");
    let choices = |name: &str| schemas[name]["discriminator"]["mapping"].as_object().unwrap().clone();
    for check in verify::catalog() {
        let example: Value = serde_json::from_str(check.example).unwrap();
        assert!(choices("Assertion").contains_key(check.name), "{}", check.name);
        assert!(contract.accepts(&of("Assertion"), &example), "{}", check.name);
    }
    assert!(contract.accepts(&of("Assertion"), &json!({"assert": "mind-reading", "any": 1})), "stored with a warning");
    assert!(!contract.accepts(&of("Assertion"), &json!({"fields": []})));
    for info in sims::catalog() {
        assert!(contract.accepts(&of("SimulatorConfig"), &info.example_config()), "{}", info.kind.name());
        for step in info.steps {
            assert!(choices("ScenarioStep").contains_key(step.name), "{}", step.name);
            assert!(contract.accepts(&of("Scenario"), &json!({"steps": [step.example()]})), "{}", step.name);
        }
        for endpoint in info.endpoints {
            assert!(schemas["Endpoints"]["properties"][endpoint.name].is_object(), "{}", endpoint.name);
        }
    }
    for (component, member) in [("Simulator", "config"), ("Task", "scenario"), ("CreatedRun", "endpoints")] {
        let described = schemas[component]["properties"][member].to_string();
        assert!(described.contains("#/components/schemas/"), "{component}.{member}: {described}");
    }
}
