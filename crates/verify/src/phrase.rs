//! Phrases that must or must not occur in a text. Each is a string or a list of alternatives.

use std::collections::BTreeSet;

use clinical::{PhoneNumber, is_same_phone_number, phone_digits};
use model::FieldErrors;
use model::template::is_template;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};
use spoken::{Negations, has_negation};

use crate::authored::Authored;
use crate::bounds::{bounded, short};
use crate::budget::Budget;
use crate::common_words::{folded, is_common, words};
use crate::evidence::object;
use crate::limits::{self, LONGEST_LIST, LONGEST_TEXT};
use crate::searchable_text::{SearchableDisguisedText, SearchableText, negations, phone_numbers};
use crate::wording::{self, Wording};

/// A list of alternatives. The phrase is found if one of them is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    pub alternatives: Vec<String>,
}

impl Phrase {
    fn read(value: Value) -> Result<Self, String> {
        Self::read_up_to(value, LONGEST_TEXT)
    }

    /// As `read`, with another limit on the characters of each alternative.
    pub(crate) fn read_up_to(value: Value, longest: usize) -> Result<Self, String> {
        let alternatives = match value {
            Value::String(text) => vec![text],
            Value::Array(items) => items.into_iter().map(text).collect::<Option<_>>().unwrap_or_default(),
            _ => Vec::new(),
        };
        if alternatives.is_empty() {
            return Err("must be a string or a list of strings, the alternatives".to_owned());
        }
        limits::check_size(alternatives.len())?;
        alternatives.iter().try_for_each(|text| check_words(text, longest))?;
        Ok(Self { alternatives })
    }
}

impl Phrase {
    /// The alternatives as the author wrote them, bounded.
    pub(crate) fn json(&self) -> Value {
        match self.alternatives.as_slice() {
            [only] => bounded(&only.as_str().into()),
            several => bounded(&several.to_vec().into()),
        }
    }

    fn result(&self, rule: PhraseRule, turn: Option<TurnLabel>) -> PhraseResult {
        PhraseResult { phrase: self.json(), rule, found: turn.is_some(), is_negated: false, turn, reason: None }
    }
}

impl<'de> Deserialize<'de> for Phrase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// The parameter that a phrase result is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PhraseRule {
    Contains,
    NotContains,
    Numbers,
    Words,
    Text,
    /// A text that `text` does not list.
    OtherText,
    /// A text that is not a sequence of lines of `script`.
    OtherLine,
}

impl PhraseRule {
    fn name(self) -> &'static str {
        match self {
            Self::Contains => "contains",
            Self::NotContains => "not_contains",
            Self::Numbers => "numbers",
            Self::Words => "words",
            Self::Text | Self::OtherText => "text",
            Self::OtherLine => "script",
        }
    }
}

/// Identifies the text that a phrase was found in.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TurnLabel {
    /// The number of the text, or null if there is only one.
    pub(crate) turn: Value,
    /// The call that the turn belongs to, if there are several.
    pub(crate) call_id: Option<String>,
}

impl From<Value> for TurnLabel {
    fn from(turn: Value) -> Self {
        Self { turn, call_id: None }
    }
}

/// One entry of `phraseResults`.
#[derive(Clone, Debug)]
pub(crate) struct PhraseResult {
    phrase: Value,
    rule: PhraseRule,
    found: bool,
    /// Whether it occurs but does not count as found because it is negated.
    is_negated: bool,
    /// The first text where it was found, or where it is negated.
    turn: Option<TurnLabel>,
    /// Why it is unknown whether the phrase occurs.
    pub(crate) reason: Option<String>,
}

impl PhraseResult {
    pub(crate) fn passed(&self) -> bool {
        self.reason.is_none() && self.found != self.is_forbidden()
    }

    pub(crate) fn is_found(&self) -> bool {
        self.found
    }

    pub(crate) fn is_forbidden(&self) -> bool {
        !matches!(self.rule, PhraseRule::Contains | PhraseRule::Text)
    }

    /// Marks the phrase as negated.
    fn negated(self) -> Self {
        Self { found: false, is_negated: true, ..self }
    }

    /// Marks the result as unknown.
    pub(crate) fn unknown(self, reason: &str) -> Self {
        Self { reason: Some(reason.to_owned()), ..self }
    }

