//! Selects the tasks of a run, and their order.

use model::publication::{FrozenTask, Snapshot};
use model::reading::shortened;
use model::run::shuffled;
use model::{FieldErrors, Id};

use crate::AppError;

/// The requested tasks; all of them unless tasks or tags are named.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    /// Ids or names of tasks.
    pub(super) tasks: Option<Vec<String>>,
    /// A task must have at least one of these tags.
    pub(super) tags: Option<Vec<String>>,
}

impl Selection {
    pub(super) fn is_partial(&self) -> bool {
        self.tasks.is_some() || self.tags.is_some()
    }

    fn selects(&self, task: &FrozenTask) -> bool {
        self.tasks.as_ref().is_none_or(|wanted| wanted.iter().any(|one| is_named(task, one)))
            && self.tags.as_ref().is_none_or(|wanted| wanted.iter().any(|tag| task.tags.contains(tag)))
    }

    /// A name or tag that no task has is an error.
    fn check(&self, snapshot: &Snapshot) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        for (index, name) in self.tasks.iter().flatten().enumerate() {
            if !snapshot.tasks.iter().any(|task| is_named(task, name)) {
                let shown = shortened(name, 100);
                errors.add(format!("tasks.{index}"), format!("no task of the benchmark has the id or name {shown:?}"));
            }
        }
        for (index, tag) in self.tags.iter().flatten().enumerate() {
            if !snapshot.tasks.iter().any(|task| task.tags.contains(tag)) {
                let shown = shortened(tag, 100);
                errors.add(format!("tags.{index}"), format!("no task of the benchmark has the tag {shown:?}"));
            }
        }
        errors.into_result()?;
        if self.is_partial() && !snapshot.tasks.iter().any(|task| self.selects(task)) {
            return Err(FieldErrors::one("tags", "none of the named tasks has one of these tags"));
        }
        Ok(())
    }
}

fn is_named(task: &FrozenTask, wanted: &str) -> bool {
    task.name == wanted || wanted == task.id.as_str()
}

/// The selected tasks in the benchmark's order, or shuffled by the seed.
pub(super) fn tasks<'a>(
    snapshot: &'a Snapshot,
    selection: &Selection,
    order_seed: Option<i64>,
) -> Result<Vec<&'a FrozenTask>, AppError> {
    selection.check(snapshot)?;
    let selected: Vec<&FrozenTask> = snapshot.tasks.iter().filter(|task| selection.selects(task)).collect();
    Ok(match order_seed {
        Some(seed) => shuffled(selected, seed, |task| &task.id),
        None => selected,
    })
}
