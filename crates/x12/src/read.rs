//! What an interchange is made of (X12.5 and X12.6): segments, elements that repeat and have components, and the
//! groups and transactions that the control segments mark out.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::Delimiters;

/// All interchanges of one text. Printing gives that text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body<'a> {
    pub(crate) interchanges: Vec<Interchange<'a>>,
    /// White space after the last.
    pub(crate) rest: &'a str,
}

/// From an ISA to its IEA. What the control segments do not mark out as group or transaction is kept as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interchange<'a> {
    pub(crate) number: usize,
    /// White space before the ISA.
    pub(crate) before: &'a str,
    pub(crate) delimiters: Delimiters,
    pub(crate) segments: Vec<Segment<'a>>,
    pub(crate) groups: Vec<GroupSpan>,
    pub(crate) has_trailer: bool,
    /// Whether another ISA follows, and not the end of the text.
    pub(crate) is_followed: bool,
}

/// Indices into the interchange's segments, from GS to GE or to where the group breaks off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupSpan {
    pub(crate) segments: Range<usize>,
    pub(crate) has_trailer: bool,
    pub(crate) transactions: Vec<TransactionSpan>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TransactionSpan {
    pub(crate) segments: Range<usize>,
    pub(crate) has_trailer: bool,
}

/// From a GS to its GE.
#[derive(Clone, Copy, Debug)]
pub struct Group<'i, 'a> {
    interchange: &'i Interchange<'a>,
    span: &'i GroupSpan,
    number: usize,
}

/// From an ST to its SE.
#[derive(Clone, Copy, Debug)]
pub struct Transaction<'i, 'a> {
    group: Group<'i, 'a>,
    span: &'i TransactionSpan,
    number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Without the terminator.
    pub(crate) text: &'a str,
    /// Line breaks after the terminator.
    pub(crate) after: &'a str,
    pub(crate) delimiters: Delimiters,
}

/// A data element, or one repetition of it, or one component: each is a text that may divide further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    text: &'a str,
    repetition: Option<char>,
    component: Option<char>,
}

impl<'a> Body<'a> {
    pub fn interchanges(&self) -> &[Interchange<'a>] {
        &self.interchanges
    }

    pub fn transactions(&self) -> impl Iterator<Item = Transaction<'_, 'a>> {
        self.interchanges.iter().flat_map(Interchange::transactions)
    }
}

impl<'a> Interchange<'a> {
    /// Its place in the body, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    pub fn delimiters(&self) -> Delimiters {
        self.delimiters
    }

    /// All of them, from ISA to IEA.
    pub fn segments(&self) -> &[Segment<'a>] {
        &self.segments
    }

    pub fn header(&self) -> Segment<'a> {
        let none = Segment { text: "", after: "", delimiters: self.delimiters };
        self.segments.first().copied().unwrap_or(none)
    }

    /// The IEA.
    pub fn trailer(&self) -> Option<Segment<'a>> {
        self.segments.last().copied().filter(|_| self.has_trailer)
    }

    pub fn groups(&self) -> impl Iterator<Item = Group<'_, 'a>> {
        let numbered = self.groups.iter().zip(1..);
        numbered.map(move |(span, number)| Group { interchange: self, span, number })
    }

    pub fn transactions(&self) -> impl Iterator<Item = Transaction<'_, 'a>> {
        self.groups().flat_map(|group| group.transactions())
    }

    /// Segments between header and trailer that are in no group, with their number: TA1, and what is misplaced.
    pub fn outside_groups(&self) -> impl Iterator<Item = (usize, Segment<'a>)> {
        let inside = 1..self.segments.len() - usize::from(self.has_trailer);
        outside(inside, self.groups.iter().map(|group| group.segments.clone())).map(|at| (at + 1, self.segments[at]))
    }
}

/// The indices of `whole` that are in none of the parts, which are in order and do not overlap.
fn outside(whole: Range<usize>, parts: impl Iterator<Item = Range<usize>>) -> impl Iterator<Item = usize> {
    let end = whole.end;
    let mut from = whole.start;
    parts.chain(std::iter::once(end..end)).flat_map(move |part| {
        let gap = from..part.start;
        from = part.end;
        gap
    })
}

impl<'i, 'a> Group<'i, 'a> {
    /// Its place in the interchange, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    pub fn interchange(&self) -> &'i Interchange<'a> {
        self.interchange
    }

    /// The GS.
    pub fn header(&self) -> Segment<'a> {
        self.interchange.segments[self.span.segments.start]
    }

    /// The GE.
    pub fn trailer(&self) -> Option<Segment<'a>> {
        self.interchange.segments.get(self.span.segments.end - 1).copied().filter(|_| self.span.has_trailer)
    }

    pub fn transactions(&self) -> impl Iterator<Item = Transaction<'i, 'a>> + use<'i, 'a> {
        let group = *self;
        self.span.transactions.iter().zip(1..).map(move |(span, number)| Transaction { group, span, number })
    }

    /// Misplaced segments, with their number in the interchange.
    pub fn outside_transactions(&self) -> impl Iterator<Item = (usize, Segment<'a>)> + use<'i, 'a> {
        let (interchange, span) = (self.interchange, self.span);
        let inside = span.segments.start + 1..span.segments.end - usize::from(span.has_trailer);
        outside(inside, span.transactions.iter().map(|transaction| transaction.segments.clone()))
            .map(move |at| (at + 1, interchange.segments[at]))
    }
}

