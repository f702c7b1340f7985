//! pass@k and pass^k: the probabilities that one of several attempts at a task passes, and that all do.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::sample::Sample;

/// The largest k that is reported.
pub const MOST_ATTEMPTS: u64 = 10;

/// pass@k: the probability that at least one of k attempts at a task passes.
///
/// The unbiased estimate from n runs of which c passed is 1 − C(n − c, k) ÷ C(n, k). For a benchmark, the mean over its
/// tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PassAt {
    /// How many attempts: from 1 to n, at most 10.
    pub k: u64,
    pub value: f64,
}

/// pass^k: the probability that all of k attempts at a task pass.
///
/// The unbiased estimate from n runs of which c passed is C(c, k) ÷ C(n, k). For a benchmark, the mean over its tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PassHat {
    /// How many attempts: from 1 to n, at most 10.
    pub k: u64,
    pub value: f64,
}

/// The number of runs of one task, and how many of them passed.
#[derive(Clone, Copy)]
pub(super) struct Attempts {
    pub(super) passes: u64,
    pub(super) n: u64,
}

/// The means over the tasks, for every k for which all tasks have enough runs. With different tasks for different k the
/// values could not be compared.
pub(super) fn mean_over_tasks(tasks: &[Attempts]) -> (Vec<PassAt>, Vec<PassHat>) {
    let max_k = tasks.iter().map(|task| task.n).min().unwrap_or(0).min(MOST_ATTEMPTS);
    let mean = |k, estimate: fn(&Attempts, u64) -> BigRational| {
        let values: Vec<BigRational> = tasks.iter().map(|task| estimate(task, k)).collect();
        Sample::of(&values).mean()
    };
    let pass_at = (1..=max_k).filter_map(|k| Some(PassAt { k, value: mean(k, Attempts::pass_at)? }));
    let pass_hat = (1..=max_k).filter_map(|k| Some(PassHat { k, value: mean(k, Attempts::pass_hat)? }));
    (pass_at.collect(), pass_hat.collect())
}

impl Attempts {
    pub(super) fn estimates(self) -> (Vec<PassAt>, Vec<PassHat>) {
        mean_over_tasks(&[self])
    }

    fn pass_at(&self, k: u64) -> BigRational {
        BigRational::one() - subset_share(self.n - self.passes, self.n, k)
    }

    fn pass_hat(&self, k: u64) -> BigRational {
        subset_share(self.passes, self.n, k)
    }
}

/// C(part, k) ÷ C(all, k): the share of subsets of size k that lie within the part.
fn subset_share(part: u64, all: u64, k: u64) -> BigRational {
    let falling_factorial = |from: u64| (0..k).map(|step| BigInt::from(from.saturating_sub(step))).product::<BigInt>();
    BigRational::new(falling_factorial(part), falling_factorial(all))
}

#[cfg(test)]
mod tests {
    use super::super::sample::float;
    use super::*;

    /// Computes pass@k and pass^k by enumerating every subset of k of n runs, of which the first `passes` passed.
    fn by_enumeration(passes: u32, n: u32, k: u32) -> (BigRational, BigRational) {
        let passed = (1u32 << passes) - 1;
        let draws: Vec<u32> = (0..1u32 << n).filter(|draw| draw.count_ones() == k).collect();
        let share = |matches: &dyn Fn(u32) -> bool| {
            let hits = draws.iter().filter(|draw| matches(**draw)).count();
            BigRational::new(hits.into(), draws.len().into())
        };
        (share(&|draw| draw & passed != 0), share(&|draw| draw & passed == draw))
    }

    #[test]
    fn estimates_equal_the_shares_of_all_subsets() {
        for n in 1..=10u32 {
            for passes in 0..=n {
                let attempts = Attempts { passes: passes.into(), n: n.into() };
                for k in 1..=n {
                    let found = (attempts.pass_at(k.into()), attempts.pass_hat(k.into()));
                    assert_eq!(found, by_enumeration(passes, n, k), "{passes} of {n}, {k} attempts");
                }
            }
        }
    }

    #[test]
    fn estimates_are_rounded_to_the_nearest_float() {
        let (pass_at, pass_hat) = Attempts { passes: 2, n: 3 }.estimates();
        assert_eq!(pass_at.iter().map(|one| one.value).collect::<Vec<_>>(), [2.0 / 3.0, 1.0, 1.0]);
        assert_eq!(pass_hat.iter().map(|one| one.value).collect::<Vec<_>>(), [2.0 / 3.0, 1.0 / 3.0, 0.0]);
    }

    #[test]
    fn k_is_limited_by_ten_and_by_the_task_with_the_fewest_runs() {
        let many = Attempts { passes: 400, n: 1_000 };
        assert_eq!(many.estimates().0.last().map(|last| last.k), Some(10));
        let (pass_at, pass_hat) = mean_over_tasks(&[many, Attempts { passes: 1, n: 2 }]);
        assert_eq!((pass_at.len(), pass_hat.len()), (2, 2));
        assert_eq!(
            (pass_at[0].value, pass_hat[1].value),
            (0.45, float(&(subset_share(400, 1_000, 2) / BigInt::from(2))))
        );
        assert_eq!(mean_over_tasks(&[]), (vec![], vec![]));
        assert_eq!(Attempts { passes: 0, n: 0 }.estimates(), (vec![], vec![]));
    }
}
