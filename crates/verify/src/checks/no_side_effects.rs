//! Passes when the agent changed nothing but what is allowed.
//!
//! Reads the difference between the state and its baseline, and the events. `allow` takes globs that start with an
//! area: `fhir/Appointment`, `files/outbox/**`, `hl7/ORM^O01`. The example: [`EXAMPLE`]. Evidence: `unexpected[]`.

use std::fmt;

use model::FieldErrors;
use serde::Deserialize;
use serde::de::IntoDeserializer;

use crate::authored::{Authored, Notation};
use crate::checks::{Check, CheckInfo};
use crate::glob::{Glob, Segment};
use crate::limits::{LONGEST_LIST, LONGEST_PATH};

pub const EXAMPLE: &str = r#"{
  "assert": "no-side-effects",
  "allow": ["fhir/Appointment", "files/outbox/**", "hl7/ORM^O01"]
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoSideEffects {
    /// Without any, nothing at all may change.
    #[serde(default)]
    pub allow: Vec<Authored<ResourceGlob>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceGlob {
    pub area: Area,
    pub glob: Glob,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    Fhir,
    Hl7,
    X12,
    Files,
    Portal,
    Voice,
    Fax,
    Messages,
    Cds,
}

impl Area {
    pub const ALL: [Area; 9] = [
        Self::Fhir,
        Self::Hl7,
        Self::X12,
        Self::Files,
        Self::Portal,
        Self::Voice,
        Self::Fax,
        Self::Messages,
        Self::Cds,
    ];

    fn read(name: &str) -> Option<Self> {
        let name: serde::de::value::StrDeserializer<'_, serde::de::value::Error> = name.into_deserializer();
        Self::deserialize(name).ok()
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fhir => "fhir",
            Self::Hl7 => "hl7",
            Self::X12 => "x12",
            Self::Files => "files",
            Self::Portal => "portal",
            Self::Voice => "voice",
            Self::Fax => "fax",
            Self::Messages => "messages",
            Self::Cds => "cds",
        })
    }
}

impl Notation for ResourceGlob {
    const LONGEST: usize = LONGEST_PATH;

    fn read(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once('/').unwrap_or((text, ""));
        let Some(area) = Area::read(name) else {
            let areas: Vec<String> = Area::ALL.iter().map(Area::to_string).collect();
            return Err(format!("must start with one of {}, as in `fhir/Appointment`", areas.join(", ")));
        };
        if rest.is_empty() {
            return Err(format!("must say what in `{area}` is allowed: `{area}/**` is everything"));
        }
        if rest.starts_with('/') {
            return Err("has an empty segment: a name or pattern must stand between slashes".to_owned());
        }
        Ok(Self { area, glob: Glob::read(rest)? })
    }
}

impl fmt::Display for ResourceGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.area, self.glob)
    }
}

impl Check for NoSideEffects {
    const INFO: CheckInfo = CheckInfo {
        name: "no-side-effects",
        summary: "The agent changed nothing but what is allowed.",
        example: EXAMPLE,
    };

    fn validate(&self, errors: &mut FieldErrors) {
        errors.size("allow", self.allow.len(), LONGEST_LIST);
        if Area::ALL.iter().all(|area| self.allows_all_of(*area)) {
            errors.add("allow", "can never fail: everything is allowed");
        }
    }
}

impl NoSideEffects {
    fn allows_all_of(&self, area: Area) -> bool {
        self.allow.iter().any(|allowed| match allowed {
            Authored::Ready(allowed) => {
                allowed.area == area && allowed.glob.segments.iter().all(|segment| *segment == Segment::AnyDepth)
            }
            Authored::Template(_) => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::round_trip;
    use serde_json::{Value, json};

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("no-side-effects", specification, faults);
    }

    #[test]
    fn sound_specifications() {
        check(json!({}), &[]);
        check(json!({"allow": []}), &[]);
        check(json!({"allow": ["fhir/*", "hl7/ORM^O01", "files/outbox/**", "files/{{entity.id}}/*"]}), &[]);
        for area in Area::ALL {
            check(json!({"allow": [format!("{area}/x")]}), &[]);
            round_trip::<ResourceGlob>(&format!("{area}/a/*.b"));
        }
    }

    #[test]
    fn faulty_specifications() {
        check(
            json!({"allow": ["fihr/Task", "fhir", "fhir/", "/fhir/Task", "fhir//Task", "files/../x", "**", "", 5]}),
            &[
                ("allow.0", "one of fhir, hl7"),
                ("allow.1", "`fhir/**`"),
                ("allow.2", "`fhir/**`"),
                ("allow.3", "one of fhir, hl7"),
                ("allow.4", "empty segment"),
                ("allow.5", "`..`"),
                ("allow.6", "one of fhir, hl7"),
                ("allow.7", "empty"),
                ("allow.8", "string"),
            ],
        );
        check(json!({"allow": "fhir/Task"}), &[("allow", "a list")]);
        let everything: Vec<String> = Area::ALL.iter().map(|area| format!("{area}/**")).collect();
        check(json!({"allow": everything}), &[("allow", "never fail")]);
        check(json!({"allow": vec!["fhir/Task"; 201]}), &[("allow", "at most 200")]);
    }
}
