//! The REST API of a payer portal, below `portal/` of every scope.

use app::sandboxes::payer::{self, Attachment, MemberFilter, ProviderFilter, RequestFilter};
use axum::extract::{self, Request};
use axum::http::request::Parts;
use axum::response::Response;
use axum::{Json, response::IntoResponse};
use bytes::Bytes;
use model::page::List;
use model::portal::{NewDocument, NewInformation, NewPriorAuth};
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::form;
use super::schemas::{FormularyEntry, Patient, PriorAuth, Provider};
use crate::State;
use crate::api_error::{ApiError, ClosedSandboxResponse, ErrorResponses, WriteErrorResponses};
use crate::extractors::{IdempotencyKey, PageQuery, Paged, once};
use crate::json_body::{Bodyless, Post, parse, read_body, reject_content_encoding};
use crate::responses::{CreatedResponse, TransitionResponse, page};
use crate::routes::sandbox_routes::{SandboxScope, ScopedType, in_every_scope};

/// Marker of routes that serve payer sandboxes.
struct PayerPortal;

impl ScopedType for PayerPortal {
    const TYPE: SimulatorType = SimulatorType::Payer;
}

/// Submit a request for prior authorization.
///
/// With an `Idempotency-Key`, sending it again returns the same request.
#[utoipa::path(post, path = "/portal/prior-auths", operation_id = "create_prior_auth", request_body = NewPriorAuth,
    params(IdempotencyKey),
    responses((status = 201, description = "The request with the payer's determination", body = PriorAuth), ErrorResponses, WriteErrorResponses))]
async fn create_prior_auth(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PayerPortal>,
    Post(new, once): Post<NewPriorAuth>,
) -> Result<CreatedResponse<Value>, ApiError> {
    let created = payer::submit(&state.app, &scope.access, new, once).await?;
    Ok(CreatedResponse::at(created, |row| {
        let number = row["auth_number"].as_str().unwrap_or_default();
        format!("{}/portal/prior-auths/{number}", scope.address)
    }))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RequestQuery {
    /// `submitted` or `withdrawn`.
    #[param(value_type = String, required = false)]
    status: Option<String>,
    /// `approved`, `denied`, `pending` or `need_more_info`.
    #[param(value_type = String, required = false)]
    determination: Option<String>,
    /// The member id.
    #[param(value_type = String, required = false)]
    patient_member_id: Option<String>,
    /// CPT or HCPCS code.
    #[param(value_type = String, required = false)]
    procedure_code: Option<String>,
    /// The drug name as in the request.
    #[param(value_type = String, required = false)]
    drug: Option<String>,
}

/// Requests, newest first.
#[utoipa::path(get, path = "/portal/prior-auths", operation_id = "list_prior_auths", params(RequestQuery, PageQuery),
    responses((status = 200, description = "Requests", body = List<PriorAuth>), ClosedSandboxResponse, ErrorResponses))]
async fn list_prior_auths(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PayerPortal>,
    Paged(query, paging): Paged<RequestQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let RequestQuery { status, determination, patient_member_id, procedure_code, drug } = query;
    let request = paging.request("prior-auths")?;
    let filter = RequestFilter { status, determination, patient_member_id, procedure_code, drug };
    Ok(page("prior-auths", payer::list(&state.app, &scope.access, filter, request).await?))
}

/// One request.
#[utoipa::path(get, path = "/portal/prior-auths/{auth_number}", operation_id = "get_prior_auth",
    params(("auth_number" = String, Path, description = "The authorization number or id of the request")),
    responses((status = 200, description = "The request", body = PriorAuth), ClosedSandboxResponse, ErrorResponses))]
async fn get_prior_auth(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PayerPortal>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(payer::get(&state.app, &scope.access, scope.value(0).to_owned()).await?))
}

/// Add documents to a request.
///
/// Send JSON, or a form with files (`multipart/form-data`). If the payer had requested more information, it decides again.
#[utoipa::path(post, path = "/portal/prior-auths/{auth_number}/documents", operation_id = "add_prior_auth_documents",
    params(("auth_number" = String, Path, description = "The authorization number or id of the request"),
        IdempotencyKey),
    request_body = NewDocument,
    responses((status = 201, description = "The request with its documents", body = PriorAuth), ErrorResponses, WriteErrorResponses))]
async fn add_documents(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PayerPortal>,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    reject_content_encoding(&parts.headers)?;
    let is_form = form::is_multipart(&parts.headers);
    let max_bytes = if is_form { form::MAX_MULTIPART_BYTES } else { state.app.limits().json_bytes as u64 };
    let bytes = read_body(body, max_bytes).await?;
    let once = once(&parts, &bytes)?;
    let attachments = attachments(&parts, bytes).await?;
    let number = scope.value(0).to_owned();
    let created = payer::add_documents(&state.app, &scope.access, number, attachments, once).await?;
    let location =
        format!("{}/portal/prior-auths/{}", scope.address, created.value["auth_number"].as_str().unwrap_or_default());
    Ok(CreatedResponse { created, location }.into_response())
}

