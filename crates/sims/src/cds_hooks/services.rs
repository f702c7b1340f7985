//! The services that the EHR knows: those that the agent plays, and those that were discovered at other servers.

use std::collections::BTreeMap;

use model::FieldErrors;
use model::canonical::sha256_hex;
use model::event::EventType;
use model::page::{Page, PageRequest};
use serde::Deserialize;
use serde_json::{Value, json};
use world::{Change, Context, Outcome, Sandbox};

use super::config::CdsHooksConfig;
use super::definition::{self, Definition};
use super::event::event;
use super::refusal::Refusal;
use crate::authored;
use crate::network;
use crate::pagination::{self, SortOrder};

/// Rows are `{id, base_url, answered_by, registered_by, definition, registered_at}`.
pub(super) const SERVICES: &str = "services";
const MOST_SERVICES: usize = 500;

#[derive(Clone, Debug)]
pub struct Service {
    pub id: String,
    /// None of one that the agent plays, and of one whose cards the config has.
    pub base_url: Option<String>,
    /// The cards of a service that the config answers for.
    pub canned: Option<Vec<Value>>,
    pub definition: Definition,
    /// What was said when it was registered.
    pub timeout_seconds: Option<i64>,
    row: Value,
    /// Its place in lists.
    place: String,
}

impl Service {
    fn of_row(row: &Value) -> Option<Self> {
        let text = |member: &str| row[member].as_str().map(ToOwned::to_owned);
        Some(Self {
            id: text("id")?,
            base_url: text("base_url"),
            canned: None,
            definition: Definition::deserialize(&row["definition"]).ok()?,
            timeout_seconds: row["timeout_seconds"].as_i64(),
            place: format!("1{}", text("order")?),
            row: shown(row),
        })
    }

    fn of_config(index: usize, sandbox: &Sandbox, definition: &Definition) -> Self {
        let id = id_of(None, &definition.id);
        let row = row(&id, None, "config", definition, &sandbox.created_at.to_string());
        let (base_url, definition, timeout_seconds) = (None, definition.clone(), None);
        Self { id, base_url, canned: None, definition, timeout_seconds, row, place: format!("0{index:03}") }
    }

    /// A hook that the config advertises, with the cards that it answers.
    fn of_hook(index: usize, sandbox: &Sandbox, hook: &str, cards: Vec<Value>) -> Self {
        let definition = Definition {
            hook: hook.to_owned(),
            title: None,
            description: "Answers with the cards of the simulator's config".to_owned(),
            id: hook.to_owned(),
            prefetch: BTreeMap::new(),
            usage_requirements: None,
        };
        let id = id_of(Some(CANNED), hook);
        let mut row = row(&id, None, "config", &definition, &sandbox.created_at.to_string());
        row["answered_by"] = "config".into();
        let place = format!("0c{index:03}");
        Self { id, base_url: None, canned: Some(cards), definition, timeout_seconds: None, row, place }
    }

    /// Whether the agent plays it.
    pub fn is_agents(&self) -> bool {
        self.base_url.is_none() && self.canned.is_none()
    }

    /// `agent`, `service` or `config`.
    pub fn answered_by(&self) -> &'static str {
        if self.canned.is_some() { "config" } else { answered_by(self.base_url.as_deref()) }
    }
}

/// Stands for the address of services that the config answers for.
const CANNED: &str = "urn:verial:config";

fn answered_by(base_url: Option<&str>) -> &'static str {
    if base_url.is_none() { "agent" } else { "service" }
}

/// The same service always has the same id.
fn id_of(base_url: Option<&str>, service: &str) -> String {
    let hash = sha256_hex(format!("{}\n{service}", base_url.unwrap_or_default()).as_bytes());
    format!("svc_{}", hash.get(..16).unwrap_or_default())
}

fn row(id: &str, base_url: Option<&str>, by: &str, definition: &Definition, at: &str) -> Value {
    json!({"id": id, "base_url": base_url, "answered_by": answered_by(base_url), "registered_by": by,
        "definition": definition, "registered_at": at})
}

