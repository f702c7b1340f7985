//! Combines the results of the candidates into the score of the criterion, according to `match` and `count`, and builds the
//! evidence lists.

use model::score::Score;
use serde_json::{Map, Value};

use crate::bounds::{MOST_LISTED, bounded, short};
use crate::budget::Budget;
use crate::candidates::{self, CountProblem};
use crate::checks::Check;
use crate::compare::{Typing, values_satisfy};
use crate::comparison::{Comparison, Op};
use crate::count::{Count, counted};
use crate::evidence::{EvaluationContext, EvaluationResult, Outcome, object};
use crate::field::FieldAssertion;
use crate::limits::LONGEST_LIST;
use crate::matching::Match;
use crate::phrase::PhraseResult;
use crate::quantifier::Quantifier;

/// With more candidates, the assertion fails and says so.
pub(crate) const MOST_CANDIDATES: usize = 10_000;

/// Entries of one evidence list: as many as one candidate can have.
const MOST_RESULTS: usize = 2 * LONGEST_LIST;

/// Reasons that the details name for one candidate. The evidence has more.
const MOST_REASONS: usize = 3;

/// A field assertion as the author wrote it.
pub(crate) struct FieldExpectation<'a> {
    pub(crate) path: String,
    pub(crate) op: Op,
    pub(crate) expected: Option<&'a Value>,
    pub(crate) quantifier: Option<Quantifier>,
}

/// The values that a path selected, and how they are compared.
pub(crate) struct SelectedValues<'a> {
    pub(crate) comparison: Comparison<'a>,
    /// Used where the field has no quantifier of its own.
    pub(crate) quantifier: Quantifier,
    pub(crate) values: Vec<Value>,
    pub(crate) typing: Typing,
}

/// One entry of `fieldResults`.
#[derive(Clone, Debug)]
pub(crate) struct FieldResult {
    path: String,
    op: Op,
    quantifier: Option<Quantifier>,
    expected: Value,
    /// As JSON text, which takes less memory than a parsed list of many small values.
    actual: Box<str>,
    passed: bool,
    reason: Option<String>,
    /// The phrases that violate the rules of the operator `phrases`.
    violated_phrases: Vec<PhraseResult>,
}

impl FieldResult {
    /// Compares the values at a path, or reports why they cannot be compared.
    pub(crate) fn new(
        field: FieldExpectation<'_>,
        selected: Result<SelectedValues<'_>, String>,
        budget: &Budget,
    ) -> Self {
        let FieldExpectation { path, op, expected, quantifier } = field;
        let mut violated_phrases = Vec::new();
        let (actual, is_satisfied) = match selected {
            Ok(SelectedValues { comparison, quantifier: default, values, typing }) => {
                let is_satisfied = values_satisfy(
                    &comparison,
                    quantifier.unwrap_or(default),
                    &values,
                    typing,
                    budget,
                    &mut violated_phrases,
                );
                (to_json(values), is_satisfied)
            }
            Err(reason) => (Value::Null, Err(reason)),
        };
        let (expected, actual) = (expected.map_or(Value::Null, bounded), actual.to_string().into());
        let passed = is_satisfied == Ok(true);
        if passed {
            violated_phrases.clear();
        }
        Self { path, op, quantifier, expected, actual, passed, reason: is_satisfied.err(), violated_phrases }
    }

    /// The result of a field when there is nothing to compare it with.
    pub(crate) fn unmet(field: FieldExpectation<'_>) -> Self {
        let FieldExpectation { path, op, expected, quantifier } = field;
        let expected = expected.map_or(Value::Null, bounded);
        let actual = Value::Null.to_string().into();
        Self { path, op, quantifier, expected, actual, passed: false, reason: None, violated_phrases: Vec::new() }
    }

