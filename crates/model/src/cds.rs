//! Request bodies of the CDS Hooks sandbox, which simulates an EHR (CDS Hooks 2.0).

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{FieldErrors, Timestamp};

/// Services to register: those of another server (`base_url` or `discovery_url`), or one that the caller plays itself
/// (`service`). Exactly one of the three is required.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCdsService {
    /// The address below which `/cds-services` is found. The operator of this server must allow the host.
    pub base_url: Option<String>,
    /// The address of the discovery endpoint, instead of `base_url`. It ends in `/cds-services`.
    pub discovery_url: Option<String>,
    /// Response timeout of that server, 1 to 60 seconds.
    pub timeout_seconds: Option<i64>,
    /// A service that the caller plays, as in a discovery response: `{"hook", "id", "description", …}`. Its hook
    /// invocations wait until they are answered through this API.
    #[schema(value_type = Option<Object>)]
    pub service: Option<Value>,
}

/// A hook to fire in the EHR, with a `context` or with the members of the context in snake_case.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FiredHook {
    /// The context that the hook requires: `{"userId", "patientId", …}`.
    #[schema(value_type = Option<Object>)]
    pub context: Option<Value>,
    /// Invoke only the service with this id, as listed by `cds/services`.
    pub service: Option<String>,
    /// Default: `Practitioner/ehr-user`.
    pub user_id: Option<String>,
    pub patient_id: Option<String>,
    pub encounter_id: Option<String>,
    pub selections: Option<Vec<String>>,
    /// A Bundle.
    #[schema(value_type = Option<Object>)]
    pub draft_orders: Option<Value>,
    pub order: Option<String>,
    pub performer: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub task: Option<Value>,
    /// A Bundle.
    #[schema(value_type = Option<Object>)]
    pub appointments: Option<Value>,
    #[schema(value_type = Option<Object>)]
    pub allergy_intolerance: Option<Value>,
    /// A Bundle.
    #[schema(value_type = Option<Object>)]
    pub conditions: Option<Value>,
    /// A Bundle, or a list.
    #[schema(value_type = Option<Object>)]
    pub medications: Option<Value>,
}

/// The default user of the EHR in a flat body.
const EHR_USER: &str = "Practitioner/ehr-user";

impl FiredHook {
    /// Whether the members of the context are in the body itself.
    pub fn is_flat(&self) -> bool {
        self.context.is_none()
    }

    /// The context in the format of CDS Hooks, and the selected service.
    pub fn into_context(self) -> Result<(Value, Option<String>), FieldErrors> {
        let flat = [
            ("user_id", self.user_id.map(Value::from)),
            ("patient_id", self.patient_id.map(Value::from)),
            ("encounter_id", self.encounter_id.map(Value::from)),
            ("selections", self.selections.map(Value::from)),
            ("draft_orders", self.draft_orders),
            ("order", self.order.map(Value::from)),
            ("performer", self.performer.map(Value::from)),
            ("task", self.task),
            ("appointments", self.appointments),
            ("allergy_intolerance", self.allergy_intolerance),
            ("conditions", self.conditions),
            ("medications", self.medications),
        ];
        let given: Vec<(&str, Value)> = flat.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let mut errors = FieldErrors::new();
        match self.context {
            Some(context) => {
                for (name, _) in given {
                    errors.add(name, "cannot be combined with `context`: write it inside");
                }
                errors.into_result()?;
                Ok((context, self.service))
            }
            None if given.is_empty() => {
                errors.add("context", "is required, or its members as `patient_id`, `user_id` and so on");
                Err(errors)
            }
            None => {
                let mut context: Map<String, Value> =
                    given.into_iter().map(|(name, value)| (camel_case(name), value)).collect();
                context.entry("userId").or_insert_with(|| EHR_USER.into());
                Ok((Value::Object(context), self.service))
            }
        }
    }

    /// Renames the errors of a context to the member names of a flat body.
    pub fn flat_faults(faults: &FieldErrors) -> FieldErrors {
        let mut errors = FieldErrors::new();
        for (field, messages) in faults.iter() {
            let path = field.strip_prefix("context.").unwrap_or(field);
            let (member, rest) = path.split_at(path.find('.').unwrap_or(path.len()));
            for message in messages {
                errors.add(format!("{}{rest}", snake_case(member)), message.clone());
            }
        }
        errors
    }
}

