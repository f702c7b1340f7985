//! The configuration of the EHR: the servers and services that it calls, and canned responses.

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::cards;
use super::definition::{ServiceDefinition, check_hook};
use super::json_object::UnknownMembers;
use crate::authored::{self, Authored};
use crate::fhir::scopes::Scopes;
use crate::network;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CdsHooksConfig {
    /// Servers whose services are registered from the start. The agent may register more.
    #[serde(default)]
    pub services: Vec<Service>,
    /// The default timeout of responses.
    pub timeout_seconds: Option<i64>,
    /// Services that the agent implements. Their hooks stay pending until it answers.
    #[serde(default)]
    pub agent_services: Vec<ServiceDefinition>,
    /// Hooks that are answered with the canned `cards`.
    #[serde(default)]
    pub hooks: Vec<String>,
    /// Canned cards: one list for all `hooks`, or an object with a list for each hook.
    pub cards: Option<Value>,
    /// The access token for the playground's FHIR server that is sent with hooks. Without it, none is sent.
    pub fhir_authorization: Option<FhirAuthorization>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FhirAuthorization {
    /// SMART scopes: `system/*.rs`.
    pub scope: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// The URL before `/cds-services`.
    pub base_url: String,
    pub timeout_seconds: Option<i64>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

const MAX_SERVICES: usize = 50;

impl Authored for CdsHooksConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        check_timeout(errors, self.timeout_seconds);
        self.check_hooks(errors);
        errors.each("services", &self.services, MAX_SERVICES, |service, errors| {
            network::check_base_url(errors, "base_url", &service.base_url);
            network::check_headers(errors, "headers", &service.headers);
            check_timeout(errors, service.timeout_seconds);
        });
        let keys = self.services.iter().map(|service| service.base_url.trim_end_matches('/'));
        authored::check_unique(errors, "services", "base_url", keys);
        errors.each("agent_services", &self.agent_services, MAX_SERVICES, |service, errors| service.validate(errors));
        let ids = self.agent_services.iter().map(|service| &service.id);
        authored::check_unique(errors, "agent_services", "id", ids);
        if let Some(authorization) = &self.fhir_authorization {
            let scopes = Scopes::parse(&authorization.scope);
            if authorization.scope.len() > 2000 || scopes.is_empty() {
                errors.add("fhir_authorization.scope", "must be SMART system scopes, such as `system/*.rs`");
            }
        }
    }
}

/// Validates canned cards by the rules of CDS Hooks 2.0.
fn check_cards(errors: &mut FieldErrors, field: &str, cards: &Value) {
    if let Err(card_errors) = cards::check(&json!({ "cards": cards }), UnknownMembers::Rejected) {
        for (inside, messages) in card_errors.iter() {
            let rest = inside.strip_prefix("cards").unwrap_or(inside);
            messages.iter().for_each(|message| errors.add(format!("{field}{rest}"), message.clone()));
        }
    }
}

const DEFAULT_TIMEOUT_SECONDS: i64 = 10;

impl CdsHooksConfig {
    pub fn of(config: &serde_json::Value) -> Self {
        authored::read(config).unwrap_or_default()
    }

    /// The hooks with canned cards.
    pub fn canned_hooks(&self) -> Vec<(String, Vec<Value>)> {
        let listed = |cards: &Value| cards.as_array().cloned().unwrap_or_default();
        let of = |hook: &str| match &self.cards {
            Some(Value::Object(by_hook)) => by_hook.get(hook).map(listed).unwrap_or_default(),
            Some(cards) => listed(cards),
            None => Vec::new(),
        };
        let named = self.cards.as_ref().and_then(Value::as_object).into_iter().flat_map(Map::keys);
        let others = named.filter(|hook| !self.hooks.contains(hook));
        self.hooks.iter().chain(others).map(|hook| (hook.clone(), of(hook))).collect()
    }

