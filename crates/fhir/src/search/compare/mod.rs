//! Whether what was found answers what is wanted (<https://hl7.org/fhir/R4/search.html#ptypes>).

mod pointer;
mod range;
#[cfg(test)]
mod tests;
mod token;

use super::fold::{contains, has_word, starts_with};
use super::{Condition, Found, Modifier, Wanted};

impl Condition {
    /// Whether a resource in which the parameter finds these values answers the condition.
    pub fn holds(&self, found: &[Found]) -> bool {
        let modifier = self.modifier.as_ref();
        let answers = |wanted: &Wanted| match wanted {
            Wanted::Missing(is_missing) => found.is_empty() == *is_missing,
            _ => found.iter().any(|found| wanted.matches(modifier, found)),
        };
        self.alternatives.iter().any(answers) != (modifier == Some(&Modifier::Not))
    }
}

impl Wanted {
    /// Whether one value answers. `Modifier::Not` and `Wanted::Missing` are questions to all values together, see
    /// [`Condition::holds`].
    pub fn matches(&self, modifier: Option<&Modifier>, found: &Found) -> bool {
        match (self, found) {
            (Self::String(wanted), Found::String(text)) => match modifier {
                Some(Modifier::Exact) => **text == *wanted,
                Some(Modifier::Contains) => contains(text, wanted),
                _ => starts_with(text, wanted),
            },
            (Self::String(wanted), Found::Token(concept)) => {
                concept.text.as_ref().is_some_and(|text| has_word(text, wanted))
            }
            (Self::Token { system, code }, Found::Token(concept)) => {
                token::matches(system.as_deref(), code.as_deref(), concept)
            }
            (Self::Token { system, code }, Found::Reference { identifier: Some(concept), .. }) => {
                token::matches(system.as_deref(), code.as_deref(), concept)
            }
            (Self::OfType { system, code, value }, Found::Token(concept)) => {
                token::is_of_type(system, code, value, concept)
            }
            (Self::Reference { resource_type, id, version }, Found::Reference { target, .. }) => {
                pointer::matches(*resource_type, id, version.as_deref(), target)
            }
            (Self::Address(wanted), Found::Reference { target, .. }) => pointer::is_address(wanted, target),
            (Self::Date { prefix, span }, Found::Date(found)) => range::in_time(*prefix, *span, *found),
            (Self::Number { prefix, value, range }, Found::Number(found)) => {
                range::in_number(*prefix, *value, *range, *found)
            }
            (
                Self::Quantity { prefix, value, range, system, code },
                quantity @ Found::Quantity { range: found, .. },
            ) => {
                range::in_number(*prefix, *value, *range, *found)
                    && range::has_unit(system.as_deref(), code.as_deref(), quantity)
            }
            (Self::Uri(wanted), Found::Uri(uri)) => match modifier {
                Some(Modifier::Below) => pointer::is_below(uri, wanted),
                Some(Modifier::Above) => pointer::is_below(wanted, uri),
                _ => pointer::is_canonical(wanted, uri),
            },
            (Self::Composite(wanted), Found::Composite(found)) => {
                let answers =
                    |(wanted, found): (&Self, &Vec<Found>)| found.iter().any(|found| wanted.matches(None, found));
                wanted.len() == found.len() && wanted.iter().zip(found).all(answers)
            }
            _ => false,
        }
    }
}
