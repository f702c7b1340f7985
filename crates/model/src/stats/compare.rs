//! Compares groups of runs, paired by task. A hard task is hard for both groups, so only the difference on it counts.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::RunSample;
use super::interval::Interval;
use super::sample::{Sample, float};
use super::summary::{Runs, Statistics, TaskRuns, by_axis, by_task, complete, distinct, statistics};
use crate::TaskId;

/// The statistics of groups of runs, and the difference of every two groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Comparison {
    /// The engine of all results; null if there are none.
    #[serde(default)]
    pub engine: Option<String>,
    /// The number of runs left out because this engine has not scored them.
    #[serde(default)]
    pub other_engines: u64,
    /// The groups in the requested order.
    pub groups: Vec<ComparedGroup>,
    /// Each group minus each later group.
    pub differences: Vec<PairedDifference>,
}

/// One group of runs and its statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparedGroup {
    pub label: String,
    pub statistics: Statistics,
}

/// The first group minus the second, paired by task. Above 0 the first is better.
///
/// A pair is a task that both groups have run. Its difference is the task's mean score over the first group's runs
/// minus that over the second's. Tasks of two versions of a benchmark that have different ids are matched by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PairedDifference {
    /// The first group's label.
    pub first: String,
    /// The second group's label.
    pub second: String,
    /// The number of pairs.
    pub n: u64,
    /// Σ difference ÷ n; null if n is 0.
    pub mean: Option<f64>,
    /// The sample standard deviation of the differences, √(Σ(difference − mean)² ÷ (n − 1)); null if n is below 2.
    pub stdev: Option<f64>,
    /// The 95 % interval of the mean difference by Student's t over the pairs, with n − 1 degrees of freedom.
    pub interval: Option<Interval>,
    /// Why there is no interval; null if there is one.
    pub no_interval: Option<NoInterval>,
    /// Whether the interval excludes 0; null if there is none.
    pub significant: Option<bool>,
    pub sign_test: SignTest,
    /// The tasks on which the first group has the higher mean, by id.
    pub better: Vec<TaskDifference>,
    /// The tasks on which the first group has the lower mean, by id.
    pub worse: Vec<TaskDifference>,
    /// Tasks that only the first group has run, by id. They are not part of the difference.
    pub only_first: Vec<TaskId>,
    /// Tasks that only the second group has run, by id. They are not part of the difference.
    pub only_second: Vec<TaskId>,
    /// The axes that both groups have, by name.
    pub axes: BTreeMap<String, AxisDifference>,
}

/// Why a difference has no interval: the groups have no common task (`no_common_task`), or only one, which has no
/// spread to compute an interval from (`one_common_task`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoInterval {
    NoCommonTask,
    OneCommonTask,
}

/// The exact two-sided sign test: whether tasks got better more often than worse, regardless of the amount.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SignTest {
    /// The number of tasks with a difference above 0.
    pub better: u64,
    /// The number of tasks with a difference below 0.
    pub worse: u64,
    /// The number of tasks with no difference. They are not part of the test.
    pub equal: u64,
    /// min(1, 2 · Σ C(m, i) ÷ 2ᵐ), summed over i from 0 to the smaller of better and worse, where m = better + worse.
    pub p_value: f64,
}

/// One task in both groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskDifference {
    pub task: TaskId,
    /// The name in the newest run of the first group.
    pub name: String,
    pub first: TaskSide,
    pub second: TaskSide,
    /// The first group's mean minus the second's.
    pub difference: f64,
}

/// One task in one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskSide {
    /// The number of runs.
    pub n: u64,
    /// The number of runs in which it passed.
    pub passes: u64,
    /// Σ score ÷ n.
    pub mean: f64,
}

/// One axis in both groups. Runs keep no axes per task, so this difference is not paired and has no interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AxisDifference {
    /// The mean over the first group's complete runs that have the axis.
    pub first: f64,
    /// The mean over the second group's complete runs that have the axis.
    pub second: f64,
    /// The first group's mean minus the second's.
    pub difference: f64,
}

