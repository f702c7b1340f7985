//! From what each candidate scored to what the criterion scores: `match`, `count` and the evidence lists.

use model::score::Score;
use serde_json::{Map, Value};

use crate::bounds::{MOST_LISTED, bounded, short};
use crate::budget::Budget;
use crate::candidates::{self, Shortfall};
use crate::checks::Check;
use crate::compare::{Typing, holds};
use crate::comparison::{Comparison, Op};
use crate::count::{Count, counted};
use crate::evidence::{Case, Evaluated, Outcome, object};
use crate::field::FieldAssertion;
use crate::limits::LONGEST_LIST;
use crate::matching::Match;
use crate::phrase::PhraseResult;
use crate::quantifier::Quantifier;

/// More than these are not looked at one by one: the assertion fails and says so.
pub(crate) const MOST_CANDIDATES: usize = 10_000;

/// Lines of one list of evidence: as many as one candidate can have.
const MOST_RESULTS: usize = 2 * LONGEST_LIST;

/// Reasons that the sentence about a candidate names; the evidence has more.
const MOST_REASONS: usize = 3;

/// What an author wrote about one field.
pub(crate) struct WrittenField<'a> {
    pub(crate) path: String,
    pub(crate) op: Op,
    pub(crate) expected: Option<&'a Value>,
    pub(crate) quantifier: Option<Quantifier>,
}

/// What the path selected, and how that is compared.
pub(crate) struct Selected<'a> {
    pub(crate) comparison: Comparison<'a>,
    /// Used where the field has no quantifier of its own.
    pub(crate) quantifier: Quantifier,
    pub(crate) found: Vec<Value>,
    pub(crate) typing: Typing,
}

/// One line of `fieldResults`.
#[derive(Clone, Debug)]
pub(crate) struct FieldResult {
    path: String,
    op: Op,
    quantifier: Option<Quantifier>,
    expected: Value,
    /// As text: there may be very many, and a list of small things is much larger as a value.
    actual: Box<str>,
    passed: bool,
    reason: Option<String>,
    /// What broke the rules of `phrases`.
    broken: Vec<PhraseResult>,
}

impl FieldResult {
    /// Compares the values at a path, or reports why they cannot be compared.
    pub(crate) fn new(field: WrittenField<'_>, selected: Result<Selected<'_>, String>, budget: &Budget) -> Self {
        let WrittenField { path, op, expected, quantifier } = field;
        let mut broken = Vec::new();
        let (actual, held) = match selected {
            Ok(Selected { comparison, quantifier: default, found, typing }) => {
                let held = holds(&comparison, quantifier.unwrap_or(default), &found, typing, budget, &mut broken);
                (shown(found), held)
            }
            Err(reason) => (Value::Null, Err(reason)),
        };
        let (expected, actual) = (expected.map_or(Value::Null, bounded), actual.to_string().into());
        let passed = held == Ok(true);
        if passed {
            broken.clear();
        }
        Self { path, op, quantifier, expected, actual, passed, reason: held.err(), broken }
    }

    /// A field that nothing was compared with.
    pub(crate) fn unmet(field: WrittenField<'_>) -> Self {
        let WrittenField { path, op, expected, quantifier } = field;
        let expected = expected.map_or(Value::Null, bounded);
        let actual = Value::Null.to_string().into();
        Self { path, op, quantifier, expected, actual, passed: false, reason: None, broken: Vec::new() }
    }

    /// A line about something that nobody asserted and that keeps a candidate from being a match.
    pub(crate) fn violation(path: String, expected: Value, actual: &Value, reason: String) -> Self {
        let actual = bounded(actual).to_string().into();
        let (op, quantifier, reason) = (Op::Equals, None, Some(reason));
        Self { path, op, quantifier, expected, actual, passed: false, reason, broken: Vec::new() }
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
        if !self.broken.is_empty() {
            let broken = self.broken.iter().map(PhraseResult::json_of_field);
            members.insert("failed_phrases".to_owned(), broken.collect());
        }
        Value::Object(members)
    }
}

