//! JSON Schemas for the files of a benchmark folder, for use in editors.

use model::simulator::SimulatorType;
use serde_json::{Value, json};

/// The subfolder with the schemas. Names that start with a dot are not part of the benchmark.
pub const SCHEMA_FOLDER: &str = ".schemas";

/// A kind of file that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Benchmark,
    Dataset,
    Task,
}

impl FileKind {
    pub const ALL: [FileKind; 3] = [FileKind::Benchmark, FileKind::Dataset, FileKind::Task];

    pub fn name(self) -> &'static str {
        match self {
            FileKind::Benchmark => "benchmark",
            FileKind::Dataset => "dataset",
            FileKind::Task => "task",
        }
    }

    /// The kind of a file by its path in the folder, if it has a schema.
    pub fn of(path: &str) -> Option<Self> {
        match path {
            "benchmark.yaml" => Some(FileKind::Benchmark),
            path if path.starts_with("datasets/") && path.ends_with("/dataset.yaml") => Some(FileKind::Dataset),
            path if path.starts_with("tasks/") && path.ends_with(".yaml") => Some(FileKind::Task),
            _ => None,
        }
    }

    /// The comment that tells editors where the schema of a file is.
    pub fn comment(self, path: &str) -> String {
        let up = "../".repeat(path.matches('/').count());
        format!("# yaml-language-server: $schema={up}{SCHEMA_FOLDER}/{}.json\n", self.name())
    }
}

/// The JSON Schema of a kind of file.
pub fn schema(kind: FileKind) -> Value {
    let mut schema = match kind {
        FileKind::Benchmark => benchmark(),
        FileKind::Dataset => dataset(),
        FileKind::Task => task(),
    };
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(format!("Verial {} file", kind.name()));
    schema
}

fn benchmark() -> Value {
    let types: Vec<&str> = SimulatorType::ALL.iter().map(|kind| kind.name()).collect();
    let simulator = object(
        &["name", "type"],
        &json!({
            "name": text(1, 200),
            "type": {"enum": types},
            "config": {"type": ["object", "null"], "description": "What its type takes"},
            "datasets": {"type": "array", "items": {"type": "string"}, "description": "Names of folders below datasets/"},
        }),
    );
    let environment = object(
        &["name", "simulators"],
        &json!({
            "name": text(1, 200),
            "description": nullable_text(1000),
            "simulators": {"type": "array", "minItems": 1, "items": simulator},
        }),
    );
    object(
        &["slug", "name", "environment"],
        &json!({
            "slug": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
            "version": {"type": ["integer", "null"], "minimum": 1, "description": "The number that this content is published under; without it the next one"},
            "name": text(1, 200),
            "description": nullable_text(1000),
            "timeout": {"type": ["integer", "null"], "minimum": 1, "maximum": 604_800, "description": "Seconds for each task"},
            "concurrency": {"type": ["integer", "null"], "minimum": 1, "maximum": 256, "description": "Tasks of a run that may be started at a time"},
            "visibility": {"enum": ["Private", "Public", null]},
            "environment": environment,
        }),
    )
}

fn dataset() -> Value {
    let entity = object(
        &["name", "ref"],
        &json!({
            "name": text(1, 200),
            "ref": {"type": "string", "minLength": 1, "maxLength": 1024, "description": "`Patient/123`, or the path of a file"},
            "data": {"type": ["object", "null"], "description": "What templates read as {{entity.…}}"},
        }),
    );
    object(
        &["name", "type"],
        &json!({
            "name": text(1, 200),
            "description": nullable_text(1000),
            "type": {"enum": ["fhir", "files"]},
            "entities": {"type": "array", "items": entity},
        }),
    )
}

