//! `x12` of a sandbox: interchanges to a clearinghouse, its answers, and eligibility by patient.

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

use super::doors::{Door, Kind, mounted};
use crate::State;
use crate::envelope::{ApiError, Code, ErrorBody, Refusals, WriteRefusals};
use crate::extract::{PageQuery, Params};
use crate::json_body::{Patch, media_type, read_whole, refuse_encoding};
use crate::respond::page;

struct Clearinghouse;

impl Kind for Clearinghouse {
    const TYPE: SimulatorType = SimulatorType::Clearinghouse;
}

const X12: HeaderValue = HeaderValue::from_static("application/edi-x12");

/// Send one interchange or several, with any separators. What is wrong with an interchange is told in it: TA1 for the
/// envelope, 999 for groups and transactions. With `Accept: application/json` the answer is given in parts.
#[utoipa::path(post, path = "/x12/transactions", operation_id = "send_x12_transactions",
    request_body(content = String, content_type = "application/edi-x12", description = "Interchanges, from ISA to IEA"),
    responses((status = 200, description = "An interchange for each that was sent",
            content((String = "application/edi-x12"), (api::Exchange = "application/json"))),
        Refusals, WriteRefusals))]
async fn transact(
    extract::State(state): extract::State<State>,
    door: Door<Clearinghouse>,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    refuse_encoding(&parts.headers)?;
    refuse_json(&parts.headers)?;
    let body = read_whole(body, LARGEST_BODY as u64).await?;
    let exchanged = clearinghouse::transact(&state.app, door.access, body).await?;
    Ok(match wants_json(&parts.headers) {
        true => Json(exchanged.parsed()).into_response(),
        false => raw(exchanged.text()),
    })
}

/// Answers that can be had, newest first: those that were given before, and those that took their time and are due.
#[utoipa::path(get, path = "/x12/responses", operation_id = "list_x12_responses", params(PageQuery),
    responses((status = 200, description = "Answers", body = List<api::Response>),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list(
    extract::State(state): extract::State<State>,
    door: Door<Clearinghouse>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<api::Response>>, ApiError> {
    let request = query.request("x12 responses")?;
    Ok(page("x12 responses", clearinghouse::list(&state.app, door.access, request).await?))
}

/// One answer, as the interchange that it is; with `Accept: application/json` with what is known of it.
#[utoipa::path(get, path = "/x12/responses/{response_id}", operation_id = "read_x12_response",
    params(("response_id" = String, Path, description = "The answer")),
    responses((status = 200, description = "The answer",
            content((String = "application/edi-x12"), (api::Response = "application/json"))),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn read(
    extract::State(state): extract::State<State>,
    door: Door<Clearinghouse>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = door.value(0).to_owned();
    let response = clearinghouse::get(&state.app, door.access, &id).await?;
    Ok(if wants_json(&headers) { Json(response).into_response() } else { raw(response.payload) })
}

/// Whether a patient of the playground's FHIR sandbox is insured. A 270 is made of the record and answered with a 271, as
/// if both had been sent.
#[utoipa::path(post, path = "/x12/eligibility", operation_id = "ask_x12_eligibility", request_body = api::EligibilityInquiry,
    responses((status = 200, description = "What the 271 says", body = api::Eligibility), Refusals, WriteRefusals))]
async fn eligibility(
    extract::State(state): extract::State<State>,
    door: Door<Clearinghouse>,
    Patch(inquiry): Patch<api::EligibilityInquiry>,
) -> Result<Json<api::Eligibility>, ApiError> {
    Ok(Json(clearinghouse::eligibility(&state.app, door.access, inquiry).await?))
}

/// The same under its older name.
#[utoipa::path(post, path = "/clearinghouse/eligibility", operation_id = "ask_clearinghouse_eligibility",
    request_body = api::EligibilityInquiry,
    responses((status = 200, description = "What the 271 says", body = api::Eligibility), Refusals, WriteRefusals))]
async fn eligibility_by_patient(
    extract::State(state): extract::State<State>,
    door: Door<Clearinghouse>,
    Patch(inquiry): Patch<api::EligibilityInquiry>,
) -> Result<Json<api::Eligibility>, ApiError> {
    Ok(Json(clearinghouse::eligibility(&state.app, door.access, inquiry).await?))
}

fn raw(text: String) -> Response {
    ([(header::CONTENT_TYPE, X12)], text).into_response()
}

/// A JSON text is no interchange, and who sends one means another path.
fn refuse_json(headers: &HeaderMap) -> Result<(), ApiError> {
    match media_type(headers) {
        Some(media) if media == "application/json" || media.ends_with("+json") => {
            Err(ApiError::new(Code::UnsupportedMediaType, "send the interchange itself, as application/edi-x12"))
        }
        _ => Ok(()),
    }
}

/// Whether the caller names JSON before raw interchanges.
fn wants_json(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let media =
        accepted.flat_map(|value| value.split(',')).map(|item| item.split(';').next().unwrap_or_default().trim());
    let known = media.filter(|media| ["application/json", "application/edi-x12", "text/plain"].contains(media));
    known.take(1).any(|media| media == "application/json")
}

pub(crate) fn router() -> OpenApiRouter<State> {
    let direct = super::doors::mounted_at(&[super::doors::Place::Direct], routes!(eligibility_by_patient));
    mounted(routes!(transact))
        .merge(mounted(routes!(list)))
        .merge(mounted(routes!(read)))
        .merge(mounted(routes!(eligibility)))
        .merge(direct)
}
