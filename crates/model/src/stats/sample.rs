//! A sample of exact numbers with its size, mean and standard deviation, which are rounded only on conversion to
//! floating point.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;

/// A sample, stored as count, sum and sum of squares.
pub(super) struct Sample {
    pub(super) n: u64,
    sums: Sums,
}

impl Sample {
    pub(super) fn of<'a>(values: impl IntoIterator<Item = &'a BigRational>) -> Self {
        let mut by_denominator: BTreeMap<&BigInt, Sums> = BTreeMap::new();
        let mut n = 0;
        for value in values {
            by_denominator.entry(value.denom()).or_insert_with(|| Sums::zero(value.denom())).add(value.numer());
            n += 1;
        }
        Self { n, sums: Sums::merged(by_denominator.into_values().collect()) }
    }

    /// Σx ÷ n, not reduced to lowest terms.
    pub(super) fn exact_mean(&self) -> Option<BigRational> {
        (self.n > 0).then(|| BigRational::new_raw(self.sums.sum.clone(), &self.sums.denominator * self.n))
    }

    pub(super) fn mean(&self) -> Option<f64> {
        self.exact_mean().as_ref().map(float)
    }

    /// √(Σ(x − mean)² ÷ (n − 1)), computed from n Σx² − (Σx)², which is n times the sum under the root.
    pub(super) fn stdev(&self) -> Option<f64> {
        if self.n < 2 {
            return None;
        }
        let Sums { sum, squares, denominator } = &self.sums;
        let numerator = squares * self.n - sum * sum;
        Some(float(&BigRational::new_raw(numerator, denominator * denominator * self.n * (self.n - 1))).sqrt())
    }
}

/// Σx as `sum ÷ denominator` and Σx² as `squares ÷ denominator²`. Scores of one benchmark share a few denominators, so
/// most of the work is adding integers. The fractions are never reduced: with many denominators, that would take far
/// longer than everything else together.
struct Sums {
    sum: BigInt,
    squares: BigInt,
    denominator: BigInt,
}

impl Sums {
    fn zero(denominator: &BigInt) -> Self {
        Self { sum: BigInt::ZERO, squares: BigInt::ZERO, denominator: denominator.clone() }
    }

    fn add(&mut self, numerator: &BigInt) {
        self.sum += numerator;
        self.squares += numerator * numerator;
    }

    fn plus(self, other: &Self) -> Self {
        let (left, right) = (&self.denominator, &other.denominator);
        Self {
            sum: self.sum * right + &other.sum * left,
            squares: self.squares * right * right + &other.squares * left * left,
            denominator: left * right,
        }
    }

    /// Adds all parts in pairs, then pairs of pairs, because numbers of similar length multiply fastest.
    fn merged(mut parts: Vec<Self>) -> Self {
        while parts.len() > 1 {
            let mut rest = parts.into_iter();
            let mut pairs = Vec::new();
            while let Some(left) = rest.next() {
                pairs.push(match rest.next() {
                    Some(right) => left.plus(&right),
                    None => left,
                });
            }
            parts = pairs;
        }
        parts.pop().unwrap_or_else(|| Self::zero(&BigInt::from(1)))
    }
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
        assert_eq!(sample.stdev(), Some((100.0_f64 / 144.0 / 3.0).sqrt()));
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
            prop_assert_eq!(sample.stdev(), Some(float(&variance).sqrt()));
        }
    }
}