    pub(crate) fn json(&self, candidate: Option<&str>) -> Value {
        let mut members = Map::new();
        if let Some(candidate) = candidate {
            members.insert("candidate".to_owned(), short(candidate).into());
        }
        members.insert("phrase".to_owned(), self.phrase.clone());
        members.insert("found".to_owned(), self.found.into());
        let TurnLabel { turn, call_id } = self.turn.clone().unwrap_or_default();
        members.insert("turn".to_owned(), turn);
        if let Some(call_id) = call_id {
            members.insert("call_id".to_owned(), call_id.into());
        }
        if self.is_forbidden() {
            members.insert("forbidden".to_owned(), true.into());
        }
        if self.is_negated {
            members.insert("negated".to_owned(), true.into());
        }
        if let Some(reason) = &self.reason {
            members.insert("reason".to_owned(), short(reason).into());
        }
        Value::Object(members)
    }

    /// An entry about a field: `turn` is the index of the selected value.
    pub(crate) fn json_of_field(&self) -> Value {
        let mut entry = object([("rule", self.rule.name().into())]);
        if let (Some(entry), Value::Object(members)) = (entry.as_object_mut(), self.json(None)) {
            entry.extend(members);
        }
        entry
    }
}

/// How negation of required phrases is handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Negation {
    /// Negation is ignored: "do not call" contains "call".
    #[default]
    Ignore,
    /// A required phrase that is negated anywhere is not found. See [`spoken::Negations`].
    Reject,
}

/// The rules for a text. Forbidden phrases are also found in look-alike characters. Required phrases are not, because text
/// in look-alike characters cannot be searched or read aloud by a screen reader.
#[derive(Clone, Copy, Default)]
pub(crate) struct PhraseRules<'a> {
    pub(crate) contains: &'a [Phrase],
    pub(crate) not_contains: &'a [Phrase],
    /// Whether the phrases of `contains` must occur in this order.
    pub(crate) in_order: bool,
    pub(crate) negation: Negation,
    /// The phone numbers that may occur. None allows all.
    pub(crate) numbers: Option<&'a [Authored<PhoneNumber>]>,
    /// The words that may occur in addition to those of `contains` and common words. None allows all.
    pub(crate) words: Option<&'a [String]>,
    /// The exact wording of each text.
    pub(crate) text: Option<&'a Wording>,
    /// The lines that each text must consist of.
    pub(crate) script: Option<&'a [Phrase]>,
}

/// The operand of the operator `phrases`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextRules {
    #[serde(default)]
    contains: Vec<Phrase>,
    #[serde(default, alias = "forbidden")]
    not_contains: Vec<Phrase>,
    #[serde(default)]
    negation: Negation,
    #[serde(default)]
    numbers: Option<Vec<Authored<PhoneNumber>>>,
    /// The words that may occur in addition to those of `contains`.
    #[serde(default)]
    words: Option<Vec<String>>,
    /// The exact wording of the whole text.
    #[serde(default)]
    text: Option<Wording>,
}

impl TextRules {
    /// Parses and validates the rules.
    pub(crate) fn read(expected: &Value) -> Result<Self, String> {
        const MEMBERS: &str =
            "must be an object of `contains`, `not_contains`, `negation`, `numbers`, `words` and `text`";
        let rules = Self::deserialize(expected).map_err(|error| format!("{MEMBERS}: {error}"))?;
        for count in [rules.contains.len(), rules.not_contains.len(), rules.numbers.as_ref().map_or(0, Vec::len)] {
            limits::check_size(count)?;
        }
        check_vocabulary(rules.words.as_deref())?;
        let is_empty = rules.contains.is_empty() && rules.not_contains.is_empty();
        if is_empty && rules.numbers.is_none() && rules.words.is_none() && rules.text.is_none() {
            return Err("asserts nothing: give `contains`, `not_contains`, `numbers`, `words` or `text`".to_owned());
        }
        Ok(rules)
    }

    /// Whether a missing text satisfies the rules.
    pub(crate) fn allow_missing_text(&self) -> bool {
        self.contains.is_empty() && self.text.is_none()
    }

    /// The phrase results that fail. Empty if the text satisfies the rules.
    pub(crate) fn failures(&self, index: usize, text: &str, budget: &Budget) -> Result<Vec<PhraseResult>, String> {
        let transcript = Transcript::new([(Value::from(index), text)], budget)?;
        let Self { contains, not_contains, negation, numbers, words, text } = self;
        let rules = PhraseRules {
            contains,
            not_contains,
            negation: *negation,
            numbers: numbers.as_deref(),
            words: words.as_deref(),
            text: text.as_ref(),
            ..PhraseRules::default()
        };
        let mut results = transcript.evaluate(rules, budget)?;
        results.retain(|result| !result.passed());
        Ok(results)
    }
}

