//! The EHR of CDS Hooks, at `cds` of every door.

mod schemas;

use app::sandboxes::cds::{self, Filter};
use axum::http::StatusCode;
use axum::{Json, extract};
use model::FieldErrors;
use model::cds::{AcceptedSuggestion, CdsAnswer, FiredHook, NewCdsFeedback, NewCdsService};
use model::page::List;
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::schemas::{CdsService, FiredHookAnswer, Invocation, KeptFeedback, KeptFeedbackList, RegisteredServices};
use crate::State;
use crate::envelope::{ApiError, ErrorBody, Refusals, WriteRefusals};
use crate::extract::{PageQuery, Params};
use crate::json_body::Post;
use crate::respond::page;
use crate::routes::doors::{Door, Kind, mounted};

struct CdsHooks;

impl Kind for CdsHooks {
    const TYPE: SimulatorType = SimulatorType::CdsHooks;
}

/// The CDS services that the EHR knows.
///
/// Servers of the simulator's config that were not asked yet are asked now.
#[utoipa::path(get, path = "/cds/services", operation_id = "list_cds_services", params(PageQuery),
    responses((status = 200, description = "Services", body = List<CdsService>),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list_services(
    extract::State(state): extract::State<State>,
    door: Door<CdsHooks>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let request = query.request("cds_services")?;
    Ok(page("cds_services", cds::list_services(&state.app, &door.access, request).await?))
}

/// Register the services of a server, which is asked for them, or a service that one plays oneself.
#[utoipa::path(post, path = "/cds/services", operation_id = "register_cds_services", request_body = NewCdsService,
    responses((status = 201, description = "What was registered", body = RegisteredServices), Refusals, WriteRefusals))]
async fn register_services(
    extract::State(state): extract::State<State>,
    door: Door<CdsHooks>,
    Post(new, _): Post<NewCdsService>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    Ok((StatusCode::CREATED, Json(cds::register(&state.app, &door.access, new).await?)))
}

/// Forget a service. Those of the simulator's config stay.
#[utoipa::path(delete, path = "/cds/services/{service_id}", operation_id = "remove_cds_service",
    params(("service_id" = String, Path, description = "The service, as `cds/services` names it")),
    responses((status = 204, description = "It is forgotten"),
        (status = 409, description = "It is part of the config, or the sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn remove_service(
    extract::State(state): extract::State<State>,
    door: Door<CdsHooks>,
) -> Result<StatusCode, ApiError> {
    cds::remove(&state.app, &door.access, door.value(0).to_owned()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Fire a hook, as if a user had done something in the EHR.
///
/// Every service that takes it is called with the context and what it wants prefetched. Services that the agent plays
/// answer later; their invocations are `pending`.
#[utoipa::path(post, path = "/cds/hooks/{hook}", operation_id = "fire_cds_hook", request_body = FiredHook,
    params(("hook" = String, Path, description = "The hook, such as `patient-view`"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "What the services made of it", body = FiredHookAnswer),
        (status = 200, description = "The same, of a body in snake_case", body = FiredHookAnswer), Refusals, WriteRefusals))]
async fn fire_hook(
    extract::State(state): extract::State<State>,
    door: Door<CdsHooks>,
    Post(new, once): Post<FiredHook>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let hook = door.value(0).to_owned();
    let status = if new.is_flat() { StatusCode::OK } else { StatusCode::CREATED };
    let fired = cds::fire(&state.app, &door.access, &door.base, hook, new, once).await?;
    Ok((status, Json(fired)))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InvocationQuery {
    /// Those of one hook.
    #[param(value_type = String, required = false)]
    hook: Option<String>,
    /// `pending`, `answered` or `failed`.
    #[param(value_type = String, required = false)]
    status: Option<String>,
    /// How many, 20 by default; more than 100 is read as 100.
    #[param(value_type = u64, required = false, minimum = 1)]
    limit: Option<String>,
    /// `next` or `prev` of an earlier answer of the same list.
    #[param(value_type = String, required = false)]
    cursor: Option<String>,
}

/// Hooks at services with what was answered, oldest first. `status=pending` are those that wait for the agent.
#[utoipa::path(get, path = "/cds/hooks", operation_id = "list_cds_invocations", params(InvocationQuery),
    responses((status = 200, description = "Invocations", body = List<Invocation>),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list_invocations(
    extract::State(state): extract::State<State>,
    door: Door<CdsHooks>,
    Params(query): Params<InvocationQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let InvocationQuery { hook, status, limit, cursor } = query;
    if status.as_deref().is_some_and(|status| !["pending", "answered", "failed"].contains(&status)) {
        return Err(ApiError::invalid(FieldErrors::one("status", "must be `pending`, `answered` or `failed`")));
    }
    let request = PageQuery { limit, cursor }.request("cds_hooks")?;
    Ok(page("cds_hooks", cds::list(&state.app, &door.access, Filter { hook, status }, request).await?))
}

/// One hook at one service.
#[utoipa::path(get, path = "/cds/invocations/{invocation_id}", operation_id = "read_cds_invocation",
    params(("invocation_id" = String, Path, description = "The invocation")),
    responses((status = 200, description = "The invocation", body = Invocation),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn read_invocation(
    extract::State(state): extract::State<State>,
    door: Door<CdsHooks>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(cds::read(&state.app, &door.access, door.value(0).to_owned()).await?))
}

/// Answer a hook as the service that one plays: `{"cards": […]}`, by the rules of CDS Hooks 2.0.
///
/// An answer that breaks one is refused with the places of its faults, and the hook still waits.
#[utoipa::path(post, path = "/cds/invocations/{invocation_id}/response", operation_id = "answer_cds_invocation",
    request_body = CdsAnswer, params(("invocation_id" = String, Path, description = "An invocation that is pending")),
    responses((status = 200, description = "The invocation with its cards", body = Invocation), Refusals, WriteRefusals))]
async fn respond(
    extract::State(state): extract::State<State>,
    door: Door<CdsHooks>,
    Post(answer, _): Post<CdsAnswer>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(cds::respond(&state.app, &door.access, door.value(0).to_owned(), answer).await?))
}

