//! What an agent sends by fax.

use serde::Deserialize;
use utoipa::ToSchema;

/// A document for a number: its bytes, or the name of something in the same playground that has them.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFax {
    /// With its country code, or a North American number with its area code.
    #[schema(example = "+1 555 010 0199")]
    pub to_number: String,
    /// The bytes of a PDF or TIFF file, of at most 8 MiB.
    pub base64: Option<String>,
    /// Instead of the bytes: `files/outbox/letter.pdf`, `DocumentReference/7` or `Binary/7`. An id alone is that of a
    /// DocumentReference or, if there is none, of a Binary.
    pub content_reference: Option<String>,
    /// One line for whoever looks through the faxes.
    pub subject: Option<String>,
    /// The patient whom it is about.
    pub patient_id: Option<String>,
    /// What it is, such as `referral`.
    pub document_type: Option<String>,
}

/// What can be changed of a fax in the inbox.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FaxPatch {
    pub read: bool,
}
