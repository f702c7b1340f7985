//! Feedback on cards: it is sent to the service and then stored. Accepting a suggestion also applies its actions.

use model::cds::{CardFeedback, NewCdsFeedback};
use model::page::{Page, PageRequest};
use serde_json::{Value, json};
use sims::cds_hooks::config::CdsHooksConfig;
use sims::cds_hooks::feedback::{self, Delivery, FeedbackEntry};
use sims::cds_hooks::{CdsError, accept};
use sims::idempotency::IdempotencyKey;
use world::{Context, Sandbox, World};

use super::call::{self, Request};
use super::services::headers;
use super::{command, look, passed, query, silent};
use crate::outbound;
use crate::sandboxes::Access;
use crate::{App, AppError, Once};

/// Oldest first.
pub async fn list_feedback(app: &App, access: &Access, request: PageRequest) -> Result<Page<Value>, AppError> {
    let actor = access.actor.clone();
    look(app, access, move |_, sandbox, _| passed(feedback::list(sandbox, &actor, &request))).await
}

/// Returns the stored feedback: `{feedback}`.
pub async fn feedback(app: &App, access: &Access, new: NewCdsFeedback, once: Option<Once>) -> Result<Value, AppError> {
    let token = once.map(IdempotencyKey::from);
    let (given, known): (Vec<CardFeedback>, Option<IdempotencyKey>) = (new.into_entries()?, token.clone());
    let looked = query(app, access, move |_, sandbox, context| {
        let earlier = known.as_ref().map_or(Ok(None), |token| feedback::earlier_result(sandbox, token));
        silent(either(earlier, || feedback::plan(sandbox, context, &given)))
    });
    let entries = match looked.await? {
        Ok(entries) => entries,
        Err(earlier) => return Ok(earlier),
    };
    let delivered = futures_util::future::join_all(entries.iter().map(|entry| deliver(app, access, entry))).await;
    let entries: Vec<(FeedbackEntry, Delivery)> = entries.into_iter().zip(delivered).collect();
    let actor = access.actor.clone();
    let message = move |_: &World, sandbox: &Sandbox, context: &Context<'_>| {
        feedback::record(sandbox, &actor, context, &entries, token.as_ref())
    };
    command(app, access, message).await
}

/// Applies the actions of a suggestion in one command, and returns the feedback.
pub async fn accept(
    app: &App,
    access: &Access,
    invocation: String,
    suggestion: String,
    once: Option<Once>,
) -> Result<Value, AppError> {
    let token = once.map(IdempotencyKey::from);
    let (about, known) = ((invocation, suggestion), token.clone());
    let wanted = about.clone();
    let looked = query(app, access, move |world, sandbox, context| {
        let earlier = known.as_ref().map_or(Ok(None), |token| accept::earlier_result(sandbox, token));
        silent(either(earlier, || accept::plan(world, sandbox, context, &wanted.0, &wanted.1)))
    });
    let entry = match looked.await? {
        Ok(entry) => entry,
        Err(earlier) => return Ok(earlier),
    };
    let delivery = deliver(app, access, &entry).await;
    let actor = access.actor.clone();
    let message = move |world: &World, sandbox: &Sandbox, context: &Context<'_>| {
        let (invocation, suggestion) = (about.0.as_str(), about.1.as_str());
        accept::record(world, sandbox, &actor, context, (invocation, suggestion), &delivery, token.as_ref())
    };
    command(app, access, message).await
}

/// The earlier response to the same request, or the actions to apply.
fn either<T>(
    earlier: Result<Option<Value>, CdsError>,
    plan: impl FnOnce() -> Result<T, CdsError>,
) -> Result<Result<T, Value>, CdsError> {
    match earlier? {
        Some(earlier) => Ok(Err(earlier)),
        None => plan().map(Ok),
    }
}

async fn deliver(app: &App, access: &Access, entry: &FeedbackEntry) -> Delivery {
    let Some((service, base_url)) = entry.service.as_ref().and_then(|one| Some((one, one.base_url.as_ref()?))) else {
        return Delivery::None;
    };
    let config = CdsHooksConfig::of(&access.sandbox.config);
    let path = format!("cds-services/{}/feedback", service.definition.id);
    let Some(url) = outbound::below(base_url, &path, "") else {
        return Delivery::Failed("the service's address cannot be read".to_owned());
    };
    let request = Request {
        sandbox: &access.sandbox.id,
        url,
        headers: headers(&config, base_url),
        body: Some(json!({"feedback": [entry.body]})),
        seconds: config.timeout_seconds(base_url, service.timeout_seconds),
    };
    match call::taken(app, request).await {
        Ok(()) => Delivery::Sent,
        Err(why) => Delivery::Failed(why),
    }
}
