//! A sample of exact numbers with its size, mean and standard deviation. The mean is exact; the standard deviation, which only
//! confidence intervals need, is computed in floating point.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;

pub(super) struct Sample {
    pub(super) n: u64,
    mean: Option<BigRational>,
    stdev: Option<f64>,
}

impl Sample {
    pub(super) fn of<'a>(values: impl IntoIterator<Item = &'a BigRational>) -> Self {
        let values: Vec<&BigRational> = values.into_iter().collect();
        let n = values.len() as u64;
        let mean = (n > 0).then(|| mean(&values));
        let stdev = mean.as_ref().filter(|_| n > 1).map(|mean| stdev(&values, float(mean)));
        Self { n, mean, stdev }
    }

    /// Σx ÷ n, not reduced to lowest terms.
    pub(super) fn exact_mean(&self) -> Option<BigRational> {
        self.mean.clone()
    }

    pub(super) fn mean(&self) -> Option<f64> {
        self.mean.as_ref().map(float)
    }

    /// √(Σ(x − mean)² ÷ (n − 1)).
    pub(super) fn stdev(&self) -> Option<f64> {
        self.stdev
    }
}

/// Scores of one benchmark share a few denominators, so most of the work is adding integers. The fractions are never
/// reduced: with many denominators, that would take far longer than everything else together.
fn mean(values: &[&BigRational]) -> BigRational {
    let mut sums: BTreeMap<&BigInt, BigInt> = BTreeMap::new();
    for value in values {
        *sums.entry(value.denom()).or_default() += value.numer();
    }
    let mut parts: Vec<(BigInt, BigInt)> = sums.into_iter().map(|(denom, sum)| (sum, denom.clone())).collect();
    // In pairs, then pairs of pairs, because numbers of similar length multiply fastest.
    while parts.len() > 1 {
        let add = |pair: &[(BigInt, BigInt)]| match pair {
            [(first, first_denom), (second, second_denom)] => {
                (first * second_denom + second * first_denom, first_denom * second_denom)
            }
            single => single[0].clone(),
        };
        parts = parts.chunks(2).map(add).collect();
    }
    let (sum, denom) = parts.pop().unwrap_or_default();
    BigRational::new_raw(sum, denom * values.len())
}

/// Adds the squares in order of size: the order of the values cannot change a digit.
fn stdev(values: &[&BigRational], mean: f64) -> f64 {
    let mut squares: Vec<f64> = values.iter().map(|value| (float(value) - mean).powi(2)).collect();
    squares.sort_unstable_by(f64::total_cmp);
    (squares.iter().sum::<f64>() / (values.len() - 1) as f64).sqrt()
}

/// The nearest floating-point number.
pub(super) fn float(exact: &BigRational) -> f64 {
    exact.to_f64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use num_traits::Zero;
    use proptest::prelude::*;

    use super::*;

    fn fraction(numerator: i64, denominator: i64) -> BigRational {
        BigRational::new(numerator.into(), denominator.into())
    }

    #[test]
    fn mean_and_stdev_match_the_formula() {
        let values = [fraction(1, 2), fraction(1, 3), fraction(-1, 6), fraction(1, 1)];
        let sample = Sample::of(&values);
        assert_eq!(sample.exact_mean(), Some(fraction(5, 12)));
        // The squares of the distances from 5/12 are 1, 1, 49 and 49 of 144ths.
        assert!((sample.stdev().unwrap() - (100.0_f64 / 144.0 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn small_samples_have_no_mean_or_stdev() {
        let none = Sample::of([]);
        assert_eq!((none.n, none.mean(), none.stdev()), (0, None, None));
        let one = Sample::of([&fraction(1, 3)]);
        assert_eq!((one.n, one.mean(), one.stdev()), (1, Some(1.0 / 3.0), None));
    }

    #[test]
    fn equal_numbers_have_no_spread() {
        // 0.1 has no exact floating-point form, so a floating-point sum of three would show a spread.
        let tenth = fraction(1, 10);
        let sample = Sample::of([&tenth, &tenth, &tenth]);
        assert_eq!((sample.mean(), sample.stdev()), (Some(0.1), Some(0.0)));
    }

    proptest! {
        #[test]
        fn mean_and_stdev_match_plain_fractions(parts in prop::collection::vec((-40i64..=40, 1i64..=40), 2..30)) {
            let values: Vec<BigRational> = parts.iter().map(|(part, all)| fraction(*part, *all)).collect();
            let n = BigInt::from(values.len());
            let mean = values.iter().sum::<BigRational>() / &n;
            let squares = values.iter().map(|value| (value - &mean) * (value - &mean));
            let variance = squares.fold(BigRational::zero(), |sum, square| sum + square) / (n - 1);
            let sample = Sample::of(&values);
            prop_assert_eq!(sample.mean(), Some(float(&mean)));
            prop_assert_eq!(sample.exact_mean(), Some(mean));
            prop_assert!((sample.stdev().unwrap() - float(&variance).sqrt()).abs() < 1e-12);
        }
    }
}
