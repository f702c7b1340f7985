//! Reading interchanges (X12.5 interchange control structures; X12.6 application control structure).
//!
//! Only what cannot be divided into segments is an error here. What the control segments say of each other is
//! for [`crate::check`], because its answer is an acknowledgement.

use thiserror::Error;

use crate::read::{GroupSpan, TransactionSpan};
use crate::{Body, Delimiters, DelimitersError, Interchange, Place, Segment};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    /// In all interchanges together.
    pub segments: usize,
    pub segment_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 64 << 20, segments: 2_000_000, segment_bytes: 64 << 10 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{place}: {fault} (byte {offset})")]
pub struct ParseError {
    pub place: Place,
    /// Of the whole text, from 0.
    pub offset: usize,
    pub fault: ParseFault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ParseFault {
    #[error("the body is empty")]
    Empty,
    #[error("an interchange must start with ISA")]
    NotAnInterchange,
    #[error("the ISA does not have its 16 elements")]
    Header,
    #[error("the ISA names delimiters that cannot be: {0}")]
    Delimiters(#[from] DelimitersError),
    #[error("the segment has no terminator")]
    Unterminated,
    #[error("the text is not UTF-8")]
    NotText,
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    #[error("there are more than {0} segments")]
    TooManySegments(usize),
    #[error("the segment is longer than {0} bytes")]
    SegmentTooLong(usize),
}

pub fn parse_bytes<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Body<'a>, ParseError> {
    let start = |offset, fault| ParseError { place: Place::interchange(1), offset, fault };
    if bytes.len() > limits.bytes {
        return Err(start(limits.bytes, ParseFault::TooLarge(limits.bytes)));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, limits),
        Err(fault) => Err(start(fault.valid_up_to(), ParseFault::NotText)),
    }
}

/// One interchange or several; white space and line breaks may stand around them and after each segment.
pub fn parse<'a>(text: &'a str, limits: &Limits) -> Result<Body<'a>, ParseError> {
    let end = text.trim_end_matches(is_blank).len();
    let mut reader = Reader { text, at: 0, end, segments: 0, limits: *limits };
    let mut interchanges = Vec::new();
    if text.len() > limits.bytes {
        return Err(reader.error(Place::interchange(1), ParseFault::TooLarge(limits.bytes)));
    }
    loop {
        let before = reader.take_while(is_blank);
        if reader.rest().is_empty() && !interchanges.is_empty() {
            return Ok(Body { interchanges, rest: before });
        }
        interchanges.push(reader.interchange(interchanges.len() + 1, before)?);
    }
}

fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\u{feff}'
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// After it there is only white space.
    end: usize,
    segments: usize,
    limits: Limits,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take_while(&mut self, is_taken: fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let (taken, _) = rest.split_at(rest.find(|c| !is_taken(c)).unwrap_or(rest.len()));
        self.at += taken.len();
        taken
    }

    fn error(&self, place: Place, fault: ParseFault) -> ParseError {
        ParseError { place, offset: self.at, fault }
    }

    fn interchange(&mut self, number: usize, before: &'a str) -> Result<Interchange<'a>, ParseError> {
        let header = Header::read(self.rest()).map_err(|fault| self.error(Place::interchange(number), fault))?;
        let mut division = Division::new(number);
        let mut segments = Vec::new();
        loop {
            let terminator = (segments.is_empty()).then_some(header.length);
            let segment = self.segment(&header, terminator, &division)?;
            segments.push(segment);
            division.add(segment.name());
            let is_followed = starts_interchange(self.rest());
            if division.has_trailer || is_followed || self.at >= self.end {
                let (groups, has_trailer) = division.end(segments.len());
                let delimiters = header.delimiters;
                return Ok(Interchange { number, before, delimiters, segments, groups, has_trailer, is_followed });
            }
        }
    }

    /// The next segment; the terminator of an ISA is where its header says.
    fn segment(
        &mut self,
        header: &Header,
        terminator: Option<usize>,
        at: &Division,
    ) -> Result<Segment<'a>, ParseError> {
        let rest = self.rest();
        let end = terminator.or_else(|| rest.find(header.delimiters.terminator()));
        let fault = match end {
            _ if self.segments == self.limits.segments => ParseFault::TooManySegments(self.limits.segments),
            None => ParseFault::Unterminated,
            Some(end) if end > self.limits.segment_bytes => ParseFault::SegmentTooLong(self.limits.segment_bytes),
            Some(end) => {
                self.segments += 1;
                self.at += end + header.delimiters.terminator().len_utf8();
                let after = self.take_while(is_line_break);
                return Ok(Segment { text: &rest[..end], after, delimiters: header.delimiters });
            }
        };
        Err(self.error(at.next_place(), fault))
    }
}

/// A segment name is letters and digits, so `ISA` before anything else is the whole name.
fn starts_interchange(text: &str) -> bool {
    let next = text.strip_prefix("ISA").and_then(|rest| rest.chars().next());
    next.is_some_and(|c| !c.is_ascii_alphanumeric())
}

