//! String manipulation (<https://hl7.org/fhirpath/N1/#string-manipulation>); places count Unicode characters.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};

use super::{EvaluationResult, Evaluator, Given, boolean};
use crate::fhirpath::EvaluationFault;
use crate::fhirpath::item::Item;

/// A bound on what one pattern may compile to.
const PATTERN_BYTES: usize = 1 << 20;
const MOST_PATTERNS: usize = 16;
/// What it costs to compile a pattern.
const PATTERN_STEPS: usize = 10_000;
/// A text that replacement or joining may not outgrow.
pub(super) const LONGEST_TEXT: usize = 1 << 17;

fn with_argument<'v>(
    given: &Given<'_, 'v>,
    input: &[Item<'v>],
    apply: impl FnOnce(&str, &str) -> EvaluationResult<'v>,
) -> EvaluationResult<'v> {
    match (given.text_input(input)?, given.text(0)?) {
        (Some(text), Some(argument)) => apply(&text, &argument),
        _ => Ok(Vec::new()),
    }
}

fn mapped<'v>(given: &Given<'_, 'v>, input: &[Item<'v>], apply: impl FnOnce(&str) -> String) -> EvaluationResult<'v> {
    let Some(text) = given.text_input(input)? else { return Ok(Vec::new()) };
    Ok(vec![Item::text(apply(&text))])
}

fn integer<'v>(value: usize) -> Item<'v> {
    Item::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

pub(in crate::fhirpath) fn index_of<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    with_argument(given, &input, |text, part| {
        let at = text.find(part).map(|at| text[..at].chars().count());
        Ok(vec![at.map_or(Item::Integer(-1), integer)])
    })
}

pub(in crate::fhirpath) fn substring<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let (Some(text), Some(start)) = (given.text_input(&input)?, given.integer(0)?) else { return Ok(Vec::new()) };
    let length = given.integer(1)?.map_or(usize::MAX, |length| usize::try_from(length).unwrap_or(0));
    let Some(start) = usize::try_from(start).ok().filter(|start| *start < text.chars().count()) else {
        return Ok(Vec::new());
    };
    Ok(vec![Item::text(text.chars().skip(start).take(length).collect::<String>())])
}

pub(in crate::fhirpath) fn starts_with<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    with_argument(given, &input, |text, part| boolean(text.starts_with(part)))
}

pub(in crate::fhirpath) fn ends_with<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    with_argument(given, &input, |text, part| boolean(text.ends_with(part)))
}

pub(in crate::fhirpath) fn contains<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    with_argument(given, &input, |text, part| boolean(text.contains(part)))
}

pub(in crate::fhirpath) fn upper<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    mapped(given, &input, str::to_uppercase)
}

pub(in crate::fhirpath) fn lower<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    mapped(given, &input, str::to_lowercase)
}

pub(in crate::fhirpath) fn trim<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    mapped(given, &input, |text| text.trim().to_owned())
}

pub(in crate::fhirpath) fn replace<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let Some(substitution) = given.text(1)? else { return Ok(Vec::new()) };
    with_argument(given, &input, |text, pattern| {
        let count = if pattern.is_empty() { text.chars().count() + 1 } else { text.matches(pattern).count() };
        bounded(given, text.len().saturating_add(count.saturating_mul(substitution.len())))?;
        Ok(vec![Item::text(text.replace(pattern, &substitution))])
    })
}

fn bounded(given: &Given<'_, '_>, length: usize) -> Result<(), EvaluationFault> {
    given.evaluator.spend(length / 64)?;
    if length > LONGEST_TEXT { Err(given.unusable("the text grows too long")) } else { Ok(()) }
}

/// Anywhere in the text.
pub(in crate::fhirpath) fn matches<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    with_argument(given, &input, |text, pattern| {
        boolean(given.evaluator.pattern(given, Cow::Borrowed(pattern), text)?.is_match(text))
    })
}

