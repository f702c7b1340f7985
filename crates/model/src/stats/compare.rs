//! Groups of runs against each other, paired by task: a hard task is hard for both, so only the difference on it counts.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::RunSample;
use super::interval::Interval;
use super::sample::{Sample, float};
use super::summary::{Runs, Statistics, TaskRuns, by_axis, by_task, distinct, statistics};
use crate::TaskId;

/// Groups of runs side by side, and the difference of every two of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Comparison {
    /// All numbers are of this engine's results; null when there are none.
    #[serde(default)]
    pub engine: Option<String>,
    /// How many runs are left out, because this engine has not scored them.
    #[serde(default)]
    pub other_engines: u64,
    /// In the order asked for.
    pub groups: Vec<ComparedGroup>,
    /// Each group less each that comes after it.
    pub differences: Vec<PairedDifference>,
}

/// One group of runs and its statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparedGroup {
    pub label: String,
    pub statistics: Statistics,
}

/// The first group less the second, paired by task: above 0 the first is better.
///
/// A pair is a task that both groups have run; its difference is the task's mean score over the first group's runs less
/// that over the second's. Of two versions of a benchmark, a task that has got another id is known by its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PairedDifference {
    /// The first group's label.
    pub first: String,
    /// The second group's label.
    pub second: String,
    /// How many pairs.
    pub n: u64,
    /// Σ difference ÷ n; null when n is 0.
    pub mean: Option<f64>,
    /// The sample standard deviation of the differences, √(Σ(difference − mean)² ÷ (n − 1)); null when n is below 2.
    pub stdev: Option<f64>,
    /// The 95 % interval of the mean difference by Student's t over the pairs, with n − 1 degrees of freedom.
    pub interval: Option<Interval>,
    /// Why there is no interval; null when there is one.
    pub no_interval: Option<NoInterval>,
    /// Whether the interval excludes 0; null when there is none.
    pub significant: Option<bool>,
    pub sign_test: SignTest,
    /// The tasks on which the first group has the higher mean, by id.
    pub better: Vec<TaskDifference>,
    /// The tasks on which the first group has the lower mean, by id.
    pub worse: Vec<TaskDifference>,
    /// Tasks that only the first group has run, by id: not in the difference.
    pub only_first: Vec<TaskId>,
    /// Tasks that only the second group has run, by id: not in the difference.
    pub only_second: Vec<TaskId>,
    /// The axes that both groups have, by name.
    pub axes: BTreeMap<String, AxisDifference>,
}

/// Why a difference has no interval: the groups have no task in common (`no_common_task`), or just one, and one pair has
/// no spread that an interval could be made of (`one_common_task`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoInterval {
    NoCommonTask,
    OneCommonTask,
}

/// The exact two-sided sign test: whether tasks got better more often than worse, however much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SignTest {
    /// Tasks with a difference above 0.
    pub better: u64,
    /// Tasks with a difference below 0.
    pub worse: u64,
    /// Tasks with no difference: not in the test.
    pub equal: u64,
    /// min(1, 2 · Σ C(m, i) ÷ 2ᵐ), summed over i from 0 to the smaller of better and worse, where m = better + worse.
    pub p_value: f64,
}

/// One task in both groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskDifference {
    pub task: TaskId,
    /// As the newest run of the first group has it.
    pub name: String,
    pub first: TaskSide,
    pub second: TaskSide,
    /// The first group's mean less the second's.
    pub difference: f64,
}

/// One task in one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskSide {
    /// In how many runs.
    pub n: u64,
    /// In how many of them it passed.
    pub passes: u64,
    /// Σ score ÷ n.
    pub mean: f64,
}

/// One axis in both groups. Runs keep no axes per task, so this difference is not paired and has no interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AxisDifference {
    /// The mean over the first group's runs that have the axis.
    pub first: f64,
    /// The mean over the second group's runs that have the axis.
    pub second: f64,
    /// The first group's mean less the second's.
    pub difference: f64,
}

