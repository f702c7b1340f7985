//! `verial benchmarks init`: a small benchmark that works, to begin with.

use std::path::PathBuf;

use anyhow::Context;
use authoring::source;
use clap::Args;
use serde_json::json;

use super::schemas;
use crate::output::{Form, say};

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

pub(super) fn init(arguments: &Init, form: &Form) -> anyhow::Result<()> {
    let target = &arguments.folder;
    super::check_free(target, Err("name a new folder"))?;
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let slug = model::slug::from_name(&name)
        .with_context(|| format!("`{name}` cannot become a slug: use letters and digits"))?;
    let files =
        FILES.iter().map(|(path, text)| ((*path).to_owned(), text.replace("SLUG", &slug).into_bytes())).collect();
    source::save(target, &schemas::with_schemas(files))?;
    let shown = target.display().to_string();
    form.print(&json!({"folder": shown, "slug": slug}), |_| {
        say(format_args!("{shown} has a small benchmark that works."));
        let quoted = quoted(&shown);
        say(format_args!("  next: verial benchmarks lint {quoted}"));
        say(format_args!("        verial run {quoted} --local --agent COMMAND"));
        say(format_args!("        verial benchmarks audit {quoted}"));
        say(format_args!("        verial benchmarks push {quoted}"));
    })
}

/// As one word of a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./+:@%,=".contains(letter);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
