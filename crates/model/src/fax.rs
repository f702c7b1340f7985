//! Request bodies of the fax sandbox.

use serde::Deserialize;
use utoipa::ToSchema;

/// A fax to send: a document as bytes, or a reference to a document in the same playground.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFax {
    /// The recipient's number with country code, or a North American number with area code.
    #[schema(example = "+1 555 010 0199")]
    pub to_number: String,
    /// A PDF or TIFF file of at most 8 MiB.
    pub base64: Option<String>,
    /// Instead of the bytes: `files/outbox/letter.pdf`, `DocumentReference/7` or `Binary/7`. An id alone refers to a
    /// DocumentReference or, if there is none, to a Binary.
    pub content_reference: Option<String>,
    /// A one-line subject.
    pub subject: Option<String>,
    /// The patient that the document is about.
    pub patient_id: Option<String>,
    /// The type of document, such as `referral`.
    pub document_type: Option<String>,
}

/// A change to a fax in the inbox.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FaxPatch {
    pub read: bool,
}
