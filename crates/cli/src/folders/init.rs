//! `verial benchmarks init`: creates a small working benchmark.

use std::path::PathBuf;

use anyhow::Context;
use authoring::source;
use clap::Args;
use serde_json::json;

use super::schema;
use crate::output::{OutputFormat, print};

#[derive(Args)]
pub(crate) struct Init {
    /// The new folder; its name becomes the slug
    folder: PathBuf,
}

const FILES: [(&str, &str); 4] = [
    ("benchmark.yaml", include_str!("benchmark.yaml")),
    ("datasets/chart/dataset.yaml", include_str!("dataset.yaml")),
    ("datasets/chart/data.ndjson", include_str!("data.ndjson")),
    ("tasks/10-order.yaml", include_str!("task.yaml")),
];

pub(super) fn init(arguments: &Init, format: &OutputFormat) -> anyhow::Result<()> {
    let target = &arguments.folder;
    super::check_empty(target, Err("name a new folder"))?;
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let slug = model::slug::from_name(&name)
        .with_context(|| format!("`{name}` cannot become a slug: use letters and digits"))?;
    let files =
        FILES.iter().map(|(path, text)| ((*path).to_owned(), text.replace("SLUG", &slug).into_bytes())).collect();
    source::write_directory(target, &schema::with_schemas(files))?;
    let path_text = target.display().to_string();
    format.print(&json!({"folder": path_text, "slug": slug}), |_| {
        print(format_args!("{path_text} contains a small working benchmark."));
        let quoted = shell_quote(&path_text);
        print(format_args!("  next: verial benchmarks lint {quoted}"));
        print(format_args!("        verial run {quoted} --local --agent COMMAND"));
        print(format_args!("        verial benchmarks audit {quoted}"));
        print(format_args!("        verial benchmarks push {quoted}"));
    })
}

/// Quotes a word for a shell.
fn shell_quote(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-./+:@%,=".contains(character);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
