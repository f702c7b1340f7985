//! The audit record that is stored with a published version.

use serde_json::{Value, json};

use crate::audit::{Audit, PASS};

impl Audit {
    /// The body of `PUT /benchmarks/{slug@version}/audit` without task ids, which differ between servers.
    pub fn record(&self) -> Value {
        let (rejected, mutants) = self.failed_mutants();
        let (accepted, equivalents) = self.accepted_equivalents();
        let tasks = self.nothing.iter().enumerate().map(|(index, nothing)| {
            let reference = self.reference.get(index).map(|reference| rounded(reference.score));
            json!({"floor": rounded(nothing.score), "ceiling": reference})
        });
        json!({
            "floor": rounded(self.floor()),
            "ceiling": self.ceiling().map(rounded),
            "near_misses": {"rejected": rejected, "of": mutants},
            "equivalents": {"accepted": accepted, "of": equivalents},
            "spray_passes": self.shotgun.iter().filter(|result| result.score >= PASS).count(),
            "tasks": tasks.collect::<Vec<_>>()
        })
    }
}

/// Adds the task ids of a version, as its owner sees it. Returns `None` when the number of tasks differs.
pub fn with_task_ids(record: &Value, version: &Value) -> Option<Value> {
    let (tasks, version_tasks) = (record["tasks"].as_array()?, version["tasks"].as_array()?);
    let mut bound = record.clone();
    let with_ids = tasks.iter().zip(version_tasks).map(|(task, version_task)| {
        let mut task = task.clone();
        task["task_id"] = version_task["id"].clone();
        task
    });
    bound["tasks"] = with_ids.collect();
    (tasks.len() == version_tasks.len()).then_some(bound)
}

/// Rounds a score to four decimals, like all scores in the API.
fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
