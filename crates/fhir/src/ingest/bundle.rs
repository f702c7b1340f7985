//! Walks through a Bundle (<https://hl7.org/fhir/R4/bundle.html>) entry by entry, holding one at a time.

use serde::de::IgnoredAny;

use super::carry::Carry;
use super::fault::{IngestError, IngestFault, InputLocation, Problem};
use super::members::{members, string};
use super::scan::{is_white_space, squeeze};
use super::skeleton::{Member, Piece, State};
use super::{Limits, text};
use crate::excerpt::Excerpt;

/// <https://hl7.org/fhir/R4/valueset-bundle-type.html>
const BUNDLE_TYPES: [&str; 9] = [
    "document",
    "message",
    "transaction",
    "transaction-response",
    "batch",
    "batch-response",
    "history",
    "searchset",
    "collection",
];

#[derive(Debug)]
pub(super) struct BundleReader {
    state: State,
    carry: Carry,
    squeezed: String,
    offset: u64,
    entries: u64,
    /// The members that may come only once and have.
    read: Vec<Member>,
}

impl BundleReader {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            state: State::Bundle,
            carry: Carry::new(limits.resource_bytes),
            squeezed: String::new(),
            offset: 0,
            entries: 0,
            read: Vec::new(),
        }
    }

    pub(super) fn push<E>(
        &mut self,
        mut bytes: &[u8],
        accept: &mut impl FnMut(InputLocation, &str) -> Result<(), IngestError<E>>,
    ) -> Result<(), IngestError<E>> {
        while !bytes.is_empty() {
            let used = match &mut self.state {
                State::Within(piece, span) => match (*piece, span.advance(bytes)) {
                    (piece, None) => self.hold(piece, bytes)?,
                    (piece, Some(length)) => {
                        self.complete(piece, &bytes[..length], accept)?;
                        length
                    }
                },
                _ => self.punctuation(bytes)?,
            };
            self.offset += used as u64;
            bytes = &bytes[used..];
        }
        Ok(())
    }

    pub(super) fn finish(&self) -> Result<(), IngestFault> {
        let problem = match self.state {
            State::End if self.read.contains(&Member::ResourceType) => return Ok(()),
            State::End => Problem::Missing("document", "resourceType"),
            _ => Problem::CutOff(self.entries),
        };
        Err(problem.at(InputLocation::Document))
    }

    /// Takes white space and then one byte, unless that is the first of a piece.
    fn punctuation(&mut self, bytes: &[u8]) -> Result<usize, IngestFault> {
        let blank = bytes.iter().take_while(|byte| is_white_space(**byte)).count();
        let Some(byte) = bytes.get(blank) else {
            return Ok(blank);
        };
        self.state = self.state.step(*byte).map_err(|expected| {
            let offset = self.offset + blank as u64;
            Problem::Expected { expected, offset }.at(InputLocation::Document)
        })?;
        let taken = usize::from(!matches!(self.state, State::Within(..)));
        Ok(blank + taken)
    }

    fn hold(&mut self, piece: Piece, bytes: &[u8]) -> Result<usize, IngestFault> {
        self.carry.hold(bytes).map_err(|problem| problem.at(self.place(piece)))?;
        Ok(bytes.len())
    }

    fn complete<E>(
        &mut self,
        piece: Piece,
        end: &[u8],
        accept: &mut impl FnMut(InputLocation, &str) -> Result<(), IngestError<E>>,
    ) -> Result<(), IngestError<E>> {
        let place = self.place(piece);
        let fault = |problem: Problem| problem.at(place);
        let ended = self.offset + end.len() as u64;
        let in_document = |problem| match problem {
            Problem::NotJson(_) => fault(Problem::NotJsonBefore(ended)),
            other => fault(other),
        };
        let bytes = self.carry.complete(end).map_err(fault)?;
        let text = text::utf8(bytes).map_err(fault)?;
        self.state = match piece {
            Piece::Key => State::Colon(key(text, &mut self.read).map_err(in_document)?),
            Piece::Value(member) => {
                check_value(member, text).map_err(in_document)?;
                State::AfterValue
            }
            Piece::Entry => {
                let resource = resource(text).map_err(fault)?;
                accept(place, on_one_line(resource, &mut self.squeezed))?;
                self.entries += 1;
                State::AfterEntry
            }
        };
        self.carry.clear();
        Ok(())
    }

    fn place(&self, piece: Piece) -> InputLocation {
        match piece {
            Piece::Entry => InputLocation::Entry(self.entries + 1),
            Piece::Key | Piece::Value(_) => InputLocation::Document,
        }
    }
}

/// Which member begins here, and that it may.
fn key(text: &str, read: &mut Vec<Member>) -> Result<Member, Problem> {
    let member = Member::named(&serde_json::from_str::<String>(text)?);
    if let Some(name) = member.unique_name() {
        if read.contains(&member) {
            return Err(Problem::Repeated("Bundle", name));
        }
        read.push(member);
    }
    Ok(member)
}

fn check_value(member: Member, text: &str) -> Result<(), Problem> {
    serde_json::from_str::<IgnoredAny>(text)?;
    match member {
        Member::ResourceType => match string(text).ok_or(Problem::NotAString("resourceType"))? {
            name if name == "Bundle" => Ok(()),
            name => Err(Problem::NotABundle(Excerpt::of(&name))),
        },
        Member::Type => match string(text).ok_or(Problem::NotAString("type"))? {
            name if BUNDLE_TYPES.contains(&name.as_ref()) => Ok(()),
            name => Err(Problem::UnknownBundleType(Excerpt::of(&name))),
        },
        Member::Entry | Member::Other => Ok(()),
    }
}

/// The text of the resource within an entry.
fn resource(entry: &str) -> Result<&str, Problem> {
    let [resource] = members(entry, "entry", ["resource"])?;
    resource.ok_or(Problem::Missing("entry", "resource"))
}

fn on_one_line<'a>(text: &'a str, squeezed: &'a mut String) -> &'a str {
    if !text.contains('\n') {
        return text;
    }
    squeezed.clear();
    squeeze(text, squeezed);
    squeezed
}
