//! The registered services: those that the agent implements, canned ones, and those discovered on other servers.

use std::collections::BTreeMap;

use model::FieldErrors;
use model::canonical::sha256_hex;
use model::event::EventType;
use model::page::{Page, PageRequest};
use serde::Deserialize;
use serde_json::{Value, json};
use world::{Change, Context, Outcome, Sandbox};

use super::config::CdsHooksConfig;
use super::definition::{self, ServiceDefinition};
use super::error::CdsError;
use super::event::event;
use crate::authored;
use crate::network;
use crate::pagination::{self, SortOrder};

/// Rows are `{id, base_url, answered_by, registered_by, definition, registered_at}`.
pub(super) const SERVICES: &str = "services";
const MAX_SERVICES: usize = 500;

#[derive(Clone, Debug)]
pub struct Service {
    pub id: String,
    /// None for services of the agent and for canned services.
    pub base_url: Option<String>,
    /// The cards of a canned service.
    pub canned_cards: Option<Vec<Value>>,
    pub definition: ServiceDefinition,
    /// The timeout from the registration.
    pub timeout_seconds: Option<i64>,
    row: Value,
    /// The sort key in lists.
    sort_key: String,
}

impl Service {
    fn of_row(row: &Value) -> Option<Self> {
        let text = |member: &str| row[member].as_str().map(ToOwned::to_owned);
        Some(Self {
            id: text("id")?,
            base_url: text("base_url"),
            canned_cards: None,
            definition: ServiceDefinition::deserialize(&row["definition"]).ok()?,
            timeout_seconds: row["timeout_seconds"].as_i64(),
            sort_key: format!("1{}", text("order")?),
            row: public_row(row),
        })
    }

    fn of_config(index: usize, sandbox: &Sandbox, definition: &ServiceDefinition) -> Self {
        let id = id_of(None, &definition.id);
        let row = row(&id, None, "config", definition, &sandbox.created_at.to_string());
        let (base_url, definition, timeout_seconds) = (None, definition.clone(), None);
        Self { id, base_url, canned_cards: None, definition, timeout_seconds, row, sort_key: format!("0{index:03}") }
    }

    /// A canned service of the config.
    fn of_canned_hook(index: usize, sandbox: &Sandbox, hook: &str, cards: Vec<Value>) -> Self {
        let definition = ServiceDefinition {
            hook: hook.to_owned(),
            title: None,
            description: "Answers with the cards of the simulator's config".to_owned(),
            id: hook.to_owned(),
            prefetch: BTreeMap::new(),
            usage_requirements: None,
        };
        let id = id_of(Some(CANNED_BASE_URL), hook);
        let mut row = row(&id, None, "config", &definition, &sandbox.created_at.to_string());
        row["answered_by"] = "config".into();
        let sort_key = format!("0c{index:03}");
        Self { id, base_url: None, canned_cards: Some(cards), definition, timeout_seconds: None, row, sort_key }
    }

    /// Whether the agent implements the service.
    pub fn is_agent_service(&self) -> bool {
        self.base_url.is_none() && self.canned_cards.is_none()
    }

    /// `agent`, `service` or `config`.
    pub fn answered_by(&self) -> &'static str {
        if self.canned_cards.is_some() { "config" } else { answered_by(self.base_url.as_deref()) }
    }
}

/// The base URL of canned services, from which their ids are derived.
const CANNED_BASE_URL: &str = "urn:verial:config";

fn answered_by(base_url: Option<&str>) -> &'static str {
    if base_url.is_none() { "agent" } else { "service" }
}

/// The id of a service, which is derived from its URL.
fn id_of(base_url: Option<&str>, service: &str) -> String {
    let hash = sha256_hex(format!("{}\n{service}", base_url.unwrap_or_default()).as_bytes());
    format!("svc_{}", hash.get(..16).unwrap_or_default())
}

fn row(id: &str, base_url: Option<&str>, by: &str, definition: &ServiceDefinition, at: &str) -> Value {
    json!({"id": id, "base_url": base_url, "answered_by": answered_by(base_url), "registered_by": by,
        "definition": definition, "registered_at": at})
}

