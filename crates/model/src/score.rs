//! Score arithmetic: exact fractions, so that neither rounding nor the order of criteria can change a verdict.

use std::collections::BTreeMap;
use std::fmt;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::weight::Weight;

/// A number from 0 to 1, exact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(BigRational);

/// What a score means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    Partial,
    Fail,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Partial => "partial",
            Verdict::Fail => "fail",
        }
    }
}

impl std::str::FromStr for Verdict {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Verdict::Pass, Verdict::Partial, Verdict::Fail].into_iter().find(|verdict| verdict.name() == text).ok_or(())
    }
}

impl Score {
    pub fn zero() -> Self {
        Self(BigRational::zero())
    }

    pub fn one() -> Self {
        Self(BigRational::one())
    }

    /// So many of so many; nothing of nothing is 0.
    pub fn fraction(passed: u64, all: u64) -> Self {
        if all == 0 {
            return Self::zero();
        }
        Self(BigRational::new(BigInt::from(passed.min(all)), BigInt::from(all)))
    }

    /// The mean; 0 of nothing.
    pub fn mean<'a>(scores: impl IntoIterator<Item = &'a Score>) -> Self {
        let (sum, count) =
            scores.into_iter().fold((BigRational::zero(), 0u64), |(sum, count), score| (sum + &score.0, count + 1));
        if count == 0 { Self::zero() } else { Self(sum / BigInt::from(count)) }
    }

    /// The number itself, for arithmetic that must not round before its end.
    pub fn exact(&self) -> &BigRational {
        &self.0
    }

    /// The nearest number that a computer calculates with.
    pub fn to_f64(&self) -> f64 {
        num_traits::ToPrimitive::to_f64(&self.0).unwrap_or(0.0)
    }

    /// `pass` from 0.9, `fail` at 0.
    pub fn verdict(&self) -> Verdict {
        let pass = BigRational::new(BigInt::from(9), BigInt::from(10));
        match &self.0 {
            score if *score >= pass => Verdict::Pass,
            score if score.is_zero() => Verdict::Fail,
            _ => Verdict::Partial,
        }
    }

    /// As the API carries it: the nearest double, unless that has another verdict or looks whole.
    pub fn number(&self) -> serde_json::Number {
        let nearest = self.to_f64();
        let number = match self.verdict() {
            Verdict::Pass if self.0 < BigRational::one() => nearest.min(1.0_f64.next_down()),
            Verdict::Partial => nearest.clamp(f64::MIN_POSITIVE, 0.9_f64.next_down()),
            Verdict::Pass | Verdict::Fail => nearest,
        };
        serde_json::Number::from_f64(number).unwrap_or_else(|| serde_json::Number::from(0))
    }

    /// What [`Score::number`] wrote, by its decimal digits: 0.7 is seven tenths.
    pub fn of_number(number: &serde_json::Number) -> Self {
        let text = number.to_string();
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let power = exponent.parse::<i64>().unwrap_or(0) - i64::try_from(part.len()).unwrap_or(i64::MAX);
        let value = format!("{whole}{part}").parse::<BigInt>().unwrap_or_default();
        let value = match u32::try_from(-power) {
            Ok(places) if places <= 400 => BigRational::new(value, BigInt::from(10).pow(places)),
            Ok(_) => BigRational::zero(),
            Err(_) => BigRational::from(value),
        };
        Self(value.clamp(BigRational::zero(), BigRational::one()))
    }

    /// For people: four digits after the point at most, rounded half up, but never up to a verdict that it has not: what is
    /// below 0.9 or 1 shows below it, and what is above 0 shows above it.
    pub fn rounded(&self) -> serde_json::Number {
        let scale = BigInt::from(10_000);
        let scaled = &self.0 * &scale;
        let mut shown = scaled.round().to_integer();
        for mark in [9_000, 10_000] {
            let mark = BigInt::from(mark);
            if shown == mark && scaled < BigRational::from(mark.clone()) {
                shown -= 1;
            }
        }
        if shown.is_zero() && !self.0.is_zero() {
            shown = BigInt::one();
        }
        decimal(&shown)
    }
}

