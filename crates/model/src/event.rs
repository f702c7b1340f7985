//! Events: the log of everything that happened in a sandbox.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{EventId, SandboxId, Timestamp};

macro_rules! event_types {
    ($($name:ident = $text:literal,)*) => {
        /// The kind of interaction that an event records.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum EventType { $($name,)* }

        impl EventType {
            pub const ALL: &[EventType] = &[$(EventType::$name,)*];

            pub fn name(self) -> &'static str {
                match self { $(EventType::$name => $text,)* }
            }
        }
    };
}

event_types! {
    FhirRequest = "fhir_request",
    Hl7Inbound = "hl7_inbound",
    Hl7Outbound = "hl7_outbound",
    X12Request = "x12_request",
    X12Response = "x12_response",
    FileRead = "file_read",
    FileWrite = "file_write",
    FileDelete = "file_delete",
    PortalLogin = "portal_login",
    PortalView = "portal_view",
    PortalSearch = "portal_search",
    PortalSubmit = "portal_submit",
    PortalDetermination = "portal_determination",
    VoiceTurn = "voice_turn",
    VoiceRead = "voice_read",
    FaxInbound = "fax_inbound",
    FaxOutbound = "fax_outbound",
    FaxStatus = "fax_status",
    FaxRead = "fax_read",
    MessageInbound = "message_inbound",
    MessageOutbound = "message_outbound",
    MessageRead = "message_read",
    CdsInvoke = "cds_invoke",
    CdsFeedback = "cds_feedback",
    CdsRead = "cds_read",
    AuthToken = "auth_token",
    ScenarioStep = "scenario_step",
    Reset = "reset",
}

impl std::str::FromStr for EventType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().copied().find(|known| known.name() == text);
        known.ok_or_else(|| "is not an event type; see the documentation for the list of types".to_owned())
    }
}

/// One entry of a sandbox's event log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    pub id: EventId,
    pub sandbox_id: SandboxId,
    /// Its sequence number in the playground's log. The numbers of one sandbox can have gaps.
    pub seq: i64,
    pub r#type: EventType,
    pub at: Timestamp,
    /// Who did it.
    pub actor: String,
    /// A one-line summary.
    pub summary: String,
    /// The request and the response; the format depends on the event type.
    #[schema(value_type = Object)]
    pub payload: Value,
}

/// Payload member of every scheduled event, `{"settled": bool}`. Only the scheduler of the simulators writes it, and no
/// simulator copies a client's members to the top level of a payload, so clients cannot forge it.
pub const SYSTEM_MARK: &str = "system";
/// The actor of events that are delayed consequences of the agent's actions.
pub const SYSTEM_ACTOR: &str = "system";

impl Event {
    /// Whether the event was scheduled (a fax delivered later, a delayed determination, a delayed reply). Such an event
    /// and its changes do not come from a request. Scenario events have their own mark.
    pub fn is_system(&self) -> bool {
        self.payload.get(SYSTEM_MARK).is_some_and(Value::is_object)
    }

    /// Whether the event happened after the task was completed, when pending events were settled on the virtual clock.
    pub fn is_settled(&self) -> bool {
        self.payload.get(SYSTEM_MARK).and_then(|mark| mark.get("settled")) == Some(&Value::Bool(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_the_serialized_form() {
        for event_type in EventType::ALL {
            assert_eq!(serde_json::to_value(event_type).unwrap(), event_type.name());
            assert_eq!(event_type.name().parse(), Ok(*event_type));
        }
        assert!("fhir".parse::<EventType>().is_err());
    }
}
