//! HTTP request and response bodies of the HL7 v2 sandbox.

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
    /// The message as sent. Segments end with a carriage return.
    pub payload: String,
    pub read: bool,
}

/// A change to a message in the inbox.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InboxPatch {
    pub read: bool,
}

/// A message, several messages or a batch to send.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OutboundMessage {
    /// Segments end with a carriage return or a line feed.
    #[schema(
        example = "MSH|^~\\&|EHR|CLINIC|LAB|HOSP|20260401120000||ADT^A08|12345|P|2.5.1\rEVN||20260401120000\rPID|1||77^^^MRN||Doe^Ann\rPV1|1|O"
    )]
    pub payload: String,
}

/// The response to sent messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutboundAnswer {
    /// The acknowledgement, or for a batch the batch of all acknowledgements. Null if MSH-15 and MSH-16 request none.
    #[schema(
        example = "MSH|^~\\&|LAB|HOSP|EHR|CLINIC|20260401120001+0000||ACK^A08^ACK|5Q8W7N4M2R6V0XBHCDE1|P|2.5.1\rMSA|AA|12345\r"
    )]
    pub ack: Option<String>,
    /// MSA-1: AA, AE or AR, in enhanced mode also CA, CE or CR. For several messages, the first code that is not an
    /// accept.
    #[schema(example = "AA")]
    pub ack_code: Option<String>,
    /// MSH-10 of the message, or BHS-11 of the batch.
    #[schema(example = "12345")]
    pub control_id: String,
    /// The event that records it; for several messages, the event of the first.
    pub event_id: EventId,
    /// One entry for each message, in order.
    pub messages: Vec<AnsweredMessage>,
}

/// One message and its acknowledgements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AnsweredMessage {
    pub control_id: String,
    /// The code of the last of `acks`.
    pub ack_code: Option<String>,
    /// The acknowledgements in order. In enhanced mode there can be two.
    pub acks: Vec<String>,
    pub event_id: EventId,
    /// Whether the same message was sent before. The acknowledgement is then the original one.
    pub resend: bool,
}