pub(in crate::fhirpath) fn matches_full<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    with_argument(given, &input, |text, pattern| {
        boolean(given.evaluator.pattern(given, Cow::Owned(format!("^(?:{pattern})$")), text)?.is_match(text))
    })
}

pub(in crate::fhirpath) fn replace_matches<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let Some(substitution) = given.text(1)? else { return Ok(Vec::new()) };
    with_argument(given, &input, |text, pattern| {
        if pattern.is_empty() {
            return Ok(vec![Item::text(text.to_owned())]);
        }
        let regex = given.evaluator.pattern(given, Cow::Borrowed(pattern), text)?;
        // Each `$` may repeat what was matched.
        let repeats = substitution.matches('$').count() + 1;
        let matched = regex.find_iter(text).count().saturating_mul(substitution.len());
        bounded(given, text.len().saturating_mul(repeats).saturating_add(matched))?;
        Ok(vec![Item::text(regex.replace_all(text, substitution.as_ref()).into_owned())])
    })
}

pub(in crate::fhirpath) fn length<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    Ok(given.text_input(&input)?.map(|text| integer(text.chars().count())).into_iter().collect())
}

pub(in crate::fhirpath) fn to_chars<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let Some(text) = given.text_input(&input)? else { return Ok(Vec::new()) };
    given.evaluator.spend(text.len())?;
    Ok(text.chars().map(|letter| Item::text(letter.to_string())).collect())
}

pub(in crate::fhirpath) fn split<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    with_argument(given, &input, |text, separator| {
        given.evaluator.spend(text.len())?;
        Ok(text.split(separator).map(|part| Item::text(part.to_owned())).collect())
    })
}

pub(in crate::fhirpath) fn join<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let separator = given.text(0)?.unwrap_or_default();
    let mut parts = Vec::with_capacity(input.len());
    for item in &input {
        parts.extend(given.text_input(std::slice::from_ref(item))?);
    }
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    bounded(given, parts.iter().map(|part| part.len() + separator.len()).sum())?;
    Ok(vec![Item::text(parts.join(&separator))])
}

impl Evaluator<'_> {
    /// Compiled with `.` for any character, as the specification wants. A search of the text is paid for too.
    fn pattern(&self, given: &Given<'_, '_>, pattern: Cow<'_, str>, text: &str) -> Result<Regex, EvaluationFault> {
        self.spend(text.len())?;
        if let Some((_, regex)) = self.context.patterns.borrow().iter().find(|(known, _)| *known == pattern) {
            return Ok(regex.clone());
        }
        self.spend(PATTERN_STEPS)?;
        let built = RegexBuilder::new(&pattern).dot_matches_new_line(true).size_limit(PATTERN_BYTES).build();
        let regex = built.map_err(|_| given.unusable("the pattern is no regular expression that can be used"))?;
        let mut patterns = self.context.patterns.borrow_mut();
        if patterns.len() < MOST_PATTERNS {
            patterns.push((pattern.into_owned(), regex.clone()));
        }
        Ok(regex)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fhirpath::{Context, EvaluationFault, FhirPath};

    #[test]
    fn long_texts_and_patterns_cost_steps() {
        let now = clinical::PartialDateTime::parse_fhir("2026-01-01T00:00:00Z").unwrap();
        let patient = json!({"resourceType": "Patient", "name": [{"text": "a".repeat(64_000)}]});
        for (text, is_cheap) in [
            ("name.text.contains('b')", false),
            ("name.text.startsWith('b')", false),
            ("name.text.endsWith('b')", false),
            ("name.text.indexOf('b')", false),
            ("name.text.length()", false),
            ("name.text.substring(1, 1)", false),
            ("'a'.matches('b')", false),
            ("'a'.contains('b')", true),
        ] {
            let path = FhirPath::parse(text).unwrap();
            let mut context = Context::at(now);
            context.budget = 500;
            let answer = path.evaluate(&patient, &context);
            assert_eq!(answer.is_ok(), is_cheap, "{text}");
            assert!(is_cheap || matches!(answer, Err(EvaluationFault::OverBudget { .. })), "{text}");
        }
    }
}
