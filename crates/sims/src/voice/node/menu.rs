//! The node that lets the caller choose an option, by speech or keys.

use std::collections::BTreeMap;

use model::FieldErrors;
use model::reading::shortened;
use serde::Deserialize;

use super::rules::{MAX_PROMPT_LENGTH, check_phrases, check_retry_policy};
use crate::authored::{Authored, text};

/// Lets the caller choose an option, by speech or keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Menu {
    pub prompt: String,
    pub options: Vec<MenuOption>,
    /// Where the call continues if the caller chooses nothing. Without it, the line hangs up.
    pub otherwise: Option<String>,
    pub retries: Option<i64>,
    pub timeout_seconds: Option<i64>,
    pub barge_in: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MenuOption {
    pub dtmf: Option<String>,
    #[serde(default)]
    pub phrases: Vec<String>,
    pub next: String,
}

impl Authored for Menu {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, MAX_PROMPT_LENGTH);
        check_retry_policy(errors, self.retries, self.timeout_seconds);
        if self.options.is_empty() {
            errors.add("options", "must not be empty");
        }
        errors.each("options", &self.options, 20, |option, errors| {
            option.validate(errors);
        });
        if errors.is_empty() {
            self.check_unique_options(errors);
        }
    }
}

impl Menu {
    fn check_unique_options(&self, errors: &mut FieldErrors) {
        let mut seen = BTreeMap::new();
        for (index, option) in self.options.iter().enumerate() {
            let phrases = option.phrases.iter().map(|phrase| phrase.trim().to_lowercase());
            for choice in phrases.chain(option.dtmf.clone()) {
                match seen.insert(choice.clone(), index) {
                    Some(earlier) if earlier != index => {
                        let message = format!("`{}` also chooses options.{earlier}", shortened(&choice, 60));
                        errors.add(format!("options.{index}"), message);
                    }
                    _ => {}
                }
            }
        }
    }
}

impl MenuOption {
    fn validate(&self, errors: &mut FieldErrors) {
        if self.dtmf.is_none() && self.phrases.is_empty() {
            errors.add("", "must have `dtmf` or `phrases`");
        }
        if self.dtmf.as_deref().is_some_and(|key| key.len() != 1 || !key.contains(|c: char| "0123456789*#".contains(c)))
        {
            errors.add("dtmf", "must be one key: 0 to 9, * or #");
        }
        check_phrases(errors, &self.phrases);
    }
}