    /// An entry about something that is not asserted and that keeps a candidate from being a match.
    pub(crate) fn violation(path: String, expected: Value, actual: &Value, reason: String) -> Self {
        let actual = bounded(actual).to_string().into();
        let (op, quantifier, reason) = (Op::Equals, None, Some(reason));
        Self { path, op, quantifier, expected, actual, passed: false, reason, violated_phrases: Vec::new() }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn json(&self, candidate: Option<&str>) -> Value {
        let mut members = Map::new();
        if let Some(candidate) = candidate {
            members.insert("candidate".to_owned(), short(candidate).into());
        }
        members.insert("path".to_owned(), self.path.as_str().into());
        if self.op != Op::Equals {
            members.insert("op".to_owned(), self.op.name().into());
        }
        if let Some(quantifier) = self.quantifier {
            members.insert("quantifier".to_owned(), quantifier.name().into());
        }
        members.insert("expected".to_owned(), self.expected.clone());
        members.insert("actual".to_owned(), serde_json::from_str(&self.actual).unwrap_or_default());
        members.insert("passed".to_owned(), self.passed.into());
        if let Some(reason) = &self.reason {
            members.insert("reason".to_owned(), short(reason).into());
        }
        if !self.violated_phrases.is_empty() {
            let violated_phrases = self.violated_phrases.iter().map(PhraseResult::json_of_field);
            members.insert("failed_phrases".to_owned(), violated_phrases.collect());
        }
        Value::Object(members)
    }
}

/// Null for no value, the value itself for one, and a list for several.
pub(crate) fn to_json(values: Vec<Value>) -> Value {
    match <[Value; 1]>::try_from(values) {
        Ok([only]) => bounded(&only),
        Err(values) if values.is_empty() => Value::Null,
        Err(values) => bounded(&Value::Array(values)),
    }
}

/// Evaluates all fields of one document, whose values `find` selects. The default quantifier is `all` for JSON and `first`
/// for text formats.
pub(crate) fn evaluate_fields<P: std::fmt::Display>(
    fields: &[FieldAssertion<P>],
    typing: Typing,
    budget: &Budget,
    find: impl Fn(&P) -> Result<Vec<Value>, String>,
) -> Vec<FieldResult> {
    let default = if typing == Typing::Typed { Quantifier::All } else { Quantifier::First };
    evaluate_fields_with(default, fields, typing, budget, find)
}

/// As [`evaluate_fields`], with another default quantifier.
pub(crate) fn evaluate_fields_with<P: std::fmt::Display>(
    quantifier: Quantifier,
    fields: &[FieldAssertion<P>],
    typing: Typing,
    budget: &Budget,
    find: impl Fn(&P) -> Result<Vec<Value>, String>,
) -> Vec<FieldResult> {
    let evaluate = |field: &FieldAssertion<P>| {
        let selected = field.path.ready().and_then(|path| {
            let comparison = field.comparison().map_err(|errors| errors.to_string())?;
            Ok(SelectedValues { comparison, quantifier, values: find(path)?, typing })
        });
        FieldResult::new(expectation(field), selected, budget)
    };
    fields.iter().map(evaluate).collect()
}

pub(crate) fn expectation<P: std::fmt::Display>(field: &FieldAssertion<P>) -> FieldExpectation<'_> {
    let FieldAssertion { path, op, expected, quantifier, .. } = field;
    FieldExpectation { path: path.to_string(), op: *op, expected: expected.as_ref(), quantifier: *quantifier }
}

/// The result of comparing one candidate with the assertion.
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidateResult {
    pub(crate) name: String,
    pub(crate) fields: Vec<FieldResult>,
    pub(crate) phrases: Vec<PhraseResult>,
    /// Why the candidate could not be read. It scores 0 then.
    pub(crate) error: Option<String>,
    /// Why the candidate is not a match, regardless of its fields. It scores 0 then.
    pub(crate) violations: Vec<FieldResult>,
    /// The id of its event, if that is not its name.
    pub(crate) event: Option<String>,
}

impl CandidateResult {
    /// The number of fields and required phrases that passed.
    fn passed_count(&self) -> usize {
        let fields = self.fields.iter().filter(|field| field.passed).count();
        fields + self.phrases.iter().filter(|phrase| !phrase.is_forbidden() && phrase.passed()).count()
    }

    /// The number of conditions that earn points. The absence of a forbidden phrase earns none.
    fn condition_count(&self) -> usize {
        self.fields.len() + self.phrases.iter().filter(|phrase| !phrase.is_forbidden()).count()
    }