/// The row without internal members.
fn public_row(row: &Value) -> Value {
    let mut row = row.clone();
    if let Some(members) = row.as_object_mut() {
        members.shift_remove("order");
        members.shift_remove("timeout_seconds");
    }
    row
}

/// All services, those of the config first.
pub fn all(sandbox: &Sandbox) -> Vec<Service> {
    let config = CdsHooksConfig::of(&sandbox.config);
    let authored = config.agent_services.iter().enumerate();
    let mut services: Vec<Service> =
        authored.map(|(index, definition)| Service::of_config(index, sandbox, definition)).collect();
    let hooks = config.canned_hooks().into_iter().enumerate();
    services.extend(hooks.map(|(index, (hook, cards))| Service::of_canned_hook(index, sandbox, &hook, cards)));
    let rows = sandbox.records.own(SERVICES).filter_map(|record| Service::of_row(&record.json()));
    services.extend(rows);
    services.sort_by(|left, right| left.sort_key.cmp(&right.sort_key));
    services
}

pub fn list(sandbox: &Sandbox, actor: &str, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = all(sandbox).into_iter().map(|service| (service.sort_key, service.row)).collect();
    let page = pagination::page(rows, request, SortOrder::Ascending);
    let summary = format!("{} services were listed", page.items.len());
    let payload = json!({"action": "list_services", "count": page.items.len()});
    let events = vec![event(sandbox, EventType::CdsRead, actor, &summary, payload)];
    Outcome { answer: page, changes: Vec::new(), events }
}

/// Validates the registration of a server.
pub fn check_server(base_url: &str, timeout_seconds: Option<i64>) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::new();
    network::check_base_url(&mut errors, "base_url", base_url);
    if let Some(seconds) = timeout_seconds {
        errors.range("timeout_seconds", seconds, 1..=60);
    }
    errors.into_result()
}

/// The base URL of a discovery endpoint.
pub fn base_of_discovery(discovery_url: &str) -> Result<String, FieldErrors> {
    let plain = discovery_url.trim_end_matches('/');
    let base = plain.strip_suffix("/cds-services").map(ToOwned::to_owned);
    base.ok_or_else(|| FieldErrors::one("discovery_url", "must end with `/cds-services`"))
}

/// The base URLs of configured servers without discovered services.
pub fn undiscovered(sandbox: &Sandbox) -> Vec<String> {
    let config = CdsHooksConfig::of(&sandbox.config);
    let known = all(sandbox);
    let base_urls = config.services.iter().map(|service| service.base_url.trim_end_matches('/').to_owned());
    base_urls.filter(|url| known.iter().all(|service| service.base_url.as_ref() != Some(url))).collect()
}

/// Registers a service of the agent.
pub fn register_own(
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    given: &Value,
) -> Outcome<Result<Value, CdsError>> {
    let read = authored::read::<ServiceDefinition>(given).map_err(|service_errors| {
        let mut errors = FieldErrors::new();
        errors.nest("service", service_errors);
        CdsError::Invalid(errors)
    });
    let registered = read.and_then(|definition| {
        let id = id_of(None, &definition.id);
        let known = all(sandbox);
        if known.iter().any(|service| service.id == id) {
            return Err(CdsError::Conflict(format!("a service `{}` is already registered", definition.id)));
        }
        check_room(known.len() + 1)?;
        Ok(new_row(sandbox, context, None, None, &definition))
    });
    match registered {
        Ok((change, row)) => {
            let payload = json!({"action": "register", "service": row["id"], "definition": row["definition"]});
            let summary = format!("{} was registered", row["definition"]["id"].as_str().unwrap_or_default());
            let events = vec![event(sandbox, EventType::CdsRead, actor, &summary, payload)];
            Outcome { answer: Ok(row), changes: vec![change], events }
        }
        Err(error) => rejected(sandbox, actor, "a service was not registered", "register", error),
    }
}

fn check_room(services: usize) -> Result<(), CdsError> {
    if services > MAX_SERVICES {
        return Err(CdsError::Conflict(format!("the maximum is {MAX_SERVICES} services")));
    }
    Ok(())
}