fn task() -> Value {
    let criterion = object(
        &["label", "assertion"],
        &json!({
            "label": text(1, 200),
            "weight": {"type": ["number", "null"], "exclusiveMinimum": 0},
            "axis": {"type": ["string", "null"], "minLength": 1, "maxLength": 64},
            "critical": {"type": "boolean", "description": "Failing it means harm"},
            "public_label": {"type": ["string", "null"], "minLength": 1, "maxLength": 200, "description": "What agents read instead of the label in scored runs"},
            "entity": {"type": ["string", "null"], "description": "The entity that its templates read, as dataset/Entity name"},
            "assertion": assertion(),
        }),
    );
    let step = json!({"type": "object", "properties": {"after_seconds": {"type": "integer", "minimum": 0}}});
    object(
        &["name", "criteria"],
        &json!({
            "name": {"type": "string", "minLength": 1},
            "each": {"type": "array", "items": {"type": "string"}, "description": "One task for each of these entities, as dataset/Entity name"},
            "timeout": {"type": ["integer", "null"], "minimum": 1, "maximum": 604_800, "description": "Seconds; without it the benchmark's"},
            "tags": {"type": "array", "maxItems": 32, "items": text(1, 64)},
            "entities": {"type": "array", "items": {"type": "string"}, "description": "As dataset/Entity name; the first is {{entity.…}}"},
            "task_item": {"type": ["object", "null"], "properties": {"instruction": {"type": "string"}}, "description": "What the agent gets to read"},
            "scenario": {"type": ["object", "null"], "properties": {"steps": {"type": "array", "items": step}}, "description": "What happens in the sandboxes when the task starts"},
            "criteria": {"type": "array", "minItems": 1, "items": criterion},
        }),
    )
}

/// One `if`/`then` case per check, so that editors can complete and explain its parameters.
fn assertion() -> Value {
    let checks = verify::catalog();
    let names: Vec<&str> = checks.iter().map(|check| check.name).collect();
    let cases: Vec<Value> = checks.iter().map(case).collect();
    json!({"type": "object", "required": ["assert"], "properties": {"assert": {"enum": names}}, "allOf": cases})
}

fn case(check: &verify::CheckInfo) -> Value {
    let (properties, required) = verify::schema::parameters(check);
    json!({
        "if": {"properties": {"assert": {"const": check.name}}},
        "then": {"description": check.summary, "properties": properties, "required": required},
    })
}

fn object(required: &[&str], properties: &Value) -> Value {
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
}

fn text(min: usize, max: usize) -> Value {
    json!({"type": "string", "minLength": min, "maxLength": max})
}

fn nullable_text(max: usize) -> Value {
    json!({"type": ["string", "null"], "maxLength": max})
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{source, yaml};

    /// Checks unknown and required members only.
    #[test]
    fn files_of_the_bundled_benchmarks_match_their_schemas() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
        let folders = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
        for folder in folders.filter(|path| path.is_dir()) {
            for (path, bytes) in source::read_directory(&folder).unwrap() {
                let Some(kind) = FileKind::of(&path) else { continue };
                let value = yaml::parse(std::str::from_utf8(&bytes).unwrap()).unwrap();
                check_members(&schema(kind), &value, &path);
            }
        }
    }

    fn check_members(schema: &Value, value: &Value, place: &str) {
        if let Some(items) = value.as_array() {
            items.iter().for_each(|item| check_members(&schema["items"], item, place));
        }
        let Some(members) = value.as_object().filter(|_| schema["additionalProperties"] == false) else { return };
        for (name, member) in members {
            let known = &schema["properties"][name];
            assert!(!known.is_null(), "{place}: the schema has no `{name}`");
            check_members(known, member, place);
        }
        for name in schema["required"].as_array().unwrap() {
            assert!(members.contains_key(name.as_str().unwrap()), "{place}: {name} is required");
        }
    }

    #[test]
    fn the_schema_comment_has_a_relative_path() {
        let comment = |path: &str| FileKind::of(path).unwrap().comment(path);
        assert_eq!(comment("benchmark.yaml"), "# yaml-language-server: $schema=.schemas/benchmark.json\n");
        assert!(comment("datasets/chart/dataset.yaml").contains("=../../.schemas/dataset.json"));
        let task = schema(FileKind::Task);
        let assertion = &task["properties"]["criteria"]["items"]["properties"]["assertion"];
        assert!(assertion["properties"]["assert"]["enum"].as_array().unwrap().len() >= 12);
    }
}
