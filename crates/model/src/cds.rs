//! What is sent to the EHR of a CDS Hooks sandbox (CDS Hooks 2.0).

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{FieldErrors, Timestamp};

/// Services of another server, or one that the sender plays itself: one of the three.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCdsService {
    /// Where `/cds-services` hangs below; the operator of this server must allow the host.
    pub base_url: Option<String>,
    /// The address of that server's discovery endpoint, instead of `base_url`: it ends in `/cds-services`.
    pub discovery_url: Option<String>,
    /// How long an answer of that server may take, 1 to 60.
    pub timeout_seconds: Option<i64>,
    /// A service of one's own, as it would stand in the answer to a discovery: `{"hook", "id", "description", …}`. Hooks that
    /// it takes wait until they are answered over this API.
    #[schema(value_type = Option<Object>)]
    pub service: Option<Value>,
}

/// What happens in the EHR: with a `context`, or with the members of the context in snake_case.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FiredHook {
    /// What the hook's definition asks for: `{"userId", "patientId", …}`.
    #[schema(value_type = Option<Object>)]
    pub context: Option<Value>,
    /// Only this service, by its id at `cds/services`.
    pub service: Option<String>,
    /// Without it, `Practitioner/ehr-user`.
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

/// The user of the EHR in a flat body that names none.
const EHR_USER: &str = "Practitioner/ehr-user";

impl FiredHook {
    /// Whether the members of the context stand in the body itself.
    pub fn is_flat(&self) -> bool {
        self.context.is_none()
    }

    /// The context as CDS Hooks has it, and the service that is meant.
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

    /// The faults of a context under the names that its members have in a flat body.
    pub fn flat_faults(faults: &FieldErrors) -> FieldErrors {
        let mut errors = FieldErrors::new();
        for (place, messages) in faults.iter() {
            let inside = place.strip_prefix("context.").unwrap_or(place);
            let (member, rest) = inside.split_at(inside.find('.').unwrap_or(inside.len()));
            for message in messages {
                errors.add(format!("{}{rest}", snake_case(member)), message.clone());
            }
        }
        errors
    }
}

/// `patient_id` as `patientId`.
fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (start, rest) = part.split_at(part.len().min(1));
        name + &start.to_ascii_uppercase() + rest
    })
}

/// `patientId` as `patient_id`.
fn snake_case(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, letter| {
        if letter.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
        text
    })
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

/// What users did with cards: a list as CDS Hooks has it, or one card with `card_id` and `outcome`.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCdsFeedback {
    pub feedback: Option<Vec<CardFeedback>>,
    /// The `uuid` of the one card.
    pub card_id: Option<String>,
    /// Another name of `card_id`.
    pub card: Option<String>,
    /// `accepted`, `overridden` or `ignored`.
    pub outcome: Option<String>,
    /// The `uuid`s of the suggestions that were accepted.
    pub accepted_suggestions: Option<Vec<String>>,
    /// Why the card was overridden, in the user's own words.
    pub reason: Option<String>,
}

impl NewCdsFeedback {
    /// The entries as CDS Hooks has them.
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

/// What a user did with a card.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CardFeedback {
    /// The `uuid` of the card.
    pub card: String,
    /// `accepted`, `overridden`, or `ignored`, which is stored and not sent to the service: CDS Hooks does not define it.
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