    /// Why a forbidden phrase makes the score 0: it occurs, or it cannot be ruled out.
    fn forbidden_reason(&self) -> Option<&'static str> {
        let violated = self.phrases.iter().find(|phrase| phrase.is_forbidden() && !phrase.passed())?;
        Some(if violated.is_found() { "a forbidden phrase occurs" } else { "a forbidden phrase cannot be ruled out" })
    }

    /// Whether the candidate meets all conditions.
    pub(crate) fn is_perfect(&self) -> bool {
        self.error.is_none()
            && self.forbidden_reason().is_none()
            && self.violations.is_empty()
            && self.passed_count() == self.condition_count()
    }

    fn score(&self) -> Score {
        match self.condition_count() {
            _ if self.error.is_some() || self.forbidden_reason().is_some() || !self.violations.is_empty() => {
                Score::zero()
            }
            0 => Score::one(),
            all => Score::fraction(self.passed_count() as u64, all as u64),
        }
    }

    /// The details of the criterion, if they are about this candidate. `found` is the number of candidates as text.
    fn details(&self, found: &str) -> String {
        match (&self.error, self.forbidden_reason()) {
            (Some(error), _) => format!("{found} found; {} cannot be read: {}", short(&self.name), short(error)),
            (None, Some(forbidden)) => format!("{found} found; {forbidden}"),
            (None, None) if !self.violations.is_empty() => self.violation_details(found),
            (None, None) if self.condition_count() > 0 => {
                format!("{found} found; {} of {} conditions hold", self.passed_count(), self.condition_count())
            }
            (None, None) if !self.phrases.is_empty() => format!("{found} found; no forbidden phrase occurs"),
            (None, None) => format!("{found} found"),
        }
    }

    /// The details about a candidate that is not a match.
    fn violation_details(&self, found: &str) -> String {
        let reasons = self.violations.iter().take(MOST_REASONS).map(|violation| {
            format!("{}: {}", short(&violation.path), short(violation.reason.as_deref().unwrap_or_default()))
        });
        let reasons: Vec<String> = reasons.collect();
        let more = if self.violations.len() > MOST_REASONS { "; …" } else { "" };
        format!("{found} found; {} is not a match: {}{more}", short(&self.name), reasons.join("; "))
    }

    /// Whether the candidate may match: no condition failed, but some could not be evaluated.
    fn may_match(&self) -> bool {
        let is_unknown = self.fields.iter().any(|field| field.reason.is_some())
            || self.phrases.iter().any(|phrase| phrase.reason.is_some());
        let others_pass = self.fields.iter().all(|field| field.passed || field.reason.is_some())
            && self.phrases.iter().all(|phrase| phrase.passed() || phrase.reason.is_some());
        self.error.is_some() || (is_unknown && others_pass)
    }
}

/// The score of a criterion, and the candidates that the evidence lists.
pub(crate) struct ScoredCandidates {
    score: Score,
    passed: bool,
    details: String,
    pub(crate) listed: Vec<CandidateResult>,
    /// Whether the entries name their candidate, because there are several.
    is_labeled: bool,
    /// Of an assertion with `count`: expected, actual and passed.
    count: Option<Value>,
    problem: Option<CountProblem>,
}

impl ScoredCandidates {
    pub(crate) fn field_results(&self) -> Value {
        let results = self.listed.iter().flat_map(|result| {
            let candidate = self.is_labeled.then_some(result.name.as_str());
            result.fields.iter().chain(&result.violations).map(move |field| field.json(candidate))
        });
        Value::Array(results.take(MOST_RESULTS).collect())
    }

    pub(crate) fn phrase_results(&self) -> Value {
        let results = self.listed.iter().flat_map(|result| {
            let candidate = self.is_labeled.then_some(result.name.as_str());
            result.phrases.iter().map(move |phrase| phrase.json(candidate))
        });
        Value::Array(results.take(MOST_RESULTS).collect())
    }

    pub(crate) fn names(&self) -> Value {
        names(self.listed.iter().map(|result| result.name.as_str()))
    }

    /// The outcome with its explanation: `count`, and the candidates if nothing matched or the count is wrong.
    pub(crate) fn outcome<const N: usize>(
        self,
        check: &impl Check,
        context: &EvaluationContext<'_>,
        evidence: [(&str, Value); N],
    ) -> EvaluationResult {
        let Self { score, passed, details, count, problem, .. } = self;
        let mut outcome = Outcome { score, passed, details, evidence: object(evidence) };
        if let Some(count) = count {
            outcome.evidence["count"] = count;
        }
        if !passed {
            candidates::add_unmet(&mut outcome.evidence, check);
        }
        if let Some(problem) = problem {
            candidates::add_candidates(&mut outcome, check.candidates(context), &problem);
        }
        Ok(outcome)
    }
}

