//! What an author may configure of a FHIR simulator.

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::Deserialize;

use crate::authored::Authored;
use crate::network;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FhirConfig {
    /// An existing server that answers instead of the simulated one.
    pub remote: Option<Remote>,
    /// How closely resources are looked at when they are written.
    #[serde(default)]
    pub validation: Validation,
    /// Whether references must lead to resources that exist.
    #[serde(default)]
    pub referential_integrity: ReferentialIntegrity,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Validation {
    /// Structure, required codes, and references that can lead somewhere.
    #[default]
    Standard,
    /// Structure and required codes only.
    Relaxed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferentialIntegrity {
    /// A reference to a resource that does not exist is refused, and so is the deletion of one that others refer to.
    Strict,
    #[default]
    Off,
}

/// What is asked of every write of a client, by the config of the sandbox or always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WriteRules {
    pub(crate) references: bool,
    pub(crate) referential_integrity: bool,
    /// Whether an active SearchParameter must be able to take effect.
    pub(crate) search_parameters: bool,
}

impl WriteRules {
    /// Read member by member: a config was checked when it was saved, and this is asked for every request.
    pub(crate) fn of(config: &serde_json::Value) -> Self {
        Self {
            references: config["validation"] != "relaxed",
            referential_integrity: config["referential_integrity"] == "strict",
            search_parameters: true,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remote {
    pub base_url: String,
    /// Sent with every request, for the remote server's own authorisation.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

impl Authored for FhirConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        if let Some(remote) = &self.remote {
            errors.inside("remote", |errors| {
                network::check_base_url(errors, "base_url", &remote.base_url);
                network::check_headers(errors, "headers", &remote.headers);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authored::check;
    use serde_json::{Value, json};

    fn faults(config: &Value) -> String {
        check::<FhirConfig>(config).err().map_or_else(String::new, |errors| errors.to_string())
    }

    #[test]
    fn writes_are_looked_at_as_configured() {
        assert_eq!(faults(&json!({"validation": "relaxed", "referential_integrity": "strict"})), "");
        assert!(faults(&json!({"validation": "none"})).starts_with("validation: "));
        assert!(faults(&json!({"referential_integrity": true})).starts_with("referential_integrity: "));
        let rules = WriteRules::of(&json!({"validation": "relaxed", "referential_integrity": "strict"}));
        let search_parameters = true;
        assert_eq!(rules, WriteRules { references: false, referential_integrity: true, search_parameters });
        let rules = WriteRules::of(&json!({}));
        assert_eq!(rules, WriteRules { references: true, referential_integrity: false, search_parameters });
    }

    #[test]
    fn remotes_are_http_servers() {
        assert_eq!(faults(&json!({"remote": {"base_url": "http://localhost:8080/fhir"}})), "");
        assert_eq!(faults(&json!({"remote": null})), "");
        assert_eq!(faults(&json!({"remote": {}})), "remote.base_url: is required");
        assert_eq!(faults(&json!({"remote": ["http://a"]})), "remote: must be an object, is a list");
        assert_eq!(
            faults(&json!({"remote": {"base_url": "ftp://a", "headers": {"Host": "b"}, "user": "c"}})),
            "remote.base_url: must start with https:// or http://; remote.headers.Host: cannot be configured; the HTTP client sets it; \
             remote.user: is not a known field; known: `base_url`, `headers`"
        );
    }
}
