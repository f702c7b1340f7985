//! Student's t distribution with integer degrees of freedom, computed with arithmetic and square roots only. These
//! round the same on every machine; logarithms and trigonometric functions do not.

use std::f64::consts::PI;

/// The share of the distribution outside a 95 % interval, both tails together.
const TAILS: f64 = 0.05;

/// The 0.975 quantile of the normal distribution, the limit of the critical values for many degrees of freedom.
pub(super) const NORMAL: f64 = 1.959_963_984_540_054_2;

/// From this many degrees of freedom on, the expansion differs from the critical value by less than 3e-14.
const EXPANSION_FROM: u64 = 500;

/// Far more steps than the continued fraction needs for 16 digits below `EXPANSION_FROM`.
const FRACTION_DEPTH: u32 = 200;

/// The t for which 95 % of the distribution lies between −t and t. There must be at least 1 degree of freedom.
pub(super) fn critical_value(degrees: u64) -> f64 {
    if degrees >= EXPANSION_FROM { expansion(degrees) } else { newton(degrees) }
}

/// Newton's method. The tails are a decreasing convex function of t, so the steps approach from the left and never
/// overshoot.
fn newton(degrees: u64) -> f64 {
    let mut t = NORMAL;
    loop {
        let (share, slope) = tails(t, degrees);
        let next = t + (share - TAILS) / slope;
        if next <= t {
            return t;
        }
        t = next;
    }
}

/// The critical value as a series in powers of 1 ÷ degrees (Abramowitz and Stegun 26.7.5).
fn expansion(degrees: u64) -> f64 {
    let z = NORMAL;
    let square = z * z;
    let inverse = 1.0 / degrees as f64;
    let first = (square + 1.0) / 4.0;
    let second = ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    let fourth = ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0) / 92_160.0;
    z * (1.0 + inverse * (first + inverse * (second + inverse * (third + inverse * fourth))))
}

/// The share of the distribution outside of −t to t, which is the regularized incomplete beta function Iₓ(a, ½) with
/// a = degrees ÷ 2 and x = degrees ÷ (degrees + t²), and the negative of its derivative by t.
fn tails(t: f64, degrees: u64) -> (f64, f64) {
    let freedom = degrees as f64;
    let half = freedom / 2.0;
    let x = freedom / (freedom + t * t);
    // xᵃ ÷ B(a, ½), from B(1, ½) = 2 or B(½, ½) = π by B(a + 1, ½) = B(a, ½) · a ÷ (a + ½).
    let (mut a, mut weight) = if degrees.is_multiple_of(2) { (1.0, x / 2.0) } else { (0.5, x.sqrt() / PI) };
    while a < half {
        weight *= x * (a + 0.5) / a;
        a += 1.0;
    }
    let share = weight * t / (freedom + t * t).sqrt() / half / continued_fraction(half, x);
    let slope = 2.0 * weight * (x / freedom).sqrt();
    (share, slope)
}

/// The continued fraction of Iₓ(a, ½) (Digital Library of Mathematical Functions, 8.17.22), evaluated from its far end.
fn continued_fraction(a: f64, x: f64) -> f64 {
    let b = 0.5;
    (0..FRACTION_DEPTH).rev().fold(1.0, |value, step| {
        let m = f64::from(step);
        let even = (m + 1.0) * (b - m - 1.0) * x / ((a + 2.0 * m + 1.0) * (a + 2.0 * m + 2.0));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        1.0 + odd / (1.0 + even / value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-13, "{found} is not {expected}");
    }

    #[test]
    fn critical_values_match_closed_forms() {
        // One degree: Cauchy, tan(π(p − ½)). Two: (2p − 1) √(2 ÷ 4p(1 − p)). Four: 2 √(q − 1) with
        // q = cos(⅓ arccos √α) ÷ √α, where α = 4p(1 − p).
        let (p, alpha) = (0.975_f64, 4.0 * 0.975 * 0.025_f64);
        close(critical_value(1), (PI * (p - 0.5)).tan());
        close(critical_value(2), (2.0 * p - 1.0) * (2.0 / alpha).sqrt());
        let q = (alpha.sqrt().acos() / 3.0).cos() / alpha.sqrt();
        close(critical_value(4), 2.0 * (q - 1.0).sqrt());
    }

    /// Reference values computed with mpmath 1.4.1 at 40 digits: the root of `betainc(v/2, 1/2, 0, v/(v+t²),
    /// regularized=True) - 0.05`.
    #[test]
    fn critical_values_match_reference_values() {
        for (degrees, expected) in [
            (1, 12.706_204_736_174_705),
            (2, 4.302_652_729_749_464),
            (3, 3.182_446_305_283_709_6),
            (4, 2.776_445_105_197_794_4),
            (5, 2.570_581_835_636_315_5),
            (6, 2.446_911_851_144_97),
            (7, 2.364_624_251_592_785_3),
            (9, 2.262_157_162_798_205_5),
            (10, 2.228_138_851_986_275),
            (15, 2.131_449_545_559_775_7),
            (29, 2.045_229_642_132_704_3),
            (30, 2.042_272_456_301_238),
            (49, 2.009_575_237_129_239_7),
            (99, 1.984_216_951_586_417_5),
            (100, 1.983_971_518_523_552_3),
            (101, 1.983_731_002_955_606_2),
            (499, 1.964_729_390_987_689),
            (500, 1.964_719_837_467_367_8),
            (999, 1.962_341_461_133_45),
            (1_000, 1.962_339_080_826_408_5),
            (9_999, 1.960_201_263_621_357_7),
            (1_000_000, 1.959_966_356_814_107),
        ] {
            close(critical_value(degrees), expected);
        }
    }

    /// Two-sided tails, computed with the same tool.
    #[test]
    fn tails_match_reference_values() {
        for (t, degrees, expected) in [
            (3.0, 1, 0.204_832_764_699_133_45),
            (2.5, 11, 0.029_506_374_087_364_187),
            (4.0, 30, 0.000_381_845_636_083_756_84),
            (6.0, 1_000, 2.755_369_173_377_469e-9),
        ] {
            close(tails(t, degrees).0, expected);
        }
    }

    #[test]
    fn both_methods_agree_and_critical_values_decrease() {
        for degrees in [500, 501, 640, 999] {
            close(newton(degrees), expansion(degrees));
        }
        let values: Vec<f64> = (1..2_000).map(critical_value).collect();
        assert!(values.is_sorted_by(|fewer, more| fewer > more));
        assert!(critical_value(u64::MAX) >= NORMAL);
    }
}
