//! Randomness from the operating system: ids and secrets.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use model::api_key::{KeyKind, RANDOM_BYTES, Secret};
use model::{Timestamp, Ulid};

use crate::AppError;

/// Ids that rise within a process even inside one millisecond, so that lists keep the order of creation.
#[derive(Default)]
pub(crate) struct IdSource {
    last: Mutex<u128>,
}

impl IdSource {
    pub(crate) fn next(&self, now: Timestamp) -> Ulid {
        let random = pooled();
        let fresh = of(now, random);
        // A random step forward: neighbours stay unguessable.
        let step = u128::from(u64::from_le_bytes([random[0], random[1], random[2], random[3], random[4], 0, 0, 0])) + 1;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let same_millisecond_or_earlier = (fresh.0 >> 80) <= (*last >> 80);
        *last = if same_millisecond_or_earlier { *last + step } else { fresh.0 };
        Ulid(*last)
    }
}

/// An id whose order within a millisecond nobody asks for: of a request.
pub(crate) fn unordered(now: Timestamp) -> Ulid {
    of(now, pooled())
}

fn of(now: Timestamp, random: [u8; 16]) -> Ulid {
    Ulid::new(u64::try_from(now.milliseconds()).unwrap_or_default(), u128::from_le_bytes(random))
}

const POOL: usize = 64;

thread_local! {
    /// Randomness for the next ids. The system is asked for that of many at once: every request needs some. Each thread has
    /// its own, so that none waits for another's.
    static RANDOM: RefCell<Vec<[u8; 16]>> = const { RefCell::new(Vec::new()) };
}

fn pooled() -> [u8; 16] {
    RANDOM.with_borrow_mut(|pool| {
        if pool.is_empty() {
            pool.resize(POOL, [0; 16]);
            // Without randomness ids of this process are still kept apart by their steps.
            let _ = getrandom::fill(pool.as_flattened_mut());
        }
        pool.pop().unwrap_or_default()
    })
}

pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], AppError> {
    let mut random = [0u8; N];
    getrandom::fill(&mut random).map_err(|error| AppError::Internal(format!("no randomness: {error}")))?;
    Ok(random)
}

/// What the order of a run's tasks is derived from: a number that JSON readers keep exactly.
pub(crate) fn order_seed() -> Result<i64, AppError> {
    Ok(i64::from_le_bytes(bytes::<8>()?) & ((1 << 53) - 1))
}

pub(crate) fn secret(kind: KeyKind) -> Result<Secret, AppError> {
    for _ in 0..100 {
        if let Some(secret) = Secret::from_random(kind, &bytes::<RANDOM_BYTES>()?) {
            return Ok(secret);
        }
    }
    Err(AppError::Internal("randomness is biased".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_rise_within_a_millisecond_and_when_the_clock_steps_back() {
        let source = IdSource::default();
        let times = [5, 5, 5, 4, 6, 6, 1];
        let ids: Vec<Ulid> = times.iter().map(|&time| source.next(Timestamp(time))).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    }

    /// S1: no collision, and no position of the random part prefers a character.
    #[test]
    fn secrets_are_uniform_and_never_collide() {
        const COUNT: usize = 1_000_000;
        let mut seen = HashSet::with_capacity(COUNT);
        let mut counts = vec![[0u32; 128]; 32];
        for _ in 0..COUNT {
            let secret = secret(KeyKind::Organization).unwrap();
            for (place, byte) in secret.reveal().bytes().skip(3).take(32).enumerate() {
                counts[place][usize::from(byte)] += 1;
            }
            assert!(seen.insert(secret.reveal().to_owned()));
        }
        let expected = COUNT as f64 / 62.0;
        for place in counts {
            let chi_square: f64 = place
                .iter()
                .filter(|&&count| count > 0)
                .map(|&count| (f64::from(count) - expected).powi(2) / expected)
                .sum();
            assert_eq!(place.iter().filter(|&&count| count > 0).count(), 62);
            // 61 degrees of freedom: 135 is beyond p = 1e-7, so that 32 places do not fail by chance.
            assert!(chi_square < 135.0, "{chi_square}");
        }
    }
}
