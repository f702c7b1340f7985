//! Random numbers that are the same in every run.

/// SplitMix64: deterministic random numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `most`, which is not 0.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).expect("less than most")
    }

    pub(crate) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    /// Bytes with a few random faults; some insert one of the odd texts. Never empty.
    pub(crate) fn mutate(&mut self, mut bytes: Vec<u8>, odd: &[&[u8]]) -> Vec<u8> {
        for _ in 0..=self.below(4) {
            let place = self.below(bytes.len().max(1));
            match self.below(5) {
                0 => bytes.truncate(place),
                1 => bytes.splice(place..place, self.pick(odd).iter().copied()).for_each(drop),
                2 => bytes.extend_from_within(..place),
                3 => bytes[place] = self.below(256) as u8,
                _ => bytes.drain(place..(place + self.below(20)).min(bytes.len())).for_each(drop),
            }
            if bytes.is_empty() {
                bytes.push(b'M');
            }
        }
        bytes
    }
}
