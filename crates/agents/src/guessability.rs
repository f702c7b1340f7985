//! Estimates how hard it is for an agent to guess the values that a check requires, knowing only its task item.
//!
//! The estimate is a lower bound in bits. Ten bits are one chance in a thousand.

mod facts;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use facts::{Fact, facts};

/// A check with fewer bits is weak.
pub const MIN_BITS: f64 = 10.0;

/// A task with its templates filled in.
#[derive(Clone, Debug)]
pub struct RenderedTask {
    /// Everything that the agent sees.
    pub item: Value,
    pub assertions: Vec<Value>,
}

/// The bits that an agent has to guess in a task.
#[derive(Clone, Debug, Default)]
pub struct Guessability {
    /// The bits of each criterion. `None` for guards: they require nothing and only count together with other criteria.
    pub criteria: Vec<Option<f64>>,
    /// The bits of all criteria of the task together.
    pub task: f64,
}

impl Guessability {
    /// Counts the criteria with fewer than [`MIN_BITS`].
    pub fn weak_criteria(&self) -> usize {
        self.criteria.iter().flatten().filter(|bits| **bits < MIN_BITS).count()
    }
}

/// Estimates the guessability of each task.
pub fn estimate(tasks: &[RenderedTask]) -> Vec<Guessability> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for fact in tasks.iter().flat_map(|task| &task.assertions).flat_map(facts) {
        known.entry(fact.location).or_default().insert(fact.value.to_lowercase());
    }
    tasks.iter().map(|task| estimate_task(task, &known)).collect()
}

fn estimate_task(task: &RenderedTask, known: &BTreeMap<String, BTreeSet<String>>) -> Guessability {
    let public = all_text(&task.item).to_lowercase();
    let bits = |facts: &[Fact]| {
        // A value that is required several times is guessed once.
        let mut bits_by_value: BTreeMap<&str, f64> = BTreeMap::new();
        for fact in facts {
            let bits = fact_bits(fact, &public, known.get(&fact.location));
            let best = bits_by_value.entry(&fact.value).or_insert(bits);
            *best = best.min(bits);
        }
        bits_by_value.values().sum()
    };
    let criteria = task.assertions.iter().map(|assertion| (!is_guard(assertion)).then(|| bits(&facts(assertion))));
    let all: Vec<Fact> = task.assertions.iter().flat_map(facts).collect();
    Guessability { criteria: criteria.collect(), task: bits(&all) }
}

/// Whether an assertion is a guard: it forbids or limits something.
fn is_guard(assertion: &Value) -> bool {
    let is_absence = assertion["count"] == 0 || assertion["count"]["max"] == 0;
    let check = verify::catalog().iter().find(|check| assertion["assert"] == check.name);
    is_absence || check.is_some_and(|check| check.is_limit)
}

/// Estimates the bits of one required value.
///
/// A value that the task text contains costs only the choice among its listed alternatives: the values that any task
/// requires in the same location and that this task's text contains too. Otherwise every unknown part has to be guessed.
fn fact_bits(fact: &Fact, public: &str, known: Option<&BTreeSet<String>>) -> f64 {
    // The resource type of a reference need not be guessed.
    let is_type = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_uppercase()) && text.bytes().all(|b| b.is_ascii_alphabetic())
    };
    let id = fact.value.split_once('/').filter(|(name, _)| is_type(name)).map_or(fact.value.as_str(), |(_, id)| id);
    let value = if has_word(public, &fact.value.to_lowercase()) { &fact.value } else { id }.to_lowercase();
    if has_word(public, &value) {
        let listed = known.into_iter().flatten().filter(|other| has_word(public, other)).count();
        return (listed.max(1) as f64).log2();
    }
    if let Some(bits) = date_bits(&value, public) {
        return bits;
    }
    let parts = value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let unknown: BTreeSet<&str> =
        parts.filter(|part| !has_word(public, part) && !STANDARD_WORDS.contains(part)).collect();
    unknown.into_iter().map(word_bits).sum()
}

/// Words from public standards, which need not be guessed.
const STANDARD_WORDS: [&str; 19] = [
    "http", "https", "www", "nlm", "nih", "gov", "org", "com", "loinc", "snomed", "info", "sct", "rxnorm", "umls",
    "research", "hl7", "fhir", "json", "pdf",
];

