//! Finds the authored rule for a request: the first rule whose conditions all match.

use super::config::{ClearinghouseConfig, Match, Rule};

/// The values of a request that rules are matched against.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleInput<'a> {
    pub(super) member: &'a str,
    pub(super) service_types: &'a [String],
    pub(super) procedures: &'a [String],
    pub(super) payer: &'a str,
}

impl ClearinghouseConfig {
    /// The first matching rule, with its index.
    pub(super) fn rule(&self, input: &RuleInput<'_>) -> Option<(usize, &Rule)> {
        self.rules.iter().enumerate().find(|(_, rule)| rule.r#match.matches(input))
    }

    pub(super) fn names_payer(&self, payer: &str) -> bool {
        self.rules.iter().any(|rule| rule.r#match.payer.as_deref() == Some(payer))
    }
}

impl Match {
    fn matches(&self, input: &RuleInput<'_>) -> bool {
        let equals =
            |condition: &Option<String>, value: &str| condition.as_ref().is_none_or(|expected| expected == value);
        let is_among = |condition: &Option<String>, values: &[String]| {
            condition.as_ref().is_none_or(|expected| values.contains(expected))
        };
        equals(&self.member, input.member)
            && equals(&self.payer, input.payer)
            && is_among(&self.service_type, input.service_types)
            && is_among(&self.procedure, input.procedures)
    }
}
