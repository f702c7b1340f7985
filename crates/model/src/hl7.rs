//! What clients of an HL7 v2 interface read and write over HTTP.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{EventId, Timestamp};

/// A message that arrived for the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InboxMessage {
    #[schema(example = "hl7_01K9Z3T5Q8W7N4M2R6V0XBHCDE")]
    pub id: String,
    /// Message type and trigger event.
    #[schema(example = "ORU^R01")]
    pub message_type: String,
    /// MSH-10.
    #[schema(example = "LAB0001")]
    pub control_id: String,
    pub received_at: Timestamp,
    /// The message as it was sent: segments end with a carriage return.
    pub payload: String,
    pub read: bool,
}

/// What can be changed of a message in the inbox.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InboxPatch {
    pub read: bool,
}

/// A message, several messages or a batch, to be sent.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OutboundMessage {
    /// Segments end with a carriage return; line feeds are taken for it.
    #[schema(
        example = "MSH|^~\\&|EHR|CLINIC|LAB|HOSP|20260401120000||ADT^A08|12345|P|2.5.1\rEVN||20260401120000\rPID|1||77^^^MRN||Doe^Ann\rPV1|1|O"
    )]
    pub payload: String,
}

/// What the interface answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutboundAnswer {
    /// The acknowledgement; of a batch, the batch of all of them. Null when MSH-15 and MSH-16 ask for none.
    #[schema(
        example = "MSH|^~\\&|LAB|HOSP|EHR|CLINIC|20260401120001+0000||ACK^A08^ACK|5Q8W7N4M2R6V0XBHCDE1|P|2.5.1\rMSA|AA|12345\r"
    )]
    pub ack: Option<String>,
    /// MSA-1: AA, AE or AR, in enhanced mode also CA, CE or CR; of several messages the first that is not an acceptance.
    #[schema(example = "AA")]
    pub ack_code: Option<String>,
    /// MSH-10 of the message, or BHS-11 of the batch.
    #[schema(example = "12345")]
    pub control_id: String,
    /// The event that tells of it; of several messages, of the first.
    pub event_id: EventId,
    /// One for each message, in order.
    pub messages: Vec<AnsweredMessage>,
}

/// One message and its acknowledgements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AnsweredMessage {
    pub control_id: String,
    /// The last of `acks` says it.
    pub ack_code: Option<String>,
    /// In the order in which they are due: in enhanced mode there may be two.
    pub acks: Vec<String>,
    pub event_id: EventId,
    /// Whether the same message was sent before: then the acknowledgement is that of the first time.
    pub resend: bool,
}
