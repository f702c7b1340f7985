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
    fn remotes_are_http_servers() {
        assert_eq!(faults(&json!({"remote": {"base_url": "http://localhost:8080/fhir"}})), "");
        assert_eq!(faults(&json!({"remote": null})), "");
        assert_eq!(faults(&json!({"remote": {}})), "remote.base_url: is required");
        assert_eq!(faults(&json!({"remote": ["http://a"]})), "remote: must be an object, is a list");
        assert_eq!(
            faults(&json!({"remote": {"base_url": "ftp://a", "headers": {"Host": "b"}, "user": "c"}})),
            "remote.base_url: must start with https:// or http://; remote.headers.Host: is set by the connection; \
             remote.user: is not a known field; known: `base_url`, `headers`"
        );
    }
}
