//! Events: everything that happened in a sandbox, in order.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{EventId, SandboxId, Timestamp};

macro_rules! event_types {
    ($($name:ident = $text:literal,)*) => {
        /// What kind of interaction an event records.
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
        let known = Self::ALL.iter().copied().find(|kind| kind.name() == text);
        known.ok_or_else(|| "is not a type of event; see the documentation for their list".to_owned())
    }
}

/// One entry of a sandbox's log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    pub id: EventId,
    pub sandbox_id: SandboxId,
    /// Its place in the playground's log; the log of one sandbox may have gaps.
    pub seq: i64,
    pub r#type: EventType,
    pub at: Timestamp,
    /// Who did it.
    pub actor: String,
    /// One line for people.
    pub summary: String,
    /// What came in and what went out, by type.
    #[schema(value_type = Object)]
    pub payload: Value,
}

/// Member of the payload of every event that became due by itself: `{"settled": bool}`. Only the scheduler of the
/// simulators writes it, and no simulator copies a client's members to the top of a payload, so no client can forge it.
pub const SYSTEM_MARK: &str = "system";
/// The actor of what the agent's earlier acts led to.
pub const SYSTEM_ACTOR: &str = "system";

impl Event {
    /// Whether this became due by itself (a fax that was delivered later, a delayed determination, a delayed reply). The
    /// event and the changes at its place in the log are nobody's request. Events of scenarios have a mark of their own.
    pub fn is_system(&self) -> bool {
        self.payload.get(SYSTEM_MARK).is_some_and(Value::is_object)
    }

    /// Whether this was settled after the task was completed, on the virtual clock.
    pub fn is_settled(&self) -> bool {
        self.payload.get(SYSTEM_MARK).and_then(|mark| mark.get("settled")) == Some(&Value::Bool(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_everywhere() {
        for kind in EventType::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(kind.name().parse(), Ok(*kind));
        }
        assert!("fhir".parse::<EventType>().is_err());
    }
}
