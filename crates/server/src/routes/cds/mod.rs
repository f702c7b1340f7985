//! The EHR side of CDS Hooks, at `cds` of every scope.

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
use crate::api_error::{ApiError, ClosedSandboxResponse, ErrorBody, ErrorResponses, WriteErrorResponses};
use crate::extractors::{IdempotencyKey, PageQuery, Paged, Params};
use crate::json_body::Post;
use crate::responses::page;
use crate::routes::sandbox_routes::{SandboxScope, ScopedType, in_every_scope};

struct CdsHooks;

impl ScopedType for CdsHooks {
    const TYPE: SimulatorType = SimulatorType::CdsHooks;
}

/// The CDS services that the EHR knows.
///
/// Discovers the services of configured servers that were not queried yet.
#[utoipa::path(get, path = "/cds/services", operation_id = "list_cds_services", params(PageQuery),
    responses((status = 200, description = "Services", body = List<CdsService>),
        ClosedSandboxResponse, ErrorResponses))]
async fn list_services(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<CdsHooks>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let request = query.request("cds_services")?;
    Ok(page("cds_services", cds::list_services(&state.app, &scope.access, request).await?))
}

/// Register the services of a server, which are discovered, or a service that the agent plays itself.
#[utoipa::path(post, path = "/cds/services", operation_id = "register_cds_services", request_body = NewCdsService,
    responses((status = 201, description = "The registered services", body = RegisteredServices), ErrorResponses, WriteErrorResponses))]
async fn register_services(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<CdsHooks>,
    Post(new, _): Post<NewCdsService>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    Ok((StatusCode::CREATED, Json(cds::register(&state.app, &scope.access, new).await?)))
}

/// Remove a service. Services of the simulator's config cannot be removed.
#[utoipa::path(delete, path = "/cds/services/{service_id}", operation_id = "remove_cds_service",
    params(("service_id" = String, Path, description = "The service, as `cds/services` names it")),
    responses((status = 204, description = "Removed"),
        (status = 409, description = "It is part of the config, or the sandbox does not accept traffic", body = ErrorBody), ErrorResponses))]
async fn remove_service(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<CdsHooks>,
) -> Result<StatusCode, ApiError> {
    cds::remove(&state.app, &scope.access, scope.value(0).to_owned()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Fire a hook, as if a user had done something in the EHR.
///
/// Every service for this hook is called with the context and its prefetch data. Services that the agent plays respond later;
/// their invocations are `pending`.
#[utoipa::path(post, path = "/cds/hooks/{hook}", operation_id = "fire_cds_hook", request_body = FiredHook,
    params(("hook" = String, Path, description = "The hook, such as `patient-view`"),
        IdempotencyKey),
    responses((status = 201, description = "The responses of the services", body = FiredHookAnswer),
        (status = 200, description = "The same, for a body in snake_case", body = FiredHookAnswer), ErrorResponses, WriteErrorResponses))]
async fn fire_hook(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<CdsHooks>,
    Post(new, once): Post<FiredHook>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let hook = scope.value(0).to_owned();
    let status = if new.is_flat() { StatusCode::OK } else { StatusCode::CREATED };
    let fired = cds::fire(&state.app, &scope.access, &scope.base, hook, new, once).await?;
    Ok((status, Json(fired)))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InvocationQuery {
    /// Only invocations of this hook.
    #[param(value_type = String, required = false)]
    hook: Option<String>,
    /// `pending`, `answered` or `failed`.
    #[param(value_type = String, required = false)]
    status: Option<String>,
}

/// Invocations of services with their responses, oldest first. Those with `status=pending` wait for the agent.
#[utoipa::path(get, path = "/cds/hooks", operation_id = "list_cds_invocations", params(InvocationQuery, PageQuery),
    responses((status = 200, description = "Invocations", body = List<Invocation>),
        ClosedSandboxResponse, ErrorResponses))]
