//! Values of a transaction by segment, loop and position: `EB[n].1`, `NM1[1=IL].9`, `2110C.EB.1`.
//!
//! The notation itself is an author's and is read where criteria are; here are its parts. All numbers count from 1.
//! An empty element is not there, and spaces that only fill a width are not part of a value.

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::guide::Guide;
use crate::loops::Loops;
use crate::scope::{self, Scope};
use crate::{Element, Interchange, Segment, Transaction};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query<'q> {
    /// The guide's name of the loop; segments of the loops below it do not count.
    pub within: Option<&'q str>,
    pub segment: &'q str,
    pub selector: Option<Selector<'q>>,
    /// None means the whole segment.
    pub position: Option<Position>,
}

/// Which of several segments of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector<'q> {
    Nth(usize),
    Where { position: Position, value: &'q str },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub element: usize,
    /// None means every one.
    pub repetition: Option<usize>,
    /// None means the whole, with `:` between several components.
    pub component: Option<usize>,
}

impl Position {
    pub fn element(element: usize) -> Self {
        Self { element, repetition: None, component: None }
    }
}

/// What paths look into: one transaction with the envelope around it, the part of one that is about a single subject, or
/// an interchange with TA1 and no transaction.
#[derive(Clone, Debug)]
pub struct View<'i, 'a> {
    /// In the order of the text.
    envelope_before: Vec<Segment<'a>>,
    segments: &'i [Segment<'a>],
    /// The part of the segments that counts; none means all of them.
    scope: Option<Scope>,
    envelope_after: Vec<Segment<'a>>,
    guide: Option<&'static Guide>,
    /// Placed when the first path asks for a loop: most do not, and it takes far longer than reading.
    loops: OnceCell<Option<Loops<'i, 'a>>>,
}

impl<'i, 'a> View<'i, 'a> {
    /// ISA, GS, ST to SE, GE and IEA.
    pub fn of_transaction(transaction: &Transaction<'i, 'a>) -> Self {
        let group = transaction.group();
        let interchange = group.interchange();
        let segments = transaction.segments();
        Self {
            envelope_before: vec![interchange.header(), group.header()],
            segments,
            scope: None,
            envelope_after: group.trailer().into_iter().chain(interchange.trailer()).collect(),
            guide: Guide::of(transaction),
            loops: OnceCell::new(),
        }
    }

    /// ISA, the segments that are in no group, and IEA.
    pub fn of_interchange(interchange: &'i Interchange<'a>) -> Self {
        let outside = interchange.outside_groups().map(|(_, segment)| segment);
        let envelope_before = std::iter::once(interchange.header()).chain(outside).collect();
        let envelope_after = interchange.trailer().into_iter().collect();
        Self { envelope_before, segments: &[], scope: None, envelope_after, guide: None, loops: OnceCell::new() }
    }

    /// The parts of the transaction that are about one subscriber, dependent or claim each, with what stands above them
    /// (the payer, the provider, the subscriber of a dependent). A transaction without such parts is one whole.
    pub fn by_subject(transaction: &Transaction<'i, 'a>) -> Vec<Self> {
        let whole = Self::of_transaction(transaction);
        let scopes = scope::read(transaction.set(), whole.segments);
        if scopes.is_empty() {
            return vec![whole];
        }
        scopes.into_iter().map(|scope| Self { scope: Some(scope), ..whole.clone() }).collect()
    }

    /// How many segments paths look at.
    pub fn len(&self) -> usize {
        self.scope.as_ref().map_or(self.segments.len(), Scope::len)
    }

    /// The names of these segments, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.scoped().map(|(_, segment)| segment.name())
    }

    /// The names of the segments of the transaction that paths do not look at, because they are about something else.
    pub fn other_names(&self) -> impl Iterator<Item = &'a str> {
        let ranges = self.scope.as_ref().map(Scope::ranges);
        let is_outside = move |at: usize| ranges.is_some_and(|ranges| !ranges.iter().any(|range| range.contains(&at)));
        self.segments.iter().enumerate().filter(move |(at, _)| is_outside(*at)).map(|(_, segment)| segment.name())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The segments of the transaction that count, each with its position; the ST has position 1.
    fn scoped(&self) -> impl Iterator<Item = (usize, &'i Segment<'a>)> {
        let segments = self.segments;
        let ranges = match &self.scope {
            Some(scope) => scope.ranges(),
            None => std::slice::from_ref(&(0..usize::MAX)),
        };
        let positions = ranges.iter().flat_map(move |range| range.start..range.end.min(segments.len()));
        positions.map(move |at| (at + 1, &segments[at]))
    }

    /// None where the transaction's guide has no table.
    pub fn loops(&self) -> Option<&Loops<'i, 'a>> {
        let read = || self.guide.map(|guide| Loops::read(guide, self.segments));
        self.loops.get_or_init(read).as_ref()
    }

    /// The segments that are meant, in the order of the text.
    pub fn select(&self, query: &Query<'_>) -> Vec<Segment<'a>> {
        let is_named = |segment: &Segment<'a>| segment.name() == query.segment;
        let mut found: Vec<Segment<'a>> = match query.within {
            None => {
                let body = self.scoped().map(|(_, segment)| segment);
                let all = self.envelope_before.iter().chain(body).chain(&self.envelope_after);
                all.copied().filter(is_named).collect()
            }
            Some(within) => self.segments_of_loop(within).filter(is_named).collect(),
        };
        match query.selector {
            None => {}
            Some(Selector::Nth(number)) => {
                found = number.checked_sub(1).and_then(|at| found.get(at).copied()).into_iter().collect();
            }
            Some(Selector::Where { position, value }) => {
                found.retain(|segment| values(segment, position).any(|found| found == value));
            }
        }
        found
    }

    fn segments_of_loop(&self, name: &str) -> impl Iterator<Item = Segment<'a>> {
        let loops = self.loops();
        self.scoped()
            .filter(move |(position, _)| loops.and_then(|loops| loops.within(*position)) == Some(name))
            .map(|(_, segment)| *segment)
    }

    /// The values that are meant, in the order of the text. A whole segment is written with the usual delimiters.
    pub fn values(&self, query: &Query<'_>) -> Vec<Cow<'a, str>> {
        let segments = self.select(query).into_iter();
        match query.position {
            None => segments.map(|segment| Cow::Owned(segment.canonical())).collect(),
            Some(position) => segments.flat_map(|segment| values(&segment, position)).collect(),
        }
    }
}

/// The values at a position of one segment: several if the element repeats.
pub fn values<'a>(segment: &Segment<'a>, position: Position) -> impl Iterator<Item = Cow<'a, str>> + use<'a> {
    let repetitions = segment.element(position.element).into_iter().flat_map(|element| element.repetitions());
    repetitions
        .zip(1..)
        .filter(move |(_, number)| position.repetition.is_none_or(|wanted| wanted == *number))
        .filter_map(move |(repetition, _)| value(repetition, position.component))
}

fn value<'a>(repetition: Element<'a>, component: Option<usize>) -> Option<Cow<'a, str>> {
    let text = match component {
        None => repetition.canonical(),
        Some(number) => Cow::Borrowed(repetition.component(number)?),
    };
    let trimmed = match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_end_matches(' ')),
        Cow::Owned(text) => Cow::Owned(text.trim_end_matches(' ').to_owned()),
    };
    (!trimmed.is_empty()).then_some(trimmed)
}
