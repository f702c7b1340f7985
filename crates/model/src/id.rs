//! Identifiers: a type prefix and a ULID. Each resource has its own id type, parsed once at the edge.

use std::fmt;
use std::str::FromStr;

use arrayvec::ArrayString;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_LENGTH: usize = 26;
/// The longest prefix has six characters.
const MAX_ID_LENGTH: usize = 6 + ULID_LENGTH;

/// The text of an id, stored inline, because ids are copied with every request and event.
type IdText = ArrayString<MAX_ID_LENGTH>;

/// A ULID: 48 bits of milliseconds and 80 random bits. Its text form sorts like the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ulid(pub u128);

impl Ulid {
    pub fn new(milliseconds: u64, random: u128) -> Self {
        Self((u128::from(milliseconds & 0xFFFF_FFFF_FFFF) << 80) | (random & ((1 << 80) - 1)))
    }
}

impl Ulid {
    /// The text with a prefix. Avoids the formatting machinery, because every request and event has an id.
    pub fn text(self, prefix: &str) -> ArrayString<MAX_ID_LENGTH> {
        let mut text = ArrayString::new();
        // The assertion in `ids!` guarantees that every prefix fits.
        let _ = text.try_push_str(prefix);
        for position in (0..ULID_LENGTH).rev() {
            let digit = ALPHABET[((self.0 >> (5 * position)) & 31) as usize];
            let _ = text.try_push(char::from(digit));
        }
        text
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(""))
    }
}

/// Parses a text that [`is_ulid`] accepts.
fn parse_ulid(text: &str) -> Ulid {
    let digit = |byte: u8| ALPHABET.iter().position(|known| *known == byte).unwrap_or_default() as u128;
    Ulid(text.bytes().fold(0, |number, byte| (number << 5) | digit(byte)))
}

/// Whether a text is a ULID in the canonical uppercase form. Other spellings are rejected, because two spellings of one
/// id would be two cache keys.
fn is_ulid(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit =
        |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'H' | b'J' | b'K' | b'M' | b'N' | b'P'..=b'T' | b'V'..=b'Z');
    bytes.len() == ULID_LENGTH && bytes[0] <= b'7' && bytes.iter().all(is_digit)
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an id of the form {prefix}<ULID>")]
pub struct InvalidId {
    pub prefix: &'static str,
}

/// The common interface of all id types.
pub trait Id: Sized + Clone + fmt::Display + FromStr<Err = InvalidId> {
    const PREFIX: &'static str;
    /// The resource name used in messages.
    const NOUN: &'static str;
    fn from_ulid(ulid: Ulid) -> Self;
    fn as_str(&self) -> &str;
    /// The ULID after the prefix.
    fn ulid(&self) -> Ulid {
        parse_ulid(self.as_str().strip_prefix(Self::PREFIX).unwrap_or_default())
    }
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident = $prefix:literal, $noun:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(IdText);

        const _: () = assert!($prefix.len() + ULID_LENGTH <= MAX_ID_LENGTH);

        impl Id for $name {
            const PREFIX: &'static str = $prefix;
            const NOUN: &'static str = $noun;
            fn from_ulid(ulid: Ulid) -> Self { Self(ulid.text($prefix)) }
            fn as_str(&self) -> &str { &self.0 }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) }
        }
        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                match text.strip_prefix($prefix) {
                    Some(rest) if is_ulid(rest) => {
                        IdText::from(text).map(Self).map_err(|_| InvalidId { prefix: $prefix })
                    }
                    _ => Err(InvalidId { prefix: $prefix }),
                }
            }
        }
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::schema::Type::String)
                    .pattern(Some(concat!("^", $prefix, "[0-7][0-9A-HJKMNP-TV-Z]{25}$")))
                    .examples([serde_json::json!(concat!($prefix, "01K9Z3T5Q8W7N4M2R6V0XBHCDE"))])
                    .into()
            }
        }
        impl utoipa::ToSchema for $name {}
    )*};
}

ids! {
    OrgId = "org_", "organization";
    KeyId = "key_", "key";
    SolverId = "slv_", "solver";
    EnvironmentId = "env_", "environment";
    SimulatorId = "sim_", "simulator";
    DatasetId = "ds_", "dataset";
    EntityId = "ent_", "entity";
    BenchmarkId = "bench_", "benchmark";
    TaskId = "task_", "task";
    CriterionId = "crit_", "criterion";
    PlaygroundId = "pg_", "playground";
    SandboxId = "sbx_", "sandbox";
    EventId = "evt_", "event";
    BenchmarkRunId = "br_", "run";
    TaskRunId = "tr_", "task run";
    CriterionRunId = "crun_", "criterion run";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_typed_and_sort_by_time() {
        let early = TaskId::from_ulid(Ulid::new(1_000, 7));
        let late = TaskId::from_ulid(Ulid::new(1_001, 0));
        assert!(early < late);
        assert_eq!(early.to_string().parse::<TaskId>(), Ok(early.clone()));
        assert!(early.to_string().parse::<CriterionId>().is_err());
        assert_eq!(late.ulid(), Ulid::new(1_001, 0));
        let text = "01K9Z3T5Q8W7N4M2R6V0XBHCDE";
        assert_eq!(
            TaskId::from_ulid(format!("tr_{text}").parse::<TaskRunId>().unwrap().ulid()).as_str(),
            format!("task_{text}")
        );
    }

    #[test]
    fn only_the_canonical_spelling_is_an_id() {
        for bad in [
            "",
            "task_",
            "task_01k9z3t5q8w7n4m2r6v0xbhcde",
            "task_81K9Z3T5Q8W7N4M2R6V0XBHCDE",
            "task_01K9Z3T5Q8W7N4M2R6V0XBHCDU",
        ] {
            assert!(bad.parse::<TaskId>().is_err(), "{bad}");
        }
        assert!("task_01K9Z3T5Q8W7N4M2R6V0XBHCDE".parse::<TaskId>().is_ok());
    }
}
