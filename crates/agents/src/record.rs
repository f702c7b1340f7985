//! What of an audit is kept beside a version.

use serde_json::{Value, json};

use crate::audit::{Audit, PASS};

impl Audit {
    /// As `PUT /benchmarks/{slug@version}/audit` takes it, but for the ids of the tasks: those differ from server to server.
    pub fn record(&self) -> Value {
        let (rejected, near) = self.told();
        let (accepted, variants) = self.accepted();
        let tasks = self.nothing.iter().enumerate().map(|(place, nothing)| {
            let reference = self.reference.get(place).map(|reference| as_shown(reference.score));
            json!({"floor": as_shown(nothing.score), "ceiling": reference})
        });
        json!({
            "floor": as_shown(self.floor()),
            "ceiling": self.ceiling().map(as_shown),
            "near_misses": {"rejected": rejected, "of": near},
            "equivalents": {"accepted": accepted, "of": variants},
            "spray_passes": self.spray.iter().filter(|result| result.score >= PASS).count(),
            "tasks": tasks.collect::<Vec<_>>()
        })
    }
}

/// A record with the ids that the tasks have in a version, as its owner sees it; none when it is of other tasks.
pub fn of_version(record: &Value, version: &Value) -> Option<Value> {
    let (tasks, of_version) = (record["tasks"].as_array()?, version["tasks"].as_array()?);
    let mut bound = record.clone();
    let with_ids = tasks.iter().zip(of_version).map(|(task, of_version)| {
        let mut task = task.clone();
        task["task_id"] = of_version["id"].clone();
        task
    });
    bound["tasks"] = with_ids.collect();
    (tasks.len() == of_version.len()).then_some(bound)
}

/// Four digits after the point, as all scores.
fn as_shown(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
