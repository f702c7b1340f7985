//! What was said, looked through within the budget of a check.

use spoken::Hit;

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
