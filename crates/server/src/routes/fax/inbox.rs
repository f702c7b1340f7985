//! Faxes that have arrived, at `fax/inbox`.

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

use super::{Fax, FaxLine, FaxText, serve};
use crate::State;
use crate::envelope::{ApiError, ErrorBody, Refusals, WriteRefusals};
use crate::extract::{PageQuery, Params};
use crate::json_body::Patch;
use crate::respond::page;
use crate::routes::doors::{Door, mounted};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InboxQuery {
    /// `true` or `false`: only those that were read, or were not.
    #[param(value_type = bool, required = false)]
    read: Option<String>,
    /// The number that it came from, however it is written.
    #[param(value_type = String, required = false)]
    from_number: Option<String>,
    /// How many, 20 by default; more than 100 is read as 100.
    #[param(value_type = u64, required = false, minimum = 1)]
    limit: Option<String>,
    /// `next` or `prev` of an earlier answer of the same list.
    #[param(value_type = String, required = false)]
    cursor: Option<String>,
}

/// Faxes that have arrived, newest first.
#[utoipa::path(get, path = "/fax/inbox", operation_id = "list_fax_inbox", params(InboxQuery),
    responses((status = 200, description = "Faxes", body = List<Fax>),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn list_inbox(
    extract::State(state): extract::State<State>,
    door: Door<FaxLine>,
    Params(query): Params<InboxQuery>,
) -> Result<Json<List<Value>>, ApiError> {
    let InboxQuery { read, from_number, limit, cursor } = query;
    let read = match read.as_deref() {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => return Err(ApiError::invalid(FieldErrors::one("read", "must be true or false"))),
    };
    let request = PageQuery { limit, cursor }.request("fax_inbox")?;
    let filter = Filter { direction: Direction::Inbound, status: None, number: from_number, read };
    Ok(page("fax_inbox", fax::list(&state.app, &door.access, filter, request).await?))
}

/// One fax of the inbox. Looking at it does not mark it as read.
#[utoipa::path(get, path = "/fax/inbox/{fax_id}", operation_id = "get_inbound_fax",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The fax", body = Fax),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn get_fax(extract::State(state): extract::State<State>, door: Door<FaxLine>) -> Result<Json<Value>, ApiError> {
    let fax = fax::get(&state.app, &door.access, Direction::Inbound, door.value(0)).await?;
    Ok(Json(serve::with_pages(fax, &format!("{}/fax/inbox", door.address))))
}

/// Mark a fax as read, or as not read.
#[utoipa::path(patch, path = "/fax/inbox/{fax_id}", operation_id = "mark_inbound_fax", request_body = FaxPatch,
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The fax", body = Fax), Refusals, WriteRefusals))]
async fn mark_fax(
    extract::State(state): extract::State<State>,
    door: Door<FaxLine>,
    Patch(patch): Patch<FaxPatch>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(fax::mark(&state.app, &door.access, door.value(0), patch.read).await?))
}

/// The document as it was sent.
#[utoipa::path(get, path = "/fax/inbox/{fax_id}/document", operation_id = "get_inbound_fax_document",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The bytes", content((Vec<u8> = "application/pdf"), (Vec<u8> = "image/tiff"))),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn get_document(extract::State(state): extract::State<State>, door: Door<FaxLine>) -> Result<Response, ApiError> {
    Ok(serve::bytes(fax::document(&state.app, &door.access, Direction::Inbound, door.value(0)).await?))
}

/// A page as a picture.
#[utoipa::path(get, path = "/fax/inbox/{fax_id}/pages/{page}", operation_id = "get_inbound_fax_page",
    params(("fax_id" = String, Path, description = "The fax"),
        ("page" = String, Path, description = "The number of the page with `.png`, from `1.png`")),
    responses((status = 200, description = "The picture; of a scan that has photographs in it, a JPEG",
            content((Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"))),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn get_page(extract::State(state): extract::State<State>, door: Door<FaxLine>) -> Result<Response, ApiError> {
    let number = serve::page_number(door.value(1))?;
    let which = (Direction::Inbound, door.value(0));
    Ok(serve::bytes(fax::page(&state.app, &door.access, which, number).await?))
}

/// What the fax says: its text layer, else what OCR has read.
#[utoipa::path(get, path = "/fax/inbox/{fax_id}/text", operation_id = "get_inbound_fax_text",
    params(("fax_id" = String, Path, description = "The fax")),
    responses((status = 200, description = "The text, page by page", body = FaxText),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn get_text(extract::State(state): extract::State<State>, door: Door<FaxLine>) -> Result<Json<Value>, ApiError> {
    Ok(Json(fax::text(&state.app, &door.access, Direction::Inbound, door.value(0)).await?))
}

pub(super) fn router() -> OpenApiRouter<State> {
    mounted(routes!(list_inbox))
        .merge(mounted(routes!(get_fax, mark_fax)))
        .merge(mounted(routes!(get_document)))
        .merge(mounted(routes!(get_page)))
        .merge(mounted(routes!(get_text)))
}