/// A score from the API as people read it: four digits, never rounded up to a verdict that it does not have.
pub fn shown(score: f64) -> String {
    format!("{:.4}", shown_value(score))
}

/// The same with as few digits as it has: `1.0`, `0.5`, `0.6667`.
pub fn brief(score: &serde_json::Number) -> String {
    let shown = score.as_f64().map_or_else(|| score.to_string(), shown);
    let digits = shown.trim_end_matches('0');
    if digits.ends_with('.') { format!("{digits}0") } else { digits.to_owned() }
}

fn shown_value(score: f64) -> f64 {
    let mut rounded = (score * 10_000.0).round() / 10_000.0;
    for mark in [0.9, 1.0] {
        if score < mark && rounded >= mark {
            rounded = mark - 0.0001;
        }
    }
    if score > 0.0 && rounded <= 0.0 {
        rounded = 0.0001;
    }
    rounded
}

/// Ten thousandths as a JSON number: `1.0`, `0.6667`, `0.5`.
fn decimal(ten_thousandths: &BigInt) -> serde_json::Number {
    let digits = format!("{ten_thousandths:05}");
    let (whole, part) = digits.split_at(digits.len() - 4);
    let part = part.trim_end_matches('0');
    let text = format!("{whole}.{}", if part.is_empty() { "0" } else { part });
    text.parse().unwrap_or_else(|_| serde_json::Number::from(0))
}

/// Exact, as `numerator/denominator`: for storage.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0.numer(), self.0.denom())
    }
}

impl std::str::FromStr for Score {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (numerator, denominator) = text.split_once('/').ok_or(())?;
        let (numerator, denominator): (BigInt, BigInt) =
            (numerator.parse().map_err(|_| ())?, denominator.parse().map_err(|_| ())?);
        if denominator <= BigInt::zero() || numerator < BigInt::zero() || numerator > denominator {
            return Err(());
        }
        Ok(Self(BigRational::new(numerator, denominator)))
    }
}

impl Serialize for Score {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.number().serialize(serializer)
    }
}

/// What one criterion adds to a task.
#[derive(Clone, Debug)]
pub struct Part {
    pub score: Score,
    pub weight: Weight,
    pub axis: Option<String>,
}

/// The score of one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisScore {
    pub score: Score,
    /// The sum of what it was made of.
    pub weight: BigRational,
}

impl AxisScore {
    /// Weights are decimals, and so is their sum.
    pub fn weight_number(&self) -> serde_json::Number {
        let millionths = (&self.weight * BigInt::from(1_000_000)).to_integer();
        let digits = format!("{millionths:07}");
        let (whole, part) = digits.split_at(digits.len() - 6);
        let part = part.trim_end_matches('0');
        let text = if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") };
        text.parse().unwrap_or_else(|_| serde_json::Number::from(0))
    }
}

pub type Axes = BTreeMap<String, AxisScore>;

/// Criteria without an axis of their own.
pub const DEFAULT_AXIS: &str = "__default__";

/// A task's score: Σ score·weight ÷ Σ weight, and the same for each axis. No criteria: 0.
pub fn task(parts: &[Part]) -> (Score, Axes) {
    let mut axes: BTreeMap<String, Vec<&Part>> = BTreeMap::new();
    for part in parts {
        axes.entry(part.axis.clone().unwrap_or_else(|| DEFAULT_AXIS.to_owned())).or_default().push(part);
    }
    let axes = axes.into_iter().map(|(name, parts)| {
        let (score, weight) = weighted(&parts);
        (name, AxisScore { score, weight })
    });
    (weighted(&parts.iter().collect::<Vec<_>>()).0, axes.collect())
}

/// The axes of a task that ended without being scored: 0 on each axis of its criteria.
pub fn zero_axes(criteria: impl IntoIterator<Item = (Weight, Option<String>)>) -> Axes {
    let zero = |(weight, axis)| Part { score: Score::zero(), weight, axis };
    task(&criteria.into_iter().map(zero).collect::<Vec<_>>()).1
}

