//! `verial benchmarks preview`: tasks as they run, with all templates filled in.

use std::path::PathBuf;

use authoring::{source, yaml};
use clap::Args;
use serde_json::{Value, json};

use crate::exit;
use crate::output::{Form, say};

#[derive(Args)]
pub(crate) struct Preview {
    /// The benchmark's folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Only tasks with this in their name
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
}

pub(super) fn preview(arguments: &Preview, form: &Form) -> anyhow::Result<()> {
    let folder = authoring::read(&source::directory(&arguments.folder)?)?;
    let tasks = authoring::expand(&folder).map_err(authoring::Error::Faults)?;
    let wanted = arguments.task.as_deref().unwrap_or_default().to_lowercase();
    let mut shown = Vec::new();
    for (file, task) in tasks.iter().filter(|(_, task)| task.name.to_lowercase().contains(&wanted)) {
        let mut filled = json!({"file": file});
        let whole = authoring::filled(&folder, task).map_err(|fault| exit::no(format!("{file}: {fault}")))?;
        for (name, value) in whole.as_object().into_iter().flatten() {
            filled[name] = value.clone();
        }
        shown.push(filled);
    }
    if shown.is_empty() {
        let names: Vec<&str> = tasks.iter().map(|(_, task)| task.name.as_str()).collect();
        return Err(exit::usage(format!("no task has this in its name; there are: {}", names.join("; "))));
    }
    form.print(&Value::Array(shown.clone()), |_| {
        let texts: Vec<String> = shown.iter().map(yaml::written).collect();
        say(texts.join("---\n").trim_end());
    })
}
