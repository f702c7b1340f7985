//! How hard it is to guess what a check wants, for an agent that reads its task and nothing else: an estimate in bits, from
//! below. Ten bits are one chance in a thousand.

mod facts;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use facts::{Fact, facts};

/// Below this a check is weak.
pub const ENOUGH_BITS: f64 = 10.0;

/// A task with its templates filled in.
#[derive(Clone, Debug)]
pub struct Asked {
    /// All that the agent is told.
    pub item: Value,
    pub assertions: Vec<Value>,
}

#[derive(Clone, Debug, Default)]
pub struct Guess {
    /// Of each criterion; none of a guard, which wants nothing to be there and is worth something only beside others.
    pub criteria: Vec<Option<f64>>,
    /// Of all criteria of the task together.
    pub task: f64,
}

impl Guess {
    pub fn weak(&self) -> usize {
        self.criteria.iter().flatten().filter(|bits| **bits < ENOUGH_BITS).count()
    }
}

/// One for each task, in their order.
pub fn guesses(tasks: &[Asked]) -> Vec<Guess> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for fact in tasks.iter().flat_map(|task| &task.assertions).flat_map(facts) {
        known.entry(fact.place).or_default().insert(fact.value.to_lowercase());
    }
    tasks.iter().map(|task| guess(task, &known)).collect()
}

fn guess(task: &Asked, known: &BTreeMap<String, BTreeSet<String>>) -> Guess {
    let public = words(&task.item).to_lowercase();
    let bits = |facts: &[Fact]| {
        // What is wanted twice is guessed once.
        let mut of_values: BTreeMap<&str, f64> = BTreeMap::new();
        for fact in facts {
            let bits = of_fact(fact, &public, known.get(&fact.place));
            let best = of_values.entry(&fact.value).or_insert(bits);
            *best = best.min(bits);
        }
        of_values.values().sum()
    };
    let criteria = task.assertions.iter().map(|assertion| (!is_guard(assertion)).then(|| bits(&facts(assertion))));
    let all: Vec<Fact> = task.assertions.iter().flat_map(facts).collect();
    Guess { criteria: criteria.collect(), task: bits(&all) }
}

/// It says what must not be, or how often.
fn is_guard(assertion: &Value) -> bool {
    let is_absence = assertion["count"] == 0 || assertion["count"]["max"] == 0;
    matches!(assertion["assert"].as_str(), Some("no-side-effects" | "no-disclosure" | "interaction-budget"))
        || is_absence
}

/// What the task says is free, except for the choice among what it lists: the values that other tasks want in the same
/// place and that this one names as well. Of what it does not say every part has to be hit.
fn of_fact(fact: &Fact, public: &str, known: Option<&BTreeSet<String>>) -> f64 {
    // Of a reference the type is no secret.
    let is_type = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_uppercase()) && text.bytes().all(|b| b.is_ascii_alphabetic())
    };
    let id = fact.value.split_once('/').filter(|(kind, _)| is_type(kind)).map_or(fact.value.as_str(), |(_, id)| id);
    let value = if has_word(public, &fact.value.to_lowercase()) { &fact.value } else { id }.to_lowercase();
    if has_word(public, &value) {
        let listed = known.into_iter().flatten().filter(|other| has_word(public, other)).count();
        return (listed.max(1) as f64).log2();
    }
    if let Some(bits) = of_date(&value, public) {
        return bits;
    }
    let parts = value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let unknown: BTreeSet<&str> = parts.filter(|part| !has_word(public, part) && !STANDARD.contains(part)).collect();
    unknown.into_iter().map(of_part).sum()
}

/// Words of public standards, which nobody has to guess.
const STANDARD: [&str; 19] = [
    "http", "https", "www", "nlm", "nih", "gov", "org", "com", "loinc", "snomed", "info", "sct", "rxnorm", "umls",
    "research", "hl7", "fhir", "json", "pdf",
];

/// Digits as they are; a word as one of about two thousand.
fn of_part(part: &str) -> f64 {
    let digits = part.bytes().filter(u8::is_ascii_digit).count() as f64;
    let letters = part.bytes().filter(u8::is_ascii_alphabetic).count() as f64;
    digits * 10f64.log2() + (letters * 26f64.log2()).min(11.0)
}