/// Nothing as null, one value as it is, several as a list.
pub(crate) fn shown(found: Vec<Value>) -> Value {
    match <[Value; 1]>::try_from(found) {
        Ok([only]) => bounded(&only),
        Err(found) if found.is_empty() => Value::Null,
        Err(found) => bounded(&Value::Array(found)),
    }
}

/// The results of all fields of one document, whose values `find` gives. Text formats select the first value unless the
/// field says otherwise, JSON all of them.
pub(crate) fn hold_fields<P: std::fmt::Display>(
    fields: &[FieldAssertion<P>],
    typing: Typing,
    budget: &Budget,
    find: impl Fn(&P) -> Result<Vec<Value>, String>,
) -> Vec<FieldResult> {
    let default = if typing == Typing::Typed { Quantifier::All } else { Quantifier::First };
    hold_fields_by(default, fields, typing, budget, find)
}

/// As [`hold_fields`], with the quantifier of fields that have none of their own.
pub(crate) fn hold_fields_by<P: std::fmt::Display>(
    quantifier: Quantifier,
    fields: &[FieldAssertion<P>],
    typing: Typing,
    budget: &Budget,
    find: impl Fn(&P) -> Result<Vec<Value>, String>,
) -> Vec<FieldResult> {
    let hold = |field: &FieldAssertion<P>| {
        let selected = field.path.ready().and_then(|path| {
            let comparison = field.comparison().map_err(|faults| faults.to_string())?;
            Ok(Selected { comparison, quantifier, found: find(path)?, typing })
        });
        FieldResult::new(written(field), selected, budget)
    };
    fields.iter().map(hold).collect()
}

pub(crate) fn written<P: std::fmt::Display>(field: &FieldAssertion<P>) -> WrittenField<'_> {
    let FieldAssertion { path, op, expected, quantifier, .. } = field;
    WrittenField { path: path.to_string(), op: *op, expected: expected.as_ref(), quantifier: *quantifier }
}

/// What one candidate scored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) fields: Vec<FieldResult>,
    pub(crate) phrases: Vec<PhraseResult>,
    /// Why the candidate could not be read; it scores nothing then.
    pub(crate) fault: Option<String>,
    /// What keeps the candidate from being a match whatever its fields say; it scores nothing then.
    pub(crate) violations: Vec<FieldResult>,
    /// The event that it is about, where the name is not that of the event.
    pub(crate) event: Option<String>,
}

impl Sheet {
    /// How many fields hold and required phrases were found.
    fn passed(&self) -> usize {
        let fields = self.fields.iter().filter(|field| field.passed).count();
        fields + self.phrases.iter().filter(|phrase| !phrase.is_forbidden() && phrase.passed()).count()
    }

    /// How many conditions earn the score. A forbidden phrase only takes the score away; its absence earns nothing.
    fn all(&self) -> usize {
        self.fields.len() + self.phrases.iter().filter(|phrase| !phrase.is_forbidden()).count()
    }

