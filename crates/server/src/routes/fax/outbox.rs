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

use super::fax_upload::FaxUpload;
use super::{Fax, FaxLine, FaxText, fax_response};
use crate::State;
use crate::api_error::{ApiError, ClosedSandboxResponse, ErrorResponses, WriteErrorResponses};
use crate::extractors::{IdempotencyKey, PageQuery, Paged};
use crate::responses::{CreatedResponse, page};
use crate::routes::sandbox_routes::{SandboxScope, alias_at, in_every_scope};

/// A fax as a form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of the form")]
struct FaxForm {
    to_number: String,
    #[schema(required = false)]
    subject: Option<String>,
    /// The patient that it is about.
    #[schema(required = false)]
    patient_id: Option<String>,
    /// The type of document, such as `referral`.
    #[schema(required = false)]
    document_type: Option<String>,
    /// A PDF or TIFF file of at most 8 MiB and 200 pages.
    #[schema(value_type = String, format = Binary)]
    document: Vec<u8>,
}

/// Send a fax.
///
/// Send a form with the file, JSON with the file in base64, or JSON with a reference to a file of the file drop or a document
/// of the FHIR data in the same playground. The text is extracted once, when the fax is sent: from the text layer, or by OCR
/// for scanned pages. `status` says whether the fax was delivered, at once or later.
#[utoipa::path(post, path = "/fax/faxes", operation_id = "send_fax",
    params(IdempotencyKey),
    request_body(content((NewFax = "application/json"), (FaxForm = "multipart/form-data"))),
    responses((status = 201, description = "The fax", body = Fax), ErrorResponses, WriteErrorResponses))]
async fn send_fax(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
    FaxUpload { new, document, once }: FaxUpload,
) -> Result<CreatedResponse<Value>, ApiError> {
    let created = fax::send(&state.app, &scope.access, new, document, once).await?;
    Ok(CreatedResponse::at(created, |row| {
        format!("{}/fax/faxes/{}", scope.address, row["id"].as_str().unwrap_or_default())
    }))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FaxQuery {
    /// `queued`, `sent` or `failed`.
    #[param(value_type = String, required = false)]
    status: Option<String>,
    /// The recipient's number, in any notation.
    #[param(value_type = String, required = false)]
    to_number: Option<String>,
}

/// Sent faxes, newest first.
#[utoipa::path(get, path = "/fax/faxes", operation_id = "list_faxes", params(FaxQuery, PageQuery),
    responses((status = 200, description = "Faxes", body = List<Fax>), ClosedSandboxResponse, ErrorResponses))]
async fn list_faxes(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
    Paged(query, paging): Paged<FaxQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let FaxQuery { status, to_number } = query;
    if status.as_deref().is_some_and(|status| !["queued", "sent", "failed"].contains(&status)) {
        return Err(ApiError::invalid(FieldErrors::one("status", "must be `queued`, `sent` or `failed`")));
    }
    let request = paging.request("faxes")?;
    let filter = Filter { direction: Direction::Outbound, status, number: to_number, read: None };
    Ok(page("faxes", fax::list(&state.app, &scope.access, filter, request).await?))
}

/// One fax: its status, its text, and the URLs of its pages.
#[utoipa::path(get, path = "/fax/faxes/{fax_id}", operation_id = "get_fax",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The fax", body = Fax), ClosedSandboxResponse, ErrorResponses))]
async fn get_fax(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
) -> Result<Json<Value>, ApiError> {
    let fax = fax::get(&state.app, &scope.access, Direction::Outbound, scope.value(0)).await?;
    Ok(Json(fax_response::with_page_urls(fax, &format!("{}/fax/faxes", scope.address))))
}

/// The document as it was sent.
#[utoipa::path(get, path = "/fax/faxes/{fax_id}/document", operation_id = "get_fax_document",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The bytes", content((Vec<u8> = "application/pdf"), (Vec<u8> = "image/tiff"))),
        ClosedSandboxResponse, ErrorResponses))]
async fn get_document(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
) -> Result<Response, ApiError> {
    Ok(fax_response::bytes(fax::document(&state.app, &scope.access, Direction::Outbound, scope.value(0)).await?))
}

/// A page as an image.
#[utoipa::path(get, path = "/fax/faxes/{fax_id}/pages/{page}", operation_id = "get_fax_page",
    params(("fax_id" = String, Path, description = "The fax"),
        ("page" = String, Path, description = "The page number with `.png`, starting at `1.png`")),
    responses((status = 200, description = "The image; a JPEG for scanned pages with photographs",
            content((Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"))), ClosedSandboxResponse, ErrorResponses))]
async fn get_page(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
) -> Result<Response, ApiError> {
    let number = fax_response::page_number(scope.value(1))?;
    let fax = (Direction::Outbound, scope.value(0));
    Ok(fax_response::bytes(fax::page(&state.app, &scope.access, fax, number).await?))
}

/// The text of the fax: its text layer, or the result of OCR.
#[utoipa::path(get, path = "/fax/faxes/{fax_id}/text", operation_id = "get_fax_text",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The text, page by page", body = FaxText),
        ClosedSandboxResponse, ErrorResponses))]
async fn get_text(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(fax::text(&state.app, &scope.access, Direction::Outbound, scope.value(0)).await?))
}

pub(super) fn router() -> OpenApiRouter<State> {
    in_every_scope(routes!(send_fax, list_faxes))
        .merge(in_every_scope(routes!(get_fax)))
        .merge(in_every_scope(routes!(get_document)))
        .merge(in_every_scope(routes!(get_page)))
        .merge(in_every_scope(routes!(get_text)))
        .merge(alias_at("/faxes", routes!(send_fax, list_faxes)))
        .merge(alias_at("/faxes/{fax_id}", routes!(get_fax)))
        .merge(alias_at("/faxes/{fax_id}/document", routes!(get_document)))
        .merge(alias_at("/faxes/{fax_id}/pages/{page}", routes!(get_page)))
        .merge(alias_at("/faxes/{fax_id}/text", routes!(get_text)))
}
