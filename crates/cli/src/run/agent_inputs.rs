//! The inputs of an agent: environment variables, and a credentials file that only the user can read.

use std::path::{Path, PathBuf};

use model::BenchmarkRunId;
use model::run::StartedTaskRun;
use serde_json::{Value, json};

use crate::user_config::write_private;

/// The kernel rejects longer variables, and the agent could not be started.
const MAX_VARIABLE_BYTES: usize = 100_000;

pub(crate) struct AgentInputs {
    variables: Vec<(&'static str, String)>,
    /// Removed when this is dropped.
    file: PathBuf,
}

impl AgentInputs {
    /// `run` is the run with its token. Overwrites a file that a killed process has left in the folder.
    pub(crate) fn new(
        base_url: &str,
        benchmark: &str,
        run: (&BenchmarkRunId, &str),
        started: &StartedTaskRun,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let (run, token) = run;
        let content = json!({
            "base_url": base_url,
            "run_token": token,
            "benchmark": benchmark,
            "benchmark_run_id": run,
            "task_run_id": started.task_run_id,
            "deadline_at": started.deadline_at,
            "task": started.task,
            "endpoints": started.endpoints,
            "sandboxes": started.sandboxes,
        });
        let file = std::path::absolute(folder.join(format!("{}.credentials.json", started.task_run_id)))?;
        write_private(&file, content.to_string().as_bytes())?;
        let variables = vec![
            ("VERIAL_BASE_URL", base_url.to_owned()),
            ("VERIAL_RUN_TOKEN", token.to_owned()),
            ("VERIAL_BENCHMARK", benchmark.to_owned()),
            ("VERIAL_BENCHMARK_RUN_ID", run.to_string()),
            ("VERIAL_TASK_RUN_ID", started.task_run_id.to_string()),
            ("VERIAL_TASK", started.task.name.clone()),
            ("VERIAL_INSTRUCTION", instruction(&started.task.task_item)),
            ("VERIAL_TASK_ITEM", started.task.task_item.to_string()),
            ("VERIAL_ENDPOINTS", serde_json::to_string(&started.endpoints)?),
            ("VERIAL_CREDENTIALS_FILE", file.display().to_string()),
        ];
        Ok(Self { variables, file })
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The environment variables. Values that are too long are only in the file.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let limit_length = |(name, value): &(&'static str, String)| {
            (*name, if value.len() > MAX_VARIABLE_BYTES { String::new() } else { value.clone() })
        };
        self.variables.iter().map(limit_length).collect()
    }
}

impl Drop for AgentInputs {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

/// The author's instruction, if the task item has one.
fn instruction(item: &Value) -> String {
    match item {
        Value::String(text) => text.clone(),
        other => other["instruction"].as_str().unwrap_or_default().to_owned(),
    }
}
