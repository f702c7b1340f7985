//! Explains why nothing matched an assertion: the expectations that were not met, and the nearest candidates.
//!
//! Candidates are collected after the score is known, so they never change it. Their cost counts against the budget of the
//! check. When the budget is spent, they are left out.

pub(crate) mod cds;
pub(crate) mod effects;
pub(crate) mod faxes;
pub(crate) mod fhir;
pub(crate) mod files;
pub(crate) mod hl7;
pub(crate) mod messages;
pub(crate) mod portal;
#[cfg(test)]
mod tests;
pub(crate) mod voice;
pub(crate) mod x12;

use std::collections::BTreeSet;

use model::event::Event;
use serde_json::Value;

use crate::bounds::{brief, short};
use crate::budget::Budget;
use crate::checks::Check;
use crate::count::Count;
use crate::evidence::{EvaluationContext, Outcome, object};
use crate::field::FieldAssertion;
use crate::phrase::{PhraseResult, PhraseRules, Transcript};
use crate::scoring::{FieldResult, expectation, is_absence};

/// Candidates that the evidence lists.
const MOST_LISTED: usize = 5;
/// The size of one candidate in the evidence.
const LARGEST_BYTES: usize = 4_000;
/// Reasons that the details name for the nearest candidate.
const MOST_REASONS: usize = 2;
/// Events or records that are examined.
pub(crate) const MOST_EXAMINED: usize = 100;

/// Why candidates are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CountProblem {
    /// Lists candidates that do not match.
    TooFew,
    /// As `TooFew`, if the details already say why a record does not count.
    Withdrawn,
    /// Lists candidates that match.
    TooMany,
    /// Lists the candidates with these names, which must not exist.
    Unwanted(BTreeSet<String>),
}

/// A record, event, file or call, with the reasons why it does not match.
#[derive(Debug)]
pub struct Candidate {
    name: String,
    description: String,
    mismatches: Vec<Mismatch>,
    /// Whether it comes from the dataset or the scenario. The agent's own candidates are listed first.
    is_given: bool,
    /// Orders candidates with equally many mismatches.
    distance: usize,
}

/// A parameter of the assertion that the candidate does not satisfy.
#[derive(Debug)]
struct Mismatch {
    /// The path in the assertion, such as `correlate_by.PID.3.1`.
    parameter: String,
    expected: Value,
    actual: Value,
    reason: Option<&'static str>,
}

impl Candidate {
    pub(crate) fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let (name, description) = (name.into(), description.into());
        Self { name, description, mismatches: Vec::new(), is_given: false, distance: 0 }
    }

    /// Adds a mismatch.
    pub(crate) fn differs(&mut self, parameter: impl Into<String>, expected: impl Into<Value>, actual: Value) {
        let (parameter, expected) = (parameter.into(), expected.into());
        self.mismatches.push(Mismatch { parameter, expected, actual, reason: None });
    }

    /// Adds a mismatch with a reason, because the values alone do not explain it.
    pub(crate) fn differs_because(
        &mut self,
        parameter: impl Into<String>,
        expected: impl Into<Value>,
        actual: Value,
        reason: &'static str,
    ) {
        self.differs(parameter, expected, actual);
        if let Some(mismatch) = self.mismatches.last_mut() {
            mismatch.reason = Some(reason);
        }
    }

    pub(crate) fn given(self, is_given: bool) -> Self {
        Self { is_given, ..self }
    }

    pub(crate) fn at_distance(self, distance: usize) -> Self {
        Self { distance, ..self }
    }

    fn is_listed(&self, problem: &CountProblem) -> bool {
        match problem {
            CountProblem::TooFew | CountProblem::Withdrawn => !self.mismatches.is_empty(),
            CountProblem::TooMany => self.mismatches.is_empty(),
            CountProblem::Unwanted(names) => names.contains(&self.name),
        }
    }

    /// Lists as many mismatches as fit.
    fn json(&self) -> Value {
        let mut candidate = object([("candidate", short(&self.name).into())]);
        if !self.description.is_empty() {
            candidate["description"] = short(&self.description).into();
        }
        let mut room = LARGEST_BYTES.saturating_sub(candidate.to_string().len());
        let mut mismatches = Vec::new();
        for mismatch in self.mismatches.iter().map(Mismatch::json) {
            let size = mismatch.to_string().len() + 1;
            if size > room {
                break;
            }
            room -= size;
            mismatches.push(mismatch);
        }
        candidate["mismatches"] = mismatches.into();
        candidate
    }

    /// The text about this candidate in the details.
    fn sentence(&self) -> String {
        let what = if self.description.is_empty() { short(&self.name) } else { short(&self.description) };
        let reasons: Vec<String> = self.mismatches.iter().take(MOST_REASONS).map(Mismatch::sentence).collect();
        let more = if self.mismatches.len() > MOST_REASONS { "; …" } else { "" };
        if reasons.is_empty() { what } else { format!("{what}: {}{more}", reasons.join("; ")) }
    }
}

