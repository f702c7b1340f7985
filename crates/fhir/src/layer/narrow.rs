//! Which terms can answer a wanted value, found by where they must stand among the sorted ones.

use std::borrow::Cow;
use std::ops::Range;

use super::keys::Keys;
use super::parameter::Index;
use super::value::{BY_ADDRESS, BY_ID, found, moment_bits, number_bits, rough, within};
use crate::definitions::SearchType;
use crate::search::{Modifier, Prefix, SearchValue, Span, fold};

/// Runs of terms, and how it is seen which of them answer.
pub(super) struct Narrowed {
    pub(super) runs: Vec<Range<usize>>,
    pub(super) check: Check,
}

pub(super) enum Check {
    /// All do.
    Nothing,
    /// By the value of each.
    Value,
    /// By the context alone: whether it answers, by its number.
    Context(Vec<bool>),
    /// By whether the key contains the text.
    Contains(String),
}

/// The index of one parameter and what is needed to understand it.
#[derive(Clone, Copy)]
pub(super) struct Searched<'a> {
    pub(super) keys: &'a Keys,
    pub(super) index: &'a Index,
    pub(super) search_type: SearchType,
    pub(super) modifier: Option<&'a Modifier>,
}

impl Searched<'_> {
    pub(super) fn narrow(&self, wanted: &SearchValue) -> Narrowed {
        let terms = &self.index.terms;
        match (self.search_type, wanted) {
            (
                SearchType::Token,
                SearchValue::Token { code: Some(code), .. } | SearchValue::OfType { value: code, .. },
            ) => {
                let runs = ways_to_write(code).map(|code| terms.with_key(code.as_bytes())).collect();
                Narrowed { runs, check: Check::Value }
            }
            (SearchType::Token, SearchValue::Token { code: None, .. } | SearchValue::String(_)) => {
                one(0..terms.len(), Check::Context(self.contexts(wanted)))
            }
            (SearchType::String, SearchValue::String(text)) => self.string(&fold(text)),
            (SearchType::Uri, SearchValue::Uri(uri)) => self.uri(uri),
            (SearchType::Reference, SearchValue::Reference { resource_type, id, .. }) => {
                let docs = self.keys.with_id(id).filter(|doc| {
                    resource_type.is_none_or(|wanted| self.keys.key(*doc).is_some_and(|(found, _)| found == wanted))
                });
                let mut runs: Vec<_> = docs.map(|doc| terms.with_key(&within(doc))).collect();
                runs.push(terms.with_key(&[&[BY_ID], id.as_bytes()].concat()));
                Narrowed { runs, check: Check::Value }
            }
            (SearchType::Reference, SearchValue::Address(address)) => {
                one(terms.starting_with(&[&[BY_ADDRESS], address.as_bytes()].concat()), Check::Value)
            }
            (SearchType::Reference, SearchValue::Token { .. }) => {
                one(terms.between(&[BY_ID], &[u8::MAX]), Check::Value)
            }
            (SearchType::Date, SearchValue::Date { prefix, span }) => self.bounded(&time(*prefix, *span)),
            (SearchType::Number, SearchValue::Number { prefix, value, range })
            | (SearchType::Quantity, SearchValue::Quantity { prefix, value, range, .. }) => {
                let written = [range.low, range.high].map(|end| end.map(rough));
                self.bounded(&number(*prefix, rough(*value), written))
            }
            _ => one(0..terms.len(), Check::Value),
        }
    }

    /// Which contexts answer something that no key plays a part in.
    fn contexts(&self, wanted: &SearchValue) -> Vec<bool> {
        let answers = |context| {
            found(self.search_type, &[], context, self.keys).is_some_and(|found| wanted.matches(self.modifier, &found))
        };
        self.index.terms.contexts().map(answers).collect()
    }

    fn string(&self, folded: &str) -> Narrowed {
        let terms = &self.index.terms;
        match self.modifier {
            Some(Modifier::Exact) => one(terms.with_key(folded.as_bytes()), Check::Value),
            Some(Modifier::Contains) => one(0..terms.len(), Check::Contains(folded.to_owned())),
            _ => one(terms.starting_with(folded.as_bytes()), Check::Nothing),
        }
    }

    fn uri(&self, uri: &str) -> Narrowed {
        let terms = &self.index.terms;
        match self.modifier {
            Some(Modifier::Above) => one(0..terms.len(), Check::Value),
            Some(Modifier::Below) => {
                one(terms.starting_with(uri.strip_suffix('/').unwrap_or(uri).as_bytes()), Check::Value)
            }
            _ => one(terms.starting_with(uri.as_bytes()), Check::Value),
        }
    }

    fn bounded(&self, bounds: &Bounds) -> Narrowed {
        let (terms, blocks) = (&self.index.terms, &self.index.blocks);
        if blocks.has_reversed {
            return one(0..terms.len(), Check::Value);
        }
        let run = terms.between(&bounds.least_first, &bounds.greatest_first);
        Narrowed { runs: blocks.reaching(run, bounds.least_last), check: Check::Value }
    }
}

