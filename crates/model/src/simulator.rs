//! Simulators (definitions of simulated systems) and their types.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{DatasetId, FieldErrors, SimulatorId, Timestamp, patch};

macro_rules! simulator_types {
    ($($name:ident $([$($alias:literal),+])?,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
        pub enum SimulatorType { $($name,)+ }

        impl SimulatorType {
            pub const ALL: [SimulatorType; [$(stringify!($name)),+].len()] = [$(SimulatorType::$name),+];

            pub fn name(self) -> &'static str {
                match self { $(SimulatorType::$name => stringify!($name),)+ }
            }

            /// Alternative names.
            fn aliases(self) -> &'static [&'static str] {
                match self { $(SimulatorType::$name => &[$($($alias),+)?],)+ }
            }
        }
    };
}

// Each type is implemented by a module of the crate `sims`.
simulator_types! {
    Fhir,
    Hl7,
    Clearinghouse ["X12"],
    Files ["Sftp"],
    Payer ["WebPortal", "Portal"],
    Voice,
    Fax,
    Message ["Messages"],
    CdsHooks ["Cds"],
}

impl FromStr for SimulatorType {
    type Err = String;

    /// Parses a type name or alias, ignoring case, spaces, hyphens and underscores.
    fn from_str(text: &str) -> Result<Self, String> {
        let plain: String = text.chars().filter(|character| !" -_".contains(*character)).collect();
        let is_plain = |name: &str| name.eq_ignore_ascii_case(&plain);
        let known = |known: &Self| is_plain(known.name()) || known.aliases().iter().any(|alias| is_plain(alias));
        Self::ALL
            .into_iter()
            .find(known)
            .ok_or_else(|| format!("must be one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

impl<'de> Deserialize<'de> for SimulatorType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Simulator {
    pub id: SimulatorId,
    pub r#type: SimulatorType,
    pub name: String,
    /// The configuration for this type of simulator; see the authoring page of the manual. `null` if nothing is
    /// configured.
    #[serde(serialize_with = "null_if_empty")]
    #[schema(value_type = Option<Object>)]
    pub config: Value,
    /// The initial datasets of its sandboxes, in the order in which they were attached.
    pub datasets: Vec<DatasetId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Simulator {
    /// Validates everything except the config, which the simulator type validates.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        errors.name("name", &self.name);
        if !self.config.is_object() {
            errors.add("config", "must be an object");
        }
        errors.into_result()
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSimulator {
    /// Case-insensitive; `X12` means `Clearinghouse`, `Sftp` means `Files`, `WebPortal` means `Payer`.
    pub r#type: SimulatorType,
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub config: Value,
}

impl NewSimulator {
    pub fn into_simulator(self, id: SimulatorId, now: Timestamp) -> Simulator {
        let Self { r#type, name, config } = self;
        let config = object_or_empty(config);
        Simulator { id, r#type, name, config, datasets: Vec::new(), created_at: now, updated_at: now }
    }
}

/// A missing config is the empty config.
fn object_or_empty(config: Value) -> Value {
    if config.is_null() { Value::Object(serde_json::Map::new()) } else { config }
}

/// Serializes the empty config as `null`, as if it had been left out.
fn null_if_empty<S: serde::Serializer>(config: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    let is_empty = config.as_object().is_some_and(serde_json::Map::is_empty);
    if is_empty { serializer.serialize_none() } else { config.serialize(serializer) }
}

/// A change to a simulator. Its type cannot be changed.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatorPatch {
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// `null` restores the defaults.
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = Option<Object>, required = false)]
    pub config: Option<Value>,
}

impl SimulatorPatch {
    pub fn apply(self, simulator: &mut Simulator) {
        patch::set(&mut simulator.name, self.name);
        patch::set(&mut simulator.config, self.config.map(object_or_empty));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_parse_in_any_case_and_by_alias() {
        for (text, expected) in [
            ("fhir", SimulatorType::Fhir),
            ("CDSHOOKS", SimulatorType::CdsHooks),
            ("x12", SimulatorType::Clearinghouse),
            ("SFTP", SimulatorType::Files),
            ("CDS Hooks", SimulatorType::CdsHooks),
            ("cds_hooks", SimulatorType::CdsHooks),
            ("Web Portal", SimulatorType::Payer),
            ("messages", SimulatorType::Message),
        ] {
            assert_eq!(text.parse(), Ok(expected));
        }
        for r#type in SimulatorType::ALL {
            assert_eq!(serde_json::to_value(r#type).unwrap(), r#type.name());
        }
        assert!("Ehr".parse::<SimulatorType>().is_err());
    }
}