    fn check_hooks(&self, errors: &mut FieldErrors) {
        errors.size("hooks", self.hooks.len(), MAX_SERVICES);
        for (index, hook) in self.hooks.iter().take(MAX_SERVICES).enumerate() {
            check_hook(errors, &format!("hooks.{index}"), hook);
        }
        for (index, hook) in self.hooks.iter().enumerate().take(MAX_SERVICES) {
            if self.hooks.iter().take(index).any(|earlier| earlier == hook) {
                errors.add(format!("hooks.{index}"), "is listed twice");
            }
        }
        match &self.cards {
            None => {}
            Some(Value::Object(by_hook)) => {
                errors.size("cards", by_hook.len(), MAX_SERVICES);
                for (hook, cards) in by_hook.iter().take(MAX_SERVICES) {
                    let place = format!("cards.{}", model::reading::shortened(hook, 80));
                    check_hook(errors, &place, hook);
                    check_cards(errors, &place, cards);
                }
            }
            Some(_) if self.hooks.is_empty() => errors.add("cards", "is never used: name the hooks in `hooks`"),
            Some(cards) => check_cards(errors, "cards", cards),
        }
    }

    /// What the author says of the server at this address.
    pub fn server(&self, base_url: &str) -> Option<&Service> {
        let plain = |url: &str| url.trim_end_matches('/').to_owned();
        self.services.iter().find(|service| plain(&service.base_url) == plain(base_url))
    }

    /// The timeout of responses. `registered` is the timeout from the registration of the service.
    pub fn timeout_seconds(&self, base_url: &str, registered: Option<i64>) -> i64 {
        let configured = self.server(base_url).and_then(|service| service.timeout_seconds);
        configured.or(registered).or(self.timeout_seconds).unwrap_or(DEFAULT_TIMEOUT_SECONDS)
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

    fn card() -> Value {
        json!({"summary": "Call today", "indicator": "info", "source": {"label": "Desk"}})
    }

    #[test]
    fn errors_name_their_field() {
        for (config, field) in [
            (json!({"services": [{"base_url": "http://localhost:3000"}]}), ""),
            (json!({"services": ["http://localhost:3000"]}), "services.0"),
            (json!({"services": [{}]}), "services.0.base_url"),
            (json!({"services": [{"base_url": "localhost"}]}), "services.0.base_url"),
            (json!({"services": [{"base_url": "http://a", "timeout_seconds": 0}]}), "services.0.timeout_seconds"),
            (json!({"services": [{"base_url": "http://a"}, {"base_url": "http://a/"}]}), "services.1.base_url"),
            (json!({"agent_services": [{"hook": "patient-view", "id": "a", "description": "x"}]}), ""),
            (
                json!({"agent_services": [{"hook": "patient-view", "id": "a b", "description": "x"}]}),
                "agent_services.0.id",
            ),
            (json!({"agent_services": [{"hook": "patient-view", "id": "a"}]}), "agent_services.0.description"),
            (json!({"fhir_authorization": {"scope": "system/*.rs"}}), ""),
            (json!({"fhir_authorization": {"scope": "user/*.rs"}}), "fhir_authorization.scope"),
            (json!({"hooks": ["patient-view"]}), ""),
            (json!({"hooks": ["patient-view"], "cards": [card()]}), ""),
            (json!({"cards": {"patient-view": [card()], "order-sign": []}}), ""),
            (json!({"hooks": ["a b"]}), "hooks.0"),
            (json!({"cards": [card()]}), "cards"),
            (json!({"hooks": ["patient-view"], "cards": [{"summary": "x"}]}), "cards.0.indicator"),
            (json!({"cards": {"patient-view": 5}}), "cards.patient-view"),
            (json!({"timeout_seconds": 61}), "timeout_seconds"),
            (json!({"timeout_seconds": "5s"}), "timeout_seconds"),
        ] {
            let errors = authored::check::<CdsHooksConfig>(&config).err().unwrap_or_default();
            assert_eq!(errors.iter().next().map_or("", |(field, _)| field), field, "{errors}");
        }
    }
}
