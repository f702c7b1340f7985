//! A simulator that exists in tests only: a pager whose pages arrive ten seconds after they are sent. It shows that one module
//! and one line in `simulators!` are all that a new simulator needs. Types are an enum of `model`, so it borrows one.

use model::event::EventType;
use model::simulator::SimulatorType;
use model::{FieldErrors, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use world::{Change, Context, NewEvent, Outcome, Sandbox, Verb, World};

use crate::authored::{self, Authored};
use crate::credentials::Credential;
use crate::effects::{AgentLog, EffectInfo, SandboxEffect, member};
use crate::operation::{NoQuery, Operation, OperationCall, OperationEntry, OperationError, OperationInfo, Reply};
use crate::pagination::{self, SortOrder};
use crate::registry::{ConfigDefaults, Endpoint, SimulatorInfo, StepInfo};
use crate::scenario::SCHEDULED;
use crate::scenario::step::{ScenarioStep, StepContext, StepOutput};
use crate::scheduler::{Origin, Schedule};

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Message,
    summary: "A pager",
    datasets: &[],
    credentials: &[Credential::new("pager_url", |context| context.url_of("pager/pages"))],
    endpoints: &[Endpoint::at("pager")],
    steps: &[StepInfo::of::<PageInbound>(
        "page_inbound",
        "Delivers a page",
        || json!({"do": "page_inbound", "text": "Call"}),
    )],
    operations: &[OperationEntry::with_body::<SendPage>(), OperationEntry::of::<ListPages>()],
    effects: EffectInfo { channel: "pager", has_paths: false, examples: &["pager/page:send"], collect },
    schedules: &[Schedule { origin: Origin::Agent, next_due, catch_up }],
    config_defaults: ConfigDefaults::UNCHANGED,
    example_config: || json!({"capcode": "1234567"}),
    check_config: authored::check::<PagerConfig>,
};

const PAGES: &str = "pages";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PagerConfig {
    capcode: Option<String>,
}

impl Authored for PagerConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        authored::optional_text(errors, "capcode", self.capcode.as_ref(), 20);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageInbound {
    text: String,
}

impl Authored for PageInbound {
    fn validate(&self, errors: &mut FieldErrors) {
        authored::text(errors, "text", &self.text, 100);
    }
}

impl ScenarioStep for PageInbound {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        let change = context.put(PAGES, &context.new_id("page"), &json!({"text": self.text}));
        Ok(StepOutput { changes: vec![change], ..StepOutput::default() })
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewPage {
    text: String,
}

/// A page.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a row")]
struct Page {
    text: String,
}

struct SendPage;

impl Operation for SendPage {
    const INFO: OperationInfo = OperationInfo { path: "/pager/pages", id: "send_page", ..OperationInfo::CREATE };
    type Query = NoQuery;
    type Body = NewPage;
    type Response = Page;

    fn run(call: &OperationCall<'_>, _: &NoQuery, new: &NewPage) -> Outcome<Result<Reply, OperationError>> {
        let row = json!({"text": new.text, "due_at": call.context.now.plus_milliseconds(10_000)});
        let key = format!("page_{}", (call.context.new_id)());
        let events = vec![event(call.sandbox, call.actor, &new.text)];
        let changes = vec![call.sandbox.put(SCHEDULED, &key, &row, call.context.now)];
        Outcome { answer: Ok(Reply::One(row)), changes, events }
    }
}

struct ListPages;

impl Operation for ListPages {
    const INFO: OperationInfo =
        OperationInfo { path: "/pager/pages", id: "list_pages", list: Some("pages"), ..OperationInfo::GET };
    type Query = NoQuery;
    type Body = ();
    type Response = Page;

    fn run(call: &OperationCall<'_>, _: &NoQuery, (): &()) -> Outcome<Result<Reply, OperationError>> {
        let rows = call.sandbox.records.own(PAGES).map(|record| (record.key.to_owned(), Value::clone(&record.json())));
        let page = pagination::page(rows.collect(), call.page, SortOrder::Ascending);
        Outcome { answer: Ok(Reply::Page(page)), changes: Vec::new(), events: Vec::new() }
    }
}

fn event(sandbox: &Sandbox, actor: &str, text: &str) -> NewEvent {
    NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::MessageOutbound,
        actor: actor.to_owned(),
        summary: "A page was sent".to_owned(),
        payload: json!({"text": text}).into(),
    }
}

fn pending(world: &World) -> impl Iterator<Item = (&Sandbox, String, Timestamp, Value)> {
    world.sandboxes.values().flat_map(|sandbox| {
        sandbox.records.own(SCHEDULED).filter_map(move |record| {
            let row = Value::clone(&record.json());
            let due_at = Timestamp::deserialize(&row["due_at"]).ok().filter(|_| record.key.starts_with("page_"))?;
            Some((sandbox, record.key.to_owned(), due_at, row))
        })
    })
}

