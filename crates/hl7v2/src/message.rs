//! Parses messages without loss (HL7 v2.8, chapter 2.5 and 2.6).

use std::borrow::Cow;

use crate::element::{Element, Encoding, Segment};
use crate::parse_error::{ParseError, ParseErrorKind};
use crate::path::{Path, is_segment_name};
use crate::{CharacterSet, Delimiters, Version};

/// Size limits; a larger message is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    pub segments: usize,
    pub segment_bytes: usize,
}

impl Default for Limits {
    /// Large enough for a scanned document in one OBX.
    fn default() -> Self {
        Self { bytes: 32 << 20, segments: 100_000, segment_bytes: 16 << 20 }
    }
}

/// A parsed message. It keeps its text as received and an index of its segments; segments are split lazily.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    text: String,
    segments: Vec<Span>,
    encoding: Encoding,
}

/// The byte range of one line, without its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Message {
    /// Parses bytes in the character set of MSH-18. Segments end with CR, LF or CRLF.
    pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Self, ParseError> {
        let lines = lines(bytes, limits)?;
        let (delimiters, set) = read_header(bytes, &lines)?;
        let text = set.decode(bytes).map_err(|offset| foreign_character(set, &lines, offset))?;
        let lines = if text.len() == bytes.len() { lines } else { spans_in_utf8(&lines, bytes) };
        Self::from_lines(text.into_owned(), lines, Encoding { delimiters, set })
    }

    /// Parses text that is already decoded, such as a JSON string. It must be in the character set of MSH-18.
    pub fn parse_text(text: &str, limits: &Limits) -> Result<Self, ParseError> {
        let lines = lines(text.as_bytes(), limits)?;
        let (delimiters, set) = read_header(text.as_bytes(), &lines)?;
        set.check(text).map_err(|offset| foreign_character(set, &lines, offset))?;
        Self::from_lines(text.to_owned(), lines, Encoding { delimiters, set })
    }

    /// Parses only the MSH, to acknowledge a message that cannot be parsed. Non-ASCII bytes are replaced with `?`.
    pub fn parse_header(bytes: &[u8], limits: &Limits) -> Result<Self, ParseError> {
        let bytes = &bytes[..bytes.len().min(limits.bytes.min(limits.segment_bytes))];
        let start = bytes.iter().take_while(|byte| is_line_end(**byte)).count();
        let end = memchr::memchr2(b'\r', b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let span = Span { start: 0, end: end - start };
        let delimiters = read_delimiters(&bytes[start..end], HeaderContext::message(start))?;
        let ascii = |byte: &u8| if byte.is_ascii() { char::from(*byte) } else { '?' };
        let text = bytes[start..end].iter().map(ascii).collect();
        Ok(Self { text, segments: vec![span], encoding: Encoding { delimiters, set: CharacterSet::Ascii } })
    }

    fn from_lines(text: String, segments: Vec<Span>, encoding: Encoding) -> Result<Self, ParseError> {
        for (index, span) in segments.iter().enumerate() {
            let line = &text.as_bytes()[span.start..span.end];
            check_name(line, &encoding.delimiters, index, span.start)?;
            let kind = match &line[..3] {
                b"MSH" if index > 0 => ParseErrorKind::SecondHeader,
                b"FHS" | b"BHS" | b"BTS" | b"FTS" => ParseErrorKind::IsBatch,
                _ => continue,
            };
            return Err(ParseError::new(kind, index + 1, span.start));
        }
        Ok(Self { text, segments, encoding })
    }

    /// The text exactly as received.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes exactly as received, in the message's own character set.
    pub fn to_bytes(&self) -> Cow<'_, [u8]> {
        self.encoding.set.encode(&self.text)
    }

    pub fn delimiters(&self) -> &Delimiters {
        &self.encoding.delimiters
    }

    pub fn character_set(&self) -> CharacterSet {
        self.encoding.set
    }

    /// The segments, in order; the first is MSH.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = Segment<'_>> {
        self.segments.iter().map(|span| Segment { text: &self.text[span.start..span.end], encoding: &self.encoding })
    }

    pub fn segments_named<'m>(&'m self, name: &'m str) -> impl Iterator<Item = Segment<'m>> {
        self.segments().filter(move |segment| segment.name() == name)
    }

    /// MSH.
    pub fn header(&self) -> Segment<'_> {
        let end = self.segments.first().map_or(0, |span| span.end);
        let start = self.segments.first().map_or(0, |span| span.start);
        Segment { text: &self.text[start..end], encoding: &self.encoding }
    }

    /// The non-empty values that a path selects, in message order. A path without a position selects whole segments.
    pub fn find<'m>(&'m self, path: &'m Path) -> impl Iterator<Item = Element<'m>> {
        let named = self.segments_named(&path.segment).enumerate();
        let selected = named.filter(|(index, segment)| path.selects(*segment, index + 1));
        selected.flat_map(|(_, segment)| {
            let segment_itself = path.position.is_none().then(|| Element::of_segment(segment));
            let parts = path.position.into_iter().flat_map(move |position| segment.at(position));
            segment_itself.into_iter().chain(parts)
        })
    }

    /// The first value that a path selects, decoded.
    pub fn value(&self, path: &Path) -> Option<String> {
        self.find(path).next().map(|value| value.text().into_owned())
    }

    /// MSH-9.1, such as `ADT`.
    pub fn message_type(&self) -> Cow<'_, str> {
        self.header().component(9, 1)
    }

    /// MSH-9.2, such as `A01`.
    pub fn trigger_event(&self) -> Cow<'_, str> {
        self.header().component(9, 2)
    }

    /// MSH-10.
    pub fn control_id(&self) -> Cow<'_, str> {
        self.header().component(10, 1)
    }

    /// MSH-11.1, such as `P`.
    pub fn processing_id(&self) -> Cow<'_, str> {
        self.header().component(11, 1)
    }

    /// MSH-12.1, if it is a known version.
    pub fn version(&self) -> Option<Version> {
        Version::read(&self.header().component(12, 1))
    }
}

