//! Which of an author's rules a request meets: the first of which every condition holds.

use super::config::{ClearinghouseConfig, Match, Rule};

/// What conditions are held against.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked<'a> {
    pub(super) member: &'a str,
    pub(super) service_types: &'a [String],
    pub(super) procedures: &'a [String],
    pub(super) payer: &'a str,
}

impl ClearinghouseConfig {
    /// The rule with its number.
    pub(super) fn rule(&self, asked: &Asked<'_>) -> Option<(usize, &Rule)> {
        self.rules.iter().enumerate().find(|(_, rule)| rule.r#match.holds(asked))
    }

    pub(super) fn names_payer(&self, payer: &str) -> bool {
        self.rules.iter().any(|rule| rule.r#match.payer.as_deref() == Some(payer))
    }
}

impl Match {
    fn holds(&self, asked: &Asked<'_>) -> bool {
        let is = |wanted: &Option<String>, given: &str| wanted.as_ref().is_none_or(|wanted| wanted == given);
        let is_among =
            |wanted: &Option<String>, given: &[String]| wanted.as_ref().is_none_or(|one| given.contains(one));
        is(&self.member, asked.member)
            && is(&self.payer, asked.payer)
            && is_among(&self.service_type, asked.service_types)
            && is_among(&self.procedure, asked.procedures)
    }
}
