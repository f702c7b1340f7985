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

use super::{Call, CallExchange, Line, Turn};
use crate::State;
use crate::envelope::{ApiError, ErrorBody, Refusals, WriteRefusals};
use crate::extract::{PageQuery, Params};
use crate::json_body::Post;
use crate::respond::page;
use crate::routes::doors::{Door, mounted};

fn shown(exchange: Exchange) -> Json<Value> {
    let Exchange { call, turns } = exchange;
    Json(Value::Object(Map::from_iter([("call".to_owned(), call), ("turns".to_owned(), Value::Array(turns))])))
}

/// Call the line.
///
/// The answer holds what the line says until it listens. A number other than the line's own is not in service.
#[utoipa::path(post, path = "/voice/calls", operation_id = "create_call", request_body = NewCall,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The call, and what was said", body = CallExchange), Refusals, WriteRefusals))]
async fn create_call(
    extract::State(state): extract::State<State>,
    door: Door<Line>,
    Post(new, once): Post<NewCall>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    Ok((StatusCode::CREATED, shown(voice::dial(&state.app, &door.access, new, once).await?)))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CallQuery {
    /// `inbound` or `outbound`.
    #[param(value_type = String, required = false)]
    direction: Option<String>,
    /// Such as `ringing`: those that wait to be answered.
    #[param(value_type = String, required = false)]
    status: Option<String>,
    /// How many, 20 by default; more than 100 is read as 100.
    #[param(value_type = u64, required = false, minimum = 1)]
    limit: Option<String>,
    /// `next` or `prev` of an earlier answer of the same list.
    #[param(value_type = String, required = false)]
    cursor: Option<String>,
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
#[utoipa::path(get, path = "/voice/calls", operation_id = "list_calls", params(CallQuery),
    responses((status = 200, description = "Calls", body = List<Call>),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list_calls(
    extract::State(state): extract::State<State>,
    door: Door<Line>,
    Params(query): Params<CallQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let filter = query.filter()?;
    let CallQuery { limit, cursor, .. } = query;
    let request = PageQuery { limit, cursor }.request("calls")?;
    Ok(page("calls", voice::list(&state.app, &door.access, filter, request).await?))
}

/// One call.
#[utoipa::path(get, path = "/voice/calls/{call_id}", operation_id = "get_call",
    params(("call_id" = String, Path, description = "The call")),
    responses((status = 200, description = "The call", body = Call),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn get_call(extract::State(state): extract::State<State>, door: Door<Line>) -> Result<Json<Value>, ApiError> {
    Ok(Json(voice::get(&state.app, &door.access, door.value(0).to_owned()).await?))
}

/// What was said in a call, in its order.
#[utoipa::path(get, path = "/voice/calls/{call_id}/turns", operation_id = "list_turns",
    params(("call_id" = String, Path, description = "The call"), PageQuery),
    responses((status = 200, description = "Turns", body = List<Turn>),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list_turns(
    extract::State(state): extract::State<State>,
    door: Door<Line>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let request = query.request("turns")?;
    let call = door.value(0).to_owned();
    Ok(page("turns", voice::turns(&state.app, &door.access, call, request).await?))
}

/// Say something, press keys, or say nothing.
///
/// The answer holds the turn and what follows it. A call that rings is answered by it.
#[utoipa::path(post, path = "/voice/calls/{call_id}/turns", operation_id = "create_turn", request_body = NewTurn,
    params(("call_id" = String, Path, description = "The call"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The call, and what was said", body = CallExchange), Refusals, WriteRefusals))]
async fn create_turn(
    extract::State(state): extract::State<State>,
    door: Door<Line>,
    Post(new, once): Post<NewTurn>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let call = door.value(0).to_owned();
    Ok((StatusCode::CREATED, shown(voice::turn(&state.app, &door.access, call, new, once).await?)))
}

/// Press keys.
#[utoipa::path(post, path = "/voice/calls/{call_id}/dtmf", operation_id = "press_keys", request_body = NewKeys,
    params(("call_id" = String, Path, description = "The call"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The call, and what was said", body = CallExchange), Refusals, WriteRefusals))]
async fn press_keys(
    extract::State(state): extract::State<State>,
    door: Door<Line>,
    Post(keys, once): Post<NewKeys>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let new = NewTurn { dtmf: Some(keys.digits), interrupts: keys.interrupts, ..NewTurn::default() };
    let call = door.value(0).to_owned();
    Ok((StatusCode::CREATED, shown(voice::turn(&state.app, &door.access, call, new, once).await?)))
}

/// Take a call that rings. The caller speaks first.
#[utoipa::path(post, path = "/voice/calls/{call_id}/answer", operation_id = "answer_call",
    params(("call_id" = String, Path, description = "The call")),
    responses((status = 200, description = "The call, and what was said", body = CallExchange), Refusals, WriteRefusals))]
async fn answer_call(extract::State(state): extract::State<State>, door: Door<Line>) -> Result<Json<Value>, ApiError> {
    Ok(shown(voice::answer(&state.app, &door.access, door.value(0).to_owned(), None).await?))
}

/// End a call, or decline one that rings. Ending twice is ending once.
#[utoipa::path(post, path = "/voice/calls/{call_id}/hangup", operation_id = "hang_up",
    params(("call_id" = String, Path, description = "The call")),
    responses((status = 200, description = "The call", body = CallExchange), Refusals, WriteRefusals))]
async fn hang_up(extract::State(state): extract::State<State>, door: Door<Line>) -> Result<Json<Value>, ApiError> {
    Ok(shown(voice::hang_up(&state.app, &door.access, door.value(0).to_owned()).await?))
}

pub(super) fn router() -> OpenApiRouter<State> {
    mounted(routes!(create_call, list_calls))
        .merge(mounted(routes!(get_call)))
        .merge(mounted(routes!(create_turn, list_turns)))
        .merge(mounted(routes!(press_keys)))
        .merge(mounted(routes!(answer_call)))
        .merge(mounted(routes!(hang_up)))
}
