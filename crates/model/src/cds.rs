//! What is sent to the EHR of a CDS Hooks sandbox (CDS Hooks 2.0).

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::Timestamp;

/// Services of another server, or one that the sender plays itself: one of the two.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCdsService {
    /// Where `/cds-services` hangs below; the operator of this server must allow the host.
    pub base_url: Option<String>,
    /// How long an answer of that server may take, 1 to 60.
    pub timeout_seconds: Option<i64>,
    /// A service of one's own, as it would stand in the answer to a discovery: `{"hook", "id", "description", …}`. Hooks that
    /// it takes wait until they are answered over this API.
    #[schema(value_type = Option<Object>)]
    pub service: Option<Value>,
}

/// What happens in the EHR.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FiredHook {
    /// What the hook's definition asks for: `{"userId", "patientId", …}`.
    #[schema(value_type = Object)]
    pub context: Value,
    /// Only this service, by its id at `cds/services`.
    pub service: Option<String>,
}

/// A CDS service's answer to a hook.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CdsAnswer {
    /// Empty when there is nothing to say.
    #[schema(value_type = Vec<Object>)]
    pub cards: Value,
    #[serde(rename = "systemActions")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub system_actions: Option<Value>,
    #[schema(value_type = Option<Object>)]
    pub extension: Option<Value>,
}

impl CdsAnswer {
    /// As a service would have sent it.
    pub fn into_json(self) -> Value {
        let members =
            [("cards", Some(self.cards)), ("systemActions", self.system_actions), ("extension", self.extension)];
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// A suggestion that the user takes.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptedSuggestion {
    /// The `uuid` of the suggestion.
    pub suggestion: String,
}

/// What users did with cards.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCdsFeedback {
    pub feedback: Vec<CardFeedback>,
}

/// What a user did with a card.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CardFeedback {
    /// The `uuid` of the card.
    pub card: String,
    /// `accepted` or `overridden`.
    pub outcome: String,
    /// `[{"id": uuid of the suggestion}]`, of a card that was accepted.
    pub accepted_suggestions: Option<Vec<SuggestionId>>,
    pub override_reason: Option<OverrideReason>,
    /// Now, when it is left out.
    pub outcome_timestamp: Option<Timestamp>,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestionId {
    pub id: String,
}

/// Why a card was overridden: one of the reasons that it offers, or the user's own words.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OverrideReason {
    /// A Coding.
    #[schema(value_type = Option<Object>)]
    pub reason: Option<Value>,
    pub user_comment: Option<String>,
}
