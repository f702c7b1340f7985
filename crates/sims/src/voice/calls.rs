//! What the agent does with the telephone: it dials, answers, speaks, presses keys, says nothing, hangs up.

use model::FieldErrors;
use model::phone;
use model::simulator::SimulatorType;
use model::voice::{NewCall, NewTurn};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use world::{Context, Outcome, Sandbox, World};

use super::act::{heard, of_agent};
use super::config::VoiceConfig;
use super::line::{Heard, Line};
use super::rows::{Call, State, Turn};
use super::script::{Reply, Script};
use super::steps::CALLS;
pub use super::transcript::Exchange;
use super::transcript::{Transcript, earlier};
use crate::contact_points;
use crate::idempotency::{IdempotencyConflict, IdempotencyKey};

/// Why nothing was done.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    Invalid(FieldErrors),
    NoSuchCall,
    /// The state of things does not allow it.
    Conflict(&'static str),
    Used(IdempotencyConflict),
}

/// Who asks, and when.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    pub sandbox: &'a Sandbox,
    pub actor: &'a str,
    pub context: &'a Context<'a>,
    /// The sender's own name for the message.
    pub token: Option<&'a IdempotencyKey>,
}

type Answer = Outcome<Result<Exchange, Refusal>>;

const MOST_TURNS: u64 = 2000;
const MOST_CALLS: usize = 10_000;
const ENDED: &str = "the call has ended";

fn refused(refusal: Refusal) -> Answer {
    Outcome { answer: Err(refusal), changes: Vec::new(), events: Vec::new() }
}

fn done(outcome: Outcome<Exchange>) -> Answer {
    Outcome { answer: Ok(outcome.answer), changes: outcome.changes, events: outcome.events }
}

/// A call to the line; `number` is the line's own.
pub fn dial(world: &World, asking: Asking<'_>, new: &NewCall, number: &str) -> Answer {
    if let Some(answer) = repeated(asking) {
        return answer;
    }
    let mut errors = FieldErrors::new();
    if let Some(to) = &new.to {
        contact_points::check_phone_number(&mut errors, "to", to);
    }
    if !errors.is_empty() {
        return refused(Refusal::Invalid(errors));
    }
    let Asking { sandbox, actor, context, token } = asking;
    if sandbox.records.own(CALLS).count() >= MOST_CALLS {
        return refused(Refusal::Conflict("the sandbox has as many calls as it can keep"));
    }
    let to = new.to.as_deref().unwrap_or(number);
    let id = format!("call_{}", (context.new_id)());
    let row = json!({"id": id, "direction": "outbound", "to_number": to, "status": "in_progress",
        "started_at": context.now.to_string()});
    let call = Call { id, row, state: State::default() };
    let mut transcript = Transcript::new(sandbox, actor, context, call);
    transcript.note("dial", Map::from_iter([("to_number".to_owned(), Value::from(to))]));
    let config = VoiceConfig::deserialize(&*sandbox.config).unwrap_or_default();
    match &config.ivr {
        _ if !is_same_number(to, number) => {
            transcript.call.end("failed", "line", context.now);
            transcript.call.set("error", "the number is not in service");
        }
        None => transcript.call.end("no_answer", "line", context.now),
        Some(ivr) => {
            let mut line = Line::new(world, ivr, State::default());
            line.answer();
            follow(&mut transcript, line, context);
        }
    }
    done(transcript.finish(token))
}

/// Whether the call is one of this line.
pub fn has(sandbox: &Sandbox, call: &str) -> bool {
    sandbox.records.get(CALLS, call).live().is_some()
}

/// Whether the sender used its name for a message to another line of the playground.
pub fn is_used_elsewhere(world: &World, line: &Sandbox, token: &IdempotencyKey) -> bool {
    let is_other = |other: &&Sandbox| other.kind == SimulatorType::Voice && other.id != line.id;
    world.sandboxes.values().filter(is_other).any(|other| token.earlier_row(other) != Ok(None))
}

/// The same digits; the code of the country may be missing from one.
pub fn is_same_number(left: &str, right: &str) -> bool {
    let (left, right) = (phone::digits(left), phone::digits(right));
    left == right || left.strip_prefix('1') == Some(&right) || right.strip_prefix('1') == Some(&left)
}

/// Takes a call that rings; the caller speaks first.
pub fn answer(asking: Asking<'_>, id: &str) -> Answer {
    if let Some(answer) = repeated(asking) {
        return answer;
    }
    let Asking { sandbox, actor, context, token } = asking;
    let Some(mut call) = Call::find(sandbox, id) else { return refused(Refusal::NoSuchCall) };
    if call.status() != "ringing" {
        return refused(Refusal::Conflict("only a call that rings can be answered"));
    }
    call.set("status", "in_progress");
    let mut transcript = Transcript::new(sandbox, actor, context, call);
    transcript.note("answer", Map::new());
    let opening = Script::of(sandbox, id).opening;
    transcript.add(&Turn { speaker: "caller", text: opening, ..Turn::default() }, 0);
    done(transcript.finish(token))
}

