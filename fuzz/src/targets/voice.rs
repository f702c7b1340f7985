//! Messages of an agent over the WebSocket of a call, in both protocols, and how the line handles them.

use std::cell::Cell;
use std::sync::{Arc, LazyLock};

use model::simulator::SimulatorType;
use model::voice::NewCall;
use serde_json::{Value, json};
use sims::voice::calls::{self, CallError, CallRequest, Exchange};
use sims::voice::wire::relay::RelayReader;
use sims::voice::wire::{ClientAction, native};
use world::{Context, Outcome, Seq, World};

use crate::fixture::{Playground, START, sandbox_id};

/// One message in each line. Both readers read all of them, and the resulting actions are applied to one call.
pub(crate) fn voice_message(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (mut relay, mut line) = (RelayReader::default(), PhoneLine::dial());
    for message in text.lines().take(50) {
        let relayed = relay.read(message);
        if let Ok(ClientAction::Turn(turn)) = &relayed {
            assert!(turn.say.as_deref().is_none_or(|text| !text.trim().is_empty()), "{turn:?}");
        }
        [native::read(message), relayed].into_iter().flatten().for_each(|action| line.apply(&action));
    }
}

/// A phone line with most types of nodes.
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

struct PhoneLine {
    world: World,
    call: String,
}

impl PhoneLine {
    fn dial() -> Self {
        let mut line = Self { world: FRESH.clone(), call: String::new() };
        let dial = line.run(|world, request| calls::dial(world, request, &NewCall::default(), "+15550100100"));
        line.call =
            dial.ok().and_then(|exchange| exchange.call["id"].as_str().map(ToOwned::to_owned)).unwrap_or_default();
        assert!(!line.call.is_empty());
        line
    }

    fn apply(&mut self, action: &ClientAction) {
        let call = self.call.clone();
        let done = match action {
            ClientAction::Turn(new) => self.run(|world, request| calls::turn(world, request, &call, new)),
            ClientAction::Answer => self.run(|_, request| calls::answer(request, &call)),
            ClientAction::HangUp => self.run(|_, request| calls::hang_up(request, &call)),
            ClientAction::Nothing => return,
        };
        if let Ok(exchange) = done {
            assert!(exchange.turns.iter().all(Value::is_object));
        }
    }

    /// A failed action changes nothing.
    fn run(
        &mut self,
        action: impl FnOnce(&World, CallRequest<'_>) -> Outcome<Result<Exchange, CallError>>,
    ) -> Result<Exchange, CallError> {
        let ids = Cell::new(self.world.seq);
        let new_id = || {
            ids.set(ids.get() + 1);
            format!("{:026}", ids.get())
        };
        let context = Context { now: START.plus_milliseconds(self.world.seq * 1000), new_id: &new_id };
        let Some(sandbox) = self.world.sandboxes.get(&sandbox_id(SimulatorType::Voice)) else {
            return Err(CallError::NoSuchCall);
        };
        let request = CallRequest { sandbox, actor: "agent", context: &context, idempotency_key: None };
        let Outcome { answer, changes, events } = action(&self.world, request);
        assert!(answer.is_ok() || changes.is_empty());
        let seq = self.world.seq + 1;
        changes.iter().for_each(|change| self.world.apply(seq, change));
        self.world.seq += events.len().max(1) as Seq;
        answer
    }
}
