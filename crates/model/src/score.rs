//! Score arithmetic with exact fractions, so that neither rounding nor the order of criteria can change a verdict.

use std::collections::BTreeMap;
use std::fmt;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::weight::Weight;

/// An exact number from 0 to 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(BigRational);

/// The interpretation of a score.
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

    /// `passed` divided by `all`; 0 if `all` is 0.
    pub fn fraction(passed: u64, all: u64) -> Self {
        if all == 0 {
            return Self::zero();
        }
        Self(BigRational::new(BigInt::from(passed.min(all)), BigInt::from(all)))
    }

    /// The mean; 0 without scores.
    pub fn mean<'a>(scores: impl IntoIterator<Item = &'a Score>) -> Self {
        let (sum, count) =
            scores.into_iter().fold((BigRational::zero(), 0u64), |(sum, count), score| (sum + &score.0, count + 1));
        if count == 0 { Self::zero() } else { Self(sum / BigInt::from(count)) }
    }

    /// The exact number, for arithmetic that rounds only at the end.
    pub fn exact(&self) -> &BigRational {
        &self.0
    }

    /// The nearest floating-point number.
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

    /// The number in the API: the nearest double, adjusted if that would have another verdict or be exactly 1.
    pub fn number(&self) -> serde_json::Number {
        let nearest = self.to_f64();
        let number = match self.verdict() {
            Verdict::Pass if self.0 < BigRational::one() => nearest.min(1.0_f64.next_down()),
            Verdict::Partial => nearest.clamp(f64::MIN_POSITIVE, 0.9_f64.next_down()),
            Verdict::Pass | Verdict::Fail => nearest,
        };
        serde_json::Number::from_f64(number).unwrap_or_else(|| serde_json::Number::from(0))
    }

    /// Parses a number written by [`Score::number`] by its decimal digits: 0.7 is seven tenths.
    pub fn of_number(number: &serde_json::Number) -> Self {
        let text = number.to_string();
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let power = exponent.parse::<i64>().unwrap_or(0) - i64::try_from(fraction.len()).unwrap_or(i64::MAX);
        let value = format!("{whole}{fraction}").parse::<BigInt>().unwrap_or_default();
        let value = match u32::try_from(-power) {
            Ok(places) if places <= 400 => BigRational::new(value, BigInt::from(10).pow(places)),
            Ok(_) => BigRational::zero(),
            Err(_) => BigRational::from(value),
        };
        Self(value.clamp(BigRational::zero(), BigRational::one()))
    }

    /// The number for display: at most four decimal places, rounded half up, but never to another verdict. A score
    /// below 0.9 or 1 is displayed below it, and a score above 0 is displayed above 0.
    pub fn rounded(&self) -> serde_json::Number {
        let scale = BigInt::from(10_000);
        let scaled = &self.0 * &scale;
        let mut rounded = scaled.round().to_integer();
        for threshold in [9_000, 10_000] {
            let threshold = BigInt::from(threshold);
            if rounded == threshold && scaled < BigRational::from(threshold.clone()) {
                rounded -= 1;
            }
        }
        if rounded.is_zero() && !self.0.is_zero() {
            rounded = BigInt::one();
        }
        decimal(&rounded)
    }
}

/// Formats a score of the API with four decimal places, never rounded to another verdict.
pub fn format_score(score: f64) -> String {
    format!("{:.4}", rounded(score))
}

/// Formats a score like [`format_score`], without trailing zeros: `1.0`, `0.5`, `0.6667`.
pub fn format_score_short(score: &serde_json::Number) -> String {
    let text = score.as_f64().map_or_else(|| score.to_string(), format_score);
    let digits = text.trim_end_matches('0');
    if digits.ends_with('.') { format!("{digits}0") } else { digits.to_owned() }
}

/// Rounds to four decimal places, but never to another verdict.
fn rounded(score: f64) -> f64 {
    let mut rounded = (score * 10_000.0).round() / 10_000.0;
    for threshold in [0.9, 1.0] {
        if score < threshold && rounded >= threshold {
            rounded = threshold - 0.0001;
        }
    }
    if score > 0.0 && rounded <= 0.0 {
        rounded = 0.0001;
    }
    rounded
}

/// Converts ten-thousandths to a JSON number: `1.0`, `0.6667`, `0.5`.
fn decimal(ten_thousandths: &BigInt) -> serde_json::Number {
    let digits = format!("{ten_thousandths:05}");
    let (whole, part) = digits.split_at(digits.len() - 4);
    let part = part.trim_end_matches('0');
    let text = format!("{whole}.{}", if part.is_empty() { "0" } else { part });
    text.parse().unwrap_or_else(|_| serde_json::Number::from(0))
}

/// The exact score as `numerator/denominator`, for storage.
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

/// The contribution of one criterion to the score of a task.
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
    /// The total weight of its criteria.
    pub weight: BigRational,
}

