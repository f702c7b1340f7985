//! Sends a message of the agent: resolves the recipient, decides whether it is delivered, and lets a persona reply.

use model::FieldErrors;
use model::api_key::masked;
use model::channel::Channel;
use model::event::EventType;
use model::message::NewMessage;
use serde_json::{Value, json};
use world::{Context, NewEvent, Outcome, Sandbox, World};

use super::config::MessageConfig;
use super::opt_out::has_opted_out;
use super::personas;
use super::recipient::{self, Recipient};
use super::replies::PersonaReply;
use super::steps::MESSAGES;
use crate::authored;
use crate::idempotency::{BOOKKEEPING, IdempotencyConflict, IdempotencyKey};
use crate::operation::OperationError;
use crate::redact::without_secrets;
use crate::scenario::step::object;

/// Sends a message and returns its row. Invalid messages are logged, too.
pub(crate) fn send(
    world: &World,
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    new: &NewMessage,
    token: Option<&IdempotencyKey>,
) -> Outcome<Result<Value, OperationError>> {
    match token.map_or(Ok(None), |token| token.earlier_row(sandbox)) {
        Ok(None) => {}
        Ok(Some(id)) => return unchanged(earlier_row(sandbox, &id)),
        Err(conflict) => return unchanged(Err(conflict.into())),
    }
    let config = authored::read::<MessageConfig>(&sandbox.config).unwrap_or_default();
    match check(new).and_then(|()| recipient::resolve(world, sandbox, new)) {
        Ok(recipient) => {
            let mut outcome = send_to(sandbox, &config, actor, context, new, &recipient);
            let id = outcome.answer.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            outcome
                .changes
                .extend(token.map(|token| sandbox.put(BOOKKEEPING, &token.record_key(), &token.row(&id), context.now)));
            Outcome { answer: Ok(outcome.answer), changes: outcome.changes, events: outcome.events }
        }
        Err(errors) => {
            let summary = format!("{} refused: not valid", new.channel.name());
            let payload = json!({"channel": new.channel.name(), "patient_id": new.patient_id, "to": new.to,
                "status": "refused", "errors": errors});
            let event = event(sandbox, actor, &summary, payload);
            Outcome { answer: Err(OperationError::Invalid(errors)), changes: Vec::new(), events: vec![event] }
        }
    }
}

/// The row of the message that was sent earlier under the same idempotency key.
fn earlier_row(sandbox: &Sandbox, id: &str) -> Result<Value, OperationError> {
    let row = sandbox.records.get(MESSAGES, id).live().map(|record| Value::clone(&record.json()));
    row.ok_or(IdempotencyConflict.into())
}

fn unchanged(answer: Result<Value, OperationError>) -> Outcome<Result<Value, OperationError>> {
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
            errors.add("subject", "is only allowed for `email`");
        }
    }
    authored::text(&mut errors, "body", &new.body, max_length(new.channel));
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

pub(super) fn max_length(channel: Channel) -> usize {
    match channel {
        Channel::Sms => 1600,
        Channel::Email => 100_000,
    }
}

fn send_to(
    sandbox: &Sandbox,
    config: &MessageConfig,
    actor: &str,
    context: &Context<'_>,
    new: &NewMessage,
    recipient: &Recipient,
) -> Outcome<Value> {
    let id = format!("msg_{}", (context.new_id)());
    let failure = delivery_failure(sandbox, config, new.channel, &recipient.address);
    let row = row(&id, context, new, recipient, failure);
    let result = if failure.is_some() { "was not delivered" } else { "was sent" };
    let summary = format!("{} to {} {result}", new.channel.name(), recipient.address);
    let mut changes = vec![sandbox.put(MESSAGES, &id, &row, context.now)];
    let mut events = vec![event(sandbox, actor, &summary, row.clone())];
    if failure.is_none()
        && let Some(reply) = reply(config, context, new, recipient)
    {
        let (change, arrival) = reply.deliver_or_defer(sandbox, context, &id);
        changes.push(change);
        events.extend(arrival);
    }
    Outcome { answer: row, changes, events }
}

fn row(
    id: &str,
    context: &Context<'_>,
    new: &NewMessage,
    recipient: &Recipient,
    failure: Option<&'static str>,
) -> Value {
    Value::Object(object([
        ("id", id.into()),
        ("direction", "outbound".into()),
        ("channel", new.channel.name().into()),
        ("to", recipient.address.as_str().into()),
        ("patient_id", recipient.patient_id.clone().into()),
        ("subject", new.subject.clone().into()),
        ("body", new.body.as_str().into()),
        ("status", if failure.is_some() { "undelivered" } else { "delivered" }.into()),
        ("error", failure.into()),
        ("sent_at", context.now.to_string().into()),
        ("delivered_at", failure.is_none().then(|| context.now.to_string()).into()),
    ]))
}

fn reply(
    config: &MessageConfig,
    context: &Context<'_>,
    new: &NewMessage,
    recipient: &Recipient,
) -> Option<PersonaReply> {
    let chosen = personas::choose_reply(config, recipient.patient_id.as_deref(), &new.body)?;
    Some(PersonaReply {
        channel: new.channel,
        from: recipient.address.clone(),
        patient_id: recipient.patient_id.clone(),
        persona: chosen.persona.to_owned(),
        subject: new.subject.as_ref().map(|subject| format!("Re: {subject}")),
        body: chosen.body.to_owned(),
        due_at: context.now.plus_milliseconds(chosen.delay_seconds.saturating_mul(1000)),
    })
}

/// Why the message cannot be delivered.
fn delivery_failure(
    sandbox: &Sandbox,
    config: &MessageConfig,
    channel: Channel,
    address: &str,
) -> Option<&'static str> {
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