/// Converts `patient_id` to `patientId`.
fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (start, rest) = part.split_at(part.len().min(1));
        name + &start.to_ascii_uppercase() + rest
    })
}

/// Converts `patientId` to `patient_id`.
fn snake_case(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, c| {
        if c.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
        text
    })
}

/// The response of a CDS service to a hook.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CdsAnswer {
    /// Empty if the service has no advice.
    #[schema(value_type = Vec<Object>)]
    pub cards: Value,
    #[serde(rename = "systemActions")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub system_actions: Option<Value>,
    #[schema(value_type = Option<Object>)]
    pub extension: Option<Value>,
}

impl CdsAnswer {
    /// The response body that a CDS service would send.
    pub fn into_json(self) -> Value {
        let members =
            [("cards", Some(self.cards)), ("systemActions", self.system_actions), ("extension", self.extension)];
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// A suggestion that the user accepts.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptedSuggestion {
    /// The `uuid` of the suggestion.
    pub suggestion: String,
}

/// Feedback on cards: a list in the format of CDS Hooks, or one card with `card_id` and `outcome`.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCdsFeedback {
    pub feedback: Option<Vec<CardFeedback>>,
    /// The `uuid` of the card.
    pub card_id: Option<String>,
    /// Alias of `card_id`.
    pub card: Option<String>,
    /// `accepted`, `overridden` or `ignored`.
    pub outcome: Option<String>,
    /// The `uuid`s of the accepted suggestions.
    pub accepted_suggestions: Option<Vec<String>>,
    /// Why the card was overridden, in the user's own words.
    pub reason: Option<String>,
}

impl NewCdsFeedback {
    /// The feedback entries in the format of CDS Hooks.
    pub fn into_entries(self) -> Result<Vec<CardFeedback>, FieldErrors> {
        let Self { feedback, card_id, card, outcome, accepted_suggestions, reason } = self;
        let is_flat = [card_id.is_some(), card.is_some(), outcome.is_some()].contains(&true)
            || accepted_suggestions.is_some()
            || reason.is_some();
        match feedback {
            Some(_) if is_flat => Err(FieldErrors::one("feedback", "cannot be combined with the members of one entry")),
            Some(feedback) => Ok(feedback),
            None if !is_flat => Err(FieldErrors::one("feedback", "is required, or `card_id` and `outcome`")),
            None => {
                let mut errors = FieldErrors::new();
                let card = card_id.or(card).unwrap_or_default();
                if card.is_empty() {
                    errors.add("card_id", "is required");
                }
                let outcome = outcome.unwrap_or_default();
                if outcome.is_empty() {
                    errors.add("outcome", "is required");
                }
                errors.into_result()?;
                let suggestions =
                    accepted_suggestions.map(|ids| ids.into_iter().map(|id| SuggestionId { id }).collect());
                let reason = reason.map(|comment| OverrideReason { reason: None, user_comment: Some(comment) });
                Ok(vec![CardFeedback {
                    card,
                    outcome,
                    accepted_suggestions: suggestions,
                    override_reason: reason,
                    outcome_timestamp: None,
                }])
            }
        }
    }
}

/// The feedback on one card.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CardFeedback {
    /// The `uuid` of the card.
    pub card: String,
    /// `accepted`, `overridden` or `ignored`. CDS Hooks does not define `ignored`: it is stored but not sent to the
    /// service.
    pub outcome: String,
    /// `[{"id": uuid of the suggestion}]`, for an accepted card.
    pub accepted_suggestions: Option<Vec<SuggestionId>>,
    pub override_reason: Option<OverrideReason>,
    /// Default: now.
    pub outcome_timestamp: Option<Timestamp>,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestionId {
    pub id: String,
}

/// Why a card was overridden: one of the reasons offered by the card, or the user's own words.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OverrideReason {
    /// A Coding.
    #[schema(value_type = Option<Object>)]
    pub reason: Option<Value>,
    pub user_comment: Option<String>,
}