/// A run's score: the mean of its tasks'; each axis the mean over the tasks that have it, its weight their sum.
pub fn run(tasks: &[(Score, Axes)]) -> (Score, Axes) {
    let mut axes: BTreeMap<&String, Vec<&AxisScore>> = BTreeMap::new();
    for (name, axis) in tasks.iter().flat_map(|(_, axes)| axes) {
        axes.entry(name).or_default().push(axis);
    }
    let axes = axes.into_iter().map(|(name, axes)| {
        let score = Score::mean(axes.iter().map(|axis| &axis.score));
        (name.clone(), AxisScore { score, weight: axes.iter().map(|axis| &axis.weight).sum() })
    });
    (Score::mean(tasks.iter().map(|(score, _)| score)), axes.collect())
}

fn weighted(parts: &[&Part]) -> (Score, BigRational) {
    let total: BigRational = parts.iter().map(|part| exact(part.weight)).sum();
    if total.is_zero() {
        return (Score::zero(), total);
    }
    let sum: BigRational = parts.iter().map(|part| &part.score.0 * exact(part.weight)).sum();
    (Score(sum / &total), total)
}

fn exact(weight: Weight) -> BigRational {
    let decimal = weight.decimal();
    BigRational::new(BigInt::from(decimal.mantissa()), BigInt::from(10).pow(decimal.scale()))
}

/// Axes exactly, for storage: `{"safety": ["1/2", "3/1"]}`.
pub fn axes_text(axes: &Axes) -> String {
    let exact = |axis: &AxisScore| [axis.score.to_string(), format!("{}/{}", axis.weight.numer(), axis.weight.denom())];
    let by_name: BTreeMap<&String, [String; 2]> = axes.iter().map(|(name, axis)| (name, exact(axis))).collect();
    serde_json::to_string(&by_name).unwrap_or_default()
}