/// A code as it may stand in an index: in lower case, if case does not matter in its system.
pub(super) fn ways_to_write(code: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let lower = code.bytes().any(|byte| byte.is_ascii_uppercase()).then(|| Cow::Owned(code.to_ascii_lowercase()));
    std::iter::once(Cow::Borrowed(code)).chain(lower)
}

fn one(run: Range<usize>, check: Check) -> Narrowed {
    Narrowed { runs: vec![run], check }
}

/// What must be true of the first and the last of a span that is not reversed.
struct Bounds {
    least_first: [u8; 8],
    greatest_first: [u8; 8],
    least_last: [u8; 8],
}

const LOWEST: [u8; 8] = [u8::MIN; 8];
const HIGHEST: [u8; 8] = [u8::MAX; 8];
const UNBOUNDED: Bounds = Bounds { least_first: LOWEST, greatest_first: HIGHEST, least_last: LOWEST };

fn time(prefix: Prefix, span: Span) -> Bounds {
    let (first, last) = (moment_bits(span.first), moment_bits(span.last));
    bounds(prefix, Ends { least: first, below: first, above: last, most: last })
}

/// Roughly: a decimal may have digits that its rough value lacks.
fn number(prefix: Prefix, value: f64, [low, high]: [Option<f64>; 2]) -> Bounds {
    let lower = |number: f64| number_bits(number - number.abs() * 1e-9);
    let upper = |number: f64| number_bits(number + number.abs() * 1e-9);
    let ends = match prefix {
        Prefix::Equal => {
            let (least, most) = (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY).max(value));
            Ends { least: lower(least), below: LOWEST, above: HIGHEST, most: upper(most) }
        }
        Prefix::Approximately => {
            let tenth = value.abs() / 10.0;
            Ends { least: lower(value - tenth), below: LOWEST, above: HIGHEST, most: upper(value + tenth) }
        }
        _ => Ends { least: lower(value), below: upper(value), above: lower(value), most: upper(value) },
    };
    bounds(prefix, ends)
}

/// The wanted range, and what lies below and above it.
struct Ends {
    least: [u8; 8],
    below: [u8; 8],
    above: [u8; 8],
    most: [u8; 8],
}

fn bounds(prefix: Prefix, Ends { least, below, above, most }: Ends) -> Bounds {
    match prefix {
        Prefix::NotEqual => UNBOUNDED,
        Prefix::Equal => Bounds { least_first: least, greatest_first: most, ..UNBOUNDED },
        Prefix::Greater => Bounds { least_last: above, ..UNBOUNDED },
        Prefix::GreaterOrEqual => Bounds { least_last: least, ..UNBOUNDED },
        Prefix::Less | Prefix::EndsBefore => Bounds { greatest_first: below, ..UNBOUNDED },
        Prefix::LessOrEqual => Bounds { greatest_first: most, ..UNBOUNDED },
        Prefix::StartsAfter => Bounds { least_first: above, ..UNBOUNDED },
        Prefix::Approximately => Bounds { least_last: least, greatest_first: most, ..UNBOUNDED },
    }
}
