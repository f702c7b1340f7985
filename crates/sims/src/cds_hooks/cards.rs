//! Validation of service responses (CDS Hooks 2.0, "CDS Service Response"). Errors are named like `cards.0.summary`.

use model::FieldErrors;
use serde_json::Value;

use super::actions::check_action;
use super::json_object::{JsonObject, UnknownMembers, list};

/// Limits of one response.
const MAX_CARDS: usize = 100;
const MAX_ITEMS: usize = 50;
/// "One-sentence, <140-character summary".
const MAX_SUMMARY_LENGTH: usize = 139;

const RESPONSE: [&str; 3] = ["cards", "systemActions", "extension"];
const CARD: [&str; 11] = [
    "uuid",
    "summary",
    "detail",
    "indicator",
    "source",
    "suggestions",
    "selectionBehavior",
    "overrideReasons",
    "links",
    "extension",
    "resourceType",
];
const SOURCE: [&str; 5] = ["label", "url", "icon", "topic", "extension"];
const SUGGESTION: [&str; 6] = ["label", "uuid", "isRecommended", "actions", "actionSelectionBehavior", "extension"];
const LINK: [&str; 7] = ["label", "url", "type", "appContext", "autolaunchable", "autoLaunchable", "extension"];
const CODING: [&str; 5] = ["code", "system", "display", "version", "extension"];

/// Validates a response. Unknown members are rejected in responses of the agent, and ignored in those of other services.
pub fn check(answer: &Value, unknown: UnknownMembers) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::new();
    let Some(response) = JsonObject::of(&mut errors, answer, &RESPONSE, unknown) else { return Err(errors) };
    if response.get("cards").is_none() {
        errors.add("cards", "is required");
    }
    list(&mut errors, &response, "cards", MAX_CARDS, |errors, card| check_card(errors, card, unknown));
    list(&mut errors, &response, "systemActions", MAX_ITEMS, |errors, action| {
        check_action(errors, action, false, unknown)
    });
    if errors.is_empty() {
        check_unique_uuids(&mut errors, answer);
    }
    errors.into_result()
}

fn check_card(errors: &mut FieldErrors, card: &Value, unknown: UnknownMembers) {
    let Some(card) = JsonObject::of(errors, card, &CARD, unknown) else { return };
    card.optional_name(errors, "uuid");
    card.required_text(errors, "summary", MAX_SUMMARY_LENGTH);
    card.optional_text(errors, "detail", 100_000);
    card.one_of(errors, "indicator", &["info", "warning", "critical"], true);
    match card.get("source") {
        None => errors.add("source", "is required"),
        Some(source) => errors.inside("source", |errors| check_source(errors, source, unknown)),
    }
    card.one_of(errors, "selectionBehavior", &["at-most-one", "any"], false);
    list(errors, &card, "suggestions", MAX_ITEMS, |errors, suggestion| check_suggestion(errors, suggestion, unknown));
    list(errors, &card, "overrideReasons", MAX_ITEMS, |errors, reason| check_coding(errors, reason, unknown));
    list(errors, &card, "links", MAX_ITEMS, |errors, link| check_link(errors, link, unknown));
    check_selection(errors, &card);
}

/// "If suggestions are present, selectionBehavior MUST also be provided". With `at-most-one`, only one suggestion may be
/// recommended.
fn check_selection(errors: &mut FieldErrors, card: &JsonObject<'_>) {
    let suggestions = card.get("suggestions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if !suggestions.is_empty() && card.get("selectionBehavior").is_none() {
        errors.add("selectionBehavior", "is required with suggestions and must be `at-most-one` or `any`");
    }
    let recommended = suggestions.iter().filter(|suggestion| suggestion["isRecommended"] == true).count();
    let at_most_one = card.get("selectionBehavior").is_some_and(|behavior| behavior == "at-most-one");
    if at_most_one && recommended > 1 {
        errors
            .add("suggestions", "must have at most one recommended suggestion if `selectionBehavior` is `at-most-one`");
    }
}

fn check_source(errors: &mut FieldErrors, source: &Value, unknown: UnknownMembers) {
    let Some(source) = JsonObject::of(errors, source, &SOURCE, unknown) else { return };
    source.required_text(errors, "label", 1000);
    source.url(errors, "url", false);
    source.url(errors, "icon", false);
    if let Some(topic) = source.get("topic") {
        errors.inside("topic", |errors| check_coding(errors, topic, unknown));
    }
}

fn check_suggestion(errors: &mut FieldErrors, suggestion: &Value, unknown: UnknownMembers) {
    let Some(suggestion) = JsonObject::of(errors, suggestion, &SUGGESTION, unknown) else { return };
    suggestion.required_text(errors, "label", 1000);
    suggestion.optional_name(errors, "uuid");
    suggestion.boolean(errors, "isRecommended");
    list(errors, &suggestion, "actions", MAX_ITEMS, |errors, action| check_action(errors, action, true, unknown));
}

/// "Implementations are required to only respect the code property."
pub(super) fn check_coding(errors: &mut FieldErrors, coding: &Value, unknown: UnknownMembers) {
    let Some(coding) = JsonObject::of(errors, coding, &CODING, unknown) else { return };
    coding.required_text(errors, "code", 1000);
    coding.optional_text(errors, "system", 2000);
    coding.optional_text(errors, "display", 1000);
}

fn check_link(errors: &mut FieldErrors, link: &Value, unknown: UnknownMembers) {
    let Some(link) = JsonObject::of(errors, link, &LINK, unknown) else { return };
    link.required_text(errors, "label", 1000);
    link.url(errors, "url", true);
    link.one_of(errors, "type", &["absolute", "smart"], true);
    link.optional_text(errors, "appContext", 10_000);
    link.boolean(errors, "autolaunchable");
    if link.get("appContext").is_some() && link.get("type").is_some_and(|kind| kind == "absolute") {
        errors.add("appContext", "is only allowed for links of type `smart`");
    }
}

/// Feedback refers to cards and suggestions by uuid, which must therefore be unique.
fn check_unique_uuids(errors: &mut FieldErrors, answer: &Value) {
    let mut seen = std::collections::BTreeMap::new();
    let mut check = |errors: &mut FieldErrors, uuid: &Value, field: String| {
        let Some(uuid) = uuid.as_str() else { return };
        if let Some(earlier) = seen.insert(uuid.to_owned(), field.clone()) {
            errors.add(field, format!("is the same as {earlier}"));
        }
    };
    for (index, card) in answer["cards"].as_array().into_iter().flatten().enumerate() {
        check(errors, &card["uuid"], format!("cards.{index}.uuid"));
        for (number, suggestion) in card["suggestions"].as_array().into_iter().flatten().enumerate() {
            check(errors, &suggestion["uuid"], format!("cards.{index}.suggestions.{number}.uuid"));
        }
    }
}

#[cfg(test)]
#[path = "cards_tests.rs"]
mod tests;
