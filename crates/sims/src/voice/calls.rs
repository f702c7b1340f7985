//! The agent's actions on the phone: dial, answer, take a turn, hang up.

use clinical::is_same_phone_number;
use model::FieldErrors;
use model::simulator::SimulatorType;
use model::voice::{NewCall, NewTurn};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use world::{Context, Outcome, Sandbox, World};

use super::agent_input::{agent_turn, read_input};
use super::config::VoiceConfig;
use super::ivr::{AgentInput, IvrSession};
use super::rows::{Call, CallState, CallTurn};
use super::script::{CallerReply, CallerScript};
use super::steps::CALLS;
pub use super::transcript::Exchange;
use super::transcript::{Transcript, earlier_exchange};
use crate::contact_points;
use crate::idempotency::{IdempotencyConflict, IdempotencyKey};

/// Why an action failed.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    Invalid(FieldErrors),
    NoSuchCall,
    /// The state of the call or the line does not allow it.
    Conflict(&'static str),
    IdempotencyConflict(IdempotencyConflict),
}

/// The context of an action.
#[derive(Clone, Copy)]
pub struct CallRequest<'a> {
    pub sandbox: &'a Sandbox,
    pub actor: &'a str,
    pub context: &'a Context<'a>,
    pub idempotency_key: Option<&'a IdempotencyKey>,
}

type CallOutcome = Outcome<Result<Exchange, CallError>>;

const MAX_TURNS: u64 = 2000;
const MAX_CALLS: usize = 10_000;
const ENDED: &str = "the call has ended";

fn failed(error: CallError) -> CallOutcome {
    Outcome { answer: Err(error), changes: Vec::new(), events: Vec::new() }
}

fn succeeded(outcome: Outcome<Exchange>) -> CallOutcome {
    Outcome { answer: Ok(outcome.answer), changes: outcome.changes, events: outcome.events }
}

/// Calls the line. `number` is the line's own number.
pub fn dial(world: &World, request: CallRequest<'_>, new: &NewCall, number: &str) -> CallOutcome {
    if let Some(outcome) = replayed(request) {
        return outcome;
    }
    let mut errors = FieldErrors::new();
    if let Some(to) = &new.to {
        contact_points::check_phone_number(&mut errors, "to", to);
    }
    if !errors.is_empty() {
        return failed(CallError::Invalid(errors));
    }
    let CallRequest { sandbox, actor, context, idempotency_key } = request;
    if sandbox.records.own(CALLS).count() >= MAX_CALLS {
        return failed(CallError::Conflict("the sandbox has the maximum number of calls"));
    }
    let to = new.to.as_deref().unwrap_or(number);
    let id = format!("call_{}", (context.new_id)());
    let row = json!({"id": id, "direction": "outbound", "to_number": to, "status": "in_progress",
        "started_at": context.now.to_string()});
    let call = Call { id, row, state: CallState::default() };
    let mut transcript = Transcript::new(sandbox, actor, context, call);
    transcript.add_action("dial", Map::from_iter([("to_number".to_owned(), Value::from(to))]));
    let config = VoiceConfig::deserialize(&*sandbox.config).unwrap_or_default();
    match &config.ivr {
        _ if !is_same_phone_number(to, number) => {
            transcript.call.end("failed", "line", context.now);
            transcript.call.set("error", "the number is not in service");
        }
        None => transcript.call.end("no_answer", "line", context.now),
        Some(ivr) => {
            let mut session = IvrSession::new(world, ivr, CallState::default());
            session.answer();
            apply_session(&mut transcript, session, context);
        }
    }
    succeeded(transcript.finish(idempotency_key))
}

/// Whether the call belongs to this line.
pub fn has_call(sandbox: &Sandbox, call: &str) -> bool {
    sandbox.records.get(CALLS, call).live().is_some()
}

/// Whether the idempotency key was used for a request to another line of the playground.
pub fn is_used_elsewhere(world: &World, line: &Sandbox, key: &IdempotencyKey) -> bool {
    let is_other = |other: &&Sandbox| other.kind == SimulatorType::Voice && other.id != line.id;
    world.sandboxes.values().filter(is_other).any(|other| key.earlier_row(other) != Ok(None))
}

/// Answers a ringing call. The caller speaks first.
pub fn answer(request: CallRequest<'_>, id: &str) -> CallOutcome {
    if let Some(outcome) = replayed(request) {
        return outcome;
    }
    let CallRequest { sandbox, actor, context, idempotency_key } = request;
    let Some(mut call) = Call::find(sandbox, id) else { return failed(CallError::NoSuchCall) };
    if call.status() != "ringing" {
        return failed(CallError::Conflict("only a ringing call can be answered"));
    }
    call.set("status", "in_progress");
    let mut transcript = Transcript::new(sandbox, actor, context, call);
    transcript.add_action("answer", Map::new());
    let opening = CallerScript::of(sandbox, id).opening;
    transcript.add(&CallTurn { speaker: "caller", text: opening, ..CallTurn::default() }, 0);
    succeeded(transcript.finish(idempotency_key))
}