/// What [`axes_text`] wrote.
pub fn axes_from_text(text: &str) -> Option<Axes> {
    let by_name: BTreeMap<String, [String; 2]> = serde_json::from_str(text).ok()?;
    let read = |(name, [score, weight]): (String, [String; 2])| {
        let (numerator, denominator) = weight.split_once('/')?;
        let weight = BigRational::new(
            numerator.parse().ok()?,
            Some(denominator.parse().ok()?).filter(|d: &BigInt| !d.is_zero())?,
        );
        Some((name, AxisScore { score: score.parse().ok()?, weight }))
    };
    by_name.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(passed: u64, all: u64, weight: &str, axis: Option<&str>) -> Part {
        Part { score: Score::fraction(passed, all), weight: weight.parse().unwrap(), axis: axis.map(ToOwned::to_owned) }
    }

    #[test]
    fn people_see_four_digits_that_do_not_contradict_the_verdict() {
        for (score, expected) in [
            (0.0, "0.0000"),
            (1.0, "1.0000"),
            (2.0 / 3.0, "0.6667"),
            (0.89996, "0.8999"),
            (0.9, "0.9000"),
            (0.99999, "0.9999"),
            (0.000_01, "0.0001"),
        ] {
            assert_eq!(shown(score), expected);
        }
        for (score, expected) in [("1.0", "1.0"), ("0.5", "0.5"), ("0.6666666666666666", "0.6667"), ("0", "0.0")] {
            assert_eq!(brief(&score.parse().unwrap()), expected);
        }
    }

    #[test]
    fn the_threshold_is_exact() {
        let three_tenths: Vec<Part> = (0..3).map(|_| part(9, 10, "0.3", None)).collect();
        assert_eq!(task(&three_tenths).0.verdict(), Verdict::Pass);
        let below = Score::fraction(8_999_999_999, 10_000_000_000);
        assert_eq!((below.verdict(), below.rounded().to_string()), (Verdict::Partial, "0.8999".into()));
        assert_eq!(Score::fraction(1, 1_000_000_000).verdict(), Verdict::Partial);
        assert_eq!(Score::fraction(1, 1_000_000_000).rounded().to_string(), "0.0001");
        for (passed, all, number) in [
            (0, 3, "0.0"),
            (2, 3, "0.6666666666666666"),
            (1, 3, "0.3333333333333333"),
            (9, 10, "0.9"),
            (1, 1, "1.0"),
            (899_999_999_999_999_999, 1_000_000_000_000_000_000, "0.8999999999999999"),
            (999_999_999_999_999_999, 1_000_000_000_000_000_000, "0.9999999999999999"),
        ] {
            let written = Score::fraction(passed, all).number();
            assert_eq!(written.to_string(), number);
            assert_eq!(Score::of_number(&written).verdict(), Score::fraction(passed, all).verdict());
        }
        for (text, exact) in [("0.7", (7, 10)), ("1", (1, 1)), ("1.0", (1, 1)), ("1e-2", (1, 100)), ("-1", (0, 1))] {
            assert_eq!(Score::of_number(&text.parse().unwrap()), Score::fraction(exact.0, exact.1), "{text}");
        }
        assert_eq!(Score::fraction(0, 7).verdict(), Verdict::Fail);
        assert_eq!(task(&[]).0.verdict(), Verdict::Fail);
    }

    #[test]
    fn weights_and_axes() {
        let parts = [part(1, 1, "2", Some("correctness")), part(0, 1, "1", Some("safety")), part(1, 2, "1", None)];
        let (score, axes) = task(&parts);
        assert_eq!(score, Score::fraction(5, 8));
        assert_eq!(axes["correctness"].score, Score::one());
        assert_eq!(axes["safety"].score, Score::zero());
        assert_eq!(axes[DEFAULT_AXIS].score, Score::fraction(1, 2));
        let (mean, run_axes) = run(&[(score, axes), task(&[part(1, 1, "3", Some("safety"))])]);
        assert_eq!(mean, Score::fraction(13, 16));
        assert_eq!(run_axes["safety"].score, Score::fraction(1, 2));
        assert_eq!(run_axes["safety"].weight, BigRational::from(BigInt::from(4)));
        assert_eq!(run_axes["safety"].weight_number().to_string(), "4");
        assert_eq!(run(&[]).0, Score::zero());
        assert_eq!(axes_from_text(&axes_text(&run_axes)), Some(run_axes));
    }

    #[test]
    fn a_task_without_a_score_counts_0_on_the_axes_of_its_criteria() {
        let scored = task(&[part(1, 1, "1", Some("safety")), part(1, 1, "1", Some("tone"))]);
        let weight: Weight = "2".parse().unwrap();
        let unscored = (Score::zero(), zero_axes([(weight, Some("safety".into())), (weight, None)]));
        assert_eq!(unscored.1["safety"].score, Score::zero());
        let (mean, axes) = run(&[scored, unscored]);
        assert_eq!(mean, Score::fraction(1, 2));
        assert_eq!(axes["safety"].score, Score::fraction(1, 2));
        assert_eq!(axes["tone"].score, Score::one());
        assert_eq!(axes[DEFAULT_AXIS].score, Score::zero());
        assert_eq!(axes["safety"].weight_number().to_string(), "3");
    }

    #[test]
    fn numbers_for_show() {
        for (passed, all, shown) in
            [(2, 3, "0.6667"), (1, 1, "1.0"), (0, 1, "0.0"), (1, 2, "0.5"), (99_999, 100_000, "0.9999")]
        {
            assert_eq!(Score::fraction(passed, all).rounded().to_string(), shown);
        }
    }

    proptest! {
        #[test]
        fn the_order_of_criteria_does_not_matter(
            mut parts in prop::collection::vec((0u64..=7, 1u64..=7, 1u32..2_000_000, 0usize..3), 1..20),
            seed in any::<usize>(),
        ) {
            let made = |parts: &[(u64, u64, u32, usize)]| {
                let parts: Vec<Part> = parts.iter().map(|(passed, all, millionths, axis)| {
                    let weight = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
                    part(*passed, *all, &weight, [None, Some("a"), Some("b")][*axis])
                }).collect();
                task(&parts)
            };
            let before = made(&parts);
            let shift = seed % parts.len();
            parts.rotate_left(shift);
            parts.reverse();
            prop_assert_eq!(&before, &made(&parts));
            prop_assert!(before.0 <= Score::one());
            prop_assert_eq!(before.0.to_string().parse::<Score>(), Ok(before.0));
        }
    }
}
