//! Batches and files of messages (HL7 v2.8, chapter 2.10.3): `[FHS] { [BHS] { MSH … } [BTS] } [FTS]`.

use std::borrow::Cow;

use crate::element::{Encoding, Segment};
use crate::message::{Place, Span, check_name, lines, read_delimiters};
use crate::parse_error::{ParseError, ParseErrorKind};
use crate::{CharacterSet, Limits, Message};

/// One or several messages, with or without an envelope: a single message is a file too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchFile {
    parts: Vec<Part>,
}

/// The text of a file is that of its parts, one after the other.
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
    /// Each message is read in the character set of its own MSH-18, the envelope as UTF-8. The limits are those of the
    /// whole.
    pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Self, ParseError> {
        let lines = lines(bytes, limits)?;
        let mut parts = Vec::new();
        let mut order = Order::default();
        let mut first = 0;
        while first < lines.len() {
            let is_message = name(bytes, lines[first]) == b"MSH";
            let more = lines[first + 1..].iter().take_while(|line| is_message && !starts_part(name(bytes, **line)));
            let next = first + 1 + more.count();
            let start = if first == 0 { 0 } else { lines[first].start };
            let end = lines.get(next).map_or(bytes.len(), |line| line.start);
            let placed = |fault: ParseError| {
                let place = fault.place;
                ParseError::new(fault.kind, place.segment + first, place.offset + start)
            };
            order
                .take(name(bytes, lines[first]))
                .map_err(|why| ParseError::new(ParseErrorKind::Envelope(why), first + 1, lines[first].start))?;
            let part = if is_message {
                Message::parse(&bytes[start..end], limits).map(Part::Message)
            } else {
                let span = (lines[first].start - start, lines[first].end - start);
                read_envelope(&bytes[start..end], span, parts.last()).map(Part::Envelope)
            };
            parts.push(part.map_err(placed)?);
            first = next;
        }
        Ok(Self { parts })
    }

    /// In order.
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

    /// FHS, BHS, BTS and FTS, in order.
    pub fn envelopes(&self) -> impl Iterator<Item = &Envelope> {
        self.parts.iter().filter_map(|part| match part {
            Part::Message(_) => None,
            Part::Envelope(envelope) => Some(envelope),
        })
    }

    /// Exactly as it was written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = self.parts.iter().map(|part| match part {
            Part::Message(message) => message.to_bytes(),
            Part::Envelope(envelope) => Cow::Borrowed(envelope.text.as_bytes()),
        });
        bytes.collect::<Vec<_>>().concat()
    }

    /// Where BTS-1 or FTS-1 counts something else than what is there: one sentence each.
    pub fn miscounts(&self) -> Vec<String> {
        let mut said = Vec::new();
        let (mut messages, mut batches) = (0, 0);
        for part in &self.parts {
            let Part::Envelope(envelope) = part else {
                messages += 1;
                continue;
            };
            let segment = envelope.segment();
            let (counted, what) = match segment.name() {
                "BTS" => (std::mem::take(&mut messages), "messages in the batch"),
                "FTS" => (batches, "batches in the file"),
                _ => continue,
            };
            batches += usize::from(segment.name() == "BTS");
            let claimed = segment.component(1, 1);
            if !claimed.is_empty() && claimed.parse() != Ok(counted) {
                said.push(format!("{}-1 says {claimed} {what}, there are {counted}", segment.name()));
            }
        }
        said
    }
}

fn name(bytes: &[u8], line: Span) -> &[u8] {
    &bytes[line.start..line.end.min(line.start + 3)]
}

fn starts_part(name: &[u8]) -> bool {
    matches!(name, b"MSH" | b"FHS" | b"BHS" | b"BTS" | b"FTS")
}

/// Headers have delimiters of their own, trailers those of what stands before them.
fn read_envelope(bytes: &[u8], span: (usize, usize), before: Option<&Part>) -> Result<Envelope, ParseError> {
    let line = &bytes[span.0..span.1];
    let inherited = match before {
        Some(Part::Message(message)) => Some(*message.delimiters()),
        Some(Part::Envelope(envelope)) => Some(envelope.encoding.delimiters),
        None => None,
    };
    let delimiters = match inherited {
        Some(delimiters) if line.starts_with(b"BTS") || line.starts_with(b"FTS") => delimiters,
        _ => read_delimiters(line, Place::envelope(1, span.0))?,
    };
    check_name(line, &delimiters, 0, span.0)?;
    let set = CharacterSet::Utf8;
    let text = std::str::from_utf8(bytes).map_err(|fault| {
        ParseError::new(ParseErrorKind::ForeignCharacter { name: set.name() }, 1, fault.valid_up_to())
    })?;
    Ok(Envelope { text: text.to_owned(), span, encoding: Encoding { delimiters, set } })
}

/// What has been opened and not closed.
#[derive(Default)]
struct Order {
    has_begun: bool,
    in_file: bool,
    in_batch: bool,
    is_over: bool,
}

impl Order {
    fn take(&mut self, name: &[u8]) -> Result<(), String> {
        let why = match name {
            _ if self.is_over => Some("stands after FTS, the end of the file"),
            b"FHS" if self.has_begun => Some("stands after the start of the file"),
            b"BHS" if self.in_batch => Some("stands in a batch that has no BTS"),
            b"BTS" if !self.in_batch => Some("has no BHS"),
            b"FTS" if !self.in_file => Some("has no FHS"),
            b"FTS" if self.in_batch => Some("stands in a batch that has no BTS"),
            _ => None,
        };
        if let Some(why) = why {
            return Err(format!("{} {why}", String::from_utf8_lossy(name)));
        }
        self.has_begun = true;
        match name {
            b"FHS" => self.in_file = true,
            b"BHS" => self.in_batch = true,
            b"BTS" => self.in_batch = false,
            b"FTS" => self.is_over = true,
            _ => {}
        }
        Ok(())
    }
}
