//! OpenAPI schemas of the CDS Hooks endpoints.

use model::Timestamp;
use utoipa::ToSchema;

/// A CDS service that the EHR knows.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a row")]
pub(super) struct CdsService {
    id: String,
    /// The server where it was discovered; null for a service that the agent plays or the config responds for.
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

/// The registered services.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a response")]
pub(super) struct RegisteredServices {
    services: Vec<CdsService>,
}

/// One invocation of a service by a hook.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a row")]
pub(super) struct Invocation {
    id: String,
    hook: String,
    /// The `hookInstance`, which is the same for all services.
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
    /// The request to the service, without authorization. After the response, `prefetch` only names what was sent.
    #[schema(value_type = Object)]
    request: serde_json::Value,
    /// The cards of the response.
    #[schema(value_type = Option<Vec<Object>>)]
    cards: Option<Vec<serde_json::Value>>,
    /// Actions that the service wants to apply without asking. They are stored but not applied.
    #[schema(value_type = Option<Vec<Object>>)]
    system_actions: Option<Vec<serde_json::Value>>,
    /// `{message, details?}` of a failed invocation; `details` lists the paths of a response that break a rule.
    #[schema(value_type = Option<Object>)]
    error: Option<serde_json::Value>,
    fired_at: Timestamp,
    answered_at: Option<Timestamp>,
}

/// The responses of all services to a hook.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a response")]
pub(super) struct FiredHookAnswer {
    hook: String,
    hook_instance: String,
    /// All cards that the services returned.
    #[schema(value_type = Vec<Object>)]
    cards: Vec<serde_json::Value>,
    invocations: Vec<Invocation>,
}

/// What a user did with a card.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only documents the fields of a row")]
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
    /// `[{type, resource}]`: the changes that accepting a suggestion made.
    #[schema(value_type = Option<Vec<Object>>)]
    applied: Option<serde_json::Value>,
    /// `{status, error}`: whether the service was notified: `sent`, `failed`, or `none` if there is nobody to notify.
    #[schema(value_type = Object)]
    delivery: serde_json::Value,
    /// The same for all feedback of one request.
    #[schema(rename = "request_id")]
    request_id: String,
}

/// The stored feedback.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a response")]
pub(super) struct KeptFeedbackList {
    feedback: Vec<KeptFeedback>,
}
