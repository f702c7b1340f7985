//! What the agent of a scored run sees of its tasks: ids that mean nothing outside of the run, and neutral names.

use model::publication::Snapshot;
use model::run::RunTask;
use model::template::{self, Bindings};
use model::{Id, TaskId, TaskRunId};
use serde_json::Value;
use store::task_runs::StoredTaskRun;

use super::snapshots;

/// The longest name that a title can give.
const LONGEST_NAME: usize = 200;

/// Which ids, names and tags of tasks a caller sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskIdentity {
    Real,
    Neutral,
}

/// The id of a task inside of one run. It is the task run's own id with another prefix: the same in the whole run,
/// different in every other one, and independent of the task.
pub(super) fn task_id(task_run: &TaskRunId) -> TaskId {
    TaskId::from_ulid(task_run.ulid())
}

/// `task_item.title`, if it is a text, else the place in the run's order.
pub(super) fn name(task_item: Option<&Value>, position: i64) -> String {
    let title = task_item.and_then(|item| item.get("title")).and_then(Value::as_str).unwrap_or_default().trim();
    if title.is_empty() {
        return format!("Task {}", position + 1);
    }
    title.chars().take(LONGEST_NAME).collect()
}

/// Hides what identifies the task outside of the run.
pub(super) fn hide(shown: &mut RunTask, task_run: &StoredTaskRun, snapshot: &Snapshot) {
    shown.task_id = task_id(&task_run.id);
    shown.name = name(task_item(snapshot, task_run).as_ref(), task_run.position);
}

/// With its templates filled in; none when they cannot be.
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
