//! Operations on a clearinghouse sandbox: sending interchanges, fetching responses, and eligibility by patient.

use bytes::Bytes;
use model::SandboxId;
use model::clearinghouse::{Eligibility, EligibilityInquiry, Response};
use model::page::{Direction, Page, PageRequest};
use sims::clearinghouse::exchange::{self, ExchangeError, ExchangeResponses, MAX_BYTES, Sender, Transport};
use sims::clearinghouse::patient_eligibility::{self, EligibilityError};
use sims::clearinghouse::responses;
use world::{Context, World};

use super::Access;
use crate::{App, AppError};
use runtime::Cost;

/// Larger bodies are rejected.
pub const LARGEST_BODY: usize = MAX_BYTES;

pub async fn transact(app: &App, access: Access, body: Bytes) -> Result<ExchangeResponses, AppError> {
    let (sandbox, id, sender) = parts(access, Transport::Http);
    let message = move |world: &World, context: &Context<'_>| exchange::exchange(world, &id, &sender, &body, context);
    app.runtime().command(&sandbox, message).await?.map_err(exchange_error)
}

/// The available responses, newest first. Responses that became due are marked as delivered.
pub async fn list(app: &App, access: Access, request: PageRequest) -> Result<Page<Response>, AppError> {
    Ok(page_of(available(app, access).await?, &request))
}

pub async fn get(app: &App, access: Access, id: &str) -> Result<Response, AppError> {
    let found = available(app, access).await?.into_iter().find(|response| response.id == id);
    found.ok_or(AppError::NotFound("response"))
}

async fn available(app: &App, access: Access) -> Result<Vec<Response>, AppError> {
    let reading = access.clone();
    let (_, id, sender) = parts(access, Transport::Http);
    let (asked_of, asker) = (id.clone(), sender.clone());
    let query = move |world: &World, context: &Context<'_>| responses::list(world, &asked_of, &asker, context);
    if let Some(found) = app.runtime().query(reading.reader(), Cost::Heavy, query).await? {
        return Ok(found);
    }
    let message =
        move |world: &World, context: &Context<'_>| responses::list_and_mark_delivered(world, &id, &sender, context);
    Ok(app.runtime().command_or_query(reading.reader(), message).await?)
}

pub async fn eligibility(app: &App, access: Access, inquiry: EligibilityInquiry) -> Result<Eligibility, AppError> {
    patient_eligibility::check(&inquiry)?;
    let (sandbox, id, sender) = parts(access, Transport::Eligibility);
    let message = move |world: &World, context: &Context<'_>| {
        patient_eligibility::eligibility(world, &id, &sender, &inquiry, context)
    };
    app.runtime().command(&sandbox, message).await?.map_err(|error| match error {
        EligibilityError::NoPatient => AppError::NotFound("patient"),
        EligibilityError::Exchange(error) => exchange_error(error),
    })
}

fn parts(access: Access, transport: Transport) -> (std::sync::Arc<store::sandboxes::StoredSandbox>, SandboxId, Sender) {
    let Access { sandbox, actor, .. } = access;
    let id = sandbox.id.clone();
    (sandbox, id, Sender { actor, transport })
}

fn exchange_error(error: ExchangeError) -> AppError {
    match error {
        ExchangeError::Unreadable(reason) => {
            AppError::BadRequest(format!("the body is not a valid X12 interchange: {reason}"))
        }
        ExchangeError::TooLarge(reason) => AppError::TooLarge(reason),
    }
}

/// Newest first. Ids increase with time.
fn page_of(all: Vec<Response>, request: &PageRequest) -> Page<Response> {
    let most = request.limit + 1;
    let rows = match &request.cursor {
        None => all.into_iter().take(most).collect(),
        Some(cursor) if cursor.direction == Direction::Next => {
            all.into_iter().filter(|response| response.id < cursor.key).take(most).collect()
        }
        Some(cursor) => all.into_iter().rev().filter(|response| response.id > cursor.key).take(most).collect(),
    };
    Page::from_rows(rows, request, |response: &Response| response.id.clone())
}
