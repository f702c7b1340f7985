//! Confidence intervals of means and of pass rates.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::sample::Sample;
use super::student::{NORMAL, critical_value};

/// The confidence level of every interval.
pub const LEVEL: f64 = 0.95;

/// A confidence interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// The confidence level: 0.95.
    pub level: f64,
    pub method: IntervalMethod,
}

/// The method of an interval.
///
/// - `student_t`: mean ± t · s ÷ √n, where s is the sample standard deviation and t the 0.975 quantile of Student's t
///   distribution with n − 1 degrees of freedom, clamped to 0 … 1. If all values are equal, the interval has no width.
/// - `paired_student_t`: the same over the differences of pairs, clamped to −1 … 1.
/// - `wilson`: (p + z² ÷ 2n ± z √(p(1 − p) ÷ n + z² ÷ 4n²)) ÷ (1 + z² ÷ n), where p is the share of passes and
///   z = 1.959963984540054, the 0.975 quantile of the normal distribution; no continuity correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    StudentT,
    PairedStudentT,
    Wilson,
}

/// The share with the verdict `pass`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PassRate {
    pub passes: u64,
    /// The total number.
    pub n: u64,
    /// passes ÷ n; null if n is 0.
    pub rate: Option<f64>,
    /// Wilson's score interval of the rate; null if n is 0.
    pub interval: Option<Interval>,
}

impl PassRate {
    pub(super) fn of(passes: u64, n: u64) -> Self {
        let rate = (n > 0).then(|| passes as f64 / n as f64);
        Self { passes, n, rate, interval: (n > 0).then(|| wilson(passes, n)) }
    }
}

impl Interval {
    /// The interval of a mean score.
    pub(super) fn of_mean(scores: &Sample) -> Option<Self> {
        Self::student(scores, 0.0, IntervalMethod::StudentT)
    }

    /// The interval of a mean difference between scores.
    pub(super) fn of_mean_difference(differences: &Sample) -> Option<Self> {
        Self::student(differences, -1.0, IntervalMethod::PairedStudentT)
    }

    fn student(sample: &Sample, lowest: f64, method: IntervalMethod) -> Option<Self> {
        let (mean, stdev) = (sample.mean()?, sample.stdev()?);
        let margin = critical_value(sample.n - 1) * stdev / (sample.n as f64).sqrt();
        Some(Self { low: (mean - margin).max(lowest), high: (mean + margin).min(1.0), level: LEVEL, method })
    }

    pub(super) fn excludes_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

fn wilson(passes: u64, n: u64) -> Interval {
    let (count, square) = (n as f64, NORMAL * NORMAL);
    let rate = passes as f64 / count;
    let shrink = 1.0 + square / count;
    let middle = (rate + square / (2.0 * count)) / shrink;
    let spread = rate * (1.0 - rate) / count + square / (4.0 * count * count);
    let margin = NORMAL * spread.sqrt() / shrink;
    // At the ends the result is exactly 0 or 1, which the subtraction would miss in the last digit.
    let low = if passes == 0 { 0.0 } else { (middle - margin).max(0.0) };
    let high = if passes == n { 1.0 } else { (middle + margin).min(1.0) };
    Interval { low, high, level: LEVEL, method: IntervalMethod::Wilson }
}

#[cfg(test)]
mod tests {
    use num_rational::BigRational;

    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    fn sample(thousandths: &[i64]) -> Sample {
        let values: Vec<BigRational> =
            thousandths.iter().map(|part| BigRational::new((*part).into(), 1_000.into())).collect();
        Sample::of(&values)
    }

    #[test]
    fn two_values_have_a_closed_form() {
        // s ÷ √2 is half their distance, and t with one degree of freedom is tan 0.475π.
        let interval = Interval::of_mean(&sample(&[500, 510])).unwrap();
        let margin = 0.005 * (0.475 * std::f64::consts::PI).tan();
        close(interval.low, 0.505 - margin);
        close(interval.high, 0.505 + margin);
        assert_eq!((interval.level, interval.method), (0.95, IntervalMethod::StudentT));
    }

    #[test]
    fn three_values_have_a_closed_form() {
        let interval = Interval::of_mean(&sample(&[400, 500, 600])).unwrap();
        let t = 0.95 * (2.0_f64 / (4.0 * 0.975 * 0.025)).sqrt();
        let margin = t * 0.1 / 3.0_f64.sqrt();
        close(interval.low, 0.5 - margin);
        close(interval.high, 0.5 + margin);
    }

    #[test]
    fn intervals_are_clamped_to_the_possible_range() {
        let scores = Interval::of_mean(&sample(&[0, 1_000])).unwrap();
        assert_eq!((scores.low, scores.high), (0.0, 1.0));
        let differences = Interval::of_mean_difference(&sample(&[-1_000, 1_000])).unwrap();
        assert_eq!((differences.low, differences.high), (-1.0, 1.0));
        assert!(!differences.excludes_zero());
        assert_eq!(Interval::of_mean(&sample(&[700])), None);
        let equal = Interval::of_mean(&sample(&[700, 700])).unwrap();
        assert_eq!((equal.low, equal.high), (0.7, 0.7));
    }

    /// The bounds are the two rates r whose standard error puts the observed rate p exactly z away:
    /// (p − r)² = z² r(1 − r) ÷ n.
    #[test]
    fn wilson_bounds_solve_their_equation() {
        for n in 1..=40u64 {
            for passes in 0..=n {
                let interval = wilson(passes, n);
                let rate = passes as f64 / n as f64;
                for bound in [interval.low, interval.high] {
                    close((rate - bound).powi(2), NORMAL * NORMAL * bound * (1.0 - bound) / n as f64);
                }
                assert!(0.0 <= interval.low && interval.low <= rate && rate <= interval.high && interval.high <= 1.0);
            }
        }
    }

    /// Reference values computed with mpmath 1.4.1 at 40 digits.
    #[test]
    fn wilson_matches_reference_values() {
        for (passes, n, low, high) in [
            (7, 9, 0.452_588_969_106_988_9, 0.936_774_892_882_153_3),
            (1, 3, 0.061_491_944_720_396_23, 0.792_340_399_197_952_3),
            (13, 1_000, 0.007_612_820_389_351_024, 0.022_114_442_375_579_667),
        ] {
            let interval = wilson(passes, n);
            close(interval.low, low);
            close(interval.high, high);
        }
    }

    #[test]
    fn wilson_is_exact_at_the_ends() {
        let square = NORMAL * NORMAL;
        let none = wilson(0, 10);
        assert_eq!(none.low, 0.0);
        close(none.high, square / (10.0 + square));
        let all = wilson(10, 10);
        assert_eq!(all.high, 1.0);
        close(all.low, 10.0 / (10.0 + square));
        assert_eq!(PassRate::of(0, 0), PassRate { passes: 0, n: 0, rate: None, interval: None });
    }
}
