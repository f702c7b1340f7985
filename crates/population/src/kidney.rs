//! Kidney function in integer arithmetic: CKD-EPI 2021 from tables, and the dose rule of apixaban.

use crate::milli::Milli;

/// x to the power of -1.2, in millionths, for creatinine/κ = 1.0, 1.1 … 8.0.
const ABOVE: [i64; 71] = [
    1_000_000, 891_926, 803_494, 729_908, 667_800, 614_739, 568_926, 529_007, 493_939, 462_909, 435_275, 410_522,
    388_233, 368_067, 349_741, 333_021, 317_711, 303_643, 290_677, 278_691, 267_581, 257_256, 247_640, 238_662,
    230_264, 222_392, 214_999, 208_045, 201_493, 195_309, 189_465, 183_933, 178_690, 173_715, 168_988, 164_492,
    160_210, 156_129, 152_234, 148_513, 144_956, 141_552, 138_292, 135_166, 132_168, 129_290, 126_524, 123_865,
    121_307, 118_844, 116_471, 114_184, 111_977, 109_848, 107_791, 105_804, 103_884, 102_026, 100_228, 98_487, 96_802,
    95_168, 93_584, 92_048, 90_557, 89_110, 87_705, 86_340, 85_013, 83_724, 82_469,
];
/// x to the power of -0.241 (women) and -0.302 (men), in millionths, for creatinine/κ = 0.40, 0.50 … 1.00.
const BELOW: [[i64; 7]; 2] = [
    [1_247_106, 1_181_812, 1_131_008, 1_089_761, 1_055_250, 1_025_717, 1_000_000],
    [1_318_797, 1_232_852, 1_166_805, 1_113_731, 1_069_712, 1_032_331, 1_000_000],
];

/// eGFR in mL/min/1.73 m² (CKD-EPI 2021, creatinine alone), within 1 of the formula for creatinine/κ from 0.4 to 8.
pub(crate) fn egfr(creatinine: Milli, age: i64, female: bool) -> i64 {
    let kappa = if female { 700 } else { 900 };
    let ratio = (creatinine.0 * 1000 / kappa).clamp(400, 8000);
    let part = if ratio >= 1000 {
        between(&ABOVE, ratio - 1000, 100)
    } else {
        between(&BELOW[usize::from(!female)], ratio - 400, 100)
    };
    let mut value = 142 * part;
    for _ in 0..age {
        value = value * 9938 / 10_000;
    }
    if female {
        value = value * 1012 / 1000;
    }
    (value + 500_000) / 1_000_000
}

fn between(table: &[i64], place: i64, step: i64) -> i64 {
    let first = usize::try_from(place / step).unwrap_or(0).min(table.len() - 1);
    let next = (first + 1).min(table.len() - 1);
    table[first] + (table[next] - table[first]) * (place % step) / step
}

/// The lowest creatinine (two decimal places) with at most this eGFR.
pub(crate) fn creatinine(wanted: i64, age: i64, female: bool) -> Milli {
    let (mut low, mut high) = (40, 720);
    while low < high {
        let middle = (low + high) / 2;
        if egfr(Milli(middle * 10), age, female) <= wanted {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Milli(low * 10)
}

/// Whether two of three apply: age 80 or more, 60 kg or less, creatinine 1.5 mg/dL or more.
pub(crate) fn reduces_apixaban(age: i64, weight: Milli, creatinine: Milli) -> bool {
    [age >= 80, weight.0 <= 60_000, creatinine.0 >= 1500].into_iter().filter(|is_met| *is_met).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the published formula.
    #[test]
    fn egfr_follows_ckd_epi_2021() {
        for (creatinine, age, female, expected) in [
            (900, 50, false, 104),
            (700, 30, true, 119),
            (1500, 70, false, 50),
            (2400, 65, true, 22),
            (550, 40, true, 119),
        ] {
            let found = egfr(Milli(creatinine), age, female);
            assert!((found - expected).abs() <= 1, "{creatinine} {age} {female}: {found}, expected {expected}");
        }
        let found = creatinine(40, 72, true);
        assert!((egfr(found, 72, true) - 40).abs() <= 1);
    }

    #[test]
    fn apixaban_is_reduced_by_two_of_three() {
        assert!(reduces_apixaban(82, Milli(58_000), Milli(1000)));
        assert!(!reduces_apixaban(82, Milli(75_000), Milli(1000)));
        assert!(reduces_apixaban(70, Milli(60_000), Milli(1500)));
    }
}
