//! Ids from the time and the operating system's randomness.

use std::cell::RefCell;
use std::sync::Mutex;

use model::{Timestamp, Ulid};

use crate::lock;

/// Ids that increase within a process even inside one millisecond, so that lists keep the order of creation.
#[derive(Default)]
pub(crate) struct IdSource {
    last: Mutex<u128>,
}

impl IdSource {
    pub(crate) fn next(&self, now: Timestamp) -> Ulid {
        let random = random();
        let fresh = ulid(now, random);
        // A random step, so that neighboring ids cannot be guessed.
        let step = u128::from(u64::from_le_bytes([random[0], random[1], random[2], random[3], random[4], 0, 0, 0])) + 1;
        let mut last = lock(&self.last);
        let same_millisecond_or_earlier = (fresh.0 >> 80) <= (*last >> 80);
        *last = if same_millisecond_or_earlier { *last + step } else { fresh.0 };
        Ulid(*last)
    }
}

/// An id whose order within a millisecond does not matter, such as that of a request.
pub fn unordered_id(now: Timestamp) -> Ulid {
    ulid(now, random())
}

fn ulid(now: Timestamp, random: [u8; 16]) -> Ulid {
    Ulid::new(u64::try_from(now.milliseconds()).unwrap_or_default(), u128::from_le_bytes(random))
}

const POOL: usize = 64;

thread_local! {
    /// Randomness for the next ids, read from the system for many ids at once. One pool per thread, without locks.
    static RANDOM: RefCell<Vec<[u8; 16]>> = const { RefCell::new(Vec::new()) };
}

fn random() -> [u8; 16] {
    RANDOM.with_borrow_mut(|pool| {
        if pool.is_empty() {
            pool.resize(POOL, [0; 16]);
            // Without randomness the ids of this process still differ by their steps.
            let _ = getrandom::fill(pool.as_flattened_mut());
        }
        pool.pop().unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_increase_within_a_millisecond_and_when_the_clock_steps_back() {
        let source = IdSource::default();
        let times = [5, 5, 5, 4, 6, 6, 1];
        let ids: Vec<Ulid> = times.iter().map(|&time| source.next(Timestamp(time))).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
