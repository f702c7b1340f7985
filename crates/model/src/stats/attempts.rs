//! What a task's passes say about several attempts: that one of them passes, and that all do.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::sample::Sample;

/// The largest k that is reported.
pub const MOST_ATTEMPTS: u64 = 10;

/// pass@k: the chance that at least one of k attempts at a task passes.
///
/// Of n runs in which c passed, the unbiased estimate 1 − C(n − c, k) ÷ C(n, k). Over a benchmark, the mean over its tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PassAt {
    /// How many attempts: from 1 to n, at most 10.
    pub k: u64,
    pub value: f64,
}

/// pass^k: the chance that all of k attempts at a task pass.
///
/// Of n runs in which c passed, the unbiased estimate C(c, k) ÷ C(n, k). Over a benchmark, the mean over its tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PassHat {
    /// How many attempts: from 1 to n, at most 10.
    pub k: u64,
    pub value: f64,
}

/// One task's runs, and how many of them passed.
#[derive(Clone, Copy)]
pub(super) struct Attempts {
    pub(super) passes: u64,
    pub(super) n: u64,
}

/// Means over the tasks, for every k that each of them has runs enough for: another set of tasks for another k would make
/// the values incomparable.
pub(super) fn over_tasks(tasks: &[Attempts]) -> (Vec<PassAt>, Vec<PassHat>) {
    let most = tasks.iter().map(|task| task.n).min().unwrap_or(0).min(MOST_ATTEMPTS);
    let mean = |k, estimate: fn(&Attempts, u64) -> BigRational| {
        let values: Vec<BigRational> = tasks.iter().map(|task| estimate(task, k)).collect();
        Sample::of(&values).mean()
    };
    let pass_at = (1..=most).filter_map(|k| Some(PassAt { k, value: mean(k, Attempts::some_pass)? }));
    let pass_hat = (1..=most).filter_map(|k| Some(PassHat { k, value: mean(k, Attempts::all_pass)? }));
    (pass_at.collect(), pass_hat.collect())
}

impl Attempts {
    pub(super) fn estimates(self) -> (Vec<PassAt>, Vec<PassHat>) {
        over_tasks(&[self])
    }

    fn some_pass(&self, k: u64) -> BigRational {
        BigRational::one() - subsets(self.n - self.passes, self.n, k)
    }

    fn all_pass(&self, k: u64) -> BigRational {
        subsets(self.passes, self.n, k)
    }
}

/// C(part, k) ÷ C(all, k): the share of subsets of size k that lie within the part.
fn subsets(part: u64, all: u64, k: u64) -> BigRational {
    let falling = |from: u64| (0..k).map(|step| BigInt::from(from.saturating_sub(step))).product::<BigInt>();
    BigRational::new(falling(part), falling(all))
}

#[cfg(test)]
mod tests {
    use super::super::sample::float;
    use super::*;

    /// Draws every subset of k of n runs, of which the first few passed, and counts.
    fn drawn(passes: u32, n: u32, k: u32) -> (BigRational, BigRational) {
        let passed = (1u32 << passes) - 1;
        let draws: Vec<u32> = (0..1u32 << n).filter(|draw| draw.count_ones() == k).collect();
        let share = |counts: &dyn Fn(u32) -> bool| {
            let hits = draws.iter().filter(|draw| counts(**draw)).count();
            BigRational::new(hits.into(), draws.len().into())
        };
        (share(&|draw| draw & passed != 0), share(&|draw| draw & passed == draw))
    }

    #[test]
    fn estimates_are_shares_of_all_draws() {
        for n in 1..=10u32 {
            for passes in 0..=n {
                let attempts = Attempts { passes: passes.into(), n: n.into() };
                for k in 1..=n {
                    let found = (attempts.some_pass(k.into()), attempts.all_pass(k.into()));
                    assert_eq!(found, drawn(passes, n, k), "{passes} of {n}, {k} attempts");
                }
            }
        }
    }

    #[test]
    fn floating_point_values_are_the_nearest_ones() {
        let (pass_at, pass_hat) = Attempts { passes: 2, n: 3 }.estimates();
        assert_eq!(pass_at.iter().map(|one| one.value).collect::<Vec<_>>(), [2.0 / 3.0, 1.0, 1.0]);
        assert_eq!(pass_hat.iter().map(|one| one.value).collect::<Vec<_>>(), [2.0 / 3.0, 1.0 / 3.0, 0.0]);
    }

    #[test]
    fn attempts_end_at_ten_and_at_the_task_with_fewest_runs() {
        let many = Attempts { passes: 400, n: 1_000 };
        assert_eq!(many.estimates().0.last().map(|last| last.k), Some(10));
        let (pass_at, pass_hat) = over_tasks(&[many, Attempts { passes: 1, n: 2 }]);
        assert_eq!((pass_at.len(), pass_hat.len()), (2, 2));
        assert_eq!((pass_at[0].value, pass_hat[1].value), (0.45, float(&(subsets(400, 1_000, 2) / BigInt::from(2)))));
        assert_eq!(over_tasks(&[]), (vec![], vec![]));
        assert_eq!(Attempts { passes: 0, n: 0 }.estimates(), (vec![], vec![]));
    }
}