/// Without what only lists need.
fn shown(row: &Value) -> Value {
    let mut row = row.clone();
    if let Some(members) = row.as_object_mut() {
        members.shift_remove("order");
        members.shift_remove("timeout_seconds");
    }
    row
}

/// All of them, those of the config first.
pub fn all(sandbox: &Sandbox) -> Vec<Service> {
    let config = CdsHooksConfig::of(&sandbox.config);
    let authored = config.agent_services.iter().enumerate();
    let mut services: Vec<Service> =
        authored.map(|(index, definition)| Service::of_config(index, sandbox, definition)).collect();
    let hooks = config.advertised().into_iter().enumerate();
    services.extend(hooks.map(|(index, (hook, cards))| Service::of_hook(index, sandbox, &hook, cards)));
    let rows = sandbox.records.own(SERVICES).filter_map(|record| Service::of_row(&record.json()));
    services.extend(rows);
    services.sort_by(|left, right| left.place.cmp(&right.place));
    services
}

pub fn list(sandbox: &Sandbox, actor: &str, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = all(sandbox).into_iter().map(|service| (service.place, service.row)).collect();
    let page = pagination::page(rows, request, SortOrder::Ascending);
    let summary = format!("{} services were listed", page.items.len());
    let told = json!({"action": "list_services", "count": page.items.len()});
    let events = vec![event(sandbox, EventType::CdsRead, actor, &summary, told)];
    Outcome { answer: page, changes: Vec::new(), events }
}

/// Whether an address can be asked for its services.
pub fn check_server(base_url: &str, timeout_seconds: Option<i64>) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::new();
    network::check_base_url(&mut errors, "base_url", base_url);
    if let Some(seconds) = timeout_seconds {
        errors.range("timeout_seconds", seconds, 1..=60);
    }
    errors.into_result()
}

/// The address that a discovery endpoint hangs below.
pub fn base_of_discovery(discovery_url: &str) -> Result<String, FieldErrors> {
    let plain = discovery_url.trim_end_matches('/');
    let base = plain.strip_suffix("/cds-services").map(ToOwned::to_owned);
    base.ok_or_else(|| FieldErrors::one("discovery_url", "must end in `/cds-services`, as CDS Hooks defines it"))
}

/// Where servers of the config lie that were never discovered.
pub fn undiscovered(sandbox: &Sandbox) -> Vec<String> {
    let config = CdsHooksConfig::of(&sandbox.config);
    let known = all(sandbox);
    let addresses = config.services.iter().map(|service| service.base_url.trim_end_matches('/').to_owned());
    addresses.filter(|url| known.iter().all(|service| service.base_url.as_ref() != Some(url))).collect()
}

/// A service that the agent plays.
pub fn register_own(
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    given: &Value,
) -> Outcome<Result<Value, Refusal>> {
    let read = authored::read::<Definition>(given).map_err(|faults| {
        let mut errors = FieldErrors::new();
        errors.nest("service", faults);
        Refusal::Invalid(errors)
    });
    let kept = read.and_then(|definition| {
        let id = id_of(None, &definition.id);
        let known = all(sandbox);
        if known.iter().any(|service| service.id == id) {
            return Err(Refusal::Conflict(format!("a service `{}` is registered already", definition.id)));
        }
        check_room(known.len() + 1)?;
        Ok(kept(sandbox, context, None, None, &definition))
    });
    match kept {
        Ok((change, row)) => {
            let told = json!({"action": "register", "service": row["id"], "definition": row["definition"]});
            let summary = format!("{} was registered", row["definition"]["id"].as_str().unwrap_or_default());
            let events = vec![event(sandbox, EventType::CdsRead, actor, &summary, told)];
            Outcome { answer: Ok(row), changes: vec![change], events }
        }
        Err(refusal) => refused(sandbox, actor, "a service was not registered", "register", refusal),
    }
}

fn check_room(services: usize) -> Result<(), Refusal> {
    if services > MOST_SERVICES {
        return Err(Refusal::Conflict(format!("the EHR knows at most {MOST_SERVICES} services")));
    }
    Ok(())
}