    /// Why a forbidden phrase makes the score 0: it occurs, or it cannot be ruled out.
    fn forbidden_found(&self) -> Option<&'static str> {
        let violated = self.phrases.iter().find(|phrase| phrase.is_forbidden() && !phrase.passed())?;
        Some(if violated.is_found() { "a forbidden phrase occurs" } else { "a forbidden phrase cannot be ruled out" })
    }

    /// Whether everything that is asked of a candidate is true of this one.
    pub(crate) fn is_perfect(&self) -> bool {
        self.fault.is_none()
            && self.forbidden_found().is_none()
            && self.violations.is_empty()
            && self.passed() == self.all()
    }

    fn score(&self) -> Score {
        match self.all() {
            _ if self.fault.is_some() || self.forbidden_found().is_some() || !self.violations.is_empty() => {
                Score::zero()
            }
            0 => Score::one(),
            all => Score::fraction(self.passed() as u64, all as u64),
        }
    }

    /// What a criterion's details say about this candidate, after how many were found.
    fn details(&self, found: &str) -> String {
        match (&self.fault, self.forbidden_found()) {
            (Some(fault), _) => format!("{found} found; {} cannot be read: {}", short(&self.name), short(fault)),
            (None, Some(forbidden)) => format!("{found} found; {forbidden}"),
            (None, None) if !self.violations.is_empty() => self.rejected(found),
            (None, None) if self.all() > 0 => {
                format!("{found} found; {} of {} conditions hold", self.passed(), self.all())
            }
            (None, None) if !self.phrases.is_empty() => format!("{found} found; no forbidden phrase occurs"),
            (None, None) => format!("{found} found"),
        }
    }

    /// The sentence about a candidate that is not a match.
    fn rejected(&self, found: &str) -> String {
        let reasons = self
            .violations
            .iter()
            .take(MOST_REASONS)
            .map(|line| format!("{}: {}", short(&line.path), short(line.reason.as_deref().unwrap_or_default())));
        let reasons: Vec<String> = reasons.collect();
        let more = if self.violations.len() > MOST_REASONS { "; …" } else { "" };
        format!("{found} found; {} is not a match: {}{more}", short(&self.name), reasons.join("; "))
    }

    /// Whether it could not be told that the candidate is not meant.
    fn may_be_meant(&self) -> bool {
        let is_unknown = self.fields.iter().any(|field| field.reason.is_some())
            || self.phrases.iter().any(|phrase| phrase.reason.is_some());
        let others_pass = self.fields.iter().all(|field| field.passed || field.reason.is_some())
            && self.phrases.iter().all(|phrase| phrase.passed() || phrase.reason.is_some());
        self.fault.is_some() || (is_unknown && others_pass)
    }
}

/// The score, and which sheets the evidence shows.
pub(crate) struct Judgement {
    score: Score,
    passed: bool,
    details: String,
    pub(crate) shown: Vec<Sheet>,
    is_labelled: bool,
    /// Of an assertion with `count`: expected, actual and passed.
    count: Option<Value>,
    shortfall: Option<Shortfall>,
}

impl Judgement {
    pub(crate) fn field_results(&self) -> Value {
        let results = self.shown.iter().flat_map(|sheet| {
            let candidate = self.is_labelled.then_some(sheet.name.as_str());
            sheet.fields.iter().chain(&sheet.violations).map(move |field| field.json(candidate))
        });
        Value::Array(results.take(MOST_RESULTS).collect())
    }

    pub(crate) fn phrase_results(&self) -> Value {
        let results = self.shown.iter().flat_map(|sheet| {
            let candidate = self.is_labelled.then_some(sheet.name.as_str());
            sheet.phrases.iter().map(move |phrase| phrase.json(candidate))
        });
        Value::Array(results.take(MOST_RESULTS).collect())
    }

    pub(crate) fn names(&self) -> Value {
        names(self.shown.iter().map(|sheet| sheet.name.as_str()))
    }

    /// The outcome with its explanation: `count`, and what was there where nothing matched or the count is wrong.
    pub(crate) fn outcome<const N: usize>(
        self,
        check: &impl Check,
        case: &Case<'_>,
        evidence: [(&str, Value); N],
    ) -> Evaluated {
        let Self { score, passed, details, count, shortfall, .. } = self;
        let mut outcome = Outcome { score, passed, details, evidence: object(evidence) };
        if let Some(count) = count {
            outcome.evidence["count"] = count;
        }
        if !passed {
            candidates::add_unmet(&mut outcome.evidence, check);
        }
        if let Some(shortfall) = shortfall {
            candidates::add_candidates(&mut outcome, check.candidates(case), &shortfall);
        }
        Ok(outcome)
    }
}

/// As many as are listed.
pub(crate) fn names<'a>(names: impl Iterator<Item = &'a str>) -> Value {
    Value::Array(names.take(MOST_LISTED).map(|name| short(name).into()).collect())
}

