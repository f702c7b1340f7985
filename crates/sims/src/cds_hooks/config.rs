//! What an author may configure of the CDS Hooks client: the services that it asks (CDS Hooks 2.0, "Discovery").

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::Deserialize;

use crate::authored::{self, Authored};
use crate::network;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CdsHooksConfig {
    /// Registered from the start; an agent may register more.
    #[serde(default)]
    pub services: Vec<Service>,
    /// How long an answer may take, where the service has no time of its own.
    pub timeout_seconds: Option<i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Where `/cds-services` hangs below.
    pub base_url: String,
    pub timeout_seconds: Option<i64>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

const MOST_SERVICES: usize = 50;

impl Authored for CdsHooksConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        check_timeout(errors, self.timeout_seconds);
        errors.each("services", &self.services, MOST_SERVICES, |service, errors| {
            network::check_base_url(errors, "base_url", &service.base_url);
            network::check_headers(errors, "headers", &service.headers);
            check_timeout(errors, service.timeout_seconds);
        });
        let keys = self.services.iter().map(|service| service.base_url.trim_end_matches('/'));
        authored::refuse_repeats(errors, "services", "base_url", keys);
    }
}

fn check_timeout(errors: &mut FieldErrors, seconds: Option<i64>) {
    if let Some(seconds) = seconds {
        errors.range("timeout_seconds", seconds, 1..=60);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn faults_are_named() {
        for (config, place) in [
            (json!({"services": [{"base_url": "http://localhost:3000"}]}), ""),
            (json!({"services": ["http://localhost:3000"]}), "services.0"),
            (json!({"services": [{}]}), "services.0.base_url"),
            (json!({"services": [{"base_url": "localhost"}]}), "services.0.base_url"),
            (json!({"services": [{"base_url": "http://a", "timeout_seconds": 0}]}), "services.0.timeout_seconds"),
            (json!({"services": [{"base_url": "http://a"}, {"base_url": "http://a/"}]}), "services.1.base_url"),
            (json!({"timeout_seconds": 61}), "timeout_seconds"),
            (json!({"timeout_seconds": "5s"}), "timeout_seconds"),
        ] {
            let errors = authored::check::<CdsHooksConfig>(&config).err().unwrap_or_default();
            assert_eq!(errors.iter().next().map_or("", |(place, _)| place), place, "{errors}");
        }
    }
}
