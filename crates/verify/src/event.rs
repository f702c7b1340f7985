//! The types of event that a sandbox logs.

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventType {
    FhirRequest,
    Hl7Inbound,
    Hl7Outbound,
    X12Request,
    X12Response,
    FileRead,
    FileWrite,
    FileDelete,
    PortalLogin,
    PortalView,
    PortalSearch,
    PortalSubmit,
    VoiceTurn,
    FaxInbound,
    FaxOutbound,
    MessageInbound,
    MessageOutbound,
    CdsInvoke,
    CdsFeedback,
    AuthToken,
    ScenarioStep,
}
