//! Matches indexed values against search values (<https://hl7.org/fhir/R4/search.html#ptypes>).

mod pointer;
mod range;
#[cfg(test)]
mod tests;
mod token;

use super::text_folding::{contains, has_word, starts_with};
use super::{Condition, IndexedValue, Modifier, SearchValue};

impl Condition {
    /// Whether a resource with these values of the parameter matches the condition.
    pub fn holds(&self, found: &[IndexedValue]) -> bool {
        let modifier = self.modifier.as_ref();
        let answers = |expected: &SearchValue| match expected {
            SearchValue::Missing(is_missing) => found.is_empty() == *is_missing,
            _ => found.iter().any(|found| expected.matches(modifier, found)),
        };
        self.alternatives.iter().any(answers) != (modifier == Some(&Modifier::Not))
    }
}

impl SearchValue {
    /// Whether one value matches. `Modifier::Not` and `SearchValue::Missing` apply to all values together, see
    /// [`Condition::holds`].
    pub fn matches(&self, modifier: Option<&Modifier>, found: &IndexedValue) -> bool {
        match (self, found) {
            (Self::String(expected), IndexedValue::String(text)) => match modifier {
                Some(Modifier::Exact) => **text == *expected,
                Some(Modifier::Contains) => contains(text, expected),
                _ => starts_with(text, expected),
            },
            (Self::String(expected), IndexedValue::Token(concept)) => {
                concept.text.as_ref().is_some_and(|text| has_word(text, expected))
            }
            (Self::Token { system, code }, IndexedValue::Token(concept)) => {
                token::matches(system.as_deref(), code.as_deref(), concept)
            }
            (Self::Token { system, code }, IndexedValue::Reference { identifier: Some(concept), .. }) => {
                token::matches(system.as_deref(), code.as_deref(), concept)
            }
            (Self::OfType { system, code, value }, IndexedValue::Token(concept)) => {
                token::is_of_type(system, code, value, concept)
            }
            (Self::Reference { resource_type, id, version }, IndexedValue::Reference { target, .. }) => {
                pointer::matches(*resource_type, id, version.as_deref(), target)
            }
            (Self::Address(expected), IndexedValue::Reference { target, .. }) => pointer::is_address(expected, target),
            (Self::Date { prefix, span }, IndexedValue::Date(found)) => range::in_time(*prefix, *span, *found),
            (Self::Number { prefix, value, range }, IndexedValue::Number(found)) => {
                range::in_number(*prefix, *value, *range, *found)
            }
            (
                Self::Quantity { prefix, value, range, system, code },
                quantity @ IndexedValue::Quantity { range: found, .. },
            ) => {
                range::in_number(*prefix, *value, *range, *found)
                    && range::has_unit(system.as_deref(), code.as_deref(), quantity)
            }
            (Self::Uri(expected), IndexedValue::Uri(uri)) => match modifier {
                Some(Modifier::Below) => pointer::is_below(uri, expected),
                Some(Modifier::Above) => pointer::is_below(expected, uri),
                _ => pointer::is_canonical(expected, uri),
            },
            (Self::Composite(expected), IndexedValue::Composite(found)) => {
                let answers = |(expected, found): (&Self, &Vec<IndexedValue>)| {
                    found.iter().any(|found| expected.matches(None, found))
                };
                expected.len() == found.len() && expected.iter().zip(found).all(answers)
            }
            _ => false,
        }
    }
}
