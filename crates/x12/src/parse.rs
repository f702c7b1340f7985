//! Parses interchanges (X12.5 interchange control structures; X12.6 application control structure).
//!
//! Parsing fails only if the text cannot be split into segments. Inconsistent control segments are reported by
//! [`crate::check()`], because they are answered with an acknowledgment.

use thiserror::Error;

use crate::read::{GroupSpan, TransactionSpan};
use crate::{Body, Delimiters, DelimitersError, Interchange, Segment, X12Location};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    /// The limit for all interchanges together.
    pub segments: usize,
    pub segment_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 64 << 20, segments: 2_000_000, segment_bytes: 64 << 10 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{location}: {fault} (byte {offset})")]
pub struct ParseError {
    pub location: X12Location,
    /// Byte offset in the whole text, from 0.
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
    #[error("the ISA declares invalid delimiters: {0}")]
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

/// Parses UTF-8 bytes, see [`parse`].
pub fn parse_bytes<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Body<'a>, ParseError> {
    let error = |offset, fault| ParseError { location: X12Location::interchange(1), offset, fault };
    if bytes.len() > limits.bytes {
        return Err(error(limits.bytes, ParseFault::TooLarge(limits.bytes)));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, limits),
        Err(utf8_error) => Err(error(utf8_error.valid_up_to(), ParseFault::NotText)),
    }
}

/// Parses one or more interchanges. White space is allowed around interchanges, and line breaks after each segment.
pub fn parse<'a>(text: &'a str, limits: &Limits) -> Result<Body<'a>, ParseError> {
    let end = text.trim_end_matches(is_blank).len();
    let mut reader = Reader { text, at: 0, end, segments: 0, limits: *limits };
    let mut interchanges = Vec::new();
    if text.len() > limits.bytes {
        return Err(reader.error(X12Location::interchange(1), ParseFault::TooLarge(limits.bytes)));
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
    /// Only white space follows this offset.
    end: usize,
    segments: usize,
    limits: Limits,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take_while(&mut self, matches: fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let (taken, _) = rest.split_at(rest.find(|c| !matches(c)).unwrap_or(rest.len()));
        self.at += taken.len();
        taken
    }

    fn error(&self, location: X12Location, fault: ParseFault) -> ParseError {
        ParseError { location, offset: self.at, fault }
    }

    fn interchange(&mut self, number: usize, before: &'a str) -> Result<Interchange<'a>, ParseError> {
        let header = Header::read(self.rest()).map_err(|fault| self.error(X12Location::interchange(number), fault))?;
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

    /// Reads the next segment. `terminator` is the known offset of the terminator, for an ISA.
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
        Err(self.error(at.next_location(), fault))
    }
}

/// Whether the text starts with an ISA segment: `ISA`, followed by a character that cannot be part of a segment name.
fn starts_interchange(text: &str) -> bool {
    let next = text.strip_prefix("ISA").and_then(|rest| rest.chars().next());
    next.is_some_and(|c| !c.is_ascii_alphanumeric())
}

/// The delimiters declared in an ISA, and its length.
struct Header {
    delimiters: Delimiters,
    /// Without the terminator.
    length: usize,
}

/// The offsets of the separators in an ISA, whose elements have fixed widths.
const SEPARATORS: [usize; 16] = [3, 6, 17, 20, 31, 34, 50, 53, 69, 76, 81, 83, 89, 99, 101, 103];
/// An ISA with wrong widths is still parsed, so that it can be acknowledged, but only up to this length.
const MAX_HEADER_BYTES: usize = 512;

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
        let separators = if is_fixed { SEPARATORS.to_vec() } else { find_separators(bytes, element) };
        let &[.., ten, eleven, _, _, _, sixteen] = separators.as_slice() else { return Err(ParseFault::Header) };
        let (Some(&isa16), Some(&terminator)) = (bytes.get(sixteen + 1), bytes.get(sixteen + 2)) else {
            return Err(ParseFault::Header);
        };
        let isa11 = if eleven - ten == 2 { bytes[ten + 1] } else { b' ' };
        let [element, isa11, isa16, terminator] = [element, isa11, isa16, terminator].map(char::from);
        let delimiters = Delimiters::from_header(element, isa11, isa16, terminator)?;
        Ok(Self { delimiters, length: sixteen + 2 })
    }
}

/// The offsets of the first sixteen separators; empty if there are fewer.
fn find_separators(bytes: &[u8], element: u8) -> Vec<usize> {
    let within = &bytes[..bytes.len().min(MAX_HEADER_BYTES)];
    let found: Vec<usize> = (3..within.len()).filter(|at| within[*at] == element).take(SEPARATORS.len()).collect();
    if found.len() == SEPARATORS.len() { found } else { Vec::new() }
}

/// Divides the segments of one interchange into groups and transactions, by the control segments that are there.
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

    /// The location of the next segment.
    fn next_location(&self) -> X12Location {
        let group = self.groups.last().filter(|_| self.in_group);
        let transaction = group.and_then(|group| group.transactions.last()).filter(|_| self.in_transaction);
        let start = transaction.map_or(0, |transaction| transaction.segments.start);
        X12Location {
            interchange: self.interchange,
            group: group.map(|_| self.groups.len()),
            transaction: group.filter(|_| self.in_transaction).map(|group| group.transactions.len()),
            segment: Some(self.segments - start + 1),
            element: None,
        }
    }
}
