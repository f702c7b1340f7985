//! Why a criterion did not find what it asks for: the expectations that were not met, and what was there instead.
//!
//! Candidates are looked for only after the score is known, so they never change it. What they cost is counted against
//! the budget of the check; once that is spent, they are left out.

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
use crate::evidence::{Case, Outcome, object};
use crate::field::FieldAssertion;
use crate::judge::{FieldResult, is_absence, written};
use crate::phrase::{PhraseResult, PhraseRules, Transcript};

/// Candidates that the evidence lists.
const MOST_LISTED: usize = 5;
/// What one of them takes in the evidence.
const LARGEST_BYTES: usize = 4_000;
/// Reasons that the sentence about the nearest candidate names.
const MOST_REASONS: usize = 2;
/// Events or records that are looked at one by one.
pub(crate) const MOST_EXAMINED: usize = 100;

/// Why candidates are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shortfall {
    /// Lists what does not match.
    TooFew,
    /// As `TooFew`, where the details already say why a record does not count.
    Withdrawn,
    /// Lists what matches.
    TooMany,
    /// Lists what must not exist, by these names.
    Unwanted(BTreeSet<String>),
}

/// A record, event, file or call, with what keeps it from being a match.
#[derive(Debug)]
pub struct Candidate {
    name: String,
    description: String,
    mismatches: Vec<Mismatch>,
    /// Whether the dataset or the scenario brought it, so that the agent's own come first.
    is_given: bool,
    /// Distinguishes candidates with equally many mismatches.
    distance: usize,
}

/// A parameter of the assertion that does not hold.
#[derive(Debug)]
struct Mismatch {
    /// Where it is in the assertion, such as `correlate_by.PID.3.1`.
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

    pub(crate) fn differs(&mut self, parameter: impl Into<String>, expected: impl Into<Value>, actual: Value) {
        let (parameter, expected) = (parameter.into(), expected.into());
        self.mismatches.push(Mismatch { parameter, expected, actual, reason: None });
    }

    /// A mismatch that the values alone do not explain.
    pub(crate) fn fails(
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

    fn is_listed(&self, shortfall: &Shortfall) -> bool {
        match shortfall {
            Shortfall::TooFew | Shortfall::Withdrawn => !self.mismatches.is_empty(),
            Shortfall::TooMany => self.mismatches.is_empty(),
            Shortfall::Unwanted(names) => names.contains(&self.name),
        }
    }

    /// With as many mismatches as there is room for.
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

    /// What the details say about it.
    fn sentence(&self) -> String {
        let what = if self.description.is_empty() { short(&self.name) } else { short(&self.description) };
        let reasons: Vec<String> = self.mismatches.iter().take(MOST_REASONS).map(Mismatch::sentence).collect();
        let more = if self.mismatches.len() > MOST_REASONS { "; …" } else { "" };
        if reasons.is_empty() { what } else { format!("{what}: {}{more}", reasons.join("; ")) }
    }
}

impl Mismatch {
    fn json(&self) -> Value {
        let mut line = object([
            ("parameter", short(&self.parameter).into()),
            ("expected", brief(&self.expected)),
            ("actual", brief(&self.actual)),
        ]);
        if let Some(reason) = self.reason {
            line["reason"] = reason.into();
        }
        line
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

/// Evaluates a check. Where it cannot be evaluated, the evidence lists what it expects.
pub(crate) fn evaluate(check: &impl Check, case: &Case<'_>) -> Outcome {
    check.evaluate(case).unwrap_or_else(|reason| {
        let mut outcome = Outcome::failed(short(&reason), object([]));
        add_unmet(&mut outcome.evidence, check);
        outcome
    })
}

/// Fills the lists of evidence that are empty with what the check expects.
pub(crate) fn add_unmet(evidence: &mut Value, check: &impl Check) {
    for (name, lines) in check.unmet() {
        let is_empty = evidence.get(name).and_then(Value::as_array).is_none_or(Vec::is_empty);
        if is_empty && lines.as_array().is_some_and(|lines| !lines.is_empty()) {
            evidence[name] = lines;
        }
    }
}

/// Adds `candidates`, the agent's own and nearest first, and names the nearest one in the details.
pub(crate) fn add_candidates(outcome: &mut Outcome, found: Result<Vec<Candidate>, String>, shortfall: &Shortfall) {
    let Ok(mut found) = found else { return };
    found.retain(|candidate| candidate.is_listed(shortfall));
    found.sort_by_key(|candidate| (candidate.is_given, candidate.mismatches.len(), candidate.distance));
    let label = match shortfall {
        Shortfall::TooFew => Some("nearest"),
        Shortfall::TooMany | Shortfall::Unwanted(_) => Some("found"),
        Shortfall::Withdrawn => None,
    };
    if let (Some(label), Some(nearest)) = (label, found.first()) {
        outcome.details.push_str(&format!("; {label}: {}", nearest.sentence()));
    }
    outcome.evidence["candidates"] = found.iter().take(MOST_LISTED).map(Candidate::json).collect();
}

/// The lines of fields that nothing was compared with. Where absence is asserted, no field is expected.
pub(crate) fn unmet_fields<P: std::fmt::Display>(fields: &[FieldAssertion<P>], count: Option<Count>) -> Value {
    let fields = fields.iter().filter(|_| !is_absence(count));
    fields.map(|field| FieldResult::unmet(written(field)).json(None)).collect()
}

/// The lines of phrases that no text was searched for. Where absence is asserted, no phrase is expected.
pub(crate) fn unmet_phrases(rules: PhraseRules<'_>, count: Option<Count>) -> Value {
    let budget = Budget::new();
    let nothing: [(Value, &str); 0] = [];
    let lines = Transcript::new(nothing, &budget).and_then(|nothing| nothing.hold(rules, &budget));
    let lines = lines.unwrap_or_default().into_iter().filter(|_| !is_absence(count));
    lines.map(|line: PhraseResult| line.json(None)).collect()
}

/// As many events as are looked at, newest first.
fn newest(events: Vec<&Event>) -> impl Iterator<Item = &Event> {
    events.into_iter().rev().take(MOST_EXAMINED)
}

/// How many characters two texts do not share at their start and end, whatever their case.
fn distance(left: &str, right: &str) -> usize {
    let chars = |text: &str| text.chars().map(|c| c.to_ascii_lowercase()).collect::<Vec<char>>();
    let (left, right) = (chars(left), chars(right));
    let shorter = left.len().min(right.len());
    let prefix = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    let suffix = left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count();
    left.len() + right.len() - 2 * (prefix + suffix).min(shorter)
}
