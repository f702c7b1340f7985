//! `verial benchmarks preview`: shows tasks with all templates filled in.

use std::path::PathBuf;

use authoring::{source, yaml};
use clap::Args;
use serde_json::{Value, json};

use crate::exit;
use crate::output::{OutputFormat, print};

#[derive(Args)]
pub(crate) struct Preview {
    /// The benchmark folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Only tasks whose name contains this
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
}

pub(super) fn preview(arguments: &Preview, format: &OutputFormat) -> anyhow::Result<()> {
    let folder = authoring::read(&source::read_directory(&arguments.folder)?)?;
    let tasks = authoring::expand(&folder).map_err(authoring::Error::Findings)?;
    let name_filter = arguments.task.as_deref().unwrap_or_default().to_lowercase();
    let mut previews = Vec::new();
    for (file, task) in tasks.iter().filter(|(_, task)| task.name.to_lowercase().contains(&name_filter)) {
        let mut filled = json!({"file": file});
        let task_json =
            authoring::render_task(&folder, task).map_err(|error| exit::failure(format!("{file}: {error}")))?;
        for (name, value) in task_json.as_object().into_iter().flatten() {
            filled[name] = value.clone();
        }
        previews.push(filled);
    }
    if previews.is_empty() {
        let names: Vec<&str> = tasks.iter().map(|(_, task)| task.name.as_str()).collect();
        return Err(exit::usage(format!("no task name contains this; the tasks are: {}", names.join("; "))));
    }
    format.print(&Value::Array(previews.clone()), |_| {
        let texts: Vec<String> = previews.iter().map(yaml::to_string).collect();
        print(texts.join("---\n").trim_end());
    })
}
