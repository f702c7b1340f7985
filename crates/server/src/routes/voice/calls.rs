//! Calls over REST.

use app::sandboxes::voice::{self, Exchange, Filter};
use axum::http::StatusCode;
use axum::{Json, extract};
use model::FieldErrors;
use model::page::List;
use model::voice::{NewCall, NewKeys, NewTurn};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Call, CallExchange, PhoneLine, Turn};
use crate::State;
use crate::api_error::{ApiError, ClosedSandboxResponse, ErrorResponses, WriteErrorResponses};
use crate::extractors::{IdempotencyKey, PageQuery, Paged, Params};
use crate::json_body::Post;
use crate::responses::page;
use crate::routes::sandbox_routes::{SandboxScope, in_every_scope};

fn exchange_json(exchange: Exchange) -> Json<Value> {
    let Exchange { call, turns } = exchange;
    Json(Value::Object(Map::from_iter([("call".to_owned(), call), ("turns".to_owned(), Value::Array(turns))])))
}

/// Call the line.
///
/// The response contains what the line says until it listens. `to` may be the number of any line of the playground; any other
/// number is not in service.
#[utoipa::path(post, path = "/voice/calls", operation_id = "create_call", request_body = NewCall,
    params(IdempotencyKey),
    responses((status = 201, description = "The call and its new turns", body = CallExchange), ErrorResponses, WriteErrorResponses))]
async fn create_call(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
    Post(new, once): Post<NewCall>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    Ok((StatusCode::CREATED, exchange_json(voice::dial(&state.app, &scope.access, new, once).await?)))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CallQuery {
    /// `inbound` or `outbound`.
    #[param(value_type = String, required = false)]
    direction: Option<String>,
    /// Only calls with this status, such as `ringing` for calls that wait to be answered.
    #[param(value_type = String, required = false)]
    status: Option<String>,
}

const STATUSES: [&str; 7] = ["ringing", "in_progress", "completed", "transferred", "no_answer", "declined", "failed"];

impl CallQuery {
    fn filter(&self) -> Result<Filter, ApiError> {
        if self.direction.as_deref().is_some_and(|direction| !["inbound", "outbound"].contains(&direction)) {
            return Err(ApiError::invalid(FieldErrors::one("direction", "must be `inbound` or `outbound`")));
        }
        if self.status.as_deref().is_some_and(|status| !STATUSES.contains(&status)) {
            let message = format!("must be one of {}", STATUSES.join(", "));
            return Err(ApiError::invalid(FieldErrors::one("status", message)));
        }
        Ok(Filter { direction: self.direction.clone(), status: self.status.clone() })
    }
}

/// Calls, oldest first.
#[utoipa::path(get, path = "/voice/calls", operation_id = "list_calls", params(CallQuery, PageQuery),
    responses((status = 200, description = "Calls", body = List<Call>), ClosedSandboxResponse, ErrorResponses))]
async fn list_calls(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
    Paged(query, paging): Paged<CallQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let filter = query.filter()?;
    let request = paging.request("calls")?;
    Ok(page("calls", voice::list(&state.app, &scope.access, filter, request).await?))
}

/// One call.
#[utoipa::path(get, path = "/voice/calls/{call_id}", operation_id = "get_call",
    params(("call_id" = String, Path, description = "The call")),
    responses((status = 200, description = "The call", body = Call), ClosedSandboxResponse, ErrorResponses))]
async fn get_call(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(voice::get(&state.app, &scope.access, scope.value(0).to_owned()).await?))
}

/// The turns of a call, in order.
#[utoipa::path(get, path = "/voice/calls/{call_id}/turns", operation_id = "list_turns",
    params(("call_id" = String, Path, description = "The call"), PageQuery),
    responses((status = 200, description = "Turns", body = List<Turn>), ClosedSandboxResponse, ErrorResponses))]
async fn list_turns(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let request = query.request("turns")?;
    let call = scope.value(0).to_owned();
    Ok(page("turns", voice::turns(&state.app, &scope.access, call, request).await?))
}

/// Say something, press keys, or say nothing.
///
/// The response contains the turn and what follows it. Speaking in a ringing call answers it.
#[utoipa::path(post, path = "/voice/calls/{call_id}/turns", operation_id = "create_turn", request_body = NewTurn,
    params(("call_id" = String, Path, description = "The call"),
        IdempotencyKey),
    responses((status = 201, description = "The call and its new turns", body = CallExchange), ErrorResponses, WriteErrorResponses))]
async fn create_turn(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
    Post(new, once): Post<NewTurn>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let call = scope.value(0).to_owned();
    Ok((StatusCode::CREATED, exchange_json(voice::turn(&state.app, &scope.access, call, new, once).await?)))
}

/// Press keys.
#[utoipa::path(post, path = "/voice/calls/{call_id}/dtmf", operation_id = "press_keys", request_body = NewKeys,
    params(("call_id" = String, Path, description = "The call"),
        IdempotencyKey),
    responses((status = 201, description = "The call and its new turns", body = CallExchange), ErrorResponses, WriteErrorResponses))]
async fn press_keys(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
    Post(keys, once): Post<NewKeys>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let new = NewTurn { dtmf: Some(keys.digits), interrupts: keys.interrupts, ..NewTurn::default() };
    let call = scope.value(0).to_owned();
    Ok((StatusCode::CREATED, exchange_json(voice::turn(&state.app, &scope.access, call, new, once).await?)))
}

/// Answer a ringing call. The caller speaks first.
#[utoipa::path(post, path = "/voice/calls/{call_id}/answer", operation_id = "answer_call",
    params(("call_id" = String, Path, description = "The call")),
    responses((status = 200, description = "The call and its new turns", body = CallExchange), ErrorResponses, WriteErrorResponses))]
async fn answer_call(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
) -> Result<Json<Value>, ApiError> {
    Ok(exchange_json(voice::answer(&state.app, &scope.access, scope.value(0).to_owned(), None).await?))
}

/// End a call, or decline a ringing one. Ending it again has no effect.
#[utoipa::path(post, path = "/voice/calls/{call_id}/hangup", operation_id = "hang_up",
    params(("call_id" = String, Path, description = "The call")),
    responses((status = 200, description = "The call", body = CallExchange), ErrorResponses, WriteErrorResponses))]
async fn hang_up(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
) -> Result<Json<Value>, ApiError> {
    Ok(exchange_json(voice::hang_up(&state.app, &scope.access, scope.value(0).to_owned()).await?))
}

pub(super) fn router() -> OpenApiRouter<State> {
    in_every_scope(routes!(create_call, list_calls))
        .merge(in_every_scope(routes!(get_call)))
        .merge(in_every_scope(routes!(create_turn, list_turns)))
        .merge(in_every_scope(routes!(press_keys)))
        .merge(in_every_scope(routes!(answer_call)))
        .merge(in_every_scope(routes!(hang_up)))
}
