//! What the EHR shows, for the document.

use model::Timestamp;
use utoipa::ToSchema;

/// A CDS service that the EHR knows.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what rows have")]
pub(super) struct CdsService {
    id: String,
    /// Of the server where it was discovered; null of a service that the agent plays or the config answers for.
    base_url: Option<String>,
    /// `agent`, `service` or `config`.
    answered_by: String,
    /// `config` or `agent`.
    registered_by: String,
    /// As CDS Hooks describes services: `hook`, `id`, `title`, `description`, `prefetch`, `usageRequirements`.
    #[schema(value_type = Object)]
    definition: serde_json::Value,
    registered_at: Timestamp,
}

/// What was registered.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what answers have")]
pub(super) struct RegisteredServices {
    services: Vec<CdsService>,
}

/// A hook at one service.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what rows have")]
pub(super) struct Invocation {
    id: String,
    hook: String,
    /// The `hookInstance` that all services share.
    hook_instance: String,
    /// The service's id at `cds/services`.
    service: String,
    /// The service's own id.
    service_id: String,
    /// `agent` or `service`.
    answered_by: String,
    /// `agent` or `scenario`.
    fired_by: String,
    /// `pending`, `answered` or `failed`.
    status: String,
    /// What the service is sent, without authorization. Of one that is not pending, `prefetch` only says what was sent.
    #[schema(value_type = Object)]
    request: serde_json::Value,
    /// The cards of an answer.
    #[schema(value_type = Option<Vec<Object>>)]
    cards: Option<Vec<serde_json::Value>>,
    /// Actions that the service would have done without asking. They are kept and not done.
    #[schema(value_type = Option<Vec<Object>>)]
    system_actions: Option<Vec<serde_json::Value>>,
    /// `{message, details?}` of one that failed; details name the places of an answer that breaks a rule.
    #[schema(value_type = Option<Object>)]
    error: Option<serde_json::Value>,
    fired_at: Timestamp,
    answered_at: Option<Timestamp>,
}

/// What the services made of a hook.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what answers have")]
pub(super) struct FiredHookAnswer {
    hook: String,
    hook_instance: String,
    /// All cards that were answered.
    #[schema(value_type = Vec<Object>)]
    cards: Vec<serde_json::Value>,
    invocations: Vec<Invocation>,
}

/// What a user did with a card.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "documentation: the members are what rows have")]
pub(super) struct KeptFeedback {
    id: String,
    #[schema(rename = "invocation_id")]
    invocation_id: String,
    hook: String,
    /// The service's own id.
    #[schema(rename = "service_id")]
    service_id: String,
    card: String,
    /// `accepted`, `overridden` or `ignored`.
    outcome: String,
    #[schema(value_type = Vec<Object>, required = false)]
    accepted_suggestions: serde_json::Value,
    #[schema(value_type = Object, required = false)]
    override_reason: serde_json::Value,
    outcome_timestamp: String,
    /// `[{type, resource}]`: what accepting a suggestion did to the record.
    #[schema(value_type = Option<Vec<Object>>)]
    applied: Option<serde_json::Value>,
    /// `{status, error}`: whether the service heard of it: `sent`, `failed`, or `none` when nobody was to be told.
    #[schema(value_type = Object)]
    delivery: serde_json::Value,
    /// The same of all feedback that came together.
    #[schema(rename = "request_id")]
    request_id: String,
}

/// What was kept.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what answers have")]
pub(super) struct KeptFeedbackList {
    feedback: Vec<KeptFeedback>,
}
