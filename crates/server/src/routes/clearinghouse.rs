//! `x12` of a sandbox: interchanges to a clearinghouse, its responses, and eligibility by patient.

use app::sandboxes::clearinghouse::{self, LARGEST_BODY};
use axum::Json;
use axum::extract::{self, Request};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use model::clearinghouse as api;
use model::page::List;
use model::simulator::SimulatorType;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::sandbox_routes::{SandboxScope, ScopedType, in_every_scope};
use crate::State;
use crate::api_error::{ApiError, ClosedSandboxResponse, Code, ErrorResponses, WriteErrorResponses};
use crate::extractors::{PageQuery, Params};
use crate::json_body::{Patch, media_type, read_body, reject_content_encoding};
use crate::responses::page;

struct Clearinghouse;

impl ScopedType for Clearinghouse {
    const TYPE: SimulatorType = SimulatorType::Clearinghouse;
}

const X12: HeaderValue = HeaderValue::from_static("application/edi-x12");

/// Send one or several interchanges, with any separators. Errors are reported in the response interchange: TA1 for the
/// envelope, 999 for groups and transactions. With `Accept: application/json` the response is parsed into its parts.
#[utoipa::path(post, path = "/x12/transactions", operation_id = "send_x12_transactions",
    request_body(content = String, content_type = "application/edi-x12", description = "Interchanges, from ISA to IEA"),
    responses((status = 200, description = "One response interchange for each interchange",
            content((String = "application/edi-x12"), (api::Exchange = "application/json"))),
        ErrorResponses, WriteErrorResponses))]
async fn transact(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Clearinghouse>,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    reject_content_encoding(&parts.headers)?;
    reject_json(&parts.headers)?;
    let body = read_body(body, LARGEST_BODY as u64).await?;
    let exchanged = clearinghouse::transact(&state.app, scope.access, body).await?;
    Ok(match wants_json(&parts.headers) {
        true => Json(exchanged.parsed()).into_response(),
        false => raw(exchanged.text()),
    })
}

/// Available responses, newest first: those that were sent at once, and delayed ones that are due.
#[utoipa::path(get, path = "/x12/responses", operation_id = "list_x12_responses", params(PageQuery),
    responses((status = 200, description = "Responses", body = List<api::Response>),
        ClosedSandboxResponse, ErrorResponses))]
async fn list(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Clearinghouse>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<api::Response>>, ApiError> {
    let request = query.request("x12 responses")?;
    Ok(page("x12 responses", clearinghouse::list(&state.app, scope.access, request).await?))
}

/// One response as an interchange; with `Accept: application/json` as JSON with its metadata.
#[utoipa::path(get, path = "/x12/responses/{response_id}", operation_id = "read_x12_response",
    params(("response_id" = String, Path, description = "The response")),
    responses((status = 200, description = "The response",
            content((String = "application/edi-x12"), (api::Response = "application/json"))),
        ClosedSandboxResponse, ErrorResponses))]
async fn read(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Clearinghouse>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = scope.value(0).to_owned();
    let response = clearinghouse::get(&state.app, scope.access, &id).await?;
    Ok(if wants_json(&headers) { Json(response).into_response() } else { raw(response.payload) })
}

/// Whether a patient of the playground's FHIR sandbox is insured. Builds a 270 from the record and answers it with a 271, as
/// if it had been sent.
#[utoipa::path(post, path = "/x12/eligibility", operation_id = "ask_x12_eligibility", request_body = api::EligibilityInquiry,
    responses((status = 200, description = "What the 271 says", body = api::Eligibility), ErrorResponses, WriteErrorResponses))]
async fn eligibility(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Clearinghouse>,
    Patch(inquiry): Patch<api::EligibilityInquiry>,
) -> Result<Json<api::Eligibility>, ApiError> {
    Ok(Json(clearinghouse::eligibility(&state.app, scope.access, inquiry).await?))
}

/// Alias of `/x12/eligibility`.
#[utoipa::path(post, path = "/clearinghouse/eligibility", operation_id = "ask_clearinghouse_eligibility",
    request_body = api::EligibilityInquiry,
    responses((status = 200, description = "What the 271 says", body = api::Eligibility), ErrorResponses, WriteErrorResponses))]
async fn eligibility_by_patient(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<Clearinghouse>,
    Patch(inquiry): Patch<api::EligibilityInquiry>,
) -> Result<Json<api::Eligibility>, ApiError> {
    Ok(Json(clearinghouse::eligibility(&state.app, scope.access, inquiry).await?))
}

fn raw(text: String) -> Response {
    ([(header::CONTENT_TYPE, X12)], text).into_response()
}

/// Rejects JSON bodies, which are meant for another path.
fn reject_json(headers: &HeaderMap) -> Result<(), ApiError> {
    match media_type(headers) {
        Some(media) if media == "application/json" || media.ends_with("+json") => {
            Err(ApiError::new(Code::UnsupportedMediaType, "send the interchange itself, as application/edi-x12"))
        }
        _ => Ok(()),
    }
}

/// Whether `Accept` lists JSON before raw interchanges.
fn wants_json(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let media =
        accepted.flat_map(|value| value.split(',')).map(|item| item.split(';').next().unwrap_or_default().trim());
    let known = media.filter(|media| ["application/json", "application/edi-x12", "text/plain"].contains(media));
    known.take(1).any(|media| media == "application/json")
}

pub(crate) fn router() -> OpenApiRouter<State> {
    let direct =
        super::sandbox_routes::in_scopes(&[super::sandbox_routes::Scope::Direct], routes!(eligibility_by_patient));
    in_every_scope(routes!(transact))
        .merge(in_every_scope(routes!(list)))
        .merge(in_every_scope(routes!(read)))
        .merge(in_every_scope(routes!(eligibility)))
        .merge(direct)
}
