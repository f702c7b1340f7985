//! `verial benchmarks schema`: prints JSON Schemas of benchmark files, for editors.

use std::path::PathBuf;

use authoring::schema::{FileKind, SCHEMA_FOLDER, schema};
use authoring::source::{self, Files};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::output::{OutputFormat, print, print_json};

#[derive(Args)]
pub(crate) struct Schema {
    /// The file
    #[arg(value_enum, default_value_t = SchemaFile::Task)]
    kind: SchemaFile,
    /// Write all schemas into the `.schemas` folder of this benchmark folder instead, where its files refer to them
    #[arg(long, value_name = "FOLDER", conflicts_with = "kind")]
    write: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum SchemaFile {
    /// benchmark.yaml
    Benchmark,
    /// datasets/…/dataset.yaml
    Dataset,
    /// tasks/….yaml
    Task,
}

pub(super) fn print_schema(arguments: &Schema, format: &OutputFormat) -> anyhow::Result<()> {
    if let Some(folder) = &arguments.write {
        source::write_directory(folder, &files())?;
        let path = folder.join(SCHEMA_FOLDER).display().to_string();
        return format.print(&json!({"folder": path}), |_| print(format_args!("The schemas are in {path}.")));
    }
    let kind = match arguments.kind {
        SchemaFile::Benchmark => FileKind::Benchmark,
        SchemaFile::Dataset => FileKind::Dataset,
        SchemaFile::Task => FileKind::Task,
    };
    print_json(&schema(kind));
    Ok(())
}

/// All schemas as files of a benchmark folder.
pub(super) fn files() -> Files {
    let file = |kind: FileKind| {
        let text = format!("{:#}\n", schema(kind));
        (format!("{SCHEMA_FOLDER}/{}.json", kind.name()), text.into_bytes())
    };
    FileKind::ALL.map(file).into_iter().collect()
}

/// Adds the schemas, and to each YAML file the comment that refers to its schema.
pub(super) fn with_schemas(mut files: Files) -> Files {
    for (path, content) in &mut files {
        if let Some(kind) = FileKind::of(path) {
            let mut text = kind.comment(path).into_bytes();
            text.append(content);
            *content = text;
        }
    }
    files.append(&mut self::files());
    files
}