async fn list_invocations(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<CdsHooks>,
    Paged(query, paging): Paged<InvocationQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let InvocationQuery { hook, status } = query;
    if status.as_deref().is_some_and(|status| !["pending", "answered", "failed"].contains(&status)) {
        return Err(ApiError::invalid(FieldErrors::one("status", "must be `pending`, `answered` or `failed`")));
    }
    let request = paging.request("cds_hooks")?;
    Ok(page("cds_hooks", cds::list(&state.app, &scope.access, Filter { hook, status }, request).await?))
}

/// One invocation of a service.
#[utoipa::path(get, path = "/cds/invocations/{invocation_id}", operation_id = "read_cds_invocation",
    params(("invocation_id" = String, Path, description = "The invocation")),
    responses((status = 200, description = "The invocation", body = Invocation),
        ClosedSandboxResponse, ErrorResponses))]
async fn read_invocation(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<CdsHooks>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(cds::read(&state.app, &scope.access, scope.value(0).to_owned()).await?))
}

/// Respond to a hook as the service that the agent plays: `{"cards": […]}`, by the rules of CDS Hooks 2.0.
///
/// A response that breaks a rule is rejected with the paths of its errors, and the invocation stays pending.
#[utoipa::path(post, path = "/cds/invocations/{invocation_id}/response", operation_id = "answer_cds_invocation",
    request_body = CdsAnswer, params(("invocation_id" = String, Path, description = "An invocation that is pending")),
    responses((status = 200, description = "The invocation with its cards", body = Invocation), ErrorResponses, WriteErrorResponses))]
async fn respond(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<CdsHooks>,
    Post(response, _): Post<CdsAnswer>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(cds::respond(&state.app, &scope.access, scope.value(0).to_owned(), response).await?))
}

/// Accept a suggestion of a card: its actions are applied to the FHIR data in one write, and the service is notified.
#[utoipa::path(post, path = "/cds/invocations/{invocation_id}/accept", operation_id = "accept_cds_suggestion",
    request_body = AcceptedSuggestion,
    params(("invocation_id" = String, Path, description = "The invocation that the card belongs to"),
        IdempotencyKey),
    responses((status = 201, description = "The stored feedback", body = KeptFeedback), ErrorResponses, WriteErrorResponses))]
async fn accept(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<CdsHooks>,
    Post(new, once): Post<AcceptedSuggestion>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let invocation = scope.value(0).to_owned();
    let stored = cds::accept(&state.app, &scope.access, invocation, new.suggestion, once).await?;
    Ok((StatusCode::CREATED, Json(stored)))
}

/// Report what a user did with cards, in the feedback format of CDS Hooks. The services are notified.
#[utoipa::path(post, path = "/cds/feedback", operation_id = "give_cds_feedback", request_body = NewCdsFeedback,
    params(IdempotencyKey),
    responses((status = 201, description = "The stored feedback", body = KeptFeedbackList), ErrorResponses, WriteErrorResponses))]
async fn give_feedback(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<CdsHooks>,
    Post(new, once): Post<NewCdsFeedback>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    Ok((StatusCode::CREATED, Json(cds::feedback(&state.app, &scope.access, new, once).await?)))
}

/// What users did with cards, oldest first.
#[utoipa::path(get, path = "/cds/feedback", operation_id = "list_cds_feedback", params(PageQuery),
    responses((status = 200, description = "Feedback", body = List<KeptFeedback>),
        ClosedSandboxResponse, ErrorResponses))]
async fn list_feedback(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<CdsHooks>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let request = query.request("cds_feedback")?;
    Ok(page("cds_feedback", cds::list_feedback(&state.app, &scope.access, request).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    in_every_scope(routes!(list_services, register_services))
        .merge(in_every_scope(routes!(remove_service)))
        .merge(in_every_scope(routes!(list_invocations)))
        .merge(in_every_scope(routes!(fire_hook)))
        .merge(in_every_scope(routes!(read_invocation)))
        .merge(in_every_scope(routes!(respond)))
        .merge(in_every_scope(routes!(accept)))
        .merge(in_every_scope(routes!(give_feedback, list_feedback)))
}