fn kept(
    sandbox: &Sandbox,
    context: &Context<'_>,
    base_url: Option<&str>,
    timeout_seconds: Option<i64>,
    definition: &Definition,
) -> (Change, Value) {
    let id = id_of(base_url, &definition.id);
    let earlier = sandbox.records.get(SERVICES, &id).live().map(|record| record.json()["order"].clone());
    let mut row = row(&id, base_url, "agent", definition, &context.now.to_string());
    row["order"] = earlier.unwrap_or_else(|| (context.new_id)().into());
    row["timeout_seconds"] = timeout_seconds.into();
    (sandbox.put(SERVICES, &id, &row, context.now), shown(&row))
}

/// What asking a server for its services came to.
pub struct Discovery<'a> {
    pub base_url: &'a str,
    pub timeout_seconds: Option<i64>,
    /// Its answer, or why there is none.
    pub answer: &'a Result<Value, String>,
}

/// The services that the server has now, instead of those that it had.
pub fn discovered(
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    discovery: &Discovery<'_>,
) -> Outcome<Result<Vec<Value>, Refusal>> {
    let base_url = discovery.base_url.trim_end_matches('/');
    let wrong = |why: &str| Refusal::Conflict(format!("the services of {base_url} could not be discovered: {why}"));
    let read = match discovery.answer {
        Ok(answer) => definition::discovered(answer).map_err(|faults| wrong(&faults.to_string())),
        Err(why) => Err(wrong(why)),
    };
    let others = all(sandbox).into_iter().filter(|service| service.base_url.as_deref() != Some(base_url)).count();
    let read = read.and_then(|found| check_room(others + found.len()).map(|()| found));
    let found = match read {
        Ok(found) => found,
        Err(refusal) => return refused(sandbox, actor, &format!("{base_url} was not discovered"), "discover", refusal),
    };
    let (mut changes, mut rows) = (Vec::new(), Vec::new());
    for definition in &found {
        let (change, row) = kept(sandbox, context, Some(base_url), discovery.timeout_seconds, definition);
        changes.push(change);
        rows.push(row);
    }
    let gone = all(sandbox).into_iter().filter(|service| service.base_url.as_deref() == Some(base_url));
    let gone = gone.filter(|service| rows.iter().all(|row| row["id"] != service.id.as_str()));
    changes.extend(gone.map(|service| sandbox.delete(SERVICES, &service.id, context.now)));
    let told = json!({"action": "discover", "base_url": base_url, "services": found});
    let events =
        vec![event(sandbox, EventType::CdsRead, actor, &format!("{} services of {base_url}", rows.len()), told)];
    Outcome { answer: Ok(rows), changes, events }
}

pub fn remove(sandbox: &Sandbox, actor: &str, context: &Context<'_>, id: &str) -> Outcome<Result<(), Refusal>> {
    let Some(service) = all(sandbox).into_iter().find(|service| service.id == id) else {
        return Outcome { answer: Err(Refusal::Missing("service")), changes: Vec::new(), events: Vec::new() };
    };
    if service.row["registered_by"] == "config" {
        let refusal = Refusal::Conflict("the service is part of the simulator's config".to_owned());
        return refused(sandbox, actor, &format!("{id} was not removed"), "remove", refusal);
    }
    let told = json!({"action": "remove", "service": id});
    let events = vec![event(sandbox, EventType::CdsRead, actor, &format!("{id} was removed"), told)];
    Outcome { answer: Ok(()), changes: vec![sandbox.delete(SERVICES, id, context.now)], events }
}

fn refused<T>(
    sandbox: &Sandbox,
    actor: &str,
    summary: &str,
    action: &str,
    refusal: Refusal,
) -> Outcome<Result<T, Refusal>> {
    let why = match &refusal {
        Refusal::Invalid(errors) => json!(errors),
        Refusal::Conflict(why) => json!(why),
        Refusal::Missing(what) => json!(what),
        Refusal::Used(_) => Value::Null,
    };
    let told = json!({"action": action, "status": "refused", "why": why});
    let events = vec![event(sandbox, EventType::CdsRead, actor, summary, told)];
    Outcome { answer: Err(refusal), changes: Vec::new(), events }
}
