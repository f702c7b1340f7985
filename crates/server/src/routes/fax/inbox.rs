//! Received faxes, at `fax/inbox`.

use app::sandboxes::fax::{self, Direction, Filter};
use axum::response::Response;
use axum::{Json, extract};
use model::FieldErrors;
use model::fax::FaxPatch;
use model::page::List;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Fax, FaxLine, FaxText, fax_response};
use crate::State;
use crate::api_error::{ApiError, ClosedSandboxResponse, ErrorResponses, WriteErrorResponses};
use crate::extractors::{PageQuery, Paged};
use crate::json_body::Patch;
use crate::responses::page;
use crate::routes::sandbox_routes::{SandboxScope, in_every_scope};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InboxQuery {
    /// `true` for faxes that were read, `false` for unread ones.
    #[param(value_type = bool, required = false)]
    read: Option<String>,
    /// The sender's number, in any notation.
    #[param(value_type = String, required = false)]
    from_number: Option<String>,
}

/// Received faxes, newest first.
#[utoipa::path(get, path = "/fax/inbox", operation_id = "list_fax_inbox", params(InboxQuery, PageQuery),
    responses((status = 200, description = "Faxes", body = List<Fax>), ClosedSandboxResponse, ErrorResponses))]
async fn list_inbox(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
    Paged(query, paging): Paged<InboxQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let InboxQuery { read, from_number } = query;
    let read = match read.as_deref() {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => return Err(ApiError::invalid(FieldErrors::one("read", "must be true or false"))),
    };
    let request = paging.request("fax_inbox")?;
    let filter = Filter { direction: Direction::Inbound, status: None, number: from_number, read };
    Ok(page("fax_inbox", fax::list(&state.app, &scope.access, filter, request).await?))
}

/// One fax of the inbox. Reading it does not mark it as read.
#[utoipa::path(get, path = "/fax/inbox/{fax_id}", operation_id = "get_inbound_fax",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The fax", body = Fax), ClosedSandboxResponse, ErrorResponses))]
async fn get_fax(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
) -> Result<Json<Value>, ApiError> {
    let fax = fax::get(&state.app, &scope.access, Direction::Inbound, scope.value(0)).await?;
    Ok(Json(fax_response::with_page_urls(fax, &format!("{}/fax/inbox", scope.address))))
}

/// Mark a fax as read or unread.
#[utoipa::path(patch, path = "/fax/inbox/{fax_id}", operation_id = "mark_inbound_fax", request_body = FaxPatch,
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The fax", body = Fax), ErrorResponses, WriteErrorResponses))]
async fn mark_fax(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
    Patch(patch): Patch<FaxPatch>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(fax::mark(&state.app, &scope.access, scope.value(0), patch.read).await?))
}

/// The document as it was sent.
#[utoipa::path(get, path = "/fax/inbox/{fax_id}/document", operation_id = "get_inbound_fax_document",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The bytes", content((Vec<u8> = "application/pdf"), (Vec<u8> = "image/tiff"))),
        ClosedSandboxResponse, ErrorResponses))]
async fn get_document(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
) -> Result<Response, ApiError> {
    Ok(fax_response::bytes(fax::document(&state.app, &scope.access, Direction::Inbound, scope.value(0)).await?))
}

/// A page as an image.
#[utoipa::path(get, path = "/fax/inbox/{fax_id}/pages/{page}", operation_id = "get_inbound_fax_page",
    params(("fax_id" = String, Path, description = "The fax"),
        ("page" = String, Path, description = "The page number with `.png`, starting at `1.png`")),
    responses((status = 200, description = "The image; a JPEG for scanned pages with photographs",
            content((Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"))), ClosedSandboxResponse, ErrorResponses))]
async fn get_page(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
) -> Result<Response, ApiError> {
    let number = fax_response::page_number(scope.value(1))?;
    let fax = (Direction::Inbound, scope.value(0));
    Ok(fax_response::bytes(fax::page(&state.app, &scope.access, fax, number).await?))
}

/// The text of the fax: its text layer, or the result of OCR.
#[utoipa::path(get, path = "/fax/inbox/{fax_id}/text", operation_id = "get_inbound_fax_text",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The text, page by page", body = FaxText),
        ClosedSandboxResponse, ErrorResponses))]
async fn get_text(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<FaxLine>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(fax::text(&state.app, &scope.access, Direction::Inbound, scope.value(0)).await?))
}

pub(super) fn router() -> OpenApiRouter<State> {
    in_every_scope(routes!(list_inbox))
        .merge(in_every_scope(routes!(get_fax, mark_fax)))
        .merge(in_every_scope(routes!(get_document)))
        .merge(in_every_scope(routes!(get_page)))
        .merge(in_every_scope(routes!(get_text)))
}