impl Mismatch {
    fn json(&self) -> Value {
        let mut entry = object([
            ("parameter", short(&self.parameter).into()),
            ("expected", brief(&self.expected)),
            ("actual", brief(&self.actual)),
        ]);
        if let Some(reason) = self.reason {
            entry["reason"] = reason.into();
        }
        entry
    }

    fn sentence(&self) -> String {
        let parameter = short(&self.parameter);
        match self.reason {
            Some(reason) => format!("{parameter}: {reason}"),
            None => {
                let (expected, actual) = (self.expected.to_string(), self.actual.to_string());
                format!("{parameter} is {}, expected {}", short(&actual), short(&expected))
            }
        }
    }
}

/// Evaluates a check. If that is impossible, the evidence lists what the check expects.
pub(crate) fn evaluate(check: &impl Check, context: &EvaluationContext<'_>) -> Outcome {
    check.evaluate(context).unwrap_or_else(|reason| {
        let mut outcome = Outcome::failed(short(&reason), object([]));
        add_unmet(&mut outcome.evidence, check);
        outcome
    })
}

/// Fills empty evidence lists with what the check expects.
pub(crate) fn add_unmet(evidence: &mut Value, check: &impl Check) {
    for (name, entries) in check.unmet() {
        let is_empty = evidence.get(name).and_then(Value::as_array).is_none_or(Vec::is_empty);
        if is_empty && entries.as_array().is_some_and(|entries| !entries.is_empty()) {
            evidence[name] = entries;
        }
    }
}

/// Adds `candidates`, the agent's own and nearest first, and names the nearest one in the details.
pub(crate) fn add_candidates(outcome: &mut Outcome, found: Result<Vec<Candidate>, String>, problem: &CountProblem) {
    let Ok(mut found) = found else { return };
    found.retain(|candidate| candidate.is_listed(problem));
    found.sort_by_key(|candidate| (candidate.is_given, candidate.mismatches.len(), candidate.distance));
    let label = match problem {
        CountProblem::TooFew => Some("nearest"),
        CountProblem::TooMany | CountProblem::Unwanted(_) => Some("found"),
        CountProblem::Withdrawn => None,
    };
    if let (Some(label), Some(nearest)) = (label, found.first()) {
        outcome.details.push_str(&format!("; {label}: {}", nearest.sentence()));
    }
    outcome.evidence["candidates"] = found.iter().take(MOST_LISTED).map(Candidate::json).collect();
}

/// Field results when there is nothing to compare. An assertion of absence expects no fields.
pub(crate) fn unmet_fields<P: std::fmt::Display>(fields: &[FieldAssertion<P>], count: Option<Count>) -> Value {
    let fields = fields.iter().filter(|_| !is_absence(count));
    fields.map(|field| FieldResult::unmet(expectation(field)).json(None)).collect()
}

/// Phrase results when there is no text to search. An assertion of absence expects no phrases.
pub(crate) fn unmet_phrases(rules: PhraseRules<'_>, count: Option<Count>) -> Value {
    let budget = Budget::new();
    let nothing: [(Value, &str); 0] = [];
    let results = Transcript::new(nothing, &budget).and_then(|nothing| nothing.evaluate(rules, &budget));
    let results = results.unwrap_or_default().into_iter().filter(|_| !is_absence(count));
    results.map(|result: PhraseResult| result.json(None)).collect()
}

/// The events that are examined, newest first.
fn newest(events: Vec<&Event>) -> impl Iterator<Item = &Event> {
    events.into_iter().rev().take(MOST_EXAMINED)
}

/// The number of characters that two texts do not share at their start and end, ignoring case.
fn distance(left: &str, right: &str) -> usize {
    let chars = |text: &str| text.chars().map(|c| c.to_ascii_lowercase()).collect::<Vec<char>>();
    let (left, right) = (chars(left), chars(right));
    let shorter = left.len().min(right.len());
    let prefix = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    let suffix = left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count();
    left.len() + right.len() - 2 * (prefix + suffix).min(shorter)
}
