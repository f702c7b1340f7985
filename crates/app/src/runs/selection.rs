//! Which tasks a run has, and in which order.

use model::publication::{FrozenTask, Snapshot};
use model::run::shuffled;
use model::{FieldErrors, Id};

use crate::AppError;

/// All tasks or the wanted ones, each once; in the benchmark's order, or shuffled by the seed.
pub(super) fn tasks<'a>(
    snapshot: &'a Snapshot,
    wanted: Option<&[String]>,
    order_seed: Option<i64>,
) -> Result<Vec<&'a FrozenTask>, AppError> {
    let is_wanted = |task: &FrozenTask, wanted: &String| task.name == *wanted || wanted == task.id.as_str();
    let mut errors = FieldErrors::new();
    for (index, name) in wanted.unwrap_or_default().iter().enumerate() {
        if !snapshot.tasks.iter().any(|task| is_wanted(task, name)) {
            let shown = model::reading::shortened(name, 100);
            errors.add(format!("tasks.{index}"), format!("no task of the benchmark has the id or name {shown:?}"));
        }
    }
    errors.into_result()?;
    let is_selected = |task: &&FrozenTask| wanted.is_none_or(|wanted| wanted.iter().any(|one| is_wanted(task, one)));
    let selected: Vec<&FrozenTask> = snapshot.tasks.iter().filter(is_selected).collect();
    Ok(match order_seed {
        Some(seed) => shuffled(selected, seed, |task| &task.id),
        None => selected,
    })
}
