//! What an author may configure of the CDS Hooks client: the services that it asks (CDS Hooks 2.0, "Discovery").

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::cards;
use super::definition::{Definition, check_hook};
use super::members::Unknown;
use crate::authored::{self, Authored};
use crate::fhir::scopes::Scopes;
use crate::network;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CdsHooksConfig {
    /// Registered from the start; an agent may register more.
    #[serde(default)]
    pub services: Vec<Service>,
    /// How long an answer may take, where the service has no time of its own.
    pub timeout_seconds: Option<i64>,
    /// Services that the agent plays: hooks that they take wait until it answers.
    #[serde(default)]
    pub agent_services: Vec<Definition>,
    /// Hooks that the EHR answers itself, with the canned `cards`.
    #[serde(default)]
    pub hooks: Vec<String>,
    /// Canned cards: a list for every one of `hooks`, or lists by hook.
    pub cards: Option<Value>,
    /// What a token for the playground's FHIR server allows that is sent with every hook; none without it.
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
        self.check_hooks(errors);
        errors.each("services", &self.services, MOST_SERVICES, |service, errors| {
            network::check_base_url(errors, "base_url", &service.base_url);
            network::check_headers(errors, "headers", &service.headers);
            check_timeout(errors, service.timeout_seconds);
        });
        let keys = self.services.iter().map(|service| service.base_url.trim_end_matches('/'));
        authored::check_unique(errors, "services", "base_url", keys);
        errors.each("agent_services", &self.agent_services, MOST_SERVICES, |service, errors| service.validate(errors));
        let ids = self.agent_services.iter().map(|service| &service.id);
        authored::check_unique(errors, "agent_services", "id", ids);
        if let Some(authorization) = &self.fhir_authorization {
            let scopes = Scopes::parse(&authorization.scope);
            if authorization.scope.len() > 2000 || scopes.is_empty() {
                errors.add("fhir_authorization.scope", "must be SMART scopes of systems, such as `system/*.rs`");
            }
        }
    }
}

/// Cards by the rules of CDS Hooks 2.0.
fn check_cards(errors: &mut FieldErrors, place: &str, cards: &Value) {
    if let Err(faults) = cards::check(&json!({ "cards": cards }), Unknown::Refused) {
        for (inside, messages) in faults.iter() {
            let rest = inside.strip_prefix("cards").unwrap_or(inside);
            messages.iter().for_each(|message| errors.add(format!("{place}{rest}"), message.clone()));
        }
    }
}

const USUAL_SECONDS: i64 = 10;

impl CdsHooksConfig {
    pub fn of(config: &serde_json::Value) -> Self {
        authored::read(config).unwrap_or_default()
    }

    /// The hooks that the config answers, each with its cards.
    pub fn advertised(&self) -> Vec<(String, Vec<Value>)> {
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
        errors.size("hooks", self.hooks.len(), MOST_SERVICES);
        for (index, hook) in self.hooks.iter().take(MOST_SERVICES).enumerate() {
            check_hook(errors, &format!("hooks.{index}"), hook);
        }
        for (index, hook) in self.hooks.iter().enumerate().take(MOST_SERVICES) {
            if self.hooks.iter().take(index).any(|earlier| earlier == hook) {
                errors.add(format!("hooks.{index}"), "is named twice");
            }
        }
        match &self.cards {
            None => {}
            Some(Value::Object(by_hook)) => {
                errors.size("cards", by_hook.len(), MOST_SERVICES);
                for (hook, cards) in by_hook.iter().take(MOST_SERVICES) {
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

    /// How long an answer of the server may take; `own` is what was said when it was registered.
    pub fn seconds(&self, base_url: &str, own: Option<i64>) -> i64 {
        let said = self.server(base_url).and_then(|service| service.timeout_seconds);
        said.or(own).or(self.timeout_seconds).unwrap_or(USUAL_SECONDS)
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
    fn faults_are_named() {
        for (config, place) in [
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
            assert_eq!(errors.iter().next().map_or("", |(place, _)| place), place, "{errors}");
        }
    }
}
