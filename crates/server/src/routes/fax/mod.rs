//! A fax line, below `fax/` of every door.

mod form;
mod inbox;
mod outbox;
mod serve;

use model::Timestamp;
use model::simulator::SimulatorType;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

use crate::State;
use crate::routes::doors::Kind;

/// The channel of fax lines.
struct FaxLine;

impl Kind for FaxLine {
    const TYPE: SimulatorType = SimulatorType::Fax;
}

/// A fax that was sent or has arrived.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what rows have")]
struct Fax {
    #[schema(example = "fax_01K9Z3T5Q8W7N4M2R6V0XBHCDE")]
    id: String,
    /// `outbound` is the agent's.
    direction: String,
    /// With its country code.
    #[schema(required = false)]
    to_number: Option<String>,
    #[schema(required = false)]
    from_number: Option<String>,
    #[schema(required = false)]
    subject: Option<String>,
    /// The patient whom it is about, if the sender said so.
    #[schema(required = false)]
    patient_id: Option<String>,
    /// What it is, such as `referral`, if the sender said so.
    #[schema(required = false)]
    document_type: Option<String>,
    /// What it was sent from, if it was not sent with its bytes.
    #[schema(required = false)]
    content_reference: Option<String>,
    /// `queued`, `sent` or `failed`; `received` in the inbox.
    status: String,
    /// Why the last call did not get through: `busy`, `no_answer` …
    #[schema(required = false)]
    reason: Option<String>,
    /// Calls that have ended.
    #[schema(required = false)]
    attempts: i64,
    /// When the next call ends.
    #[schema(required = false)]
    next_attempt_at: Option<Timestamp>,
    #[schema(required = false)]
    created_at: Timestamp,
    #[schema(required = false)]
    sent_at: Option<Timestamp>,
    #[schema(required = false)]
    failed_at: Option<Timestamp>,
    /// Of a fax in the inbox.
    #[schema(required = false)]
    received_at: Timestamp,
    /// `application/pdf` or `image/tiff`.
    content_type: String,
    pages: u64,
    /// In bytes.
    size: u64,
    sha256: String,
    /// `not_needed`, `done`, `unavailable`, `failed`, or `on_request` before the text of a scan was first asked for.
    ocr_status: String,
    /// The program that read pages that are pictures, with its version.
    #[schema(required = false)]
    ocr_engine: String,
    /// Where one fax that was sent is read: what it says, pages parted by form feeds; null if nothing could be read.
    #[schema(required = false)]
    text: Option<String>,
    /// Where one fax is read: the addresses of its pages as pictures.
    #[schema(required = false)]
    page_urls: Vec<String>,
    /// Whether a fax of the inbox was read.
    #[schema(required = false)]
    read: bool,
}

/// What a fax says.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what the answer has")]
struct FaxText {
    id: String,
    /// Whether pictures were read: `not_needed`, `done`, `unavailable` (the server has no OCR) or `failed`.
    ocr_status: String,
    /// The program that read pages that are pictures, with its version, such as `tesseract 5.3.0`.
    #[schema(required = false)]
    ocr_engine: String,
    /// All pages, with a form feed between them; none if nothing could be read.
    text: Option<String>,
    pages: Vec<FaxPage>,
}

/// What one page says.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what the answer has")]
struct FaxPage {
    page: u64,
    /// `text_layer`, `ocr` or `none`.
    source: String,
    text: String,
}

pub(crate) fn router() -> OpenApiRouter<State> {
    outbox::router().merge(inbox::router())
}
