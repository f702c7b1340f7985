//! The text format of API keys: prefix, 32 random base62 characters (190 bits), and a six-character base62 CRC-32. The
//! checksum rejects a mistyped key without a database lookup, and secret scanners can match the format:
//! `^(vk|vrl_slv|vrl_run)_[0-9A-Za-z]{38}$`.

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH: usize = 32;
const CHECK_LENGTH: usize = 6;
/// The number of random bytes for [`Secret::from_random`]. Bytes that would bias a character are skipped.
pub const RANDOM_BYTES: usize = 64;

/// Prefixes of a sandbox's own secrets. The rest is base64url; an access token has two parts separated by a dot.
pub const ACCESS_TOKEN_PREFIX: &str = "vrl_smart_";
pub const CLIENT_SECRET_PREFIX: &str = "vrl_client_";

/// What a key gives access to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    Organization,
    Solver,
    Run,
}

impl KeyKind {
    pub const ALL: [KeyKind; 3] = [KeyKind::Organization, KeyKind::Solver, KeyKind::Run];

    pub fn prefix(self) -> &'static str {
        match self {
            KeyKind::Organization => "vk_",
            KeyKind::Solver => "vrl_slv_",
            KeyKind::Run => "vrl_run_",
        }
    }
}

/// A complete secret key. It has no `Debug` and no `Display`, so that it is only revealed on purpose.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    kind: KeyKind,
    text: String,
}

impl Secret {
    /// Makes a key from random bytes. `None` if too few of the bytes are usable, which practically never happens with
    /// 64; the caller then draws new bytes.
    pub fn from_random(kind: KeyKind, random: &[u8]) -> Option<Self> {
        let usable = random.iter().filter(|&&byte| byte < 248).take(RANDOM_LENGTH);
        let body: String = usable.map(|&byte| char::from(ALPHABET[usize::from(byte % 62)])).collect();
        if body.len() < RANDOM_LENGTH {
            return None;
        }
        let unchecked = format!("{}{body}", kind.prefix());
        let text = format!("{unchecked}{}", checksum(&unchecked));
        Some(Self { kind, text })
    }

    /// Parses a presented credential; `None` if it is not a valid key.
    pub fn parse(text: &str) -> Option<Self> {
        let kind = KeyKind::ALL.into_iter().find(|kind| text.starts_with(kind.prefix()))?;
        let body = &text[kind.prefix().len()..];
        let well_formed =
            body.len() == RANDOM_LENGTH + CHECK_LENGTH && body.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !well_formed {
            return None;
        }
        let (unchecked, check) = text.split_at(text.len() - CHECK_LENGTH);
        (checksum(unchecked) == check).then(|| Self { kind, text: text.to_owned() })
    }

    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// The prefix and the last four characters, by which lists identify a key.
    pub fn shown(&self) -> (String, String) {
        (self.kind.prefix().to_owned(), self.text[self.text.len() - 4..].to_owned())
    }
}

/// Replaces everything in the text that looks like one of our secrets, complete or almost complete, with its prefix and
/// an ellipsis: `vk_…`.
pub fn masked(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, prefix)) = first_prefix(rest) {
        let body = &rest[start + prefix.len()..];
        let is_derived = [ACCESS_TOKEN_PREFIX, CLIENT_SECRET_PREFIX].contains(&prefix);
        let is_part_of_secret = |byte: &u8| byte.is_ascii_alphanumeric() || (is_derived && b"-_.".contains(byte));
        let length = body.bytes().take_while(is_part_of_secret).count();
        masked.push_str(&rest[..start + prefix.len()]);
        if length >= MIN_MASKED_LENGTH {
            masked.push('…');
            rest = &body[length..];
        } else {
            rest = body;
        }
    }
    masked + rest
}

/// Shorter fragments are useless to an attacker, and ordinary words must not be masked.
const MIN_MASKED_LENGTH: usize = 20;

fn first_prefix(text: &str) -> Option<(usize, &'static str)> {
    let prefixes = KeyKind::ALL.map(KeyKind::prefix).into_iter().chain([ACCESS_TOKEN_PREFIX, CLIENT_SECRET_PREFIX]);
    let found = prefixes.filter_map(|prefix| Some((text.find(prefix)?, prefix)));
    found.min_by_key(|(start, _)| *start)
}

fn checksum(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut characters = [b'0'; CHECK_LENGTH];
    for character in characters.iter_mut().rev() {
        *character = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    String::from_utf8_lossy(&characters).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(seed: u64) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        (0..RANDOM_BYTES)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect()
    }

    #[test]
    fn a_secret_round_trips_through_text() {
        for kind in KeyKind::ALL {
            let secret = Secret::from_random(kind, &bytes(3)).unwrap();
            let parsed = Secret::parse(secret.reveal()).unwrap();
            assert!(parsed == secret && parsed.kind() == kind);
        }
    }

    #[test]
    fn every_one_character_typo_is_rejected_by_the_checksum() {
        let mut typos = 0;
        for seed in 1..=5 {
            let secret = Secret::from_random(KeyKind::Organization, &bytes(seed)).unwrap();
            let text = secret.reveal().as_bytes();
            for position in 0..text.len() {
                for &other in ALPHABET {
                    if other != text[position] {
                        let mut typo = text.to_vec();
                        typo[position] = other;
                        assert!(Secret::parse(str::from_utf8(&typo).unwrap()).is_none());
                        typos += 1;
                    }
                }
            }
        }
        assert!(typos >= 10_000);
    }

    #[test]
    fn secrets_are_masked_anywhere_in_a_text() {
        for kind in KeyKind::ALL {
            let secret = Secret::from_random(kind, &bytes(9)).unwrap();
            let (text, prefix) = (secret.reveal(), kind.prefix());
            assert_eq!(masked(&format!("not `{text}`: {text}")), format!("not `{prefix}…`: {prefix}…"));
            assert_eq!(masked(&text[..text.len() - 1]), format!("{prefix}…"));
        }
        for harmless in ["", "vk_", "vk_…", "vk_short vrl_slv_ vk_", "a key starts with vk_", "ä vk_ä"] {
            assert_eq!(masked(harmless), harmless);
        }
    }

    #[test]
    fn malformed_text_is_not_a_key() {
        for bad in ["", "vk_", "vk_é", "vrl_slv_", "Bearer", &"x".repeat(10_000), "vk_\u{0}"] {
            assert!(Secret::parse(bad).is_none());
        }
    }
}
