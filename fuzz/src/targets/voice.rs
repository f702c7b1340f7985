//! What an agent sends over the WebSocket of a call, in both forms, and what the line makes of it.

use std::cell::Cell;
use std::sync::{Arc, LazyLock};

use model::simulator::SimulatorType;
use model::voice::NewCall;
use serde_json::{Value, json};
use sims::voice::calls::{self, Asking, Exchange, Refusal};
use sims::voice::wire::relay::Relay;
use sims::voice::wire::{Act, native};
use world::{Context, Outcome, Seq, World};

use crate::fixture::{Playground, START, sandbox_id};

/// One message on each line; both readers read all of them, and what they understand is done in one call.
pub(crate) fn voice_message(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (mut relay, mut line) = (Relay::default(), Line::dialled());
    for message in text.lines().take(50) {
        let relayed = relay.read(message);
        if let Ok(Act::Turn(turn)) = &relayed {
            assert!(turn.say.as_deref().is_none_or(|said| !said.trim().is_empty()), "{turn:?}");
        }
        [native::read(message), relayed].into_iter().flatten().for_each(|act| line.act(&act));
    }
}

/// A line that has most of what a line can have, and a call to it.
static FRESH: LazyLock<World> = LazyLock::new(|| {
    let mut world = Playground::fresh().world;
    let nodes = json!({
        "menu": {"type": "menu", "prompt": "Press 1 or 2.", "options": [{"dtmf": "1", "phrases": ["eligibility"], "next": "number"},
            {"dtmf": "2", "next": "tape"}], "otherwise": "bye"},
        "number": {"type": "collect", "prompt": "Your number?", "field": "member_id", "kind": "digits", "confirm": true,
            "next": "hold", "otherwise": "bye"},
        "hold": {"type": "hold", "prompt": "Please hold.", "seconds": 600, "next": "dana"},
        "dana": {"type": "representative", "prompt": "Dana here.", "beats": [{"phrases": ["deductible"],
            "answer": "That of {{field.member_id}} is five hundred dollars."}]},
        "tape": {"type": "voicemail", "prompt": "Speak.", "max_seconds": 2, "next": "bye"},
        "bye": {"type": "hangup", "prompt": "Goodbye."},
    });
    if let Some(sandbox) = world.sandboxes.get_mut(&sandbox_id(SimulatorType::Voice)) {
        sandbox.config = Arc::new(json!({"ivr": {"start": "menu", "nodes": nodes}}));
    }
    world
});

struct Line {
    world: World,
    call: String,
}

impl Line {
    fn dialled() -> Self {
        let mut line = Self { world: FRESH.clone(), call: String::new() };
        let dialled = line.ask(|world, asking| calls::dial(world, asking, &NewCall::default(), "+15550100100"));
        line.call = dialled.ok().and_then(|exchange| exchange.call["id"].as_str().map(ToOwned::to_owned)).unwrap_or_default();
        assert!(!line.call.is_empty());
        line
    }

    fn act(&mut self, act: &Act) {
        let call = self.call.clone();
        let done = match act {
            Act::Turn(new) => self.ask(|world, asking| calls::turn(world, asking, &call, new)),
            Act::Answer => self.ask(|_, asking| calls::answer(asking, &call)),
            Act::HangUp => self.ask(|_, asking| calls::hang_up(asking, &call)),
            Act::Nothing => return,
        };
        if let Ok(exchange) = done {
            assert!(exchange.turns.iter().all(Value::is_object));
        }
    }

    /// A refusal changes nothing.
    fn ask(
        &mut self,
        asked: impl FnOnce(&World, Asking<'_>) -> Outcome<Result<Exchange, Refusal>>,
    ) -> Result<Exchange, Refusal> {
        let ids = Cell::new(self.world.seq);
        let new_id = || {
            ids.set(ids.get() + 1);
            format!("{:026}", ids.get())
        };
        let context = Context { now: START.plus_milliseconds(self.world.seq * 1000), new_id: &new_id };
        let Some(sandbox) = self.world.sandboxes.get(&sandbox_id(SimulatorType::Voice)) else { return Err(Refusal::NoSuchCall) };
        let asking = Asking { sandbox, actor: "agent", context: &context, token: None };
        let Outcome { answer, changes, events } = asked(&self.world, asking);
        assert!(answer.is_ok() || changes.is_empty());
        let seq = self.world.seq + 1;
        changes.iter().for_each(|change| self.world.apply(seq, change));
        self.world.seq += events.len().max(1) as Seq;
        answer
    }
}
