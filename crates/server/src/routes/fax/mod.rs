//! Fax lines, below `fax/` of every scope.

mod fax_response;
mod fax_upload;
mod inbox;
mod outbox;

use model::Timestamp;
use model::simulator::SimulatorType;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

use crate::State;
use crate::routes::sandbox_routes::ScopedType;

/// Marker of routes that serve fax sandboxes.
struct FaxLine;

impl ScopedType for FaxLine {
    const TYPE: SimulatorType = SimulatorType::Fax;
}

/// A fax that was sent or has arrived.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a row")]
struct Fax {
    #[schema(example = "fax_01K9Z3T5Q8W7N4M2R6V0XBHCDE")]
    id: String,
    /// `outbound` if the agent sent it, else `inbound`.
    direction: String,
    /// With its country code.
    #[schema(required = false)]
    to_number: Option<String>,
    #[schema(required = false)]
    from_number: Option<String>,
    #[schema(required = false)]
    subject: Option<String>,
    /// The patient that it is about, if the sender gave one.
    #[schema(required = false)]
    patient_id: Option<String>,
    /// The type of document, such as `referral`, if the sender gave one.
    #[schema(required = false)]
    document_type: Option<String>,
    /// The file or document that it was sent from, if it was not uploaded.
    #[schema(required = false)]
    content_reference: Option<String>,
    /// `queued`, `sent` or `failed`; `received` in the inbox.
    status: String,
    /// Why the last attempt failed: `busy`, `no_answer` …
    #[schema(required = false)]
    reason: Option<String>,
    /// Completed attempts.
    #[schema(required = false)]
    attempts: i64,
    /// When the next attempt ends.
    #[schema(required = false)]
    next_attempt_at: Option<Timestamp>,
    #[schema(required = false)]
    created_at: Timestamp,
    #[schema(required = false)]
    sent_at: Option<Timestamp>,
    #[schema(required = false)]
    failed_at: Option<Timestamp>,
    /// Only for faxes in the inbox.
    #[schema(required = false)]
    received_at: Timestamp,
    /// `application/pdf` or `image/tiff`.
    content_type: String,
    pages: u64,
    /// In bytes.
    size: u64,
    sha256: String,
    /// `not_needed`, `done`, `unavailable`, `failed`, or `on_request` before the text of a scan is first requested.
    ocr_status: String,
    /// The OCR program and its version.
    #[schema(required = false)]
    ocr_engine: String,
    /// Only when one sent fax is read: its text, with form feeds between pages; null if no text could be read.
    #[schema(required = false)]
    text: Option<String>,
    /// Only when one fax is read: the URLs of its pages as images.
    #[schema(required = false)]
    page_urls: Vec<String>,
    /// Whether a fax in the inbox was read.
    #[schema(required = false)]
    read: bool,
}

/// The text of a fax.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a response")]
struct FaxText {
    id: String,
    /// The state of OCR: `not_needed`, `done`, `unavailable` (the server has no OCR) or `failed`.
    ocr_status: String,
    /// The OCR program and its version, such as `tesseract 5.3.0`.
    #[schema(required = false)]
    ocr_engine: String,
    /// All pages, with form feeds between them; null if no text could be read.
    text: Option<String>,
    pages: Vec<FaxPage>,
}

/// The text of one page.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a response")]
struct FaxPage {
    page: u64,
    /// `text_layer`, `ocr` or `none`.
    source: String,
    text: String,
}

pub(crate) fn router() -> OpenApiRouter<State> {
    outbox::router().merge(inbox::router())
}
