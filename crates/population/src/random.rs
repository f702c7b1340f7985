//! Random numbers without shared state: every stream is a function of the seed, the patient and the name of the stream.

/// `SplitMix64`: deterministic on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

impl Random {
    pub(crate) fn of(seed: u64, index: u64, stream: &str) -> Self {
        let mut state = mixed(seed.wrapping_add(GOLDEN));
        state = mixed(state ^ index.wrapping_add(1).wrapping_mul(GOLDEN));
        for byte in stream.bytes() {
            state = mixed(state ^ u64::from(byte));
        }
        Self(state)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mixed(self.0)
    }

    /// A number from 0 to `end`, exclusive. 0 if `end` is not positive.
    pub(crate) fn below(&mut self, end: i64) -> i64 {
        let end = u64::try_from(end).unwrap_or(0);
        i64::try_from((u128::from(self.next()) * u128::from(end)) >> 64).unwrap_or(0)
    }

    /// A number in the range, inclusive.
    pub(crate) fn between(&mut self, first: i64, last: i64) -> i64 {
        first + self.below(last - first + 1)
    }

    pub(crate) fn percent(&mut self, percent: i64) -> bool {
        self.below(100) < percent
    }

    /// True with a probability of `share`, in thousandths of a percent.
    pub(crate) fn milli_percent(&mut self, share: i64) -> bool {
        self.below(100_000) < share
    }

    /// Approximates a normal distribution by the sum of twelve draws, in integers.
    pub(crate) fn normal(&mut self, mean: i64, deviation: i64) -> i64 {
        let sum: i64 = (0..12).map(|_| self.below(65_536)).sum();
        mean + deviation * (sum - 6 * 65_536) / 65_536
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(i64::try_from(length).unwrap_or(0))).unwrap_or(0)
    }

    /// A random item. `None` if the list is empty.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }

    /// A random text of the list. Empty if the list is empty.
    pub(crate) fn text<'a>(&mut self, items: &'a [String]) -> &'a str {
        self.pick(items).map_or("", String::as_str)
    }

    /// A random index, by weight.
    pub(crate) fn weighted(&mut self, weights: impl Iterator<Item = i64> + Clone) -> usize {
        let mut left = self.below(weights.clone().sum());
        for (place, weight) in weights.enumerate() {
            left -= weight;
            if left < 0 {
                return place;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_and_differ() {
        let first = |seed, index, name| Random::of(seed, index, name).next();
        assert_eq!(first(1, 2, "a"), first(1, 2, "a"));
        assert_ne!(first(1, 2, "a"), first(1, 2, "b"));
        assert_ne!(first(1, 2, "a"), first(1, 3, "a"));
        assert_ne!(first(1, 2, "a"), first(2, 2, "a"));
    }

    #[test]
    fn draws_keep_their_bounds_and_their_mean() {
        let mut random = Random::of(7, 0, "test");
        assert!((0..10_000).all(|_| (3..=9).contains(&random.between(3, 9))));
        let mean = (0..10_000).map(|_| random.normal(1000, 100)).sum::<i64>() / 10_000;
        assert!((990..=1010).contains(&mean), "{mean}");
        assert_eq!((random.below(0), random.below(-5)), (0, 0));
    }
}
