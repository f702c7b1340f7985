//! The simulators: their types, their configuration, the scenario steps that each type supports, and what those do.
//! Synchronous and pure: no I/O, no clock, no randomness.

#[macro_use]
mod registry;

pub mod authored;
pub mod cds_hooks;
pub mod clearinghouse;
mod contact_points;
pub mod credentials;
pub mod document;
pub mod effects;
pub mod fax;
pub mod fhir;
pub mod files;
pub mod hl7;
pub mod idempotency;
pub mod message;
mod network;
pub mod operation;
mod pagination;
pub mod payer;
pub mod redact;
mod rules;
pub mod scenario;
pub mod scheduler;
#[cfg(test)]
mod test_only;
pub mod voice;

pub use registry::{ConfigDefaults, Endpoint, SimulatorInfo, StepInfo};
pub use scenario::{EnvironmentSimulator, MAX_AFTER_SECONDS, MAX_STEPS, validate_scenario};

use model::FieldErrors;
use model::simulator::SimulatorType;
use serde_json::Value;

simulators! {
    Fhir => fhir,
    Hl7 => hl7,
    Clearinghouse => clearinghouse,
    Files => files,
    Payer => payer,
    Voice => voice,
    Fax => fax,
    Message => message,
    CdsHooks => cds_hooks,
    #[cfg(test)]
    test_only,
}

/// Validates an authored config. Errors are named by their dotted path inside the config. `null` is an empty config.
pub fn validate_config(kind: SimulatorType, config: &Value) -> Result<(), FieldErrors> {
    info(kind).validate_config(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_catalog_has_every_type_once_and_in_order() {
        let kinds: Vec<SimulatorType> = catalog().iter().map(|info| info.kind).collect();
        assert_eq!(kinds[..kinds.len() - 1], SimulatorType::ALL, "the last one exists in tests only");
        for kind in SimulatorType::ALL {
            assert_eq!(info(kind).kind, kind);
        }
    }

    #[test]
    fn examples_and_empty_configs_are_valid() {
        for info in catalog() {
            assert_eq!(info.validate_config(&info.example_config()), Ok(()), "{:?}", info.kind);
            assert_eq!(info.validate_config(&json!({})), Ok(()), "{:?}", info.kind);
            assert_eq!(info.validate_config(&Value::Null), Ok(()), "{:?}", info.kind);
        }
    }

    #[test]
    fn examples_show_every_config_key() {
        for info in catalog() {
            let errors = info.validate_config(&json!({"no_such_key": 1})).unwrap_err().to_string();
            for key in info.example_config().as_object().unwrap().keys() {
                assert!(errors.contains(&format!("`{key}`")), "{:?} {key}: {errors}", info.kind);
            }
            let known = errors.matches('`').count() / 2;
            assert_eq!(known, info.example_config().as_object().unwrap().len(), "{:?}: {errors}", info.kind);
        }
    }

    #[test]
    fn step_names_are_unique() {
        let mut names: Vec<&str> = catalog().iter().flat_map(|info| info.steps).map(|step| step.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn malformed_configs_are_rejected_by_every_type() {
        let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
        let precise: Value = serde_json::from_str("1.10").unwrap();
        let huge: Value = serde_json::from_str("1e999").unwrap();
        let long_key = "k".repeat(1 << 20);
        let many: Value = (0..20_000).map(|index| (format!("key{index}"), json!(index))).collect();
        let malformed = [
            json!([]),
            json!([{}]),
            json!("{}"),
            json!(true),
            json!(0),
            json!({"a\u{0}b": 1}),
            json!({"": 1}),
            json!({ long_key: 1 }),
            json!({ "deep": deep }),
            deep,
            precise,
            huge,
            many,
        ];
        for info in catalog() {
            for config in &malformed {
                let errors = info.validate_config(config).unwrap_err();
                assert!(errors.to_string().len() < 20_000, "{:?}", info.kind);
            }
        }
    }

    #[test]
    fn examples_with_a_member_of_the_wrong_type_are_rejected() {
        let precise: Value = serde_json::from_str("1.10").unwrap();
        let huge: Value = serde_json::from_str("-1e999").unwrap();
        for info in catalog() {
            let example = info.example_config();
            for key in example.as_object().unwrap().keys() {
                for wrong in
                    [json!([[]]), json!([1]), json!({"\u{0}": {}}), json!("\u{0}"), precise.clone(), huge.clone()]
                {
                    let mut config = example.clone();
                    config[key] = wrong;
                    assert!(info.validate_config(&config).is_err(), "{:?} {config}", info.kind);
                }
            }
        }
    }
}
