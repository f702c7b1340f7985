//! The audit of a published version: the score of an agent that does nothing, the score of the reference agent, and
//! whether near misses are rejected. It is stored with the version and is not part of its content.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{FieldErrors, TaskId, Timestamp};

/// The audit results to record. Recording replaces an earlier audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAudit {
    /// The mean score of an agent that does nothing.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: f64,
    /// The mean score of the reference agent; null if there is none.
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    #[serde(default)]
    pub near_misses: NearMisses,
    #[serde(default)]
    pub equivalents: Equivalents,
    /// The number of tasks passed by an agent that does a little of everything.
    #[serde(default)]
    pub spray_passes: u64,
    /// Floor and ceiling of each task.
    #[serde(default)]
    pub tasks: Vec<TaskBounds>,
    /// The engine that scored the audit runs. Default: this server's engine.
    #[schema(min_length = 1, max_length = 100)]
    pub engine: Option<String>,
}

/// Runs of the reference agent with one deliberate mistake each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NearMisses {
    /// The number of runs that did not pass.
    pub rejected: u64,
    pub of: u64,
}

/// Runs of the reference agent that did the same in a different, equally correct way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Equivalents {
    /// The number of runs with the full score.
    pub accepted: u64,
    pub of: u64,
}

/// Floor and ceiling of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskBounds {
    pub task_id: TaskId,
    #[schema(minimum = 0, maximum = 1)]
    pub floor: f64,
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
}

/// A recorded audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct VersionAudit {
    /// The mean score of an agent that does nothing.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: f64,
    /// The mean score of the reference agent; null if there is none.
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    pub near_misses: NearMisses,
    pub equivalents: Equivalents,
    /// The number of tasks passed by an agent that does a little of everything.
    pub spray_passes: u64,
    /// Floor and ceiling of each task. Only visible to the owner, because it reveals which tasks pass without any
    /// action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tasks: Option<Vec<TaskBounds>>,
    /// The engine that scored the audit runs.
    pub engine: String,
    pub recorded_at: Timestamp,
}

/// The floor and ceiling of a score; `None` without an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    pub floor: Option<f64>,
    pub ceiling: Option<f64>,
}

impl NewAudit {
    /// `tasks` are the tasks of the version.
    pub fn validate(&self, tasks: &BTreeSet<&TaskId>) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        check_bounds(self.floor, self.ceiling, &mut errors);
        if self.ceiling.is_some_and(|ceiling| ceiling < self.floor) {
            errors.add("ceiling", "must not be below the floor");
        }
        let NearMisses { rejected, of } = self.near_misses;
        if rejected > of {
            errors.add("near_misses.rejected", "must not be more than `of`");
        }
        let Equivalents { accepted, of } = self.equivalents;
        if accepted > of {
            errors.add("equivalents.accepted", "must not be more than `of`");
        }
        if self.spray_passes > tasks.len() as u64 {
            errors.add("spray_passes", format!("must be at most {}, the number of tasks", tasks.len()));
        }
        errors.each("tasks", &self.tasks, tasks.len(), |task, errors| {
            if !tasks.contains(&task.task_id) {
                errors.add("task_id", "is not a task of this version");
            }
            check_bounds(task.floor, task.ceiling, errors);
        });
        if let Some(engine) = &self.engine {
            errors.length("engine", engine, 1..=100);
        }
        let distinct: BTreeSet<&TaskId> = self.tasks.iter().map(|task| &task.task_id).collect();
        if distinct.len() < self.tasks.len() {
            errors.add("tasks", "must list each task at most once");
        }
        errors.into_result()
    }

    /// `engine` is the engine of this server.
    pub fn recorded(self, engine: &str, recorded_at: Timestamp) -> VersionAudit {
        let task = |task: TaskBounds| TaskBounds {
            floor: rounded(task.floor),
            ceiling: task.ceiling.map(rounded),
            task_id: task.task_id,
        };
        VersionAudit {
            floor: rounded(self.floor),
            ceiling: self.ceiling.map(rounded),
            near_misses: self.near_misses,
            equivalents: self.equivalents,
            spray_passes: self.spray_passes,
            tasks: Some(self.tasks.into_iter().map(task).collect()),
            engine: self.engine.unwrap_or_else(|| engine.to_owned()),
            recorded_at,
        }
    }
}

