//! Ids and names of tasks for the agent of a scored run. They do not identify the task outside of the run.

use model::publication::Snapshot;
use model::run::RunTask;
use model::template::{self, Bindings};
use model::{Id, TaskId, TaskRunId};
use serde_json::Value;
use store::task_runs::StoredTaskRun;

use crate::runs::snapshots;

/// Longer titles are cut.
const MAX_NAME_CHARS: usize = 200;

/// The id of a task within one run: the task run's id with another prefix. It differs in every run, and does not depend on
/// the task.
pub(super) fn task_id(task_run: &TaskRunId) -> TaskId {
    TaskId::from_ulid(task_run.ulid())
}

/// `task_item.title` if it is a text, otherwise the position in the run's order.
pub(in crate::runs) fn name(task_item: Option<&Value>, position: i64) -> String {
    let title = task_item.and_then(|item| item.get("title")).and_then(Value::as_str).unwrap_or_default().trim();
    if title.is_empty() {
        return format!("Task {}", position + 1);
    }
    title.chars().take(MAX_NAME_CHARS).collect()
}

/// Replaces the id and the name of the task.
pub(super) fn hide(view: &mut RunTask, task_run: &StoredTaskRun, snapshot: &Snapshot) {
    view.task_id = task_id(&task_run.id);
    view.name = name(task_item(snapshot, task_run).as_ref(), task_run.position);
}

/// The title with its templates filled in; none if that fails.
fn task_item(snapshot: &Snapshot, task_run: &StoredTaskRun) -> Option<Value> {
    let task = snapshot.tasks.iter().find(|task| task.id == task_run.task)?;
    let (about, entity) = (snapshots::task_value(task), snapshots::entity_value(snapshot, task.entities.first()));
    template::bind(task.task_item.get("title")?, &Bindings { entity: entity.as_ref(), task: Some(&about) })
        .ok()
        .map(|title| serde_json::json!({ "title": title }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_title_is_the_name_if_it_is_a_text_and_is_not_blank() {
        let long = "x".repeat(1000);
        for (item, expected) in [
            (json!({"title": " Triage the fax "}), "Triage the fax"),
            (json!({"title": "  "}), "Task 3"),
            (json!({"title": 7}), "Task 3"),
            (json!("Do it"), "Task 3"),
            (json!(null), "Task 3"),
            (json!({ "title": long }), &long[..200]),
        ] {
            assert_eq!(name(Some(&item), 2), expected, "{item}");
        }
        assert_eq!(name(None, 0), "Task 1");
    }
}
