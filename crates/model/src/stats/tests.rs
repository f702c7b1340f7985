//! Tests of statistics and comparisons: small groups with results computed by hand, and properties of random groups.

use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;

use super::*;
use crate::score::AxisScore;
use crate::{Id, Ulid};

fn task_id(number: u64) -> TaskId {
    TaskId::from_ulid(Ulid::new(number, 0))
}

/// A run whose tasks have these scores, all on one axis.
fn run_of(number: u64, fractions: &[(u64, u64)]) -> RunSample {
    let tasks: Vec<TaskSample> = (0..)
        .zip(fractions)
        .map(|(number, (passed, all))| {
            let score = Score::fraction(*passed, *all);
            TaskSample {
                task: task_id(number),
                name: format!("task {number}"),
                verdict: score.verdict(),
                score,
                critical_failures: 0,
            }
        })
        .collect();
    let score = Score::mean(tasks.iter().map(|task| &task.score));
    let axis = AxisScore { score: score.clone(), weight: BigRational::from(BigInt::from(1)) };
    let axes = Axes::from([("safety".to_owned(), axis)]);
    RunSample {
        run: BenchmarkRunId::from_ulid(Ulid::new(number, 0)),
        score,
        axes,
        tasks,
        critical_failures: 0,
        bounds: Bounds::default(),
        unmeasured: 0,
    }
}

/// Like [`run_of`], with scores in tenths.
fn run(number: u64, tenths: &[u64]) -> RunSample {
    run_of(number, &tenths.iter().map(|tenths| (*tenths, 10)).collect::<Vec<_>>())
}

fn runs(first_number: u64, tenths: &[&[u64]]) -> Vec<RunSample> {
    (first_number..).zip(tenths).map(|(number, tenths)| run(number, tenths)).collect()
}