fn new_row(
    sandbox: &Sandbox,
    context: &Context<'_>,
    base_url: Option<&str>,
    timeout_seconds: Option<i64>,
    definition: &ServiceDefinition,
) -> (Change, Value) {
    let id = id_of(base_url, &definition.id);
    let earlier = sandbox.records.get(SERVICES, &id).live().map(|record| record.json()["order"].clone());
    let mut row = row(&id, base_url, "agent", definition, &context.now.to_string());
    row["order"] = earlier.unwrap_or_else(|| (context.new_id)().into());
    row["timeout_seconds"] = timeout_seconds.into();
    (sandbox.put(SERVICES, &id, &row, context.now), public_row(&row))
}

/// The response of a discovery endpoint.
pub struct Discovery<'a> {
    pub base_url: &'a str,
    pub timeout_seconds: Option<i64>,
    /// The response, or why there is none.
    pub answer: &'a Result<Value, String>,
}

/// Replaces the services of a server by the discovered ones.
pub fn record_discovery(
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    discovery: &Discovery<'_>,
) -> Outcome<Result<Vec<Value>, CdsError>> {
    let base_url = discovery.base_url.trim_end_matches('/');
    let failed =
        |reason: &str| CdsError::Conflict(format!("the services of {base_url} could not be discovered: {reason}"));
    let read = match discovery.answer {
        Ok(answer) => definition::read_discovery(answer).map_err(|errors| failed(&errors.to_string())),
        Err(reason) => Err(failed(reason)),
    };
    let others = all(sandbox).into_iter().filter(|service| service.base_url.as_deref() != Some(base_url)).count();
    let read = read.and_then(|definitions| check_room(others + definitions.len()).map(|()| definitions));
    let definitions = match read {
        Ok(definitions) => definitions,
        Err(error) => return rejected(sandbox, actor, &format!("{base_url} was not discovered"), "discover", error),
    };
    let (mut changes, mut rows) = (Vec::new(), Vec::new());
    for definition in &definitions {
        let (change, row) = new_row(sandbox, context, Some(base_url), discovery.timeout_seconds, definition);
        changes.push(change);
        rows.push(row);
    }
    let removed = all(sandbox).into_iter().filter(|service| service.base_url.as_deref() == Some(base_url));
    let removed = removed.filter(|service| rows.iter().all(|row| row["id"] != service.id.as_str()));
    changes.extend(removed.map(|service| sandbox.delete(SERVICES, &service.id, context.now)));
    let payload = json!({"action": "discover", "base_url": base_url, "services": definitions});
    let events =
        vec![event(sandbox, EventType::CdsRead, actor, &format!("{} services of {base_url}", rows.len()), payload)];
    Outcome { answer: Ok(rows), changes, events }
}

pub fn remove(sandbox: &Sandbox, actor: &str, context: &Context<'_>, id: &str) -> Outcome<Result<(), CdsError>> {
    let Some(service) = all(sandbox).into_iter().find(|service| service.id == id) else {
        return Outcome { answer: Err(CdsError::Missing("service")), changes: Vec::new(), events: Vec::new() };
    };
    if service.row["registered_by"] == "config" {
        let error = CdsError::Conflict("the service is part of the simulator's config".to_owned());
        return rejected(sandbox, actor, &format!("{id} was not removed"), "remove", error);
    }
    let payload = json!({"action": "remove", "service": id});
    let events = vec![event(sandbox, EventType::CdsRead, actor, &format!("{id} was removed"), payload)];
    Outcome { answer: Ok(()), changes: vec![sandbox.delete(SERVICES, id, context.now)], events }
}

fn rejected<T>(
    sandbox: &Sandbox,
    actor: &str,
    summary: &str,
    action: &str,
    error: CdsError,
) -> Outcome<Result<T, CdsError>> {
    let reason = match &error {
        CdsError::Invalid(errors) => json!(errors),
        CdsError::Conflict(message) => json!(message),
        CdsError::Missing(what) => json!(what),
        CdsError::IdempotencyConflict(_) => Value::Null,
    };
    let payload = json!({"action": action, "status": "refused", "why": reason});
    let events = vec![event(sandbox, EventType::CdsRead, actor, summary, payload)];
    Outcome { answer: Err(error), changes: Vec::new(), events }
}