/// What the agent does next. A call that rings is answered by it.
pub fn turn(world: &World, asking: Asking<'_>, id: &str, new: &NewTurn) -> Answer {
    if let Some(answer) = repeated(asking) {
        return answer;
    }
    let heard = match heard(new) {
        Ok(heard) => heard,
        Err(errors) => return refused(Refusal::Invalid(errors)),
    };
    let Asking { sandbox, actor, context, token } = asking;
    let Some(mut call) = Call::find(sandbox, id) else { return refused(Refusal::NoSuchCall) };
    let rings = call.status() == "ringing";
    if !rings && call.status() != "in_progress" {
        return refused(Refusal::Conflict(ENDED));
    }
    if call.state.count >= MOST_TURNS {
        return refused(Refusal::Conflict("the call has as many turns as it can have; hang up"));
    }
    call.set("status", "in_progress");
    let interrupts = new.interrupts == Some(true);
    let is_inbound = call.is_inbound();
    let mut transcript = Transcript::new(sandbox, actor, context, call);
    if is_inbound {
        with_caller(&mut transcript, &heard, interrupts, rings, context);
    } else {
        let config = VoiceConfig::deserialize(&*sandbox.config).unwrap_or_default();
        let Some(ivr) = &config.ivr else { return refused(Refusal::Conflict(ENDED)) };
        let line = Line::new(world, ivr, transcript.call.state.clone());
        with_line(&mut transcript, line, &heard, interrupts, context);
    }
    done(transcript.finish(token))
}

/// Ends the call; ending it twice is ending it once.
pub fn hang_up(asking: Asking<'_>, id: &str) -> Answer {
    let Asking { sandbox, actor, context, token } = asking;
    let Some(mut call) = Call::find(sandbox, id) else { return refused(Refusal::NoSuchCall) };
    let status = match call.status() {
        "in_progress" => "completed",
        "ringing" => "declined",
        _ => {
            return done(Outcome {
                answer: Exchange { call: call.shown(), turns: Vec::new() },
                changes: Vec::new(),
                events: Vec::new(),
            });
        }
    };
    call.end(status, "agent", context.now);
    let mut transcript = Transcript::new(sandbox, actor, context, call);
    transcript.note("hang_up", Map::new());
    done(transcript.finish(token))
}

/// What a message was answered with that comes again.
fn repeated(asking: Asking<'_>) -> Option<Answer> {
    let token = asking.token?;
    match token.earlier_row(asking.sandbox) {
        Ok(None) => None,
        Ok(Some(about)) => {
            let answer = earlier(asking.sandbox, &about).ok_or(Refusal::Used(IdempotencyConflict));
            Some(Outcome { answer, changes: Vec::new(), events: Vec::new() })
        }
        Err(used) => Some(refused(Refusal::Used(used))),
    }
}

/// A turn with the line.
fn with_line(
    transcript: &mut Transcript<'_>,
    mut line: Line<'_>,
    heard: &Heard,
    interrupts: bool,
    context: &Context<'_>,
) {
    let mut turn = of_agent(heard, interrupts);
    let skipped = line.state.skipped_seconds;
    if interrupts && !line.allows_interruption() {
        turn.note = Some("unheard");
        return transcript.add(&turn, skipped);
    }
    line.hear(heard);
    if let Some(left) = &line.left {
        transcript.leave(left);
        if line.was_cut_off {
            turn.text.clone_from(left);
            turn.note = Some("cut_off");
        }
    }
    transcript.add(&turn, skipped);
    follow(transcript, line, context);
}

/// What the line says, and how it leaves the call.
fn follow(transcript: &mut Transcript<'_>, line: Line<'_>, context: &Context<'_>) {
    for said in line.says {
        let turn = Turn { speaker: "caller", text: said.text, hold_seconds: said.hold_seconds, ..Turn::default() };
        transcript.add(&turn, said.skipped_seconds);
    }
    let count = transcript.call.state.count;
    transcript.call.state = State { count, ..line.state };
    if let Some(ending) = line.ending {
        transcript.call.end(ending.status, "line", context.now);
        if let Some(number) = ending.transferred_to {
            transcript.call.set("transferred_to", number);
        }
    }
}

/// A turn with somebody who calls. Whoever answers with a greeting is told afterwards why they call.
fn with_caller(transcript: &mut Transcript<'_>, heard: &Heard, interrupts: bool, rings: bool, context: &Context<'_>) {
    let script = Script::of(transcript.sandbox(), &transcript.call.id);
    transcript.add(&of_agent(heard, interrupts), 0);
    let says = |text: &str| Turn { speaker: "caller", text: text.to_owned(), ..Turn::default() };
    if rings {
        return transcript.add(&says(&script.opening), 0);
    }
    match script.reply(heard) {
        Reply::Says(text) => transcript.add(&says(text), 0),
        Reply::Leaves(text) => {
            transcript.add(&says(text), 0);
            transcript.call.end("completed", "caller", context.now);
        }
        Reply::Nothing => {}
    }
}
