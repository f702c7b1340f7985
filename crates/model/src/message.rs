//! What an agent writes to a patient.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::channel::Channel;

/// A text message or an e-mail, to a patient or to an address.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// `sms` or `email`.
    #[schema(value_type = String)]
    pub channel: Channel,
    /// In the FHIR data; the message goes to the number or address that the patient has there. Or `to`.
    pub patient_id: Option<String>,
    /// A phone number for `sms`, an address for `email`.
    pub to: Option<String>,
    /// For `email` only.
    pub subject: Option<String>,
    pub body: String,
}
