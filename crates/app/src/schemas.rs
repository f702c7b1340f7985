//! JSON Schemas of assertions, configs, scenarios and the endpoints of runs, from the catalogs of checks, simulators and
//! steps.

use serde_json::{Map, Value, json};

/// Every schema by the name of its OpenAPI component.
pub fn components() -> Map<String, Value> {
    let mut schemas = Map::new();
    assertions(&mut schemas);
    configs(&mut schemas);
    steps(&mut schemas);
    schemas.insert("Endpoints".to_owned(), endpoints());
    schemas
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// One schema for each check, and one for unknown checks, which are stored with a warning.
fn assertions(schemas: &mut Map<String, Value>) {
    let (mut choices, mut mapping) = (Vec::new(), Map::new());
    for check in verify::catalog() {
        let name = format!("Assert{}", camel_case(check.name));
        let (mut properties, mut required) = verify::schema::parameters(check);
        properties.insert("assert".to_owned(), json!({"type": "string", "enum": [check.name]}));
        required.insert(0, "assert");
        let example: Value = serde_json::from_str(check.example).unwrap_or_default();
        let schema = json!({"type": "object", "description": check.summary, "required": required,
            "properties": properties, "examples": [example]});
        mapping.insert(check.name.to_owned(), json!(format!("#/components/schemas/{name}")));
        choices.push(reference(&name));
        schemas.insert(name, schema);
    }
    let other = json!({"type": "object", "required": ["assert"], "properties": {"assert": {"type": "string"}},
        "description": "An assertion that no check reads: it is stored with a warning and fails as unsupported in every run."});
    schemas.insert("AssertUnsupported".to_owned(), other);
    choices.push(reference("AssertUnsupported"));
    let description = "What a criterion asserts. `assert` selects the check.";
    let discriminator = json!({"propertyName": "assert", "mapping": mapping});
    let whole = json!({"description": description, "anyOf": choices, "discriminator": discriminator});
    schemas.insert("Assertion".to_owned(), whole);
}

fn configs(schemas: &mut Map<String, Value>) {
    let mut choices = Vec::new();
    for info in sims::catalog() {
        let name = format!("{}Config", info.kind.name());
        let description = format!("The config of a {} simulator: {}", info.kind.name(), info.summary);
        schemas.insert(name.clone(), shown_by(&description, &info.example_config(), &[]));
        choices.push(reference(&name));
    }
    let description = "What the simulator's `type` takes.";
    schemas.insert("SimulatorConfig".to_owned(), json!({"description": description, "anyOf": choices}));
}

fn steps(schemas: &mut Map<String, Value>) {
    let (mut choices, mut mapping) = (Vec::new(), Map::new());
    for step in sims::catalog().iter().flat_map(|info| info.steps) {
        let name = format!("Step{}", camel_case(step.name));
        let mut schema = shown_by(step.summary, &step.example(), &["do"]);
        schema["properties"]["do"] = json!({"type": "string", "enum": [step.name]});
        schema["properties"]["after_seconds"] = json!({"type": "integer", "minimum": 0,
            "description": "Seconds after the start of the task"});
        schema["properties"]["sandbox"] = json!({"type": "string",
            "description": "The simulator's name, where the environment has several of its type"});
        mapping.insert(step.name.to_owned(), json!(format!("#/components/schemas/{name}")));
        choices.push(reference(&name));
        schemas.insert(name, schema);
    }
    // Steps also have aliases.
    choices.push(json!({"type": "object", "required": ["do"], "properties": {"do": {"type": "string"}}}));
    let discriminator = json!({"propertyName": "do", "mapping": mapping});
    let step = json!({"description": "One step. `do` selects it.", "anyOf": choices, "discriminator": discriminator});
    schemas.insert("ScenarioStep".to_owned(), step);
    let steps = json!({"type": "array", "items": reference("ScenarioStep")});
    let scenario = json!({"type": "object", "description": "What happens in the sandboxes when the task starts.",
        "properties": {"steps": steps}});
    schemas.insert("Scenario".to_owned(), scenario);
}

/// The paths of a run's sandboxes, for the channels of its environment.
fn endpoints() -> Value {
    let names = sims::catalog().iter().flat_map(|info| {
        let schema = json!({"type": "string", "description": format!("Of the {} simulator", info.kind.name())});
        info.endpoints.iter().map(move |endpoint| (endpoint.name.to_owned(), schema.clone()))
    });
    json!({"type": "object", "description": "Paths of the run's channels, of those that its environment has.",
        "properties": names.collect::<Map<_, _>>(), "additionalProperties": {"type": "string"}})
}

/// An object with the members of an example. Examples in the catalog contain all members.
fn shown_by(description: &str, example: &Value, required: &[&str]) -> Value {
    let members = example.as_object().into_iter().flatten();
    let properties: Map<String, Value> =
        members.map(|(name, value)| (name.clone(), json!({"examples": [value]}))).collect();
    json!({"type": "object", "description": description, "required": required, "properties": properties,
        "examples": [example]})
}

/// `fhir-resource-state` as `FhirResourceState`.
fn camel_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    name.split(['-', '_']).map(word).collect()
}
