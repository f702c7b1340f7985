//! Writes a folder as files.

use serde::Serialize;
use serde_json::Value;

use crate::folder::{Content, Folder};
use crate::source::Files;
use crate::yaml;

/// Converts a folder to files. Reading them returns the same folder.
pub fn write(folder: &Folder) -> Files {
    let mut files = Files::new();
    put(&mut files, "benchmark.yaml".to_owned(), &folder.benchmark);
    for (key, dataset) in &folder.datasets {
        let root = format!("datasets/{key}/");
        put(&mut files, format!("{root}dataset.yaml"), &dataset.metadata);
        match &dataset.content {
            Content::Empty => {}
            Content::Fhir { content_type, bytes } => {
                let name = if content_type.ends_with("ndjson") { "data.ndjson" } else { "data.json" };
                files.insert(format!("{root}{name}"), bytes.clone());
            }
            Content::Files(contents) => {
                let contents = contents.iter().map(|(path, bytes)| (format!("{root}files/{path}"), bytes.clone()));
                files.extend(contents);
            }
        }
    }
    for (path, task) in &folder.tasks {
        put(&mut files, path.clone(), task);
    }
    files
}

fn put(files: &mut Files, path: String, value: &impl Serialize) {
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    files.insert(path, yaml::to_string(&value).into_bytes());
}
