//! Tasks: the instruction for the agent, and the scenario that happens in the sandboxes when the task starts.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::benchmark::MAX_TIMEOUT_SECONDS;
use crate::criterion::Criterion;
use crate::template::{self, Root};
use crate::{BenchmarkId, FieldErrors, TaskId, Timestamp, patch};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Task {
    pub id: TaskId,
    pub benchmark_id: BenchmarkId,
    pub name: String,
    /// Timeout in seconds; `null` means the benchmark's.
    pub timeout: Option<i64>,
    pub tags: Vec<String>,
    /// What the agent receives when it starts the task: an instruction, identifiers, anything.
    #[schema(value_type = Option<Object>)]
    pub task_item: Value,
    /// `{"steps": […]}`: what happens in the sandboxes when the task starts.
    #[schema(value_type = Option<Object>)]
    pub scenario: Value,
    pub criteria: Vec<Criterion>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Task {
    /// Validates everything except the scenario's steps, which the simulators validate.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        errors.name("name", &self.name);
        if let Some(timeout) = self.timeout {
            errors.range("timeout", timeout, 1..=MAX_TIMEOUT_SECONDS);
        }
        if self.tags.len() > 32 {
            errors.add("tags", format!("must have at most 32 items, has {}", self.tags.len()));
        }
        for (index, tag) in self.tags.iter().enumerate() {
            errors.length(&format!("tags.{index}"), tag, 1..=64);
        }
        if !self.task_item.is_null() && !self.task_item.is_object() {
            errors.add("task_item", "must be an object");
        }
        errors.inside("task_item", |errors| template::check(&self.task_item, &[Root::Entity, Root::Task], errors));
        errors.into_result()
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    pub benchmark_id: BenchmarkId,
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    #[schema(minimum = 1, maximum = 604_800)]
    pub timeout: Option<i64>,
    #[schema(max_items = 32)]
    pub tags: Option<Vec<String>>,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub task_item: Value,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub scenario: Value,
}

impl NewTask {
    pub fn into_task(self, id: TaskId, now: Timestamp) -> Task {
        Task {
            id,
            benchmark_id: self.benchmark_id,
            name: self.name,
            timeout: self.timeout,
            tags: self.tags.unwrap_or_default(),
            task_item: self.task_item,
            scenario: self.scenario,
            criteria: Vec::new(),
            created_at: now,
            updated_at: now,
        }
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskPatch {
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200)]
    pub name: Option<String>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 604_800)]
    pub timeout: Option<Option<i64>>,
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = Vec<String>, required = false, max_items = 32)]
    pub tags: Option<Vec<String>>,
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = Option<Object>)]
    pub task_item: Option<Value>,
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = Option<Object>)]
    pub scenario: Option<Value>,
}

impl TaskPatch {
    pub fn apply(self, task: &mut Task) {
        patch::set(&mut task.name, self.name);
        patch::set(&mut task.timeout, self.timeout);
        patch::set(&mut task.tags, self.tags);
        patch::set(&mut task.task_item, self.task_item);
        patch::set(&mut task.scenario, self.scenario);
    }
}
