//! The parsed parts of an interchange (X12.5 and X12.6): segments, elements with repetitions and components, and the
//! groups and transactions delimited by the control segments.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::Delimiters;

/// All interchanges of one text. Its `Display` output is that text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body<'a> {
    pub(crate) interchanges: Vec<Interchange<'a>>,
    /// White space after the last interchange.
    pub(crate) rest: &'a str,
}

/// The segments from an ISA to its IEA, including those outside of groups and transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interchange<'a> {
    pub(crate) number: usize,
    /// White space before the ISA.
    pub(crate) before: &'a str,
    pub(crate) delimiters: Delimiters,
    pub(crate) segments: Vec<Segment<'a>>,
    pub(crate) groups: Vec<GroupSpan>,
    pub(crate) has_trailer: bool,
    /// Whether another ISA follows instead of the end of the text.
    pub(crate) is_followed: bool,
}

/// The segment indices of a group in its interchange, from GS to GE or to where the group breaks off.
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

/// A functional group, from GS to GE.
#[derive(Clone, Copy, Debug)]
pub struct Group<'i, 'a> {
    interchange: &'i Interchange<'a>,
    span: &'i GroupSpan,
    number: usize,
}

/// A transaction set, from ST to SE.
#[derive(Clone, Copy, Debug)]
pub struct Transaction<'i, 'a> {
    group: Group<'i, 'a>,
    span: &'i TransactionSpan,
    number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The text without the terminator.
    pub(crate) text: &'a str,
    /// Line breaks after the terminator.
    pub(crate) after: &'a str,
    pub(crate) delimiters: Delimiters,
}

/// A data element, one of its repetitions, or a component.
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
    /// Its number in the body, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    pub fn delimiters(&self) -> Delimiters {
        self.delimiters
    }

    /// All segments, from ISA to IEA.
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

    /// The segments between ISA and IEA that are in no group, with their number: TA1 and misplaced segments.
    pub fn outside_groups(&self) -> impl Iterator<Item = (usize, Segment<'a>)> {
        let inside = 1..self.segments.len() - usize::from(self.has_trailer);
        outside(inside, self.groups.iter().map(|group| group.segments.clone())).map(|at| (at + 1, self.segments[at]))
    }
}

/// The indices of `range` that are in none of the parts. The parts must be sorted and must not overlap.
fn outside(range: Range<usize>, parts: impl Iterator<Item = Range<usize>>) -> impl Iterator<Item = usize> {
    let end = range.end;
    let mut from = range.start;
    parts.chain(std::iter::once(end..end)).flat_map(move |part| {
        let gap = from..part.start;
        from = part.end;
        gap
    })
}

impl<'i, 'a> Group<'i, 'a> {
    /// Its number in the interchange, from 1.
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

    /// The misplaced segments outside of transactions, with their number in the interchange.
    pub fn outside_transactions(&self) -> impl Iterator<Item = (usize, Segment<'a>)> + use<'i, 'a> {
        let (interchange, span) = (self.interchange, self.span);
        let inside = span.segments.start + 1..span.segments.end - usize::from(span.has_trailer);
        outside(inside, span.transactions.iter().map(|transaction| transaction.segments.clone()))
            .map(move |at| (at + 1, interchange.segments[at]))
    }
}

impl<'i, 'a> Transaction<'i, 'a> {
    /// Its number in the group, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    pub fn group(&self) -> Group<'i, 'a> {
        self.group
    }

    /// The segments from ST to SE, inclusive. Acknowledgments count them from 1.
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
    /// The segment name, such as `NM1`: the text before the first separator.
    pub fn name(&self) -> &'a str {
        self.text.split(self.delimiters.element()).next().unwrap_or_default()
    }

    /// The text as received, without the terminator.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The element with this number, from 1. None if the segment has fewer elements.
    pub fn element(&self, number: usize) -> Option<Element<'a>> {
        let text = self.text.split(self.delimiters.element()).nth(number).filter(|_| number > 0)?;
        Some(self.make_element(number, text))
    }

    pub fn elements(&self) -> impl Iterator<Item = Element<'a>> {
        let segment = *self;
        let texts = self.text.split(self.delimiters.element()).enumerate().skip(1);
        texts.map(move |(number, text)| segment.make_element(number, text))
    }

    /// The text of a whole element; empty if the segment does not have it.
    pub fn text_at(&self, number: usize) -> &'a str {
        self.element(number).map_or("", |element| element.text())
    }

    /// Makes an element. The elements of an ISA declare the separators and are not split by them.
    fn make_element(&self, number: usize, text: &'a str) -> Element<'a> {
        if self.name() == "ISA" && number > 0 {
            return Element { text, repetition: None, component: None };
        }
        Element { text, repetition: self.delimiters.repetition(), component: Some(self.delimiters.component()) }
    }

    /// The text with the usual delimiters instead of the interchange's own.
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
    /// The text as received.
    pub fn text(&self) -> &'a str {
        self.text
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The repetitions, at least one: an element that does not repeat is its only repetition.
    pub fn repetitions(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let component = self.component;
        split(self.text, self.repetition).map(move |text| Element { text, repetition: None, component })
    }

    /// The components of the first repetition; a simple element is its only component.
    pub fn components(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let first = split(self.text, self.repetition).next().unwrap_or_default();
        split(first, self.component)
    }

    /// The component with this number, from 1.
    pub fn component(&self, number: usize) -> Option<&'a str> {
        self.components().nth(number.checked_sub(1)?)
    }

    /// The text with `^` and `:` instead of the interchange's own separators.
    pub fn canonical(&self) -> Cow<'a, str> {
        if self.text.chars().all(|c| self.to_usual(c) == c) {
            return Cow::Borrowed(self.text);
        }
        Cow::Owned(self.text.chars().map(|c| self.to_usual(c)).collect())
    }

    fn to_usual(self, c: char) -> char {
        match Some(c) {
            own if own == self.repetition => '^',
            own if own == self.component => ':',
            _ => c,
        }
    }
}

fn split(text: &str, separator: Option<char>) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let parts = separator.and_then(|separator| text.split_once(separator));
        rest = parts.map(|(_, after)| after);
        Some(parts.map_or(text, |(before, _)| before))
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

/// The segment with its terminator and the line breaks after it.
impl fmt::Display for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.text, self.delimiters.terminator(), self.after)
    }
}