impl VersionAudit {
    pub fn bounds(&self) -> Bounds {
        Bounds { floor: Some(self.floor), ceiling: self.ceiling }
    }

    pub fn of_task(&self, id: &TaskId) -> Bounds {
        let found = self.tasks.iter().flatten().find(|task| task.task_id == *id);
        found.map_or_else(Bounds::default, |task| Bounds { floor: Some(task.floor), ceiling: task.ceiling })
    }
}

fn check_bounds(floor: f64, ceiling: Option<f64>, errors: &mut FieldErrors) {
    for (field, value) in [("floor", Some(floor)), ("ceiling", ceiling)] {
        if value.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
            errors.add(field, "must be a number from 0 to 1");
        }
    }
}

/// Rounds to four decimal places, as all scores are displayed, and turns -0 into 0.
fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0 + 0.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Id, Ulid};

    fn invalid_fields(audit: serde_json::Value) -> Vec<String> {
        let task = TaskId::from_ulid(Ulid::new(1, 1));
        let audit: NewAudit = serde_json::from_value(audit).unwrap();
        match audit.validate(&BTreeSet::from([&task])) {
            Ok(()) => Vec::new(),
            Err(errors) => {
                let errors = serde_json::to_value(&errors).unwrap();
                errors.as_object().unwrap().keys().cloned().collect()
            }
        }
    }

    #[test]
    fn invalid_audits_are_rejected() {
        let task = TaskId::from_ulid(Ulid::new(1, 1));
        let other = TaskId::from_ulid(Ulid::new(1, 2));
        let of = |task: &TaskId, floor: f64| json!({"task_id": task, "floor": floor, "ceiling": null});
        for (audit, invalid) in [
            (json!({"floor": 0, "ceiling": 1}), &[][..]),
            (json!({"floor": 0.25}), &[]),
            (json!({"floor": 0.5, "ceiling": 0.5, "tasks": [of(&task, 0.5)]}), &[]),
            (json!({"floor": -0.1, "ceiling": 1.1}), &["ceiling", "floor"]),
            (json!({"floor": 0.5, "ceiling": 0.4}), &["ceiling"]),
            (json!({"floor": 0, "near_misses": {"rejected": 2, "of": 1}}), &["near_misses.rejected"]),
            (json!({"floor": 0, "equivalents": {"accepted": 2, "of": 1}}), &["equivalents.accepted"]),
            (json!({"floor": 0, "spray_passes": 2}), &["spray_passes"]),
            (json!({"floor": 0, "engine": ""}), &["engine"]),
            (json!({"floor": 0, "tasks": [of(&other, 2.0)]}), &["tasks.0.floor", "tasks.0.task_id"]),
            (json!({"floor": 0, "tasks": [of(&task, 0.0), of(&task, 0.0)]}), &["tasks"]),
        ] {
            assert_eq!(invalid_fields(audit.clone()), invalid, "{audit}");
        }
        assert!(rejects_nan());
    }

    fn rejects_nan() -> bool {
        let mut errors = FieldErrors::new();
        check_bounds(f64::NAN, Some(f64::INFINITY), &mut errors);
        errors.into_result().is_err()
    }

    #[test]
    fn a_recorded_audit_has_rounded_bounds() {
        let task = TaskId::from_ulid(Ulid::new(1, 1));
        let new = json!({"floor": -0.0, "ceiling": 2.0 / 3.0, "tasks": [{"task_id": task, "floor": 1.0 / 3.0}]});
        let new: NewAudit = serde_json::from_value(new).unwrap();
        let recorded = new.recorded("verify/3", Timestamp(0));
        assert_eq!(recorded.bounds(), Bounds { floor: Some(0.0), ceiling: Some(0.6667) });
        assert!(recorded.floor.is_sign_positive());
        assert_eq!(recorded.of_task(&task), Bounds { floor: Some(0.3333), ceiling: None });
        assert_eq!(recorded.of_task(&TaskId::from_ulid(Ulid::new(1, 2))), Bounds::default());
    }
}
