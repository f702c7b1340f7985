//! Batches and files of messages (HL7 v2.8, chapter 2.10.3): `[FHS] { [BHS] { MSH … } [BTS] } [FTS]`.

use std::borrow::Cow;
use std::ops::Range;

use crate::element::{Encoding, Segment};
use crate::message::{HeaderContext, Span, check_name, lines, read_delimiters};
use crate::parse_error::{ParseError, ParseErrorKind};
use crate::{CharacterSet, Limits, Message};

/// One or more messages, with or without an envelope. A single message is a valid file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchFile {
    parts: Vec<Part>,
}

/// A message or an envelope segment. The text of a file is the concatenated text of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Message(Message),
    Envelope(Envelope),
}

/// FHS, BHS, BTS or FTS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    text: String,
    span: (usize, usize),
    encoding: Encoding,
}

impl Envelope {
    pub fn segment(&self) -> Segment<'_> {
        Segment { text: &self.text[self.span.0..self.span.1], encoding: &self.encoding }
    }
}

impl BatchFile {
    /// Parses a file. Each message is decoded with the character set of its MSH-18, envelope segments as UTF-8. The
    /// limits apply to the whole file.
    pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Self, ParseError> {
        Self::read(bytes, limits, |part| Message::parse(&bytes[part], limits))
    }

    /// Parses text that is already decoded, such as a JSON string.
    pub fn parse_text(text: &str, limits: &Limits) -> Result<Self, ParseError> {
        Self::read(text.as_bytes(), limits, |part| Message::parse_text(&text[part], limits))
    }

    fn read(
        bytes: &[u8],
        limits: &Limits,
        read_message: impl Fn(Range<usize>) -> Result<Message, ParseError>,
    ) -> Result<Self, ParseError> {
        let lines = lines(bytes, limits)?;
        let mut parts = Vec::new();
        let mut nesting = EnvelopeNesting::default();
        let mut first = 0;
        while first < lines.len() {
            let is_message = name(bytes, lines[first]) == b"MSH";
            let more = lines[first + 1..].iter().take_while(|line| is_message && !starts_part(name(bytes, **line)));
            let next = first + 1 + more.count();
            let start = if first == 0 { 0 } else { lines[first].start };
            let end = lines.get(next).map_or(bytes.len(), |line| line.start);
            let relocated = |error: ParseError| {
                let position = error.position;
                ParseError::new(error.kind, position.segment + first, position.offset + start)
            };
            nesting
                .advance(name(bytes, lines[first]))
                .map_err(|reason| ParseError::new(ParseErrorKind::Envelope(reason), first + 1, lines[first].start))?;
            let part = if is_message {
                read_message(start..end).map(Part::Message)
            } else {
                let span = (lines[first].start - start, lines[first].end - start);
                read_envelope(&bytes[start..end], span, &parts).map(Part::Envelope)
            };
            parts.push(part.map_err(relocated)?);
            first = next;
        }
        Ok(Self { parts })
    }

    /// The messages, in order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.parts.iter().filter_map(|part| match part {
            Part::Message(message) => Some(message),
            Part::Envelope(_) => None,
        })
    }

    pub fn into_messages(self) -> impl Iterator<Item = Message> {
        self.parts.into_iter().filter_map(|part| match part {
            Part::Message(message) => Some(message),
            Part::Envelope(_) => None,
        })
    }

    /// The envelope segments FHS, BHS, BTS and FTS, in order.
    pub fn envelopes(&self) -> impl Iterator<Item = &Envelope> {
        self.parts.iter().filter_map(|part| match part {
            Part::Message(_) => None,
            Part::Envelope(envelope) => Some(envelope),
        })
    }

    /// The text of the whole file, exactly as received.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().map(|part| match part {
            Part::Message(message) => message.text(),
            Part::Envelope(envelope) => envelope.text.as_str(),
        });
        texts.collect()
    }

    /// The bytes of the whole file, exactly as received, with each message in its own character set.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = self.parts.iter().map(|part| match part {
            Part::Message(message) => message.to_bytes(),
            Part::Envelope(envelope) => Cow::Borrowed(envelope.text.as_bytes()),
        });
        bytes.collect::<Vec<_>>().concat()
    }

    /// One message for each BTS-1 or FTS-1 that differs from the actual count.
    pub fn miscounts(&self) -> Vec<String> {
        let mut mismatches = Vec::new();
        let (mut messages, mut batches) = (0, 0);
        for part in &self.parts {
            let Part::Envelope(envelope) = part else {
                messages += 1;
                continue;
            };
            let segment = envelope.segment();
            let (counted, unit) = match segment.name() {
                "BTS" => (std::mem::take(&mut messages), "messages in the batch"),
                "FTS" => (batches, "batches in the file"),
                _ => continue,
            };
            batches += usize::from(segment.name() == "BTS");
            let claimed = segment.component(1, 1);
            if !claimed.is_empty() && claimed.parse() != Ok(counted) {
                mismatches.push(format!("{}-1 says {claimed} {unit}, there are {counted}", segment.name()));
            }
        }
        mismatches
    }
}

fn name(bytes: &[u8], line: Span) -> &[u8] {
    &bytes[line.start..line.end.min(line.start + 3)]
}

fn starts_part(name: &[u8]) -> bool {
    matches!(name, b"MSH" | b"FHS" | b"BHS" | b"BTS" | b"FTS")
}

/// Parses an envelope segment. Headers declare their own delimiters; trailers use those of their header.
fn read_envelope(bytes: &[u8], span: (usize, usize), before: &[Part]) -> Result<Envelope, ParseError> {
    let line = &bytes[span.0..span.1];
    let header = match &line[..line.len().min(3)] {
        b"BTS" => Some("BHS"),
        b"FTS" => Some("FHS"),
        _ => None,
    };
    let inherited = before.iter().rev().find_map(|part| match part {
        Part::Envelope(envelope) if Some(envelope.segment().name()) == header => Some(envelope.encoding.delimiters),
        _ => None,
    });
    let delimiters = match inherited {
        Some(delimiters) => delimiters,
        None => read_delimiters(line, HeaderContext::envelope(1, span.0))?,
    };
    check_name(line, &delimiters, 0, span.0)?;
    let set = CharacterSet::Utf8;
    let text = std::str::from_utf8(bytes).map_err(|error| {
        ParseError::new(ParseErrorKind::ForeignCharacter { name: set.name() }, 1, error.valid_up_to())
    })?;
    Ok(Envelope { text: text.to_owned(), span, encoding: Encoding { delimiters, set } })
}

/// Tracks which envelopes are open, to check the order of envelope segments.
#[derive(Default)]
struct EnvelopeNesting {
    has_started: bool,
    in_file: bool,
    in_batch: bool,
    has_ended: bool,
}

impl EnvelopeNesting {
    fn advance(&mut self, name: &[u8]) -> Result<(), String> {
        let problem = match name {
            _ if self.has_ended => Some("follows FTS, the end of the file"),
            b"FHS" if self.has_started => Some("is not at the start of the file"),
            b"BHS" if self.in_batch => Some("is inside a batch that has no BTS"),
            b"BTS" if !self.in_batch => Some("has no BHS"),
            b"FTS" if !self.in_file => Some("has no FHS"),
            b"FTS" if self.in_batch => Some("is inside a batch that has no BTS"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(format!("{} {problem}", String::from_utf8_lossy(name)));
        }
        self.has_started = true;
        match name {
            b"FHS" => self.in_file = true,
            b"BHS" => self.in_batch = true,
            b"BTS" => self.in_batch = false,
            b"FTS" => self.has_ended = true,
            _ => {}
        }
        Ok(())
    }
}
