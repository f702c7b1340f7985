//! Searches of text for phrases, negations and phone numbers, within the budget of an assertion.

use spoken::{DisguisedText, Hit, Negations};

use crate::budget::Budget;

/// A text that is searched for phrases.
pub(crate) struct SearchableText(spoken::SpokenText);

impl SearchableText {
    pub(crate) fn new(text: &str, budget: &Budget) -> Result<Self, String> {
        budget.spend(6 * text.len() + 1)?;
        Ok(Self(spoken::SpokenText::new(text)))
    }

    /// The first occurrence of the phrase after a word.
    pub(crate) fn find(&self, phrase: &str, after: Option<usize>, budget: &Budget) -> Result<Option<Hit>, String> {
        budget.spend(2 * self.0.length() + 1)?;
        Ok(self.0.find(phrase, after))
    }
}

/// A text that is searched for phrases in look-alike characters. None if the text has no such characters.
pub(crate) struct SearchableDisguisedText(Option<DisguisedText>);

impl SearchableDisguisedText {
    pub(crate) fn new(text: &str, budget: &Budget) -> Result<Self, String> {
        budget.spend(12 * text.len() + 1)?;
        Ok(Self(DisguisedText::new(text)))
    }

    pub(crate) fn has(&self, phrase: &str, budget: &Budget) -> Result<bool, String> {
        let Some(text) = &self.0 else { return Ok(false) };
        budget.spend(2 * text.length() + 1)?;
        Ok(text.has(phrase))
    }
}

pub(crate) fn negations(text: &str, budget: &Budget) -> Result<Negations, String> {
    budget.spend(6 * text.len() + 1)?;
    Ok(Negations::new(text))
}

/// The phone numbers in a text, including those in look-alike characters.
pub(crate) fn phone_numbers(text: &str, budget: &Budget) -> Result<Vec<String>, String> {
    budget.spend(24 * text.len() + 1)?;
    Ok(spoken::phone_numbers(&spoken::fold_confusables(text)))
}
