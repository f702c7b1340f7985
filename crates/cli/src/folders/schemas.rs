//! `verial benchmarks schema`: JSON Schemas of benchmark files, for editors.

use std::path::PathBuf;

use authoring::schema::{FOLDER, FileKind, schema};
use authoring::source::{self, Files};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::output::{Form, say, say_json};

#[derive(Args)]
pub(crate) struct Schema {
    /// Which file
    #[arg(value_enum, default_value_t = Kind::Task)]
    kind: Kind,
    /// Write all schemas into `.schemas` of this benchmark folder instead, where its files look for them
    #[arg(long, value_name = "FOLDER", conflicts_with = "kind")]
    write: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// benchmark.yaml
    Benchmark,
    /// datasets/…/dataset.yaml
    Dataset,
    /// tasks/….yaml
    Task,
}

pub(super) fn print(arguments: &Schema, form: &Form) -> anyhow::Result<()> {
    if let Some(folder) = &arguments.write {
        source::save(folder, &files())?;
        let shown = folder.join(FOLDER).display().to_string();
        return form.print(&json!({"folder": shown}), |_| say(format_args!("The schemas are in {shown}.")));
    }
    let kind = match arguments.kind {
        Kind::Benchmark => FileKind::Benchmark,
        Kind::Dataset => FileKind::Dataset,
        Kind::Task => FileKind::Task,
    };
    say_json(&schema(kind));
    Ok(())
}

/// The schemas as files of a benchmark folder.
pub(super) fn files() -> Files {
    let file = |kind: FileKind| {
        let text = format!("{:#}\n", schema(kind));
        (format!("{FOLDER}/{}.json", kind.name()), text.into_bytes())
    };
    FileKind::ALL.map(file).into_iter().collect()
}

/// The same files, with the schemas, and each YAML file with the comment that leads to its schema.
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