/// Computes the statistics of each group, and the difference of each group to each later one.
pub fn compare(groups: &[(String, Vec<RunSample>)]) -> Comparison {
    let indexed: Vec<IndexedGroup> = groups.iter().map(|(label, runs)| IndexedGroup::of(label, runs)).collect();
    let differences = indexed.iter().enumerate().flat_map(|(position, first)| {
        let later = &indexed[position + 1..];
        later.iter().map(move |second| difference(first, second))
    });
    Comparison {
        engine: None,
        other_engines: 0,
        groups: groups
            .iter()
            .map(|(label, runs)| ComparedGroup { label: label.clone(), statistics: statistics(runs) })
            .collect(),
        differences: differences.collect(),
    }
}

/// A group with its runs and tasks by id, for pairing.
struct IndexedGroup<'a> {
    label: &'a str,
    runs: Runs<'a>,
    tasks: BTreeMap<&'a TaskId, TaskRuns<'a>>,
}

impl<'a> IndexedGroup<'a> {
    fn of(label: &'a str, runs: &'a [RunSample]) -> Self {
        let runs = distinct(runs);
        let tasks = by_task(&runs);
        Self { label, runs, tasks }
    }

    /// The tasks that the other group has not run under the same id, by name. `None` for a name that several of them
    /// have.
    fn unmatched_by_name(&self, other: &IndexedGroup) -> BTreeMap<&str, Option<&'a TaskId>> {
        let mut names = BTreeMap::new();
        for (task, runs) in self.tasks.iter().filter(|(task, _)| !other.tasks.contains_key(*task)) {
            names.entry(runs.name()).and_modify(|known| *known = None).or_insert(Some(*task));
        }
        names
    }

    fn tasks_except(&self, paired: &BTreeSet<&TaskId>) -> Vec<TaskId> {
        self.tasks.keys().filter(|task| !paired.contains(*task)).map(|task| (*task).clone()).collect()
    }
}

/// Pairs the tasks of the first group with those of the second, by id, else by name.
fn pair<'a>(first: &IndexedGroup<'a>, second: &IndexedGroup<'a>) -> Vec<(&'a TaskId, &'a TaskId)> {
    let same_id = first.tasks.keys().filter(|task| second.tasks.contains_key(*task)).map(|task| (*task, *task));
    let others = second.unmatched_by_name(first);
    let same_name = first.unmatched_by_name(second).into_iter();
    let same_name = same_name.filter_map(|(name, task)| Some((task?, (*others.get(name)?)?)));
    let mut pairs: Vec<_> = same_id.chain(same_name).collect();
    pairs.sort();
    pairs
}

fn difference(first: &IndexedGroup, second: &IndexedGroup) -> PairedDifference {
    let paired = pair(first, second);
    let to_difference =
        |(task, other): &(&TaskId, &TaskId)| task_difference(task, first.tasks.get(*task)?, second.tasks.get(*other)?);
    let pairs: Vec<(BigRational, TaskDifference)> = paired.iter().filter_map(to_difference).collect();
    let differences = Sample::of(pairs.iter().map(|(difference, _)| difference));
    let interval = Interval::of_mean_difference(&differences);
    let tasks = |matches: fn(&BigRational) -> bool| -> Vec<TaskDifference> {
        pairs.iter().filter(|(difference, _)| matches(difference)).map(|(_, task)| task.clone()).collect()
    };
    let (better, worse) = (tasks(BigRational::is_positive), tasks(BigRational::is_negative));
    PairedDifference {
        first: first.label.to_owned(),
        second: second.label.to_owned(),
        n: differences.n,
        mean: differences.mean(),
        stdev: differences.stdev(),
        significant: interval.as_ref().map(Interval::excludes_zero),
        interval,
        no_interval: match differences.n {
            0 => Some(NoInterval::NoCommonTask),
            1 => Some(NoInterval::OneCommonTask),
            _ => None,
        },
        sign_test: sign_test(better.len() as u64, worse.len() as u64, differences.n),
        better,
        worse,
        only_first: first.tasks_except(&paired.iter().map(|(task, _)| *task).collect()),
        only_second: second.tasks_except(&paired.iter().map(|(_, task)| *task).collect()),
        axes: axis_differences(&complete(&first.runs), &complete(&second.runs)),
    }
}

