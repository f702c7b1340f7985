//! The authored config of a FHIR simulator.

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::Deserialize;

use crate::authored::Authored;
use crate::network;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FhirConfig {
    /// An existing server to which requests are forwarded.
    pub remote: Option<Remote>,
    /// How strictly resources are validated when they are written.
    #[serde(default)]
    pub validation: Validation,
    /// Whether references must point to existing resources.
    #[serde(default)]
    pub referential_integrity: ReferentialIntegrity,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Validation {
    /// Structure, required codes, and types of references.
    #[default]
    Standard,
    /// Structure and required codes only.
    Relaxed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferentialIntegrity {
    /// Rejects references to missing resources and deletions of referenced resources.
    Strict,
    #[default]
    Off,
}

/// The rules for writes of clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WriteRules {
    pub(crate) references: bool,
    pub(crate) referential_integrity: bool,
    /// Whether an active SearchParameter must be able to take effect.
    pub(crate) search_parameters: bool,
}

impl WriteRules {
    /// Reads the members directly: the config was validated when it was saved, and this runs for every request.
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
    /// Sent with every request, for authorization at the remote server.
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

    fn errors(config: &Value) -> String {
        check::<FhirConfig>(config).err().map_or_else(String::new, |errors| errors.to_string())
    }

    #[test]
    fn write_rules_follow_the_config() {
        assert_eq!(errors(&json!({"validation": "relaxed", "referential_integrity": "strict"})), "");
        assert!(errors(&json!({"validation": "none"})).starts_with("validation: "));
        assert!(errors(&json!({"referential_integrity": true})).starts_with("referential_integrity: "));
        let rules = WriteRules::of(&json!({"validation": "relaxed", "referential_integrity": "strict"}));
        let search_parameters = true;
        assert_eq!(rules, WriteRules { references: false, referential_integrity: true, search_parameters });
        let rules = WriteRules::of(&json!({}));
        assert_eq!(rules, WriteRules { references: true, referential_integrity: false, search_parameters });
    }

    #[test]
    fn remotes_are_http_servers() {
        assert_eq!(errors(&json!({"remote": {"base_url": "http://localhost:8080/fhir"}})), "");
        assert_eq!(errors(&json!({"remote": null})), "");
        assert_eq!(errors(&json!({"remote": {}})), "remote.base_url: is required");
        assert_eq!(errors(&json!({"remote": ["http://a"]})), "remote: must be an object, is a list");
        assert_eq!(
            errors(&json!({"remote": {"base_url": "ftp://a", "headers": {"Host": "b"}, "user": "c"}})),
            "remote.base_url: must start with https:// or http://; remote.headers.Host: cannot be configured; the HTTP client sets it; \
             remote.user: is not a known field; known: `base_url`, `headers`"
        );
    }
}