/// Accept a suggestion of a card: its actions are done to the FHIR data in one write, and the service is told.
#[utoipa::path(post, path = "/cds/invocations/{invocation_id}/accept", operation_id = "accept_cds_suggestion",
    request_body = AcceptedSuggestion,
    params(("invocation_id" = String, Path, description = "The invocation whose card it is"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The feedback that it is", body = KeptFeedback), Refusals, WriteRefusals))]
async fn accept(
    extract::State(state): extract::State<State>,
    door: Door<CdsHooks>,
    Post(new, once): Post<AcceptedSuggestion>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let invocation = door.value(0).to_owned();
    let kept = cds::accept(&state.app, &door.access, invocation, new.suggestion, once).await?;
    Ok((StatusCode::CREATED, Json(kept)))
}

/// Say what a user did with cards, in the form that CDS Hooks has for it; the services are told.
#[utoipa::path(post, path = "/cds/feedback", operation_id = "give_cds_feedback", request_body = NewCdsFeedback,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "What was kept", body = KeptFeedbackList), Refusals, WriteRefusals))]
async fn give_feedback(
    extract::State(state): extract::State<State>,
    door: Door<CdsHooks>,
    Post(new, once): Post<NewCdsFeedback>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    Ok((StatusCode::CREATED, Json(cds::feedback(&state.app, &door.access, new, once).await?)))
}

/// What users did with cards, oldest first.
#[utoipa::path(get, path = "/cds/feedback", operation_id = "list_cds_feedback", params(PageQuery),
    responses((status = 200, description = "Feedback", body = List<KeptFeedback>),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list_feedback(
    extract::State(state): extract::State<State>,
    door: Door<CdsHooks>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let request = query.request("cds_feedback")?;
    Ok(page("cds_feedback", cds::list_feedback(&state.app, &door.access, request).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    mounted(routes!(list_services, register_services))
        .merge(mounted(routes!(remove_service)))
        .merge(mounted(routes!(list_invocations)))
        .merge(mounted(routes!(fire_hook)))
        .merge(mounted(routes!(read_invocation)))
        .merge(mounted(routes!(respond)))
        .merge(mounted(routes!(accept)))
        .merge(mounted(routes!(give_feedback, list_feedback)))
}