impl std::fmt::Display for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// The non-empty lines, each ended by CR, LF or CRLF.
pub(crate) fn lines(bytes: &[u8], limits: &Limits) -> Result<Vec<Span>, ParseError> {
    if bytes.len() > limits.bytes {
        return Err(ParseError::new(ParseErrorKind::TooLarge { max: limits.bytes }, 1, limits.bytes));
    }
    let mut lines = Vec::new();
    let mut start = 0;
    for end in memchr::memchr2_iter(b'\r', b'\n', bytes).chain([bytes.len()]) {
        if end > start {
            let exceeded = if end - start > limits.segment_bytes {
                Some(ParseErrorKind::SegmentTooLong { max: limits.segment_bytes })
            } else if lines.len() == limits.segments {
                Some(ParseErrorKind::TooManySegments { max: limits.segments })
            } else {
                None
            };
            if let Some(kind) = exceeded {
                return Err(ParseError::new(kind, lines.len() + 1, start));
            }
            lines.push(Span { start, end });
        }
        start = end + 1;
    }
    if lines.is_empty() { Err(ParseError::new(ParseErrorKind::Empty, 1, 0)) } else { Ok(lines) }
}

/// Reads the delimiters and the character set from the first segment.
fn read_header(bytes: &[u8], lines: &[Span]) -> Result<(Delimiters, CharacterSet), ParseError> {
    let first = lines.first().copied().unwrap_or(Span { start: 0, end: 0 });
    let line = &bytes[first.start..first.end];
    let delimiters = read_delimiters(line, HeaderContext::message(first.start))?;
    let mut fields = line.split(|byte| *byte == delimiters.field);
    let msh_18 = fields.nth(17).unwrap_or_default();
    let mut sets = Vec::new();
    for name in msh_18.split(|byte| Some(*byte) == delimiters.repetition) {
        let name = String::from_utf8_lossy(name);
        let set = CharacterSet::read(&name).ok_or_else(|| {
            let kind = ParseErrorKind::UnsupportedCharacterSet { name: name.chars().take(40).collect() };
            ParseError::new(kind, 1, first.start)
        })?;
        sets.push(set);
    }
    // The first is the character set of the message; the others apply only after escape sequences.
    Ok((delimiters, sets.first().copied().unwrap_or(CharacterSet::Utf8)))
}

/// Where a header segment is, and which header names are allowed there.
#[derive(Clone, Copy)]
pub(crate) struct HeaderContext {
    names: &'static [&'static [u8]],
    segment: usize,
    offset: usize,
}

impl HeaderContext {
    fn message(offset: usize) -> Self {
        Self { names: &[b"MSH"], segment: 1, offset }
    }

    pub(crate) fn envelope(segment: usize, offset: usize) -> Self {
        Self { names: &[b"MSH", b"FHS", b"BHS"], segment, offset }
    }
}

pub(crate) fn read_delimiters(line: &[u8], context: HeaderContext) -> Result<Delimiters, ParseError> {
    let error = |kind| ParseError::new(kind, context.segment, context.offset);
    let name = line.get(..3).unwrap_or(line);
    if !context.names.contains(&name) {
        return Err(error(match name {
            b"FHS" | b"BHS" => ParseErrorKind::IsBatch,
            _ => ParseErrorKind::NotAMessage { found: excerpt(line) },
        }));
    }
    let Some((&separator, rest)) = line[3..].split_first() else {
        return Err(error(ParseErrorKind::Delimiters("the header ends before its field separator, MSH-1")));
    };
    let end = memchr::memchr(separator, rest).unwrap_or(rest.len());
    Delimiters::read(separator, &rest[..end]).map_err(|reason| error(ParseErrorKind::Delimiters(reason)))
}

/// Checks that a line starts with a segment name, followed by the field separator or the end of the line.
pub(crate) fn check_name(line: &[u8], delimiters: &Delimiters, index: usize, offset: usize) -> Result<(), ParseError> {
    let is_named = line.get(..3).is_some_and(is_segment_name);
    if is_named && line.get(3).is_none_or(|byte| *byte == delimiters.field) {
        return Ok(());
    }
    Err(ParseError::new(ParseErrorKind::SegmentName { found: excerpt(line) }, index + 1, offset))
}

fn excerpt(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(16)]).into_owned()
}

fn foreign_character(set: CharacterSet, lines: &[Span], offset: usize) -> ParseError {
    let segment = lines.iter().take_while(|span| span.start <= offset).count();
    ParseError::new(ParseErrorKind::ForeignCharacter { name: set.name() }, segment.max(1), offset)
}

/// Converts byte ranges of ISO 8859-1 text to its UTF-8 form, where every byte above 127 takes two bytes.
fn spans_in_utf8(lines: &[Span], bytes: &[u8]) -> Vec<Span> {
    let mut seen = 0;
    let mut more = 0;
    let mut widen = |offset: usize| {
        more += bytes[seen..offset].iter().filter(|byte| !byte.is_ascii()).count();
        seen = offset;
        offset + more
    };
    lines.iter().map(|span| Span { start: widen(span.start), end: widen(span.end) }).collect()
}
