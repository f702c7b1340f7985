//! Operations on an HL7 v2 interface: its inbox, and sending messages to it.

use model::hl7::InboxMessage;
use model::page::{Page, PageRequest};
pub use sims::hl7::receive::{Body, Delivery, LIMITS, NotHl7, Receipt, Transport};
pub use sims::hl7::reply::{Ack, Reply};
use sims::hl7::{acknowledge, inbox, receive};
use world::{Context, Outcome, World};

use super::Access;
use crate::etag::IfMatch;
use crate::{App, AppError};
use runtime::Cost;

/// The messages of the inbox, newest first; only read or only unread ones, if requested.
pub async fn inbox(
    app: &App,
    access: Access,
    read: Option<bool>,
    page: PageRequest,
) -> Result<Page<InboxMessage>, AppError> {
    let (id, actor) = (access.sandbox.id.clone(), access.actor.clone());
    let query = move |world: &World, context: &Context<'_>| inbox::list(world, &id, &actor, (read, &page), context);
    Ok(app.runtime().query(access.reader(), Cost::Light, query).await?)
}

pub async fn message(app: &App, access: Access, message: String) -> Result<InboxMessage, AppError> {
    let (id, actor) = (access.sandbox.id.clone(), access.actor.clone());
    let query = move |world: &World, context: &Context<'_>| inbox::get(world, &id, &actor, &message, context);
    app.runtime().query(access.reader(), Cost::Light, query).await?.ok_or(AppError::NotFound("message"))
}

pub async fn mark(
    app: &App,
    access: Access,
    message: String,
    read: bool,
    if_match: IfMatch,
) -> Result<InboxMessage, AppError> {
    let Access { sandbox, actor, .. } = access;
    let id = sandbox.id.clone();
    let change = move |world: &World, context: &Context<'_>| {
        let now = inbox::get(world, &id, &actor, &message, context).answer;
        if let Some(Err(refused)) = now.as_ref().map(|now| if_match.check(now)) {
            return Outcome { answer: Err(refused), changes: Vec::new(), events: Vec::new() };
        }
        let Outcome { answer, changes, events } = inbox::mark(world, &id, &actor, (&message, read), context);
        Outcome { answer: answer.ok_or(AppError::NotFound("message")), changes, events }
    };
    app.runtime().command(&sandbox, change).await?
}

/// Sends one body over HTTP. A body that is not HL7 is an API error, not a negative acknowledgment.
pub async fn send(app: &App, access: Access, body: Body) -> Result<Reply, AppError> {
    let delivery = Delivery { body, transport: Transport::Http, actor: access.actor.clone() };
    let receipts = deliver(app, access, vec![delivery]).await?;
    let receipt = receipts.into_iter().next().ok_or_else(|| AppError::Internal("no receipt".into()))?;
    receipt.map_err(|error| AppError::BadRequest(format!("not an HL7 v2 message: {}", error.reason)))
}

/// The actor in events of MLLP messages. The protocol does not identify senders.
const MLLP_SENDER: &str = "mllp";

/// Processes frames of one connection in their order, and returns the acknowledgments.
pub async fn send_frames(app: &App, access: &Access, frames: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, AppError> {
    let delivery =
        |bytes| Delivery { body: Body::Bytes(bytes), transport: Transport::Mllp, actor: MLLP_SENDER.to_owned() };
    let receipts = deliver(app, access.clone(), frames.into_iter().map(delivery).collect()).await?;
    let frames = receipts.into_iter().flat_map(|receipt| match receipt {
        Ok(reply) => reply.frames(),
        Err(refused) => bytes_of(refused.rejection),
    });
    Ok(frames.collect())
}

/// The negative acknowledgment of a frame that cannot be processed.
pub fn rejection(app: &App, frame: &[u8], why: &str) -> Vec<Vec<u8>> {
    app.runtime().with_context(|context| bytes_of(acknowledge::reject(frame, why, context)))
}

fn bytes_of(acks: impl IntoIterator<Item = Ack>) -> Vec<Vec<u8>> {
    acks.into_iter().map(|ack| ack.message.to_bytes().into_owned()).collect()
}

async fn deliver(app: &App, access: Access, deliveries: Vec<Delivery>) -> Result<Vec<Receipt>, AppError> {
    let id = access.sandbox.id.clone();
    let message = move |world: &World, context: &Context<'_>| receive::receive(world, &id, &deliveries, context);
    Ok(app.runtime().command(&access.sandbox, message).await?)
}

/// Access over the sandbox's MLLP port, which needs no credential. None if the sandbox has ended.
pub async fn by_port(app: &App, id: &model::SandboxId) -> Result<Option<Access>, AppError> {
    Ok(app.runtime().sandbox(id).await?.map(|sandbox| Access {
        sandbox,
        actor: MLLP_SENDER.to_owned(),
        after_end: false,
    }))
}