/// A day of a year that the task speaks of, or of any year of a century.
fn of_date(value: &str, public: &str) -> Option<f64> {
    let digits: String = value.chars().take(10).filter(char::is_ascii_digit).collect();
    let year: u16 = digits.get(..4)?.parse().ok()?;
    let is_date = digits.len() == 8 && (1900..2100).contains(&year) && value.len() <= 25;
    let days: f64 = if public.contains(digits.get(..4)?) { 365.0 } else { 36_525.0 };
    is_date.then(|| days.log2())
}

/// Not as a part of another word or number.
fn has_word(text: &str, word: &str) -> bool {
    let is_inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(word).any(|(place, _)| {
        let (before, after) = (&text[..place], &text[place + word.len()..]);
        !is_inside(before.chars().next_back()) && !is_inside(after.chars().next())
    })
}

/// All texts and numbers that the agent is told.
pub(crate) fn words(item: &Value) -> String {
    match item {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => members.values().map(words).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(instruction: &str, assertion: Value) -> Guess {
        guesses(&[Asked { item: json!({"instruction": instruction}), assertions: vec![assertion] }]).remove(0)
    }

    fn file(fields: &Value) -> Value {
        json!({"assert": "sftp-file-present", "path": "outbox/a.json", "fields": fields})
    }

    #[test]
    fn what_the_task_says_is_free() {
        let told = one(
            "Write outbox/a.json with status requested.",
            file(&json!([{"path": "status", "expected": "requested"}])),
        );
        assert_eq!((told.weak(), told.criteria), (1, vec![Some(0.0)]));
    }

    #[test]
    fn what_has_to_be_found_out_costs_what_it_holds() {
        let fields = json!([{"path": "member", "expected": "HLX447120093"}, {"path": "paid", "expected": 170}]);
        let guess = one("Write outbox/a.json.", file(&fields));
        let bits = guess.criteria[0].unwrap();
        // Nine digits and three letters, three digits.
        assert!((bits - (12.0 * 10f64.log2() + 11.0)).abs() < 0.01, "{bits}");
        assert_eq!(guess.weak(), 0);
    }

    #[test]
    fn a_choice_among_what_is_listed_costs_the_choice() {
        let task = |reason: &str| Asked {
            item: json!({"instruction": "Write outbox/a.json with the reason: unsigned, unknown, late or other."}),
            assertions: vec![file(&json!([{"path": "reason", "expected": reason}]))],
        };
        let guesses = guesses(&[task("unsigned"), task("unknown"), task("late"), task("other")]);
        assert!(guesses.iter().all(|guess| guess.criteria == [Some(2.0)] && guess.weak() == 1));
    }

    #[test]
    fn a_date_is_one_day_of_those_that_it_can_be() {
        let born = json!([{"path": "born", "expected": "1948-03-17"}]);
        let bits = |instruction: &str| one(instruction, file(&born)).criteria[0].unwrap();
        assert!((bits("Write outbox/a.json") - 36_525f64.log2()).abs() < 0.01);
        assert!((bits("Write outbox/a.json for those born in 1948") - 365f64.log2()).abs() < 0.01);
    }

    #[test]
    fn guards_are_not_counted_alone() {
        let guard = one("Do it.", json!({"assert": "no-side-effects", "require": ["fhir/Task"]}));
        assert_eq!((guard.criteria.clone(), guard.weak()), (vec![None], 0));
        assert!(guard.task < ENOUGH_BITS);
    }

    #[test]
    fn expressions_hold_what_they_name() {
        let assertion = json!({"assert": "fhir-resource-state", "resource_type": "Task",
            "fields": [{"fhirpath": "code = 'zq7' and value = 8421 and status = 'final'", "expected": true}]});
        let bits = one("Make it final.", assertion).criteria[0].unwrap();
        assert!((bits - (5.0 * 10f64.log2() + 2.0 * 26f64.log2())).abs() < 0.01, "{bits}");
    }
}