/// The texts that are searched for phrases, in order.
pub(crate) struct Transcript<'t> {
    turns: Vec<Turn<'t>>,
}

struct Turn<'t> {
    label: TurnLabel,
    text: &'t str,
    searchable: SearchableText,
}

impl<'t> Transcript<'t> {
    pub(crate) fn new(
        turns: impl IntoIterator<Item = (impl Into<TurnLabel>, &'t str)>,
        budget: &Budget,
    ) -> Result<Self, String> {
        let turns = turns.into_iter().map(|(label, text)| {
            Ok(Turn { label: label.into(), text, searchable: SearchableText::new(text, budget)? })
        });
        turns.collect::<Result<_, String>>().map(|turns| Self { turns })
    }

    /// The results of all rules, in the order of the parameters.
    pub(crate) fn evaluate(&self, rules: PhraseRules<'_>, budget: &Budget) -> Result<Vec<PhraseResult>, String> {
        let mut results = self.required_phrases(rules, budget)?;
        results.extend(self.forbidden_phrases(rules, budget)?);
        if let Some(allowed) = rules.numbers {
            results.push(self.other_number(allowed, budget)?);
        }
        if let Some(allowed) = rules.words {
            results.push(self.other_word(allowed, rules, budget)?);
        }
        if let Some(wording) = rules.text {
            let is_wording = self.each(|turn| wording::is_one_of(turn.text, [&wording.0], budget))?;
            let turn = is_wording.iter().position(|is_wording| *is_wording).and_then(|turn| self.label(turn));
            results.push(wording.0.result(PhraseRule::Text, turn));
            results.push(self.other_text(PhraseRule::OtherText, &is_wording));
        }
        if let Some(script) = rules.script {
            let is_script = self.each(|turn| wording::is_made_of(turn.text, script, budget))?;
            results.push(self.other_text(PhraseRule::OtherLine, &is_script));
        }
        Ok(results)
    }

    fn required_phrases(&self, rules: PhraseRules<'_>, budget: &Budget) -> Result<Vec<PhraseResult>, String> {
        let mut results = Vec::with_capacity(rules.contains.len());
        let negations = match rules.negation {
            Negation::Ignore => Vec::new(),
            Negation::Reject => self.each(|turn| negations(turn.text, budget))?,
        };
        let mut after = None;
        for phrase in rules.contains {
            let hit = self.find(phrase, after, budget)?;
            let negated = if hit.is_some() { self.negated(phrase, &negations, budget)? } else { None };
            let turn = negated.or(hit.map(|(turn, _)| turn));
            let result = phrase.result(PhraseRule::Contains, turn.and_then(|turn| self.label(turn)));
            results.push(if negated.is_some() { result.negated() } else { result });
            after = hit.filter(|_| rules.in_order && negated.is_none()).or(after);
        }
        Ok(results)
    }

    fn forbidden_phrases(&self, rules: PhraseRules<'_>, budget: &Budget) -> Result<Vec<PhraseResult>, String> {
        if rules.not_contains.is_empty() {
            return Ok(Vec::new());
        }
        let disguised = self.each(|turn| SearchableDisguisedText::new(turn.text, budget))?;
        let results = rules.not_contains.iter().map(|phrase| {
            let turn = self.find_forbidden(phrase, &disguised, budget)?;
            Ok(phrase.result(PhraseRule::NotContains, turn.and_then(|turn| self.label(turn))))
        });
        results.collect()
    }

    /// A result like that of a forbidden phrase: whether there is a text that is not allowed.
    fn other_text(&self, rule: PhraseRule, is_allowed: &[bool]) -> PhraseResult {
        let other = self.turns.iter().zip(is_allowed).find(|(_, is_allowed)| !**is_allowed);
        match other {
            Some((turn, _)) => unlisted(rule, &short(turn.text), Some(turn.label.clone())),
            None => unlisted(rule, "another text", None),
        }
    }

    /// A result like that of a forbidden phrase: whether a word occurs that is not in the vocabulary.
    fn other_word(&self, allowed: &[String], rules: PhraseRules<'_>, budget: &Budget) -> Result<PhraseResult, String> {
        let required = rules.contains.iter().flat_map(|phrase| &phrase.alternatives);
        let numbers = rules.numbers.into_iter().flatten().filter_map(|number| number.ready().ok());
        let mut known: BTreeSet<String> = BTreeSet::new();
        for text in allowed.iter().chain(required) {
            known.extend(words(&folded(text)).map(ToOwned::to_owned));
        }
        for number in numbers {
            let digits = phone_digits(number.as_str());
            let national = digits.get(digits.len().saturating_sub(10)..).unwrap_or_default();
            let parts = [
                Some(digits.as_str()),
                Some(national),
                national.get(..3),
                national.get(3..6),
                national.get(6..),
                Some("1"),
            ];
            known.extend(parts.into_iter().flatten().flat_map(words).map(ToOwned::to_owned));
        }
        for turn in &self.turns {
            budget.spend(24 * turn.text.len() + 1)?;
            let text = folded(turn.text);
            let other = words(&text).find(|word| !known.contains(*word) && !is_common(word));
            if let Some(word) = other {
                return Ok(unlisted(PhraseRule::Words, &short(word), Some(turn.label.clone())));
            }
        }
        Ok(unlisted(PhraseRule::Words, "another word", None))
    }

    /// A result like that of a forbidden phrase: whether a phone number occurs that is not allowed.
    fn other_number(&self, allowed: &[Authored<PhoneNumber>], budget: &Budget) -> Result<PhraseResult, String> {
        let allowed = allowed.iter().map(|number| Ok(number.ready()?.as_str()));
        let allowed = allowed.collect::<Result<Vec<_>, String>>()?;
        let find = |text: &str| {
            let numbers = phone_numbers(text, budget)?;
            Ok::<_, String>(numbers.into_iter().find(|number| !allowed.iter().any(|one| is_number(number, one))))
        };
        for turn in &self.turns {
            if let Some(number) = find(turn.text)? {
                return Ok(unlisted(PhraseRule::Numbers, &number, Some(turn.label.clone())));
            }
        }
        // A number may be spread over several turns.
        let all = self.turns.iter().map(|turn| turn.text).collect::<Vec<_>>().join("\n");
        Ok(match find(&all)?.filter(|_| self.turns.len() > 1) {
            Some(number) => unlisted(PhraseRule::Numbers, &number, self.turns.first().map(|turn| turn.label.clone())),
            None => unlisted(PhraseRule::Numbers, "another phone number", None),
        })
    }

    fn each<T>(&self, evaluate: impl Fn(&Turn<'t>) -> Result<T, String>) -> Result<Vec<T>, String> {
        self.turns.iter().map(evaluate).collect()
    }

    fn label(&self, turn: usize) -> Option<TurnLabel> {
        self.turns.get(turn).map(|turn| turn.label.clone())
    }

    /// The turn and the last word of the first occurrence of a phrase after another.
    fn find(
        &self,
        phrase: &Phrase,
        after: Option<(usize, usize)>,
        budget: &Budget,
    ) -> Result<Option<(usize, usize)>, String> {
        let first = after.map_or(0, |(turn, _)| turn);
        for (at, turn) in self.turns.iter().enumerate().skip(first).filter(|(_, turn)| !is_reordered(turn.text)) {
            let after = after.filter(|(turn, _)| *turn == at).map(|(_, word)| word);
            let mut found = None;
            for alternative in &phrase.alternatives {
                let hit = turn.searchable.find(alternative, after, budget)?;
                found = [found, hit].into_iter().flatten().min();
            }
            if let Some((_, last)) = found {
                return Ok(Some((at, last)));
            }
        }
        Ok(None)
    }

    /// The first turn with the phrase, also in look-alike characters.
    fn find_forbidden(
        &self,
        phrase: &Phrase,
        disguised: &[SearchableDisguisedText],
        budget: &Budget,
    ) -> Result<Option<usize>, String> {
        for (at, (turn, disguised)) in self.turns.iter().zip(disguised).enumerate() {
            for alternative in &phrase.alternatives {
                if turn.searchable.find(alternative, None, budget)?.is_some() || disguised.has(alternative, budget)? {
                    return Ok(Some(at));
                }
            }
        }
        Ok(None)
    }

    /// The first turn in which the phrase is negated. It overrides the turns in which the phrase is not negated.
    fn negated(&self, phrase: &Phrase, negations: &[Negations], budget: &Budget) -> Result<Option<usize>, String> {
        let alternatives: Vec<&String> =
            phrase.alternatives.iter().filter(|alternative| !has_negation(alternative)).collect();
        for (at, (turn, negations)) in self.turns.iter().zip(negations).enumerate() {
            for alternative in &alternatives {
                let mut after = None;
                while let Some(hit) = turn.searchable.find(alternative, after, budget)? {
                    if negations.is_negated(hit) {
                        return Ok(Some(at));
                    }
                    after = Some(hit.0);
                }
            }
        }
        Ok(None)
    }
}

/// Whether the text contains characters that change the display order. A reader does not see phrases of such a text.
fn is_reordered(text: &str) -> bool {
    text.contains(|c: char| matches!(c, '\u{202a}'..='\u{202e}'))
}

/// Whether a number in a text is the allowed one. Without an area code, the last digits are compared.
fn is_number(found: &str, allowed: &str) -> bool {
    const LOCAL_DIGITS: usize = 7;
    is_same_phone_number(found, allowed) || (found.len() == LOCAL_DIGITS && phone_digits(allowed).ends_with(found))
}

/// The result about a number, word or text that is not allowed.
fn unlisted(rule: PhraseRule, phrase: &str, turn: Option<TurnLabel>) -> PhraseResult {
    let found = turn.is_some();
    PhraseResult { phrase: phrase.into(), rule, found, is_negated: false, turn, reason: None }
}

/// The results of all rules if the text cannot be read: all of them are unknown.
pub(crate) fn unknown_rules(rules: PhraseRules<'_>, reason: &str) -> Vec<PhraseResult> {
    let text = rules.text.map(|wording| wording.0.result(PhraseRule::Text, None));
    let number = rules.numbers.map(|_| unlisted(PhraseRule::Numbers, "another phone number", None));
    let word = rules.words.map(|_| unlisted(PhraseRule::Words, "another word", None));
    let others = text.into_iter().chain(number).chain(word).map(|line| line.unknown(reason));
    unknown(rules.contains, rules.not_contains, reason).into_iter().chain(others).collect()
}

/// Unknown results for required and forbidden phrases.
pub(crate) fn unknown(contains: &[Phrase], not_contains: &[Phrase], reason: &str) -> Vec<PhraseResult> {
    let required = contains.iter().map(|phrase| phrase.result(PhraseRule::Contains, None));
    let forbidden = not_contains.iter().map(|phrase| phrase.result(PhraseRule::NotContains, None));
    required.chain(forbidden).map(|line| line.unknown(reason)).collect()
}

pub(crate) fn check_numbers(numbers: Option<&Vec<Authored<PhoneNumber>>>, errors: &mut FieldErrors) {
    errors.size("numbers", numbers.map_or(0, Vec::len), LONGEST_LIST);
}

/// Words of a closed vocabulary.
const MOST_WORDS: usize = 1000;

fn check_vocabulary(vocabulary: Option<&[String]>) -> Result<(), String> {
    let Some(vocabulary) = vocabulary else { return Ok(()) };
    if vocabulary.len() > MOST_WORDS {
        return Err(format!("`words` must have at most {MOST_WORDS} items"));
    }
    vocabulary.iter().try_for_each(|text| check_words(text, LONGEST_TEXT))
}

pub(crate) fn check_words_of(words: Option<&[String]>, errors: &mut FieldErrors) {
    if let Err(error) = check_vocabulary(words) {
        errors.add("words", error);
    }
}

pub(crate) fn check_phrases(name: &str, phrases: &[Phrase], errors: &mut FieldErrors) {
    errors.size(name, phrases.len(), LONGEST_LIST);
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Rejects phrases without letters and digits. Comparison ignores everything else, so they would occur in every text.
fn check_words(text: &str, longest: usize) -> Result<(), String> {
    limits::check_text(text, longest)?;
    if is_template(text) || text.chars().any(char::is_alphanumeric) {
        Ok(())
    } else {
        Err("must have a letter or a digit".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn phrases_are_validated() {
        assert_eq!(Phrase::read(json!("date of birth")).map(|phrase| phrase.alternatives.len()), Ok(1));
        assert_eq!(Phrase::read(json!(["DOB", "{{entity.birthDate}}"])).map(|phrase| phrase.alternatives.len()), Ok(2));
        for (value, expected_text) in [
            (json!(""), "empty"),
            (json!(" \t"), "empty"),
            (json!("…?!"), "letter or a digit"),
            (json!(["yes", ""]), "empty"),
            (json!([]), "list of strings"),
            (json!(["yes", 1]), "list of strings"),
            (json!([["yes"]]), "list of strings"),
            (json!(7), "list of strings"),
            (json!({"phrase": "x"}), "list of strings"),
            (json!("x".repeat(2000)), "at most 1024"),
            (json!(vec!["x"; 201]), "at most 200"),
        ] {
            let error = Phrase::read(value.clone()).expect_err(&value.to_string());
            assert!(error.contains(expected_text), "{value}: {error}");
        }
    }
}
