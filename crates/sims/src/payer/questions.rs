//! The clinical questions of a request: authored ones, or the defaults of the portal's kind.

use model::FieldErrors;
use serde::{Deserialize, Serialize};

use crate::authored;

use super::config::{PayerConfig, Portal};

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The member of the request's `answers`.
    pub id: String,
    pub text: String,
    #[serde(default)]
    pub kind: QuestionKind,
    pub help: Option<String>,
    /// The possible answers of a `choice`.
    #[serde(default)]
    pub choices: Vec<String>,
    #[serde(default)]
    pub required: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    YesNo,
    Choice,
    #[default]
    Text,
    Number,
    Date,
}

const MAX_QUESTIONS: usize = 50;
const MAX_CHOICES: usize = 50;

pub(super) fn validate(questions: &[Question], errors: &mut FieldErrors) {
    errors.each("questions", questions, MAX_QUESTIONS, Question::validate);
    if questions.len() <= MAX_QUESTIONS {
        authored::check_unique(errors, "questions", "id", questions.iter().map(|question| &question.id));
    }
}

impl Question {
    fn validate(&self, errors: &mut FieldErrors) {
        errors.length("id", &self.id, 1..=60);
        if !self.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
            errors.add("id", "must be lower case letters, digits and `_`");
        }
        authored::text(errors, "text", &self.text, 500);
        authored::optional_text(errors, "help", self.help.as_ref(), 500);
        errors.each("choices", &self.choices, MAX_CHOICES, |choice, errors| errors.name("", choice));
        let has_choices = !self.choices.is_empty();
        if has_choices != (self.kind == QuestionKind::Choice) {
            errors.add("choices", "must be given if, and only if, the kind is `choice`");
        }
    }
}

/// The questions of the configured portal.
pub fn portal_questions(config: &PayerConfig) -> Vec<Question> {
    match &config.questions {
        Some(questions) => questions.clone(),
        None => match config.portal {
            Portal::Radmd => imaging(),
            Portal::Covermymeds => pharmacy(),
        },
    }
}

fn imaging() -> Vec<Question> {
    vec![
        question("symptom_onset_date", "When did the symptoms begin?", QuestionKind::Date, "An estimate is enough."),
        question(
            "conservative_treatment",
            "Has the patient completed at least six weeks of conservative treatment?",
            QuestionKind::YesNo,
            "For example physical therapy, medication or activity changes.",
        ),
        question(
            "prior_imaging",
            "Was this area imaged in the last twelve months?",
            QuestionKind::YesNo,
            "Any modality: X-ray, ultrasound, CT or MRI.",
        ),
        question(
            "red_flags",
            "Are there red flags?",
            QuestionKind::YesNo,
            "Neurological deficit, suspected cancer, infection or recent trauma.",
        ),
    ]
}

fn pharmacy() -> Vec<Question> {
    vec![
        question(
            "tried_alternatives",
            "Has the patient tried a formulary alternative?",
            QuestionKind::YesNo,
            "The formulary page lists alternatives.",
        ),
        question(
            "alternatives_and_outcome",
            "Which ones, and with what outcome?",
            QuestionKind::Text,
            "Drug, dates and why it was stopped.",
        ),
        question("quantity", "Quantity per fill", QuestionKind::Number, "Units: tablets, millilitres or pens."),
        question("days_supply", "Days of supply", QuestionKind::Number, "Usually 30 or 90."),
    ]
}

fn question(id: &str, text: &str, kind: QuestionKind, help: &str) -> Question {
    let (id, text, help) = (id.to_owned(), text.to_owned(), Some(help.to_owned()));
    Question { id, text, kind, help, choices: Vec::new(), required: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn questions_are_validated() {
        for (questions, field) in [
            (json!([{"id": "pain", "text": "Pain?", "kind": "choice", "choices": ["mild", "severe"]}]), ""),
            (json!([{"id": "a", "text": "A"}, {"id": "a", "text": "B"}]), "questions.1.id"),
            (json!([{"id": "A b", "text": "A"}]), "questions.0.id"),
            (json!([{"id": "a", "text": "A", "kind": "choice"}]), "questions.0.choices"),
            (json!([{"id": "a", "text": "A", "choices": ["x"]}]), "questions.0.choices"),
            (json!([{"id": "a", "text": " "}]), "questions.0.text"),
        ] {
            let errors = authored::check::<PayerConfig>(&json!({"questions": questions})).err().unwrap_or_default();
            let found: Vec<&str> = errors.iter().map(|(name, _)| name).collect();
            assert_eq!(found.join(" "), field, "{errors}");
        }
        for portal in ["radmd", "covermymeds"] {
            let config = PayerConfig::of(&json!({"portal": portal}));
            let mut errors = FieldErrors::new();
            validate(&portal_questions(&config), &mut errors);
            assert!(errors.is_empty() && !portal_questions(&config).is_empty(), "{errors}");
        }
    }
}