fn next_due(world: &World) -> Option<Timestamp> {
    pending(world).map(|(_, _, due_at, _)| due_at).min()
}

fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    let (mut changes, mut events): (Vec<Change>, Vec<NewEvent>) = (Vec::new(), Vec::new());
    for (sandbox, key, _, row) in pending(world).filter(|(_, _, due_at, _)| *due_at <= context.now) {
        changes.extend([
            sandbox.delete(SCHEDULED, &key, context.now),
            sandbox.put(PAGES, &key, &json!({"text": row["text"]}), context.now),
        ]);
        events.push(event(sandbox, "pager", "delivered"));
    }
    Outcome { answer: (), changes, events }
}

fn collect(log: &AgentLog<'_>) -> Vec<SandboxEffect> {
    let sent = log.events.iter().filter(|event| member(event, "text").is_some());
    sent.map(|event| SandboxEffect { seq: event.seq, resource: "page".to_owned(), verb: Verb::Send }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use model::page::PageRequest;
    use model::{Id, SandboxId, Ulid};
    use world::Records;

    use super::*;
    use crate::credentials::CredentialContext;
    use crate::{catalog, effects, scheduler};

    const NOW: Timestamp = Timestamp(1_776_945_600_000);

    fn pager() -> &'static SimulatorInfo {
        catalog().iter().find(|info| info.effects.channel == "pager").unwrap()
    }

    fn world() -> World {
        let id = SandboxId::from_ulid(Ulid(1));
        let sandbox = Sandbox {
            id: id.clone(),
            kind: pager().kind,
            config: Arc::new(json!({})),
            created_at: NOW,
            is_active: true,
            records: Records::new(Vec::new(), NOW),
        };
        World { seq: 0, oldest: 0, sandboxes: BTreeMap::from([(id, sandbox)]) }
    }

    fn call(world: &World, operation: &str, body: Value) -> Outcome<Result<Reply, OperationError>> {
        let entry = pager().operations.iter().find(|entry| entry.info.id == operation).unwrap();
        let sandbox = world.sandboxes.values().next().unwrap();
        let context = Context { now: NOW, new_id: &|| "1".to_owned() };
        let call = OperationCall {
            world,
            sandbox,
            context: &context,
            actor: "agent",
            path: &[],
            page: &PageRequest::default(),
            token: None,
        };
        entry.prepare("", body).unwrap()(&call)
    }

    fn apply(world: &mut World, changes: &[Change]) {
        world.seq += 1;
        let seq = world.seq;
        changes.iter().for_each(|change| world.apply(seq, change));
    }

    #[test]
    fn a_listed_simulator_has_operations_effects_scheduled_work_and_credentials() {
        let mut world = world();
        let Reply::Page(before) = call(&world, "list_pages", Value::Null).answer.unwrap() else { panic!("no page") };
        assert_eq!(before.items, Vec::<Value>::new());
        let sent = call(&world, "send_page", json!({"text": "Call the ward"}));
        assert_eq!(sent.events.len(), 1);
        apply(&mut world, &sent.changes);
        assert_eq!(scheduler::next_due(&world), Some(NOW.plus_milliseconds(10_000)));
        assert!(scheduler::has_pending(&world), "the delivery is a consequence of what the agent did");
        let later = Context { now: NOW.plus_milliseconds(10_000), new_id: &|| "2".to_owned() };
        let delivered = scheduler::catch_up(&world, &later);
        assert_eq!(delivered.events[0].actor, "system");
        apply(&mut world, &delivered.changes);
        let Reply::Page(after) = call(&world, "list_pages", Value::Null).answer.unwrap() else { panic!("no page") };
        assert_eq!(after.items, [json!({"text": "Call the ward"})]);
        assert!(effects::channels().any(|channel| channel == "pager"));

        let sandbox = world.sandboxes.values().next().unwrap();
        let context = CredentialContext {
            sandbox: &sandbox.id,
            config: &sandbox.config,
            url: "https://verial.example/sandboxes/1",
            sandbox_url: "",
            listener: ("", 0),
            derive: &|_| Vec::new(),
        };
        assert_eq!(pager().credentials[0].value(&context), "https://verial.example/sandboxes/1/pager/pages");
    }

    #[test]
    fn bodies_of_operations_are_validated_before_they_run() {
        let entry = pager().operations.iter().find(|entry| entry.info.id == "send_page").unwrap();
        let errors = entry.prepare("", json!({"texts": 1})).err().unwrap().to_string();
        assert_eq!(errors, "text: is required; texts: is not a known field; known: `text`");
    }
}