impl AxisScore {
    /// The weight as a JSON number. It is exact, because weights are decimals with at most six decimal places.
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

/// The axis of criteria without one.
pub const DEFAULT_AXIS: &str = "__default__";

/// The score of a task, Σ score·weight ÷ Σ weight, and the same for each axis. 0 without criteria.
pub fn task(parts: &[Part]) -> (Score, Axes) {
    let mut axes: BTreeMap<String, Vec<&Part>> = BTreeMap::new();
    for part in parts {
        axes.entry(part.axis.clone().unwrap_or_else(|| DEFAULT_AXIS.to_owned())).or_default().push(part);
    }
    let axes = axes.into_iter().map(|(name, parts)| {
        let (score, weight) = weighted_mean(&parts);
        (name, AxisScore { score, weight })
    });
    (weighted_mean(&parts.iter().collect::<Vec<_>>()).0, axes.collect())
}

/// The axes of a task that ended without being scored: 0 on each axis of its criteria.
pub fn zero_axes(criteria: impl IntoIterator<Item = (Weight, Option<String>)>) -> Axes {
    let zero = |(weight, axis)| Part { score: Score::zero(), weight, axis };
    task(&criteria.into_iter().map(zero).collect::<Vec<_>>()).1
}

/// The score of a run: the mean of its tasks. Each axis is the mean over the tasks that have it, and its weight is
/// their sum.
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

fn weighted_mean(parts: &[&Part]) -> (Score, BigRational) {
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

/// Writes axes exactly, for storage: `{"safety": ["1/2", "3/1"]}`.
pub fn axes_text(axes: &Axes) -> String {
    let exact = |axis: &AxisScore| [axis.score.to_string(), format!("{}/{}", axis.weight.numer(), axis.weight.denom())];
    let by_name: BTreeMap<&String, [String; 2]> = axes.iter().map(|(name, axis)| (name, exact(axis))).collect();
    serde_json::to_string(&by_name).unwrap_or_default()
}

/// Parses the output of [`axes_text`].
pub fn axes_from_text(text: &str) -> Option<Axes> {
    let by_name: BTreeMap<String, [String; 2]> = serde_json::from_str(text).ok()?;
    let parse = |(name, [score, weight]): (String, [String; 2])| {
        let (numerator, denominator) = weight.split_once('/')?;
        let weight = BigRational::new(
            numerator.parse().ok()?,
            Some(denominator.parse().ok()?).filter(|d: &BigInt| !d.is_zero())?,
        );
        Some((name, AxisScore { score: score.parse().ok()?, weight }))
    };
    by_name.into_iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(passed: u64, all: u64, weight: &str, axis: Option<&str>) -> Part {
        Part { score: Score::fraction(passed, all), weight: weight.parse().unwrap(), axis: axis.map(ToOwned::to_owned) }
    }

    #[test]
    fn formatted_scores_do_not_contradict_the_verdict() {
        for (score, expected) in [
            (0.0, "0.0000"),
            (1.0, "1.0000"),
            (2.0 / 3.0, "0.6667"),
            (0.89996, "0.8999"),
            (0.9, "0.9000"),
            (0.99999, "0.9999"),
            (0.000_01, "0.0001"),
        ] {
            assert_eq!(format_score(score), expected);
        }
        for (score, expected) in [("1.0", "1.0"), ("0.5", "0.5"), ("0.6666666666666666", "0.6667"), ("0", "0.0")] {
            assert_eq!(format_score_short(&score.parse().unwrap()), expected);
        }
    }

    #[test]
    fn the_pass_threshold_is_exact() {
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
    fn scores_are_weighted_and_split_by_axis() {
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
    fn rounded_numbers_do_not_reach_a_threshold() {
        for (passed, all, expected) in
            [(2, 3, "0.6667"), (1, 1, "1.0"), (0, 1, "0.0"), (1, 2, "0.5"), (99_999, 100_000, "0.9999")]
        {
            assert_eq!(Score::fraction(passed, all).rounded().to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn the_order_of_criteria_does_not_matter(
            mut parts in prop::collection::vec((0u64..=7, 1u64..=7, 1u32..2_000_000, 0usize..3), 1..20),
            seed in any::<usize>(),
        ) {
            let score_of = |parts: &[(u64, u64, u32, usize)]| {
                let parts: Vec<Part> = parts.iter().map(|(passed, all, millionths, axis)| {
                    let weight = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
                    part(*passed, *all, &weight, [None, Some("a"), Some("b")][*axis])
                }).collect();
                task(&parts)
            };
            let before = score_of(&parts);
            let shift = seed % parts.len();
            parts.rotate_left(shift);
            parts.reverse();
            prop_assert_eq!(&before, &score_of(&parts));
            prop_assert!(before.0 <= Score::one());
            prop_assert_eq!(before.0.to_string().parse::<Score>(), Ok(before.0));
        }
    }
}
