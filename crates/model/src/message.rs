//! Request bodies of the message sandbox.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::channel::Channel;

/// A text message or an e-mail to send, to a patient or to an address.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// `sms` or `email`.
    #[schema(value_type = String)]
    pub channel: Channel,
    /// A patient in the FHIR data, whose phone number or address the message is sent to. Alternative to `to`.
    pub patient_id: Option<String>,
    /// A phone number for `sms`, an e-mail address for `email`.
    pub to: Option<String>,
    /// Only for `email`.
    pub subject: Option<String>,
    pub body: String,
}
