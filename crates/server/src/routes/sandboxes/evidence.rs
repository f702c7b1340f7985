//! Evidence of a sandbox: its events, its state, and the differences from the baseline.

use app::sandboxes::evidence::{self, EventFilter};
use axum::Json;
use axum::extract;
use model::event::{Event, EventType};
use model::page::List;
use model::playground::{Difference, StateRecord};
use model::{FieldErrors, SandboxId, Timestamp};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorBody, ErrorResponses};
use crate::extractors::{Auth, PageQuery, Paged, Params, PathId};
use crate::responses::page;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct EventQuery {
    /// Only events of this type.
    #[param(value_type = EventType, required = false)]
    r#type: Option<String>,
    /// Only events at this time or later.
    #[param(value_type = Timestamp, required = false)]
    since: Option<String>,
}

/// Everything that happened in the sandbox, oldest first. The body of a read is recorded as a reference to the version that
/// it returned (`"resource": "Patient/1/_history/2"`), which never changes and can be read from the sandbox's state.
#[utoipa::path(get, path = "/sandboxes/{sandbox_id}/events", tag = "sandboxes",
    params(("sandbox_id" = SandboxId, Path, description = "The sandbox"), EventQuery, PageQuery),
    responses((status = 200, description = "Events", body = List<Event>), ErrorResponses))]
async fn list_events(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(sandbox): PathId<SandboxId>,
    Paged(query, paging): Paged<EventQuery>,
) -> Result<Json<List<Event>>, ApiError> {
    let invalid = |field: &'static str| move |message: String| ApiError::invalid(FieldErrors::one(field, message));
    let r#type = query.r#type.map(|text| text.parse::<EventType>().map_err(invalid("type"))).transpose()?;
    let since =
        query.since.map(|text| parse_time(&text).ok_or_else(|| invalid("since")(TIME_RULE.into()))).transpose()?;
    let request = paging.request("events")?;
    let filter = EventFilter { r#type, since };
    Ok(page("events", evidence::events(&state.app, &grant, &sandbox, filter, request).await?))
}

const TIME_RULE: &str = "must be a time such as 2026-04-23T12:00:00Z";

fn parse_time(text: &str) -> Option<Timestamp> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).ok()
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StateQuery {
    /// A collection (`Patient`), a record (`Patient/1`) or a version of one (`Patient/1/_history/2`). Without it, everything.
    #[param(value_type = String, required = false, max_length = 300)]
    resource: Option<String>,
}

/// The `max_length` of the parameter: far more than a type, an id of 64 characters and a version need.
const MAX_RESOURCE_CHARS: usize = 300;

/// The current records of the sandbox, by collection and key.
#[utoipa::path(get, path = "/sandboxes/{sandbox_id}/state", tag = "sandboxes",
    params(("sandbox_id" = SandboxId, Path, description = "The sandbox"), StateQuery, PageQuery),
    responses((status = 200, description = "Records", body = List<StateRecord>),
        (status = 409, description = "The task run is not started", body = ErrorBody), ErrorResponses))]
async fn get_state(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(sandbox): PathId<SandboxId>,
    Paged(query, paging): Paged<StateQuery>,
) -> Result<Json<List<StateRecord>>, ApiError> {
    if query.resource.as_ref().is_some_and(|resource| resource.chars().count() > MAX_RESOURCE_CHARS) {
        let message = format!("must have at most {MAX_RESOURCE_CHARS} characters");
        return Err(ApiError::invalid(FieldErrors::one("resource", message)));
    }
    let request = paging.request("state")?;
    Ok(page("state", evidence::state(&state.app, &grant, &sandbox, query.resource, request).await?))
}

/// The differences from the baseline, by collection and key.
#[utoipa::path(get, path = "/sandboxes/{sandbox_id}/diff", tag = "sandboxes",
    params(("sandbox_id" = SandboxId, Path, description = "The sandbox"), PageQuery),
    responses((status = 200, description = "Differences", body = List<Difference>),
        (status = 409, description = "The task run is not started", body = ErrorBody), ErrorResponses))]
async fn get_diff(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(sandbox): PathId<SandboxId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Difference>>, ApiError> {
    let request = query.request("diff")?;
    Ok(page("diff", evidence::diff(&state.app, &grant, &sandbox, request).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(list_events)).routes(routes!(get_state)).routes(routes!(get_diff))
}
