//! Rules for critical criteria (failing one means harm), shared by the server and lint.

use rust_decimal::Decimal;

use crate::weight::Weight;

/// Finds the critical criteria of a task with too little weight: the position of each, and a message for the author.
///
/// Failing only a critical criterion must bring the task below 0.9, so it needs more than a tenth of the task's total
/// weight.
pub fn too_light(criteria: &[(bool, Weight)]) -> Vec<(usize, String)> {
    let total: Decimal = criteria.iter().map(|(_, weight)| weight.decimal()).sum();
    let is_too_light = |critical: bool, weight: Weight| critical && weight.decimal() * Decimal::TEN <= total;
    let found = criteria.iter().enumerate().filter(|(_, (critical, weight))| is_too_light(*critical, *weight));
    found.map(|(position, (_, weight))| (position, message(*weight, total))).collect()
}

fn message(weight: Weight, total: Decimal) -> String {
    format!(
        "a critical criterion must have more than 10 % of its task's total weight, so that failing it alone brings the \
         task below 0.9; this one has {weight} of {}",
        total.normalize()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Part, Score, Verdict, task};

    fn criteria(all: &[(bool, &str)]) -> Vec<(bool, Weight)> {
        all.iter().map(|(critical, weight)| (*critical, weight.parse().unwrap())).collect()
    }

    #[test]
    fn exactly_a_tenth_is_too_light() {
        for (all, expected) in [
            (&[(true, "1")][..], &[][..]),
            (&[(true, "1"), (false, "8.999999")], &[]),
            (&[(true, "1"), (false, "9")], &[0]),
            (&[(false, "1"), (true, "0.1"), (true, "1"), (false, "0.000001")], &[1]),
            (&[(true, "0.000001"), (false, "1000000")], &[0]),
            (&[(false, "0.1"), (false, "100")], &[]),
            (&[], &[]),
        ] {
            let found: Vec<usize> = too_light(&criteria(all)).into_iter().map(|(position, _)| position).collect();
            assert_eq!(found, expected, "{all:?}");
        }
        let (_, message) = too_light(&criteria(&[(false, "19.5"), (true, "0.5")])).remove(0);
        assert!(message.ends_with("this one has 0.5 of 20"), "{message}");
    }

    /// The rule agrees with the score arithmetic.
    #[test]
    fn failing_a_criterion_with_enough_weight_prevents_a_pass() {
        for others in ["8", "8.999999", "9", "9.000001", "20"] {
            let weights = criteria(&[(true, "1"), (false, others)]);
            let part = |(critical, weight): &(bool, Weight)| {
                let score = if *critical { Score::zero() } else { Score::one() };
                Part { score, weight: *weight, axis: None }
            };
            let parts: Vec<Part> = weights.iter().map(part).collect();
            let passes = task(&parts).0.verdict() == Verdict::Pass;
            assert_eq!(passes, !too_light(&weights).is_empty(), "{others}");
        }
    }
}