/// The names that the evidence lists.
pub(crate) fn names<'a>(names: impl Iterator<Item = &'a str>) -> Value {
    Value::Array(names.take(MOST_LISTED).map(|name| short(name).into()).collect())
}

pub(crate) fn is_absence(count: Option<Count>) -> bool {
    count.is_some_and(|count| count.max == Some(0))
}

/// Scores `found` candidates, which messages call `noun`. `candidate_results` has the results of all of them, or only that
/// of the first if no other counts.
pub(crate) fn score_candidates(
    noun: &str,
    found: usize,
    candidate_results: Vec<CandidateResult>,
    matching: Match,
    count: Option<Count>,
) -> ScoredCandidates {
    if let Some(count) = count.filter(|_| is_absence(count)) {
        return score_absence(noun, candidate_results, count);
    }
    let is_allowed = |count: &Count| count.allows(found as u64);
    let count_result = count.map(|count| count.result(found, is_allowed(&count)));
    let failed = |details: String, listed: Vec<CandidateResult>, problem: CountProblem| ScoredCandidates {
        score: Score::zero(),
        passed: false,
        details,
        listed,
        is_labeled: false,
        count: count_result.clone(),
        problem: Some(problem),
    };
    if let Some(count) = count.filter(|count| !is_allowed(count)) {
        let problem = if (found as u64) < count.min { CountProblem::TooFew } else { CountProblem::TooMany };
        return failed(count.unmet_details(noun, found), candidate_results.into_iter().take(1).collect(), problem);
    }
    let best = match matching {
        Match::First | Match::All => 0,
        Match::Any => best(&candidate_results),
    };
    if candidate_results.get(best).is_none() {
        return failed(format!("no {noun} found"), Vec::new(), CountProblem::TooFew);
    }
    // Then all results are about records that do not count, and say why.
    let problem = (found == 0).then_some(CountProblem::Withdrawn);
    if matching == Match::All {
        return ScoredCandidates { count: count_result, problem, ..score_all(noun, candidate_results) };
    }
    let details = candidate_results[best].details(&counted(found, noun));
    let (score, passed) = (candidate_results[best].score(), candidate_results[best].is_perfect());
    let listed = candidate_results.into_iter().skip(best).take(1).collect();
    ScoredCandidates { score, passed, details, listed, is_labeled: false, count: count_result, problem }
}

/// The index of the first candidate with the best score.
fn best(candidate_results: &[CandidateResult]) -> usize {
    let mut best = (0, None);
    for (at, result) in candidate_results.iter().enumerate() {
        let score = Some(result.score());
        if score > best.1 {
            best = (at, score);
        }
    }
    best.0
}

/// Scores `match: all`. The evidence lists candidates that fail before those that pass.
fn score_all(noun: &str, mut candidate_results: Vec<CandidateResult>) -> ScoredCandidates {
    let scores: Vec<Score> = candidate_results.iter().map(CandidateResult::score).collect();
    let perfect = candidate_results.iter().filter(|result| result.is_perfect()).count();
    let meet = if perfect == 1 { "meets" } else { "meet" };
    let details = format!("{perfect} of {} found {meet} all conditions", counted(candidate_results.len(), noun));
    let passed = perfect == candidate_results.len();
    candidate_results.sort_by_key(CandidateResult::is_perfect);
    candidate_results.truncate(MOST_LISTED);
    let score = Score::mean(&scores);
    ScoredCandidates { score, passed, details, listed: candidate_results, is_labeled: true, count: None, problem: None }
}

/// Scores an assertion of absence. It also fails for a candidate that cannot be read, because that may be a match.
fn score_absence(noun: &str, candidate_results: Vec<CandidateResult>, count: Count) -> ScoredCandidates {
    let mut listed: Vec<CandidateResult> =
        candidate_results.into_iter().filter(|result| result.is_perfect() || result.may_match()).collect();
    let passed = listed.is_empty();
    let count = Some(count.result(listed.len(), passed));
    let (score, details) = if passed {
        (Score::one(), format!("no such {noun} found, as expected"))
    } else {
        (Score::zero(), format!("{} found that must not exist, or cannot be ruled out", counted(listed.len(), noun)))
    };
    listed.truncate(MOST_LISTED);
    let names = listed.iter().map(|result| result.event.clone().unwrap_or_else(|| result.name.clone())).collect();
    let problem = (!passed).then_some(CountProblem::Unwanted(names));
    ScoredCandidates { score, passed, details, listed, is_labeled: true, count, problem }
}