/// Each group's statistics, and each less each that comes after it.
pub fn compare(groups: &[(String, Vec<RunSample>)]) -> Comparison {
    let sides: Vec<Side> = groups.iter().map(|(label, runs)| Side::of(label, runs)).collect();
    let differences = sides.iter().enumerate().flat_map(|(place, first)| {
        let later = &sides[place + 1..];
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

/// One group, sorted for pairing.
struct Side<'a> {
    label: &'a str,
    runs: Runs<'a>,
    tasks: BTreeMap<&'a TaskId, TaskRuns<'a>>,
}

impl<'a> Side<'a> {
    fn of(label: &'a str, runs: &'a [RunSample]) -> Self {
        let runs = distinct(runs);
        let tasks = by_task(&runs);
        Self { label, runs, tasks }
    }

    /// The tasks that the other group has not run under the same id, by name. A name that two of them have tells none.
    fn names_not_in(&self, other: &Side) -> BTreeMap<&str, Option<&'a TaskId>> {
        let mut names = BTreeMap::new();
        for (task, runs) in self.tasks.iter().filter(|(task, _)| !other.tasks.contains_key(*task)) {
            names.entry(runs.name()).and_modify(|known| *known = None).or_insert(Some(*task));
        }
        names
    }

    fn tasks_besides(&self, paired: &BTreeSet<&TaskId>) -> Vec<TaskId> {
        self.tasks.keys().filter(|task| !paired.contains(*task)).map(|task| (*task).clone()).collect()
    }
}

/// Which task of the second group each of the first is.
fn pair<'a>(first: &Side<'a>, second: &Side<'a>) -> Vec<(&'a TaskId, &'a TaskId)> {
    let same = first.tasks.keys().filter(|task| second.tasks.contains_key(*task)).map(|task| (*task, *task));
    let others = second.names_not_in(first);
    let renumbered = first.names_not_in(second).into_iter();
    let renumbered = renumbered.filter_map(|(name, task)| Some((task?, (*others.get(name)?)?)));
    let mut pairs: Vec<_> = same.chain(renumbered).collect();
    pairs.sort();
    pairs
}

fn difference(first: &Side, second: &Side) -> PairedDifference {
    let paired = pair(first, second);
    let of =
        |(task, other): &(&TaskId, &TaskId)| task_difference(task, first.tasks.get(*task)?, second.tasks.get(*other)?);
    let pairs: Vec<(BigRational, TaskDifference)> = paired.iter().filter_map(of).collect();
    let differences = Sample::of(pairs.iter().map(|(difference, _)| difference));
    let interval = Interval::of_mean_difference(&differences);
    let tasks = |counts: fn(&BigRational) -> bool| -> Vec<TaskDifference> {
        pairs.iter().filter(|(difference, _)| counts(difference)).map(|(_, task)| task.clone()).collect()
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
        only_first: first.tasks_besides(&paired.iter().map(|(task, _)| *task).collect()),
        only_second: second.tasks_besides(&paired.iter().map(|(_, task)| *task).collect()),
        axes: axis_differences(&first.runs, &second.runs),
    }
}

/// The difference, exact and for show.
fn task_difference(task: &TaskId, first: &TaskRuns, second: &TaskRuns) -> Option<(BigRational, TaskDifference)> {
    let side = |runs: &TaskRuns| {
        let (attempts, mean) = (runs.attempts(), runs.scores().exact_mean()?);
        Some((TaskSide { n: attempts.n, passes: attempts.passes, mean: float(&mean) }, mean))
    };
    let (name, (first, first_mean), (second, second_mean)) = (first.name(), side(first)?, side(second)?);
    let exact = less(&first_mean, &second_mean);
    let difference = float(&exact);
    Some((exact, TaskDifference { task: task.clone(), name: name.to_owned(), first, second, difference }))
}

/// Exact, and not in lowest terms, for the reason that `Sample` gives.
fn less(first: &BigRational, second: &BigRational) -> BigRational {
    let numerator = first.numer() * second.denom() - second.numer() * first.denom();
    BigRational::new_raw(numerator, first.denom() * second.denom())
}

fn axis_differences(first: &Runs, second: &Runs) -> BTreeMap<String, AxisDifference> {
    let second = by_axis(second);
    let both = by_axis(first).into_iter().filter_map(|(name, axis)| {
        let (first, second) = (axis.exact_mean()?, second.get(name)?.exact_mean()?);
        let (shown_first, shown_second) = (float(&first), float(&second));
        let difference = float(&less(&first, &second));
        Some((name.clone(), AxisDifference { first: shown_first, second: shown_second, difference }))
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

    /// Tosses a fair coin in every way and counts those at least as uneven.
    fn tossed(better: u32, worse: u32) -> f64 {
        let tosses = better + worse;
        let uneven = |heads: u32| heads.abs_diff(tosses - heads);
        let as_uneven = (0..1u32 << tosses).filter(|coins| uneven(coins.count_ones()) >= uneven(better)).count();
        as_uneven as f64 / f64::from(1u32 << tosses)
    }

    #[test]
    fn the_sign_test_counts_every_way_to_toss() {
        for better in 0..=7u32 {
            for worse in 0..=7u32 {
                let found = sign_test(better.into(), worse.into(), 20);
                assert_eq!(found.p_value, tossed(better, worse), "{better} better, {worse} worse");
                assert_eq!(found.equal, u64::from(20 - better - worse));
            }
        }
    }

    #[test]
    fn the_sign_test_of_many_tasks_stays_a_number() {
        assert_eq!(sign_test(0, 0, 0).p_value, 1.0);
        assert_eq!(sign_test(60, 0, 60).p_value, 2.0_f64.powi(-59));
        assert_eq!(sign_test(3_000, 0, 3_000).p_value, 0.0);
        assert_eq!(sign_test(1_500, 1_500, 3_000).p_value, 1.0);
    }
}
