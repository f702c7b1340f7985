//! What was said, looked through within the budget of a check.

use spoken::{DisguisedText, Hit, Negations};

use crate::budget::Budget;

pub(crate) struct Said(spoken::Said);

impl Said {
    pub(crate) fn new(text: &str, budget: &Budget) -> Result<Self, String> {
        budget.spend(6 * text.len() + 1)?;
        Ok(Self(spoken::Said::new(text)))
    }

    /// The first place of the phrase after a word.
    pub(crate) fn find(&self, phrase: &str, after: Option<usize>, budget: &Budget) -> Result<Option<Hit>, String> {
        budget.spend(2 * self.0.length() + 1)?;
        Ok(self.0.find(phrase, after))
    }
}

/// A text as it looks, if some of it is written with look-alike characters.
pub(crate) struct Disguised(Option<DisguisedText>);

impl Disguised {
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

pub(crate) fn spoken_negations(text: &str, budget: &Budget) -> Result<Negations, String> {
    budget.spend(6 * text.len() + 1)?;
    Ok(Negations::new(text))
}

/// The phone numbers of a text, also of one that is written with look-alike characters.
pub(crate) fn phone_numbers(text: &str, budget: &Budget) -> Result<Vec<String>, String> {
    budget.spend(24 * text.len() + 1)?;
    Ok(spoken::phone_numbers(&spoken::fold_confusables(text)))
}
