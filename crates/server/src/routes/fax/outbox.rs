//! Faxes that the agent sends, at `fax/faxes`.

use app::sandboxes::fax::{self, Direction, Filter};
use axum::response::Response;
use axum::{Json, extract};
use model::FieldErrors;
use model::fax::NewFax;
use model::page::List;
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::form::Sent;
use super::{Fax, FaxLine, FaxText, serve};
use crate::State;
use crate::envelope::{ApiError, ErrorBody, Refusals, WriteRefusals};
use crate::extract::{PageQuery, Params};
use crate::respond::{Made, page};
use crate::routes::doors::{Door, also_at, mounted};

/// A fax as a form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are the fields of the form")]
struct FaxForm {
    to_number: String,
    #[schema(required = false)]
    subject: Option<String>,
    /// The patient whom it is about.
    #[schema(required = false)]
    patient_id: Option<String>,
    /// What it is, such as `referral`.
    #[schema(required = false)]
    document_type: Option<String>,
    /// A PDF or TIFF file of at most 8 MiB and 200 pages.
    #[schema(value_type = String, format = Binary)]
    document: Vec<u8>,
}

/// Send a fax.
///
/// As a form with the file, as JSON with the file in base64, or with a reference to a file of the file drop or a document
/// of the FHIR data in the same playground. What it says is read now, once: by its text layer, or by OCR where pages are
/// pictures. Whether it gets through tells its `status`, at once or later.
#[utoipa::path(post, path = "/fax/faxes", operation_id = "send_fax",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    request_body(content((NewFax = "application/json"), (FaxForm = "multipart/form-data"))),
    responses((status = 201, description = "The fax", body = Fax), Refusals, WriteRefusals))]
async fn send_fax(
    extract::State(state): extract::State<State>,
    door: Door<FaxLine>,
    Sent { new, document, once }: Sent,
) -> Result<Made<Value>, ApiError> {
    let created = fax::send(&state.app, &door.access, new, document, once).await?;
    Ok(Made::at(created, |row| format!("{}/fax/faxes/{}", door.address, row["id"].as_str().unwrap_or_default())))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FaxQuery {
    /// `queued`, `sent` or `failed`.
    #[param(value_type = String, required = false)]
    status: Option<String>,
    /// The number that it was sent to, however it is written.
    #[param(value_type = String, required = false)]
    to_number: Option<String>,
    /// How many, 20 by default; more than 100 is read as 100.
    #[param(value_type = u64, required = false, minimum = 1)]
    limit: Option<String>,
    /// `next` or `prev` of an earlier answer of the same list.
    #[param(value_type = String, required = false)]
    cursor: Option<String>,
}

/// Faxes that were sent, newest first.
#[utoipa::path(get, path = "/fax/faxes", operation_id = "list_faxes", params(FaxQuery),
    responses((status = 200, description = "Faxes", body = List<Fax>),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list_faxes(
    extract::State(state): extract::State<State>,
    door: Door<FaxLine>,
    Params(query): Params<FaxQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let FaxQuery { status, to_number, limit, cursor } = query;
    if status.as_deref().is_some_and(|status| !["queued", "sent", "failed"].contains(&status)) {
        return Err(ApiError::invalid(FieldErrors::one("status", "must be `queued`, `sent` or `failed`")));
    }
    let request = PageQuery { limit, cursor }.request("faxes")?;
    let filter = Filter { direction: Direction::Outbound, status, number: to_number, read: None };
    Ok(page("faxes", fax::list(&state.app, &door.access, filter, request).await?))
}

/// One fax: how far it has come, what it says, and where its pages are.
#[utoipa::path(get, path = "/fax/faxes/{fax_id}", operation_id = "get_fax",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The fax", body = Fax),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn get_fax(extract::State(state): extract::State<State>, door: Door<FaxLine>) -> Result<Json<Value>, ApiError> {
    let fax = fax::get(&state.app, &door.access, Direction::Outbound, door.value(0)).await?;
    Ok(Json(serve::with_pages(fax, &format!("{}/fax/faxes", door.address))))
}

/// The document as it was sent.
#[utoipa::path(get, path = "/fax/faxes/{fax_id}/document", operation_id = "get_fax_document",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The bytes", content((Vec<u8> = "application/pdf"), (Vec<u8> = "image/tiff"))),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn get_document(extract::State(state): extract::State<State>, door: Door<FaxLine>) -> Result<Response, ApiError> {
    Ok(serve::bytes(fax::document(&state.app, &door.access, Direction::Outbound, door.value(0)).await?))
}

/// A page as a picture.
#[utoipa::path(get, path = "/fax/faxes/{fax_id}/pages/{page}", operation_id = "get_fax_page",
    params(("fax_id" = String, Path, description = "The fax"),
        ("page" = String, Path, description = "The number of the page with `.png`, from `1.png`")),
    responses((status = 200, description = "The picture; of a scan that has photographs in it, a JPEG",
            content((Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"))),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn get_page(extract::State(state): extract::State<State>, door: Door<FaxLine>) -> Result<Response, ApiError> {
    let number = serve::page_number(door.value(1))?;
    let which = (Direction::Outbound, door.value(0));
    Ok(serve::bytes(fax::page(&state.app, &door.access, which, number).await?))
}

/// What the fax says: its text layer, else what OCR has read.
#[utoipa::path(get, path = "/fax/faxes/{fax_id}/text", operation_id = "get_fax_text",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The text, page by page", body = FaxText),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn get_text(extract::State(state): extract::State<State>, door: Door<FaxLine>) -> Result<Json<Value>, ApiError> {
    Ok(Json(fax::text(&state.app, &door.access, Direction::Outbound, door.value(0)).await?))
}

pub(super) fn router() -> OpenApiRouter<State> {
    mounted(routes!(send_fax, list_faxes))
        .merge(mounted(routes!(get_fax)))
        .merge(mounted(routes!(get_document)))
        .merge(mounted(routes!(get_page)))
        .merge(mounted(routes!(get_text)))
        .merge(also_at("/faxes", routes!(send_fax, list_faxes)))
        .merge(also_at("/faxes/{fax_id}", routes!(get_fax)))
        .merge(also_at("/faxes/{fax_id}/document", routes!(get_document)))
        .merge(also_at("/faxes/{fax_id}/pages/{page}", routes!(get_page)))
        .merge(also_at("/faxes/{fax_id}/text", routes!(get_text)))
}
