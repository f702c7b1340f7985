//! The task order of scored runs.

use crate::{TaskId, canonical};

/// Sorts tasks by the SHA-256 of `{seed}:{task id}`: a permutation that anyone can reproduce with the seed.
pub fn shuffled<T>(mut tasks: Vec<T>, seed: i64, id: impl Fn(&T) -> &TaskId) -> Vec<T> {
    tasks.sort_by_cached_key(|task| canonical::sha256_hex(format!("{seed}:{}", id(task)).as_bytes()));
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Id, Ulid};

    #[test]
    fn every_task_can_come_first_and_the_same_seed_gives_the_same_order() {
        let tasks: Vec<TaskId> = (0..4).map(|number| TaskId::from_ulid(Ulid(number))).collect();
        let order = |seed| shuffled(tasks.clone(), seed, |task| task);
        for task in &tasks {
            assert!((0..100).any(|seed| order(seed)[0] == *task));
        }
        assert_eq!(order(7), order(7));
        let mut reversed = tasks.clone();
        reversed.reverse();
        assert_eq!(shuffled(reversed, 7, |task| task), order(7), "independent of the original order");
    }
}