async fn attachments(parts: &Parts, bytes: Bytes) -> Result<Vec<Attachment>, ApiError> {
    if form::is_multipart(&parts.headers) {
        return Ok(form::read_multipart(&parts.headers, bytes).await?.attachments);
    }
    let new: NewDocument = parse(parts, &bytes)?;
    Ok(vec![payer::read_document(&new)?])
}

/// Send the information that the payer requested: notes, answers, documents. The payer then decides again.
#[utoipa::path(post, path = "/portal/prior-auths/{auth_number}/information", operation_id = "add_prior_auth_information",
    params(("auth_number" = String, Path, description = "The authorization number or id of the request"),
        IdempotencyKey),
    request_body = NewInformation,
    responses((status = 200, description = "The request", body = PriorAuth), ErrorResponses, WriteErrorResponses))]
async fn add_information(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PayerPortal>,
    Post(information, once): Post<NewInformation>,
) -> Result<TransitionResponse<Value>, ApiError> {
    let number = scope.value(0).to_owned();
    Ok(TransitionResponse(payer::inform(&state.app, &scope.access, number, information, once).await?))
}

/// Withdraw a request.
#[utoipa::path(post, path = "/portal/prior-auths/{auth_number}/withdraw", operation_id = "withdraw_prior_auth",
    params(("auth_number" = String, Path, description = "The authorization number or id of the request"),
        IdempotencyKey),
    responses((status = 200, description = "The request, withdrawn", body = PriorAuth), ErrorResponses, WriteErrorResponses))]
async fn withdraw(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PayerPortal>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<Value>, ApiError> {
    Ok(TransitionResponse(payer::withdraw(&state.app, &scope.access, scope.value(0).to_owned(), once).await?))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PatientQuery {
    /// The member id.
    #[param(value_type = String, required = false)]
    member_id: Option<String>,
    /// Prefixes of names.
    #[param(value_type = String, required = false)]
    name: Option<String>,
    /// Such as `1980-02-03`.
    #[param(value_type = String, required = false)]
    birth_date: Option<String>,
}

/// Members of the plan.
#[utoipa::path(get, path = "/portal/patients", operation_id = "list_portal_patients", params(PatientQuery, PageQuery),
    responses((status = 200, description = "Members", body = List<Patient>), ClosedSandboxResponse, ErrorResponses))]
async fn list_patients(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PayerPortal>,
    Paged(query, paging): Paged<PatientQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let PatientQuery { member_id, name, birth_date } = query;
    let request = paging.request("patients")?;
    let filter = MemberFilter { member_id, name, birth_date };
    Ok(page("patients", payer::patients(&state.app, &scope.access, filter, request).await?))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ProviderQuery {
    /// The National Provider Identifier.
    #[param(value_type = String, required = false)]
    npi: Option<String>,
    /// Prefixes of names.
    #[param(value_type = String, required = false)]
    name: Option<String>,
}

/// Providers that the plan knows.
#[utoipa::path(get, path = "/portal/providers", operation_id = "list_portal_providers", params(ProviderQuery, PageQuery),
    responses((status = 200, description = "Providers", body = List<Provider>), ClosedSandboxResponse, ErrorResponses))]
async fn list_providers(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PayerPortal>,
    Paged(query, paging): Paged<ProviderQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let ProviderQuery { npi, name } = query;
    let request = paging.request("providers")?;
    Ok(page("providers", payer::providers(&state.app, &scope.access, ProviderFilter { npi, name }, request).await?))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FormularyQuery {
    /// Prefixes of words of the drug's name.
    #[param(value_type = String, required = false)]
    drug: Option<String>,
}

/// Drugs that the plan covers.
#[utoipa::path(get, path = "/portal/formulary", operation_id = "list_portal_formulary", params(FormularyQuery, PageQuery),
    responses((status = 200, description = "Drugs", body = List<FormularyEntry>),
        ClosedSandboxResponse, ErrorResponses))]
async fn list_formulary(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PayerPortal>,
    Paged(query, paging): Paged<FormularyQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let FormularyQuery { drug } = query;
    let request = paging.request("formulary")?;
    Ok(page("formulary", payer::formulary(&state.app, &scope.access, drug, request).await?))
}

pub(super) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .merge(in_every_scope(routes!(create_prior_auth, list_prior_auths)))
        .merge(in_every_scope(routes!(get_prior_auth)))
        .merge(in_every_scope(routes!(add_documents)))
        .merge(in_every_scope(routes!(add_information)))
        .merge(in_every_scope(routes!(withdraw)))
        .merge(in_every_scope(routes!(list_patients)))
        .merge(in_every_scope(routes!(list_providers)))
        .merge(in_every_scope(routes!(list_formulary)))
}