/// The exact difference of a task, and its form in the response.
fn task_difference(task: &TaskId, first: &TaskRuns, second: &TaskRuns) -> Option<(BigRational, TaskDifference)> {
    let side = |runs: &TaskRuns| {
        let (attempts, mean) = (runs.attempts(), runs.scores().exact_mean()?);
        Some((TaskSide { n: attempts.n, passes: attempts.passes, mean: float(&mean) }, mean))
    };
    let (name, (first, first_mean), (second, second_mean)) = (first.name(), side(first)?, side(second)?);
    let exact = subtract(&first_mean, &second_mean);
    let difference = float(&exact);
    Some((exact, TaskDifference { task: task.clone(), name: name.to_owned(), first, second, difference }))
}

/// The exact difference, not reduced to lowest terms, for the reason given at `Sums`.
fn subtract(first: &BigRational, second: &BigRational) -> BigRational {
    let numerator = first.numer() * second.denom() - second.numer() * first.denom();
    BigRational::new_raw(numerator, first.denom() * second.denom())
}

fn axis_differences(first: &Runs, second: &Runs) -> BTreeMap<String, AxisDifference> {
    let second = by_axis(second);
    let both = by_axis(first).into_iter().filter_map(|(name, axis)| {
        let (first, second) = (axis.exact_mean()?, second.get(name)?.exact_mean()?);
        let difference = float(&subtract(&first, &second));
        Some((name.clone(), AxisDifference { first: float(&first), second: float(&second), difference }))
    });
    both.collect()
}

fn sign_test(better: u64, worse: u64, pairs: u64) -> SignTest {
    let tosses = better + worse;
    let (mut ways, mut sum) = (BigInt::one(), BigInt::zero());
    for heads in 0..=better.min(worse) {
        sum += &ways;
        ways = ways * BigInt::from(tosses - heads) / BigInt::from(heads + 1);
    }
    let p_value = BigRational::new(sum * 2, BigInt::one() << tosses).min(BigRational::one());
    SignTest { better, worse, equal: pairs - tosses, p_value: float(&p_value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the p-value by enumerating all coin tosses and counting those that are at least as uneven.
    fn by_enumeration(better: u32, worse: u32) -> f64 {
        let tosses = better + worse;
        let uneven = |heads: u32| heads.abs_diff(tosses - heads);
        let as_uneven = (0..1u32 << tosses).filter(|coins| uneven(coins.count_ones()) >= uneven(better)).count();
        as_uneven as f64 / f64::from(1u32 << tosses)
    }

    #[test]
    fn the_sign_test_equals_the_enumeration_of_all_tosses() {
        for better in 0..=7u32 {
            for worse in 0..=7u32 {
                let found = sign_test(better.into(), worse.into(), 20);
                assert_eq!(found.p_value, by_enumeration(better, worse), "{better} better, {worse} worse");
                assert_eq!(found.equal, u64::from(20 - better - worse));
            }
        }
    }

    #[test]
    fn the_sign_test_of_many_tasks_does_not_overflow() {
        assert_eq!(sign_test(0, 0, 0).p_value, 1.0);
        assert_eq!(sign_test(60, 0, 60).p_value, 2.0_f64.powi(-59));
        assert_eq!(sign_test(3_000, 0, 3_000).p_value, 0.0);
        assert_eq!(sign_test(1_500, 1_500, 3_000).p_value, 1.0);
    }
}