impl<'i, 'a> Transaction<'i, 'a> {
    /// Its place in the group, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    pub fn group(&self) -> Group<'i, 'a> {
        self.group
    }

    /// From ST to SE, both included; the first is number 1 for acknowledgements.
    pub fn segments(&self) -> &'i [Segment<'a>] {
        &self.group.interchange.segments[self.span.segments.clone()]
    }

    /// The ST.
    pub fn header(&self) -> Segment<'a> {
        self.group.interchange.segments[self.span.segments.start]
    }

    /// The SE.
    pub fn trailer(&self) -> Option<Segment<'a>> {
        self.segments().last().copied().filter(|_| self.span.has_trailer)
    }

    /// ST01, such as `271`.
    pub fn set(&self) -> &'a str {
        self.header().text_at(1)
    }

    /// The implementation guide: ST03, or GS08 where the set has no ST03.
    pub fn version(&self) -> &'a str {
        match self.header().text_at(3) {
            "" => self.group.header().text_at(8),
            version => version,
        }
    }
}

impl<'a> Segment<'a> {
    /// `NM1`: what is before the first separator.
    pub fn name(&self) -> &'a str {
        self.text.split(self.delimiters.element()).next().unwrap_or_default()
    }

    /// As it was written, without terminator.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// From 1, as the standard counts. None where the segment has ended before.
    pub fn element(&self, number: usize) -> Option<Element<'a>> {
        let text = self.text.split(self.delimiters.element()).nth(number).filter(|_| number > 0)?;
        Some(self.divisible(number, text))
    }

    pub fn elements(&self) -> impl Iterator<Item = Element<'a>> {
        let segment = *self;
        let texts = self.text.split(self.delimiters.element()).enumerate().skip(1);
        texts.map(move |(number, text)| segment.divisible(number, text))
    }

    /// The whole element, empty where there is none.
    pub fn text_at(&self, number: usize) -> &'a str {
        self.element(number).map_or("", |element| element.text())
    }

    /// The elements of an ISA name the separators and are not divided by them.
    fn divisible(&self, number: usize, text: &'a str) -> Element<'a> {
        if self.name() == "ISA" && number > 0 {
            return Element { text, repetition: None, component: None };
        }
        Element { text, repetition: self.delimiters.repetition(), component: Some(self.delimiters.component()) }
    }

    /// With the usual delimiters, whatever the interchange's own are.
    pub fn canonical(&self) -> String {
        let mut text = self.name().to_owned();
        for element in self.elements() {
            text.push('*');
            text.push_str(&element.canonical());
        }
        text
    }
}

impl<'a> Element<'a> {
    /// As it was written.
    pub fn text(&self) -> &'a str {
        self.text
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// At least one; an element that does not repeat is its own.
    pub fn repetitions(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let component = self.component;
        split(self.text, self.repetition).map(move |text| Element { text, repetition: None, component })
    }

    /// Of its first repetition; an element that is not composite is its own first component.
    pub fn components(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let first = split(self.text, self.repetition).next().unwrap_or_default();
        split(first, self.component)
    }

    /// From 1.
    pub fn component(&self, number: usize) -> Option<&'a str> {
        self.components().nth(number.checked_sub(1)?)
    }

    /// With `^` and `:`, whatever the interchange's own separators are.
    pub fn canonical(&self) -> Cow<'a, str> {
        if self.text.chars().all(|c| self.usual(c) == c) {
            return Cow::Borrowed(self.text);
        }
        Cow::Owned(self.text.chars().map(|c| self.usual(c)).collect())
    }

    fn usual(&self, c: char) -> char {
        match Some(c) {
            own if own == self.repetition => '^',
            own if own == self.component => ':',
            _ => c,
        }
    }
}

fn split(text: &str, at: Option<char>) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let divided = at.and_then(|at| text.split_once(at));
        rest = divided.map(|(_, after)| after);
        Some(divided.map_or(text, |(before, _)| before))
    })
}

impl fmt::Display for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.interchanges.iter().try_for_each(|interchange| write!(f, "{interchange}"))?;
        f.write_str(self.rest)
    }
}

impl fmt::Display for Interchange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.before)?;
        self.segments.iter().try_for_each(|segment| write!(f, "{segment}"))
    }
}

/// With its terminator and the line break after it.
impl fmt::Display for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.text, self.delimiters.terminator(), self.after)
    }
}