fn between(first: Vec<RunSample>, second: Vec<RunSample>) -> PairedDifference {
    let comparison = compare(&[("new".into(), first), ("old".into(), second)]);
    assert_eq!(comparison.differences.len(), 1);
    comparison.differences.into_iter().next().unwrap()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

fn values(estimates: &[PassHat]) -> Vec<f64> {
    estimates.iter().map(|estimate| estimate.value).collect()
}

#[test]
fn critical_failures_are_counted() {
    let mut all = runs(1, &[&[10, 10], &[10, 0], &[10, 10]]);
    for (run, failures) in all.iter_mut().zip([0, 3, 0]) {
        run.critical_failures = failures;
        run.tasks[1].critical_failures = failures;
    }
    // A duplicate run counts once.
    all.push(all[1].clone());
    let found = statistics(&all);
    assert_eq!((found.n, found.critical_failures, found.runs_with_critical_failures), (3, 3, 1));
    assert_eq!(found.tasks.iter().map(|task| task.critical_failures).collect::<Vec<_>>(), [0, 3]);
}

#[test]
fn tasks_with_different_ids_are_matched_by_name() {
    let first = runs(1, &[&[10, 5, 10]]);
    let mut second = runs(2, &[&[0, 5, 10]]);
    second[0].tasks.iter_mut().zip(10..).for_each(|(task, number)| task.task = task_id(number));
    let found = between(first.clone(), second.clone());
    assert_eq!((found.n, found.sign_test.better, found.sign_test.equal), (3, 1, 2));
    assert_eq!((found.only_first, found.only_second), (vec![], vec![]));
    // A name that two tasks have matches neither.
    second[0].tasks[0].name = second[0].tasks[1].name.clone();
    let found = between(first, second);
    assert_eq!(
        (found.n, found.only_first, found.only_second),
        (1, vec![task_id(0), task_id(1)], vec![task_id(10), task_id(11)])
    );
}

#[test]
fn statistics_of_three_runs_of_two_tasks_are_right() {
    let found = statistics(&runs(1, &[&[10, 10], &[10, 5], &[0, 9]]));
    assert_eq!((found.n, found.mean), (3, Some(44.0 / 60.0)));
    // The scores are 20, 15 and 9 of 20; their squared distances from the mean sum to 182 ÷ 3 of 400ths.
    close(found.stdev.unwrap(), (182.0_f64 / 3.0 / 400.0 / 2.0).sqrt());
    assert_eq!((found.pass_rate.passes, found.pass_rate.n), (1, 3));
    assert_eq!(found.tasks.iter().map(|task| task.pass_rate.passes).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(
        found.pass_at.iter().map(|at| (at.k, at.value)).collect::<Vec<_>>(),
        [(1, 2.0 / 3.0), (2, 1.0), (3, 1.0)]
    );
    assert_eq!(values(&found.pass_hat), [2.0 / 3.0, 1.0 / 3.0, 0.0]);
    assert_eq!((found.axes["safety"].n, found.axes["safety"].mean), (3, found.mean));
    assert_eq!(found.axes["safety"].interval, found.interval);
}

#[test]
fn statistics_of_no_runs_are_empty() {
    let found = statistics(&[]);
    assert_eq!((found.n, found.mean, found.stdev, found.interval), (0, None, None, None));
    assert_eq!((found.pass_rate.rate, found.pass_rate.interval), (None, None));
    assert!(found.pass_at.is_empty() && found.pass_hat.is_empty() && found.tasks.is_empty() && found.axes.is_empty());
    assert_eq!(compare(&[]), Comparison { engine: None, other_engines: 0, groups: vec![], differences: vec![] });
}

#[test]
fn one_run_has_a_mean_and_no_spread() {
    let found = statistics(&runs(1, &[&[10, 3]]));
    assert_eq!((found.n, found.mean, found.stdev, found.interval), (1, Some(0.65), None, None));
    assert_eq!((found.pass_at.len(), found.pass_hat.len()), (1, 1));
    assert_eq!((found.pass_at[0].value, found.pass_hat[0].value), (0.5, 0.5));
    assert!(found.pass_rate.interval.is_some());
}

#[test]
fn equal_runs_have_an_interval_without_width() {
    let found = statistics(&runs(1, &[&[7], &[7], &[7]]));
    let interval = found.interval.unwrap();
    assert_eq!((found.stdev, interval.low, interval.high), (Some(0.0), 0.7, 0.7));
}

#[test]
fn duplicate_runs_count_once() {
    let once = runs(1, &[&[10, 3], &[4, 4]]);
    let twice: Vec<RunSample> = once.iter().chain(&once).cloned().collect();
    assert_eq!(statistics(&twice), statistics(&once));
}

#[test]
fn the_task_name_comes_from_the_newest_run() {
    let mut group = runs(1, &[&[1], &[2]]);
    group[1].tasks[0].name = "renamed".into();
    assert_eq!(statistics(&group).tasks[0].name, "renamed");
    group.reverse();
    assert_eq!(statistics(&group).tasks[0].name, "renamed");
}

#[test]
fn a_difference_is_paired_by_task() {
    // Means of the tasks: 1, 0.5, 0.4 against 0.5, 0.5, 0.6.
    let found = between(runs(1, &[&[10, 4, 4], &[10, 6, 4]]), runs(9, &[&[5, 5, 6]]));
    assert_eq!((found.first.as_str(), found.second.as_str(), found.n), ("new", "old", 3));
    close(found.mean.unwrap(), 0.1);
    close(found.stdev.unwrap(), 0.13_f64.sqrt());
    let t = 0.95 * (2.0_f64 / (4.0 * 0.975 * 0.025)).sqrt();
    let interval = found.interval.unwrap();
    assert_eq!(interval.method, IntervalMethod::PairedStudentT);
    close(interval.low, 0.1 - t * (0.13_f64 / 3.0).sqrt());
    close(interval.high, 0.1 + t * (0.13_f64 / 3.0).sqrt());
    assert_eq!((found.significant, found.no_interval), (Some(false), None));
    assert_eq!(found.sign_test, SignTest { better: 1, worse: 1, equal: 1, p_value: 1.0 });
    assert_eq!((found.better.len(), found.worse.len()), (1, 1));
    assert_eq!((&found.better[0].task, found.better[0].difference), (&task_id(0), 0.5));
    assert_eq!(found.better[0].first, TaskSide { n: 2, passes: 2, mean: 1.0 });
    assert_eq!((&found.worse[0].task, found.worse[0].difference), (&task_id(2), -0.2));
    // (18 + 20) ÷ 60 against 16 ÷ 30.
    assert_eq!(found.axes["safety"].difference, 0.1);
}

#[test]
fn a_clear_difference_is_significant_in_its_direction() {
    let (high, low) = (runs(1, &[&[10, 9, 10, 9, 10, 9, 8]]), runs(9, &[&[1, 2, 1, 2, 2, 0, 1]]));
    let found = between(high.clone(), low.clone());
    assert_eq!((found.significant, found.sign_test.p_value), (Some(true), 1.0 / 64.0));
    let swapped = between(low, high);
    assert_eq!(swapped.significant, Some(true));
    assert_eq!(swapped.mean, found.mean.map(|mean| -mean));
    assert_eq!((swapped.better.len(), swapped.worse.len()), (0, 7));
}

#[test]
fn a_missing_interval_has_a_reason() {
    let one = between(runs(1, &[&[10]]), runs(9, &[&[5]]));
    assert_eq!((one.n, one.mean, one.stdev, one.significant), (1, Some(0.5), None, None));
    assert_eq!((one.interval, one.no_interval), (None, Some(NoInterval::OneCommonTask)));
    let none = between(runs(1, &[&[10]]), vec![]);
    assert_eq!((none.n, none.mean, none.no_interval), (0, None, Some(NoInterval::NoCommonTask)));
    assert_eq!((none.only_first, none.only_second), (vec![task_id(0)], vec![]));
}

#[test]
fn tasks_of_only_one_group_are_listed_and_left_out() {
    let found = between(runs(1, &[&[10, 10]]), runs(9, &[&[5, 5, 0, 0]]));
    assert_eq!((found.n, found.mean), (2, Some(0.5)));
    assert_eq!((found.only_first, found.only_second), (vec![], vec![task_id(2), task_id(3)]));
}

#[test]
fn every_two_groups_are_compared() {
    let group = |label: &str, number| (label.to_owned(), runs(number, &[&[number, 5]]));
    let found = compare(&[group("a", 1), group("b", 2), group("c", 3)]);
    let pairs: Vec<(&str, &str)> =
        found.differences.iter().map(|pair| (pair.first.as_str(), pair.second.as_str())).collect();
    assert_eq!(pairs, [("a", "b"), ("a", "c"), ("b", "c")]);
    assert_eq!(found.groups.len(), 3);
}

/// The reference values were computed with mpmath 1.4.1 at 40 digits, and agree with SciPy's `ttest_1samp`, `ttest_rel`
/// and `binomtest` within their precision.
#[test]
fn statistics_match_reference_values() {
    let scores = [(1, 2), (2, 3), (5, 7), (9, 11), (4, 9), (7, 13), (3, 5)];
    let one_task = (0..).zip(scores).map(|(number, score)| run_of(number, &[score]));
    let found = statistics(&one_task.collect::<Vec<_>>());
    close(found.mean.unwrap(), 0.611_720_026_005_740_3);
    close(found.stdev.unwrap(), 0.130_468_370_857_369_1);
    let interval = found.interval.unwrap();
    close(interval.low, 0.491_056_907_928_321_1);
    close(interval.high, 0.732_383_144_083_159_5);

    let first = run_of(1, &[(9, 10), (2, 3), (1, 1), (4, 7), (5, 6), (8, 9)]);
    let second = run_of(2, &[(1, 2), (1, 3), (6, 7), (3, 5), (1, 6), (1, 9)]);
    let found = between(vec![first], vec![second]);
    close(found.mean.unwrap(), 0.382_010_582_010_582);
    close(found.stdev.unwrap(), 0.305_327_957_563_021_3);
    let interval = found.interval.unwrap();
    close(interval.low, 0.061_588_541_487_298_724);
    close(interval.high, 0.702_432_622_533_865_3);
    assert_eq!((found.significant, found.sign_test.p_value), (Some(true), 0.21875));
}

/// Readers of the API documentation need the formulas to reproduce the numbers.
#[test]
fn the_schema_documents_the_formulas() {
    use utoipa::PartialSchema;
    let text = |schema| serde_json::to_string(&schema).unwrap();
    for (schema, formula) in [
        (text(PassAt::schema()), "1 − C(n − c, k) ÷ C(n, k)"),
        (text(PassHat::schema()), "C(c, k) ÷ C(n, k)"),
        (text(IntervalMethod::schema()), "mean ± t · s ÷ √n"),
        (text(IntervalMethod::schema()), "z √(p(1 − p) ÷ n + z² ÷ 4n²)"),
        (text(Statistics::schema()), "√(Σ(score − mean)² ÷ (n − 1))"),
        (text(PairedDifference::schema()), "√(Σ(difference − mean)² ÷ (n − 1))"),
        (text(SignTest::schema()), "2 · Σ C(m, i) ÷ 2ᵐ"),
        (text(NoInterval::schema()), "one_common_task"),
    ] {
        assert!(schema.contains(formula), "{formula} is not in {schema}");
    }
}

/// Runs of up to four tasks, with scores of various denominators.
fn any_runs() -> impl Strategy<Value = Vec<RunSample>> {
    let task = (0u64..6, 0u64..=13, 1u64..=13).prop_map(|(number, passed, all)| {
        let score = Score::fraction(passed, all);
        let verdict = score.verdict();
        TaskSample { task: task_id(number), name: format!("task {number}"), score, verdict, critical_failures: 0 }
    });
    let tasks = prop::collection::vec(task, 0..5);
    prop::collection::vec(tasks, 0..9).prop_map(|runs| {
        let runs = runs.into_iter().enumerate().map(|(number, tasks)| {
            let (score, axes) = crate::score::run(
                &tasks.iter().map(|task| (task.score.clone(), run(0, &[number as u64]).axes)).collect::<Vec<_>>(),
            );
            RunSample {
                run: BenchmarkRunId::from_ulid(Ulid::new(number as u64, 0)),
                score,
                axes,
                tasks,
                critical_failures: 0,
                bounds: Bounds::default(),
                unmeasured: 0,
            }
        });
        runs.collect()
    })
}

fn shuffled(runs: &[RunSample], shift: usize) -> Vec<RunSample> {
    let mut runs = runs.to_vec();
    for run in &mut runs {
        run.tasks.reverse();
    }
    let middle = shift % runs.len().max(1);
    runs.rotate_left(middle);
    runs.reverse();
    runs
}

fn contains_mean(interval: Option<&Interval>, mean: Option<f64>) -> bool {
    interval.is_none_or(|interval| mean.is_some_and(|mean| interval.low <= mean && mean <= interval.high))
}

proptest! {
    #[test]
    fn order_does_not_matter(first in any_runs(), second in any_runs(), shift in any::<usize>()) {
        let compared = |first: &[RunSample], second: &[RunSample]| {
            compare(&[("first".into(), first.to_vec()), ("second".into(), second.to_vec())])
        };
        let original = compared(&first, &second);
        let reordered = compared(&shuffled(&first, shift), &shuffled(&second, shift / 7));
        prop_assert_eq!(&original, &reordered);
    }

    #[test]
    fn intervals_contain_the_mean_and_estimates_are_monotonic(runs in any_runs()) {
        let found = statistics(&runs);
        prop_assert!(contains_mean(found.interval.as_ref(), found.mean));
        prop_assert!(found.tasks.iter().all(|task| contains_mean(task.interval.as_ref(), task.mean)));
        for task in &found.tasks {
            prop_assert!(task.pass_at.is_sorted_by(|fewer, more| fewer.value <= more.value));
            prop_assert!(task.pass_hat.is_sorted_by(|fewer, more| fewer.value >= more.value));
            prop_assert_eq!(task.pass_at.len() as u64, task.n.min(MOST_ATTEMPTS));
        }
    }

    /// NaN would come back as null. Parsed through `Value`, which keeps digits that direct deserialization rounds.
    #[test]
    fn json_round_trips_every_digit(first in any_runs(), second in any_runs()) {
        let found = compare(&[("first".into(), first), ("second".into(), second)]);
        let text = serde_json::to_string(&found).unwrap();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(serde_json::from_value::<Comparison>(read).unwrap(), found);
    }
}

#[test]
fn incomplete_runs_count_only_by_their_measured_tasks() {
    let complete = run(1, &[10, 0]);
    let partial = RunSample { unmeasured: 1, ..run(2, &[10]) };
    let found = statistics(&[complete.clone(), partial.clone()]);
    // The axes of an incomplete run do not count, because they are about other tasks.
    let compared = compare(&[("first".into(), vec![complete, partial]), ("second".into(), vec![run(3, &[10, 10])])]);
    let axis = &compared.differences[0].axes["safety"];
    assert_eq!((axis.first, compared.groups[0].statistics.incomplete_runs), (0.5, 1));
    assert_eq!((found.n, found.incomplete_runs, found.excluded_task_runs, found.mean), (1, 1, 1, Some(0.5)));
    let attempts: Vec<(u64, u64)> = found.tasks.iter().map(|task| (task.pass_rate.passes, task.n)).collect();
    assert_eq!(attempts, [(2, 2), (0, 1)]);
}

#[test]
fn agents_are_never_mixed() {
    let of = |agent: &str, run| AgentSample { solver: None, agent: Some(agent.to_owned()), agent_version: None, run };
    let mixed = per_agent(vec![of("good", run(1, &[10])), of("bad", run(2, &[0])), of("good", run(3, &[10]))]);
    assert_eq!((mixed.n, mixed.mean, mixed.pass_at.len(), mixed.tasks.len()), (3, None, 0, 0));
    let each: Vec<(Option<&str>, u64, Option<f64>)> =
        mixed.agents.iter().map(|one| (one.agent.as_deref(), one.statistics.n, one.statistics.mean)).collect();
    assert_eq!(each, [(Some("bad"), 1, Some(0.0)), (Some("good"), 2, Some(1.0))]);
    let alone = per_agent(vec![of("good", run(1, &[10]))]);
    assert_eq!((alone.n, alone.mean, alone.agents.len()), (1, Some(1.0), 0));
}