/// What the first segment says of those after it.
struct Header {
    delimiters: Delimiters,
    /// Without the terminator.
    length: usize,
}

/// Where the separators of an ISA stand, whose elements have fixed widths.
const SEPARATORS: [usize; 16] = [3, 6, 17, 20, 31, 34, 50, 53, 69, 76, 81, 83, 89, 99, 101, 103];
/// An ISA with wrong widths is read all the same, so that it can be answered, but not far into the text.
const LONGEST_HEADER: usize = 512;

impl Header {
    fn read(text: &str) -> Result<Self, ParseFault> {
        if text.is_empty() {
            return Err(ParseFault::Empty);
        }
        if !starts_interchange(text) {
            return Err(ParseFault::NotAnInterchange);
        }
        let bytes = text.as_bytes();
        let element = bytes.get(3).copied().unwrap_or_default();
        let is_fixed = SEPARATORS.iter().all(|at| bytes.get(*at) == Some(&element));
        let separators = if is_fixed { SEPARATORS.to_vec() } else { found_separators(bytes, element) };
        let &[.., ten, eleven, _, _, _, _, sixteen] = separators.as_slice() else { return Err(ParseFault::Header) };
        let (Some(&isa16), Some(&terminator)) = (bytes.get(sixteen + 1), bytes.get(sixteen + 2)) else {
            return Err(ParseFault::Header);
        };
        let isa11 = if eleven - ten == 2 { bytes[ten + 1] } else { b' ' };
        let [element, isa11, isa16, terminator] = [element, isa11, isa16, terminator].map(char::from);
        let delimiters = Delimiters::of_header(element, isa11, isa16, terminator)?;
        Ok(Self { delimiters, length: sixteen + 2 })
    }
}

/// The first sixteen, or none.
fn found_separators(bytes: &[u8], element: u8) -> Vec<usize> {
    let within = &bytes[..bytes.len().min(LONGEST_HEADER)];
    let found: Vec<usize> = (3..within.len()).filter(|at| within[*at] == element).take(SEPARATORS.len()).collect();
    if found.len() == SEPARATORS.len() { found } else { Vec::new() }
}

/// Divides the segments of one interchange into groups and transactions, as far as the control segments go.
struct Division {
    interchange: usize,
    segments: usize,
    groups: Vec<GroupSpan>,
    in_group: bool,
    in_transaction: bool,
    has_trailer: bool,
}

impl Division {
    fn new(interchange: usize) -> Self {
        let (in_group, in_transaction, has_trailer) = (false, false, false);
        Self { interchange, segments: 0, groups: Vec::new(), in_group, in_transaction, has_trailer }
    }

    fn add(&mut self, name: &str) {
        let at = self.segments;
        self.segments += 1;
        match name {
            "GS" => {
                self.close_group(at, false);
                self.groups.push(GroupSpan { segments: at..at, has_trailer: false, transactions: Vec::new() });
                self.in_group = true;
            }
            "GE" if self.in_group => self.close_group(at + 1, true),
            "ST" if self.in_group => {
                self.close_transaction(at, false);
                if let Some(group) = self.groups.last_mut() {
                    group.transactions.push(TransactionSpan { segments: at..at, has_trailer: false });
                    self.in_transaction = true;
                }
            }
            "SE" if self.in_transaction => self.close_transaction(at + 1, true),
            "IEA" => {
                self.close_group(at, false);
                self.has_trailer = true;
            }
            _ => {}
        }
    }

    fn close_group(&mut self, end: usize, has_trailer: bool) {
        self.close_transaction(end - usize::from(has_trailer), false);
        if let Some(group) = self.groups.last_mut().filter(|_| self.in_group) {
            group.segments.end = end;
            group.has_trailer = has_trailer;
        }
        self.in_group = false;
    }

    fn close_transaction(&mut self, end: usize, has_trailer: bool) {
        let last = self.groups.last_mut().and_then(|group| group.transactions.last_mut());
        if let Some(transaction) = last.filter(|_| self.in_transaction) {
            transaction.segments.end = end;
            transaction.has_trailer = has_trailer;
        }
        self.in_transaction = false;
    }

    fn end(mut self, end: usize) -> (Vec<GroupSpan>, bool) {
        self.close_group(end, false);
        (self.groups, self.has_trailer)
    }

    /// Where the segment is that comes next.
    fn next_place(&self) -> Place {
        let group = self.groups.last().filter(|_| self.in_group);
        let transaction = group.and_then(|group| group.transactions.last()).filter(|_| self.in_transaction);
        let start = transaction.map_or(0, |transaction| transaction.segments.start);
        Place {
            interchange: self.interchange,
            group: group.map(|_| self.groups.len()),
            transaction: group.filter(|_| self.in_transaction).map(|group| group.transactions.len()),
            segment: Some(self.segments - start + 1),
            element: None,
        }
    }
}