/// Adds the agent's turn and the other side's reaction. A turn answers a ringing call.
pub fn turn(world: &World, request: CallRequest<'_>, id: &str, new: &NewTurn) -> CallOutcome {
    if let Some(outcome) = replayed(request) {
        return outcome;
    }
    let input = match read_input(new) {
        Ok(input) => input,
        Err(errors) => return failed(CallError::Invalid(errors)),
    };
    let CallRequest { sandbox, actor, context, idempotency_key } = request;
    let Some(mut call) = Call::find(sandbox, id) else { return failed(CallError::NoSuchCall) };
    let is_ringing = call.status() == "ringing";
    if !is_ringing && call.status() != "in_progress" {
        return failed(CallError::Conflict(ENDED));
    }
    if call.state.count >= MAX_TURNS {
        return failed(CallError::Conflict("the call has the maximum number of turns; hang up"));
    }
    call.set("status", "in_progress");
    let interrupts = new.interrupts == Some(true);
    let is_inbound = call.is_inbound();
    let mut transcript = Transcript::new(sandbox, actor, context, call);
    if is_inbound {
        turn_with_caller(&mut transcript, &input, interrupts, is_ringing, context);
    } else {
        let config = VoiceConfig::deserialize(&*sandbox.config).unwrap_or_default();
        let Some(ivr) = &config.ivr else { return failed(CallError::Conflict(ENDED)) };
        let session = IvrSession::new(world, ivr, transcript.call.state.clone());
        turn_with_ivr(&mut transcript, session, &input, interrupts, context);
    }
    succeeded(transcript.finish(idempotency_key))
}

/// Ends the call. Ending a call that has ended has no effect.
pub fn hang_up(request: CallRequest<'_>, id: &str) -> CallOutcome {
    let CallRequest { sandbox, actor, context, idempotency_key } = request;
    let Some(mut call) = Call::find(sandbox, id) else { return failed(CallError::NoSuchCall) };
    let status = match call.status() {
        "in_progress" => "completed",
        "ringing" => "declined",
        _ => {
            return succeeded(Outcome {
                answer: Exchange { call: call.public_row(), turns: Vec::new() },
                changes: Vec::new(),
                events: Vec::new(),
            });
        }
    };
    call.end(status, "agent", context.now);
    let mut transcript = Transcript::new(sandbox, actor, context, call);
    transcript.add_action("hang_up", Map::new());
    succeeded(transcript.finish(idempotency_key))
}

/// The outcome of an earlier request under the same idempotency key.
fn replayed(request: CallRequest<'_>) -> Option<CallOutcome> {
    let key = request.idempotency_key?;
    match key.earlier_row(request.sandbox) {
        Ok(None) => None,
        Ok(Some(about)) => {
            let answer =
                earlier_exchange(request.sandbox, &about).ok_or(CallError::IdempotencyConflict(IdempotencyConflict));
            Some(Outcome { answer, changes: Vec::new(), events: Vec::new() })
        }
        Err(conflict) => Some(failed(CallError::IdempotencyConflict(conflict))),
    }
}

/// A turn with the automated line.
fn turn_with_ivr(
    transcript: &mut Transcript<'_>,
    mut session: IvrSession<'_>,
    input: &AgentInput,
    interrupts: bool,
    context: &Context<'_>,
) {
    let mut turn = agent_turn(input, interrupts);
    let skipped = session.state.skipped_seconds;
    if interrupts && !session.allows_interruption() {
        turn.note = Some("unheard");
        return transcript.add(&turn, skipped);
    }
    session.hear(input);
    if let Some(text) = &session.voicemail {
        transcript.add_left_voicemail(text);
        if session.was_cut_off {
            turn.text.clone_from(text);
            turn.note = Some("cut_off");
        }
    }
    transcript.add(&turn, skipped);
    apply_session(transcript, session, context);
}

/// Adds what the line says, and updates the state of the call.
fn apply_session(transcript: &mut Transcript<'_>, session: IvrSession<'_>, context: &Context<'_>) {
    for utterance in session.utterances {
        let turn = CallTurn {
            speaker: "caller",
            text: utterance.text,
            hold_seconds: utterance.hold_seconds,
            ..CallTurn::default()
        };
        transcript.add(&turn, utterance.skipped_seconds);
    }
    let count = transcript.call.state.count;
    transcript.call.state = CallState { count, ..session.state };
    if let Some(ending) = session.ending {
        transcript.call.end(ending.status, "line", context.now);
        if let Some(number) = ending.transferred_to {
            transcript.call.set("transferred_to", number);
        }
    }
}

/// A turn with a scripted caller. If the turn answers the call, the caller says the opening.
fn turn_with_caller(
    transcript: &mut Transcript<'_>,
    input: &AgentInput,
    interrupts: bool,
    is_ringing: bool,
    context: &Context<'_>,
) {
    let script = CallerScript::of(transcript.sandbox(), &transcript.call.id);
    transcript.add(&agent_turn(input, interrupts), 0);
    let says = |text: &str| CallTurn { speaker: "caller", text: text.to_owned(), ..CallTurn::default() };
    if is_ringing {
        return transcript.add(&says(&script.opening), 0);
    }
    match script.reply(input) {
        CallerReply::Says(text) => transcript.add(&says(text), 0),
        CallerReply::SaysAndHangsUp(text) => {
            transcript.add(&says(text), 0);
            transcript.call.end("completed", "caller", context.now);
        }
        CallerReply::Nothing => {}
    }
}
