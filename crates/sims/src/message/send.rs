//! A message from the agent: where it goes, whether it gets there, and what comes back.

use model::FieldErrors;
use model::api_key::masked;
use model::channel::Channel;
use model::event::EventType;
use model::message::NewMessage;
use serde_json::Value;
use world::{Context, NewEvent, Outcome, Sandbox, World};

use super::config::MessageConfig;
use super::due;
use super::opt_out::has_opted_out;
use super::persona;
use super::recipient::{Recipient, recipient};
use super::steps::MESSAGES;
use crate::authored;
use crate::idempotency::{BOOKKEEPING, IdempotencyConflict, IdempotencyKey};
use crate::redact::without_secrets;
use crate::scenario::step::object;

/// Why a message is not taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    Invalid(FieldErrors),
    /// Its name is that of another message.
    Used(IdempotencyConflict),
}

/// The message as it is kept, or what is wrong with it. A message that cannot be sent is still an event.
pub fn send(
    world: &World,
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    new: &NewMessage,
    token: Option<&IdempotencyKey>,
) -> Outcome<Result<Value, Refusal>> {
    match token.map_or(Ok(None), |token| token.earlier_row(sandbox)) {
        Ok(None) => {}
        Ok(Some(id)) => return answered(earlier(sandbox, &id)),
        Err(used) => return answered(Err(Refusal::Used(used))),
    }
    let config = authored::read::<MessageConfig>(&sandbox.config).unwrap_or_default();
    match check(new).and_then(|()| recipient(world, sandbox, new)) {
        Ok(recipient) => {
            let mut outcome = sent(sandbox, &config, actor, context, new, &recipient);
            let id = outcome.answer.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            outcome
                .changes
                .extend(token.map(|token| sandbox.put(BOOKKEEPING, &token.record_key(), &token.row(&id), context.now)));
            Outcome { answer: Ok(outcome.answer), changes: outcome.changes, events: outcome.events }
        }
        Err(errors) => {
            let summary = format!("{} refused: not valid", new.channel.name());
            let asked = serde_json::json!({"channel": new.channel.name(), "patient_id": new.patient_id, "to": new.to,
                "status": "refused", "errors": errors});
            let event = event(sandbox, actor, &summary, asked);
            Outcome { answer: Err(Refusal::Invalid(errors)), changes: Vec::new(), events: vec![event] }
        }
    }
}

/// The message as it was answered when it was first sent.
fn earlier(sandbox: &Sandbox, id: &str) -> Result<Value, Refusal> {
    let row = sandbox.records.get(MESSAGES, id).live().map(|record| Value::clone(&record.json()));
    row.ok_or(Refusal::Used(IdempotencyConflict))
}

fn answered(answer: Result<Value, Refusal>) -> Outcome<Result<Value, Refusal>> {
    Outcome { answer, changes: Vec::new(), events: Vec::new() }
}

fn check(new: &NewMessage) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::new();
    if let Some(patient) = &new.patient_id {
        errors.name("patient_id", patient);
    }
    if let Some(subject) = &new.subject {
        errors.name("subject", subject);
        if new.channel == Channel::Sms {
            errors.add("subject", "only an e-mail has a subject");
        }
    }
    authored::text(&mut errors, "body", &new.body, longest(new.channel));
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

pub(super) fn longest(channel: Channel) -> usize {
    match channel {
        Channel::Sms => 1600,
        Channel::Email => 100_000,
    }
}

fn sent(
    sandbox: &Sandbox,
    config: &MessageConfig,
    actor: &str,
    context: &Context<'_>,
    new: &NewMessage,
    recipient: &Recipient,
) -> Outcome<Value> {
    let (id, channel) = (format!("msg_{}", (context.new_id)()), new.channel);
    let failure = failure(sandbox, config, channel, &recipient.address);
    let row = Value::Object(object([
        ("id", id.as_str().into()),
        ("direction", "outbound".into()),
        ("channel", channel.name().into()),
        ("to", recipient.address.as_str().into()),
        ("patient_id", recipient.patient_id.clone().into()),
        ("subject", new.subject.clone().into()),
        ("body", new.body.as_str().into()),
        ("status", if failure.is_some() { "undelivered" } else { "delivered" }.into()),
        ("error", failure.into()),
        ("sent_at", context.now.to_string().into()),
        ("delivered_at", failure.is_none().then(|| context.now.to_string()).into()),
    ]));
    let mut changes = vec![sandbox.put(MESSAGES, &id, &row, context.now)];
    let how = if failure.is_some() { "was not delivered" } else { "was sent" };
    let mut events =
        vec![event(sandbox, actor, &format!("{} to {} {how}", channel.name(), recipient.address), row.clone())];
    let answer = persona::answer(config, recipient.patient_id.as_deref(), &new.body).filter(|_| failure.is_none());
    if let Some(answer) = answer {
        let reply = due::Reply {
            channel,
            from: recipient.address.clone(),
            patient_id: recipient.patient_id.clone(),
            persona: answer.persona.to_owned(),
            subject: new.subject.as_ref().map(|subject| format!("Re: {subject}")),
            body: answer.body.to_owned(),
            due_at: context.now.plus_milliseconds(answer.delay_seconds.saturating_mul(1000)),
        };
        let (change, told) = reply.given(sandbox, context, &id);
        changes.push(change);
        events.extend(told);
    }
    Outcome { answer: row, changes, events }
}

/// Why it does not arrive.
fn failure(sandbox: &Sandbox, config: &MessageConfig, channel: Channel, address: &str) -> Option<&'static str> {
    if has_opted_out(sandbox, channel, address) {
        return Some("the recipient has opted out of text messages");
    }
    config.is_unreachable(address).then_some("the recipient cannot be reached")
}

fn event(sandbox: &Sandbox, actor: &str, summary: &str, payload: Value) -> NewEvent {
    NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::MessageOutbound,
        actor: actor.to_owned(),
        summary: masked(summary),
        payload: without_secrets(payload).into(),
    }
}
