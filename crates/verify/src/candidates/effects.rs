//! Candidates of `no-side-effects`: the agent's effects on the channels of required effects that did not happen.

use world::Effect;

use super::{Candidate, MOST_EXAMINED, distance};
use crate::checks::no_side_effects::EffectPattern;
use crate::evidence::EvaluationContext;

/// `missing` are patterns with their index in `require`.
pub(crate) fn of(
    missing: &[(usize, &EffectPattern)],
    context: &EvaluationContext<'_>,
) -> Result<Vec<Candidate>, String> {
    let mut candidates = Vec::new();
    for (index, pattern) in missing {
        let wanted = pattern.to_string();
        let is_near = |effect: &&Effect| effect.channel == pattern.channel;
        for effect in context.evidence.effects.iter().rev().filter(is_near).take(MOST_EXAMINED) {
            let done = effect.to_string();
            context.budget.spend(done.len() + wanted.len())?;
            let mut candidate = Candidate::new(done.as_str(), "").at_distance(distance(&wanted, &done));
            candidate.differs(format!("require.{index}"), wanted.as_str(), done.into());
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}
