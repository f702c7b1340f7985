//! Identifiers: a type prefix and a ULID. Each kind of thing has an id type of its own, parsed once at the edge.

use std::fmt;
use std::str::FromStr;

use arrayvec::ArrayString;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_LENGTH: usize = 26;
/// The longest prefix has six letters.
const MOST_LETTERS: usize = 6 + ULID_LENGTH;

/// The text of an id, in place: ids are copied with every request and event.
type Text = ArrayString<MOST_LETTERS>;

/// 128 bits, 48 of milliseconds and 80 of chance, whose text form sorts as the number does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ulid(pub u128);

impl Ulid {
    pub fn new(milliseconds: u64, chance: u128) -> Self {
        Self((u128::from(milliseconds & 0xFFFF_FFFF_FFFF) << 80) | (chance & ((1 << 80) - 1)))
    }
}

impl Ulid {
    /// After a prefix. Without the machinery of formats: every request and event has an id.
    pub fn text(self, prefix: &str) -> ArrayString<MOST_LETTERS> {
        let mut text = ArrayString::new();
        // A prefix that leaves no room is a mistake in the list below, which is asserted there.
        let _ = text.try_push_str(prefix);
        for place in (0..ULID_LENGTH).rev() {
            let letter = ALPHABET[((self.0 >> (5 * place)) & 31) as usize];
            let _ = text.try_push(char::from(letter));
        }
        text
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(""))
    }
}

/// The number of a text that [`is_ulid`] accepts.
fn number(text: &str) -> Ulid {
    let digit = |byte: u8| ALPHABET.iter().position(|letter| *letter == byte).unwrap_or_default() as u128;
    Ulid(text.bytes().fold(0, |number, byte| (number << 5) | digit(byte)))
}

/// Only the canonical upper-case form is an id: two spellings of one id would be two cache keys.
fn is_ulid(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_letter =
        |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'H' | b'J' | b'K' | b'M' | b'N' | b'P'..=b'T' | b'V'..=b'Z');
    bytes.len() == ULID_LENGTH && bytes[0] <= b'7' && bytes.iter().all(is_letter)
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an id of the form {prefix}<ULID>")]
pub struct InvalidId {
    pub prefix: &'static str,
}

/// What every id type has: its prefix, a way in from text and a way out.
pub trait Id: Sized + Clone + fmt::Display + FromStr<Err = InvalidId> {
    const PREFIX: &'static str;
    /// The noun that messages use.
    const NOUN: &'static str;
    fn from_ulid(ulid: Ulid) -> Self;
    fn as_str(&self) -> &str;
    /// What follows the prefix.
    fn ulid(&self) -> Ulid {
        number(self.as_str().strip_prefix(Self::PREFIX).unwrap_or_default())
    }
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident = $prefix:literal, $noun:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Text);

        const _: () = assert!($prefix.len() + ULID_LENGTH <= MOST_LETTERS);

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
                    Some(rest) if is_ulid(rest) => Text::from(text).map(Self).map_err(|_| InvalidId { prefix: $prefix }),
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
    fn ids_keep_their_kind_and_sort_by_time() {
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