pub(crate) fn is_absence(count: Option<Count>) -> bool {
    count.is_some_and(|count| count.max == Some(0))
}

/// Judges `found` candidates, called by the noun, of which these are the sheets: all of them, or the first if only that
/// counts.
pub(crate) fn judge(noun: &str, found: usize, sheets: Vec<Sheet>, matching: Match, count: Option<Count>) -> Judgement {
    if let Some(count) = count.filter(|_| is_absence(count)) {
        return judge_absence(noun, sheets, count);
    }
    let is_allowed = |count: &Count| count.allows(found as u64);
    let counted_as = count.map(|count| count.result(found, is_allowed(&count)));
    let failed = |details: String, shown: Vec<Sheet>, shortfall: Shortfall| Judgement {
        score: Score::zero(),
        passed: false,
        details,
        shown,
        is_labelled: false,
        count: counted_as.clone(),
        shortfall: Some(shortfall),
    };
    if let Some(count) = count.filter(|count| !is_allowed(count)) {
        let shortfall = if (found as u64) < count.min { Shortfall::TooFew } else { Shortfall::TooMany };
        return failed(count.missed(noun, found), sheets.into_iter().take(1).collect(), shortfall);
    }
    let best = match matching {
        Match::First | Match::All => 0,
        Match::Any => best(&sheets),
    };
    if sheets.get(best).is_none() {
        return failed(format!("no {noun} found"), Vec::new(), Shortfall::TooFew);
    }
    // Only records that do not count have sheets then, which say why.
    let shortfall = (found == 0).then_some(Shortfall::Withdrawn);
    if matching == Match::All {
        return Judgement { count: counted_as, shortfall, ..judge_all(noun, sheets) };
    }
    let details = sheets[best].details(&counted(found, noun));
    let (score, passed) = (sheets[best].score(), sheets[best].is_perfect());
    let shown = sheets.into_iter().skip(best).take(1).collect();
    Judgement { score, passed, details, shown, is_labelled: false, count: counted_as, shortfall }
}

/// The first of the best.
fn best(sheets: &[Sheet]) -> usize {
    let mut best = (0, None);
    for (at, sheet) in sheets.iter().enumerate() {
        let score = Some(sheet.score());
        if score > best.1 {
            best = (at, score);
        }
    }
    best.0
}

/// Evidence shows those that fail before those that pass.
fn judge_all(noun: &str, mut sheets: Vec<Sheet>) -> Judgement {
    let scores: Vec<Score> = sheets.iter().map(Sheet::score).collect();
    let perfect = sheets.iter().filter(|sheet| sheet.is_perfect()).count();
    let meet = if perfect == 1 { "meets" } else { "meet" };
    let details = format!("{perfect} of {} found {meet} all conditions", counted(sheets.len(), noun));
    let passed = perfect == sheets.len();
    sheets.sort_by_key(Sheet::is_perfect);
    sheets.truncate(MOST_LISTED);
    let score = Score::mean(&scores);
    Judgement { score, passed, details, shown: sheets, is_labelled: true, count: None, shortfall: None }
}

/// What cannot be read may be what must not exist.
fn judge_absence(noun: &str, sheets: Vec<Sheet>, count: Count) -> Judgement {
    let mut shown: Vec<Sheet> = sheets.into_iter().filter(|sheet| sheet.is_perfect() || sheet.may_be_meant()).collect();
    let passed = shown.is_empty();
    let count = Some(count.result(shown.len(), passed));
    let (score, details) = if passed {
        (Score::one(), format!("no such {noun} found, as it should be"))
    } else {
        (
            Score::zero(),
            format!("{} found that must not exist, or cannot be told from what must not", counted(shown.len(), noun)),
        )
    };
    shown.truncate(MOST_LISTED);
    let names = shown.iter().map(|sheet| sheet.event.clone().unwrap_or_else(|| sheet.name.clone())).collect();
    let shortfall = (!passed).then_some(Shortfall::Unwanted(names));
    Judgement { score, passed, details, shown, is_labelled: true, count, shortfall }
}
