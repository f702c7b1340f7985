//! Randomness from the operating system, for secrets.

use model::api_key::{KeyKind, RANDOM_BYTES, Secret};

use crate::AppError;

pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], AppError> {
    let mut random = [0u8; N];
    getrandom::fill(&mut random).map_err(|error| AppError::Internal(format!("no randomness: {error}")))?;
    Ok(random)
}

/// The seed of the order of a run's tasks: a number that JSON readers represent exactly.
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

    /// S1: no collision, and each position of the random part is uniform.
    #[test]
    fn secrets_are_uniform_and_never_collide() {
        const COUNT: usize = 1_000_000;
        let mut seen = HashSet::with_capacity(COUNT);
        let mut counts = vec![[0u32; 128]; 32];
        for _ in 0..COUNT {
            let secret = secret(KeyKind::Organization).unwrap();
            for (index, byte) in secret.reveal().bytes().skip(3).take(32).enumerate() {
                counts[index][usize::from(byte)] += 1;
            }
            assert!(seen.insert(secret.reveal().to_owned()));
        }
        let expected = COUNT as f64 / 62.0;
        for position in counts {
            let chi_square: f64 = position
                .iter()
                .filter(|&&count| count > 0)
                .map(|&count| (f64::from(count) - expected).powi(2) / expected)
                .sum();
            assert_eq!(position.iter().filter(|&&count| count > 0).count(), 62);
            // 61 degrees of freedom: 135 is beyond p = 1e-7, so that 32 positions do not fail by chance.
            assert!(chi_square < 135.0, "{chi_square}");
        }
    }
}