/// Counts digits exactly, and a word as one of about two thousand.
fn word_bits(part: &str) -> f64 {
    let digits = part.bytes().filter(u8::is_ascii_digit).count() as f64;
    let letters = part.bytes().filter(u8::is_ascii_alphabetic).count() as f64;
    digits * 10f64.log2() + (letters * 26f64.log2()).min(11.0)
}

/// Counts a date as one day of a year that the task mentions, or else of a century.
fn date_bits(value: &str, public: &str) -> Option<f64> {
    let digits: String = value.chars().take(10).filter(char::is_ascii_digit).collect();
    let year: u16 = digits.get(..4)?.parse().ok()?;
    let is_date = digits.len() == 8 && (1900..2100).contains(&year) && value.len() <= 25;
    let days: f64 = if public.contains(digits.get(..4)?) { 365.0 } else { 36_525.0 };
    is_date.then(|| days.log2())
}

/// Whether the text contains the word, not as part of another word or number.
fn has_word(text: &str, word: &str) -> bool {
    let is_inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !is_inside(before.chars().next_back()) && !is_inside(after.chars().next())
    })
}

/// Joins all texts and numbers of a task item.
pub(crate) fn all_text(item: &Value) -> String {
    match item {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(all_text).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => members.values().map(all_text).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn estimate_one(instruction: &str, assertion: Value) -> Guessability {
        estimate(&[RenderedTask { item: json!({"instruction": instruction}), assertions: vec![assertion] }]).remove(0)
    }

    fn file(fields: &Value) -> Value {
        json!({"assert": "sftp-file-present", "path": "outbox/a.json", "fields": fields})
    }

    #[test]
    fn values_in_the_task_text_cost_nothing() {
        let guess = estimate_one(
            "Write outbox/a.json with status requested.",
            file(&json!([{"path": "status", "expected": "requested"}])),
        );
        assert_eq!((guess.weak_criteria(), guess.criteria), (1, vec![Some(0.0)]));
    }

    #[test]
    fn unknown_values_cost_their_digits_and_words() {
        let fields = json!([{"path": "member", "expected": "HLX447120093"}, {"path": "paid", "expected": 170}]);
        let guess = estimate_one("Write outbox/a.json.", file(&fields));
        let bits = guess.criteria[0].unwrap();
        // Nine digits and three letters, three digits.
        assert!((bits - (12.0 * 10f64.log2() + 11.0)).abs() < 0.01, "{bits}");
        assert_eq!(guess.weak_criteria(), 0);
    }

    #[test]
    fn a_listed_value_costs_the_choice_among_the_alternatives() {
        let task = |reason: &str| RenderedTask {
            item: json!({"instruction": "Write outbox/a.json with the reason: unsigned, unknown, late or other."}),
            assertions: vec![file(&json!([{"path": "reason", "expected": reason}]))],
        };
        let guesses = estimate(&[task("unsigned"), task("unknown"), task("late"), task("other")]);
        assert!(guesses.iter().all(|guess| guess.criteria == [Some(2.0)] && guess.weak_criteria() == 1));
    }

    #[test]
    fn a_date_costs_the_days_of_its_possible_years() {
        let born = json!([{"path": "born", "expected": "1948-03-17"}]);
        let bits = |instruction: &str| estimate_one(instruction, file(&born)).criteria[0].unwrap();
        assert!((bits("Write outbox/a.json") - 36_525f64.log2()).abs() < 0.01);
        assert!((bits("Write outbox/a.json for those born in 1948") - 365f64.log2()).abs() < 0.01);
    }

    #[test]
    fn guards_have_no_estimate_of_their_own() {
        let guard = estimate_one("Do it.", json!({"assert": "no-side-effects", "require": ["fhir/Task"]}));
        assert_eq!((guard.criteria.clone(), guard.weak_criteria()), (vec![None], 0));
        assert!(guard.task < MIN_BITS);
    }

    #[test]
    fn literals_of_expressions_count() {
        let assertion = json!({"assert": "fhir-resource-state", "resource_type": "Task",
            "fields": [{"fhirpath": "code = 'zq7' and value = 8421 and status = 'final'", "expected": true}]});
        let bits = estimate_one("Make it final.", assertion).criteria[0].unwrap();
        assert!((bits - (5.0 * 10f64.log2() + 2.0 * 26f64.log2())).abs() < 0.01, "{bits}");
    }
}
