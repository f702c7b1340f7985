//! Effects of the CdsHooks simulator: hooks that the agent fired, responses and feedback that it sent, each by hook, and
//! services that it registered.

use std::collections::BTreeSet;

use model::event::EventType;
use serde_json::Value;
use world::{Seq, Verb};

use super::config::CdsHooksConfig;
use super::services::SERVICES;
use crate::effects::{AgentLog, EffectInfo, RecordChange, SandboxEffect, member};

pub(crate) const EFFECTS: EffectInfo = EffectInfo {
    channel: "cds",
    has_paths: false,
    examples: &[
        "cds/order-sign/response:send",
        "cds/order-sign/feedback:send",
        "cds/order-sign/fired:send",
        "cds/services/drug-checks:create",
    ],
    collect,
};

fn collect(log: &AgentLog<'_>) -> Vec<SandboxEffect> {
    let changes = log.changes(|collection| collection == SERVICES, substance);
    let config = CdsHooksConfig::of(&log.sandbox.config);
    // Configured servers are discovered when a client lists the services, which is not an effect.
    let is_configured = |row: &Value| {
        let mut servers = config.services.iter().map(|server| server.base_url.trim_end_matches('/'));
        row["base_url"].as_str().is_some_and(|base_url| servers.any(|server| server == base_url))
    };
    let is_removal =
        |seq: Seq| log.events.iter().any(|event| event.seq == seq && member(event, "action") == Some("remove"));
    let effect = |change: RecordChange<'_>| {
        let is_configured = is_configured(change.after.as_ref().or(change.before.as_ref())?);
        let is_own = change.is_own && !is_configured;
        (!is_configured || is_removal(change.seq)).then(|| RecordChange { is_own, ..change }.effect())
    };
    let mut effects: Vec<SandboxEffect> = changes.into_iter().filter_map(effect).collect();
    let mut fired = BTreeSet::new();
    for event in &log.events {
        let hook = member(event, "hook").unwrap_or("unknown");
        let mut send = |kind: &str| {
            effects.push(SandboxEffect { seq: event.seq, resource: format!("{hook}/{kind}"), verb: Verb::Send })
        };
        match event.r#type {
            EventType::CdsFeedback => send("feedback"),
            EventType::CdsInvoke => {
                let invocation = member(event, "invocation_id").unwrap_or_default();
                if member(event, "fired_by") == Some("agent") && fired.insert(invocation) {
                    send("fired");
                }
                if member(event, "answered_by") == Some("agent") && event.payload.get("cards").is_some() {
                    send("response");
                }
            }
            _ => {}
        }
    }
    effects.sort_by_key(|effect| effect.seq);
    effects
}

/// A service without the time and order of its registration. Discovering a server again does not change its services.
fn substance(row: &Value) -> String {
    let mut row = row.clone();
    if let Some(members) = row.as_object_mut() {
        members.retain(|name, _| !["order", "registered_at"].contains(&name.as_str()));
    }
    row.to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use model::event::Event;
    use model::simulator::SimulatorType;
    use model::{EventId, Id, SandboxId, Timestamp, Ulid};
    use serde_json::json;
    use world::{Context, Outcome, Records, Sandbox, World};

    use super::super::services::{self, Discovery};

    const SERVER: &str = "https://cds.test/configured";

    struct Playground {
        world: World,
        events: Vec<Event>,
    }

    impl Playground {
        fn new() -> Self {
            let id = SandboxId::from_ulid(Ulid(1));
            let config = Arc::new(json!({"services": [{"base_url": format!("{SERVER}/")}]}));
            let (kind, records) = (SimulatorType::CdsHooks, Records::new(Vec::new(), Timestamp(0)));
            let sandbox = Sandbox { id: id.clone(), kind, config, created_at: Timestamp(0), is_active: true, records };
            Self { world: World { seq: 0, oldest: 0, sandboxes: BTreeMap::from([(id, sandbox)]) }, events: Vec::new() }
        }

        fn act<T>(&mut self, act: impl FnOnce(&Sandbox, &Context<'_>) -> Outcome<T>) {
            let seq = self.world.seq + 1;
            let context = Context { now: Timestamp(seq * 1_000), new_id: &|| format!("new-{seq}") };
            let outcome = act(self.world.sandboxes.values().next().unwrap(), &context);
            outcome.changes.iter().for_each(|change| self.world.apply(seq, change));
            self.world.seq = seq;
            self.events.extend(outcome.events.into_iter().map(|event| Event {
                id: EventId::from_ulid(Ulid(seq as u128)),
                sandbox_id: event.sandbox,
                seq,
                r#type: event.r#type,
                at: context.now,
                actor: event.actor,
                summary: event.summary,
                payload: event.payload.json(),
            }));
        }

        fn discover(&mut self, base_url: &str) {
            let service = json!({"hook": "order-sign", "id": "checks", "description": "Checks orders"});
            let answer = Ok(json!({"services": [service]}));
            let discovery = Discovery { base_url, timeout_seconds: None, answer: &answer };
            self.act(|sandbox, context| services::record_discovery(sandbox, "agent", context, &discovery));
        }

        fn effects(&self) -> Vec<(i64, &'static str)> {
            let effects = crate::effects::of_agent(&self.world, &self.events);
            effects.into_iter().map(|effect| (effect.seq, effect.verb.name())).collect()
        }
    }

    #[test]
    fn discovering_a_configured_server_is_not_an_effect() {
        let mut playground = Playground::new();
        playground.discover(SERVER);
        playground.discover(&format!("{SERVER}/"));
        assert_eq!(playground.effects(), []);
        playground.discover("https://cds.test/other");
        playground.discover("https://cds.test/other");
        assert_eq!(playground.effects(), [(3, "create")], "the second discovery changes nothing");
        let service = services::all(playground.world.sandboxes.values().next().unwrap());
        let id = &service.iter().find(|service| service.base_url.as_deref() == Some(SERVER)).unwrap().id;
        playground.act(|sandbox, context| services::remove(sandbox, "agent", context, id));
        assert_eq!(playground.effects(), [(3, "create"), (5, "delete")], "removing a service is an effect");
    }
}
