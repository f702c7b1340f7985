//! Writes interchanges (X12.5, X12.6). Counts are computed here; control numbers and dates come from the caller.
//!
//! X12 has no escapes: a value that contains a delimiter cannot be written. Choose other delimiters for it, see
//! [`InterchangeDraft::free_delimiters`].

use thiserror::Error;

use crate::check::header::{is_party, is_party_qualifier};
use crate::check::is_segment_name;
use crate::{Delimiters, Segment, X12Location};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterchangeDraft {
    pub sender: Party,
    pub receiver: Party,
    /// `YYMMDD` and `HHMM`.
    pub date: String,
    pub time: String,
    /// Up to nine digits.
    pub control: u32,
    pub acknowledgment_requested: bool,
    pub usage: Usage,
    /// TA1 segments, which stand outside of the groups.
    pub acknowledgments: Vec<SegmentDraft>,
    pub groups: Vec<GroupDraft>,
}

/// ISA05 and ISA06, or ISA07 and ISA08.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    pub qualifier: String,
    pub id: String,
}

impl Party {
    /// A party with a mutually agreed id (qualifier `ZZ`).
    pub fn agreed(id: &str) -> Self {
        Self { qualifier: "ZZ".to_owned(), id: id.to_owned() }
    }

    /// A party as given in an ISA. An invalid qualifier becomes `ZZ`, an invalid id `UNKNOWN`.
    pub fn named(qualifier: &str, id: &str) -> Self {
        let (qualifier, id) = (qualifier.trim(), id.trim());
        let padded = format!("{id:15}");
        Self {
            qualifier: if is_party_qualifier(qualifier) { qualifier } else { "ZZ" }.to_owned(),
            id: if padded.len() == 15 && is_party(&padded) { id } else { "UNKNOWN" }.to_owned(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    Test,
    Production,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDraft {
    /// GS01, such as `HB`.
    pub function: String,
    pub sender: String,
    pub receiver: String,
    /// `CCYYMMDD` and `HHMM`.
    pub date: String,
    pub time: String,
    pub control: u32,
    /// GS08, such as `005010X279A1`.
    pub version: String,
    pub transactions: Vec<TransactionDraft>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionDraft {
    /// ST01, such as `271`.
    pub set: String,
    /// ST02, four to nine letters or digits.
    pub control: String,
    /// ST03; the 835 has none.
    pub version: Option<String>,
    /// The segments between ST and SE.
    pub segments: Vec<SegmentDraft>,
}

/// A segment to write: `SegmentDraft::new("SVC").with(composite(["HC", "99213"])).with("85")`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentDraft {
    pub name: String,
    pub elements: Vec<ElementDraft>,
}

/// An element to write: repetitions, each a list of components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementDraft(pub Vec<Vec<String>>);

impl SegmentDraft {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), elements: Vec::new() }
    }

    /// A segment with these simple elements.
    pub fn of<'t>(name: &str, elements: impl IntoIterator<Item = &'t str>) -> Self {
        Self { name: name.to_owned(), elements: elements.into_iter().map(ElementDraft::from).collect() }
    }

    #[must_use]
    pub fn with(mut self, element: impl Into<ElementDraft>) -> Self {
        self.elements.push(element.into());
        self
    }
}

/// Copies a parsed segment, whatever its delimiters. Control characters, which cannot be written, become spaces.
impl From<&Segment<'_>> for SegmentDraft {
    fn from(segment: &Segment<'_>) -> Self {
        let writable = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let repetition = |repetition: crate::Element<'_>| repetition.components().map(writable).collect();
        let element = |element: crate::Element<'_>| ElementDraft(element.repetitions().map(repetition).collect());
        Self { name: segment.name().to_owned(), elements: segment.elements().map(element).collect() }
    }
}

impl From<&str> for ElementDraft {
    fn from(text: &str) -> Self {
        Self(vec![vec![text.to_owned()]])
    }
}

impl From<String> for ElementDraft {
    fn from(text: String) -> Self {
        Self(vec![vec![text]])
    }
}

/// A composite element.
pub fn composite<'t>(components: impl IntoIterator<Item = &'t str>) -> ElementDraft {
    ElementDraft(vec![components.into_iter().map(str::to_owned).collect()])
}

/// A repeated element.
pub fn repeated<'t>(values: impl IntoIterator<Item = &'t str>) -> ElementDraft {
    ElementDraft(values.into_iter().map(|value| vec![value.to_owned()]).collect())
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{location}: {fault}")]
pub struct WriteError {
    pub location: X12Location,
    pub fault: WriteFault,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WriteFault {
    #[error("{0:?} is a delimiter of this interchange and cannot be part of a value")]
    Delimiter(char),
    #[error("{0:?} is a control character and cannot be part of a value")]
    Control(char),
    #[error("{0:?} is not a valid segment name here")]
    Name(String),
    #[error("the value {value:?} must have {width} characters")]
    Width { value: String, width: &'static str },
    #[error("the delimiters have no repetition separator, which 005010 needs")]
    NoRepetition,
}

/// The line layout of the written interchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Everything on one line, as it is sent.
    One,
    /// A line break after each terminator, for readability.
    PerSegment,
}

impl InterchangeDraft {
    pub fn write(&self, delimiters: Delimiters, lines: Lines) -> Result<String, WriteError> {
        let location = X12Location::interchange(1);
        let mut writer = Writer { delimiters, lines, text: String::new(), location };
        self.write_header(&mut writer)?;
        for segment in &self.acknowledgments {
            writer.write_segment(segment)?;
        }
        for (group, number) in self.groups.iter().zip(1..) {
            writer.location = X12Location { group: Some(number), ..location };
            group.write(&mut writer)?;
        }
        writer.location = location;
        let trailer = [self.groups.len().to_string(), format!("{:09}", self.control)];
        writer.write_control("IEA", &trailer)?;
        Ok(writer.text)
    }

    /// Writes the ISA, whose elements have fixed widths.
    fn write_header(&self, writer: &mut Writer) -> Result<(), WriteError> {
        let delimiters = writer.delimiters;
        let repetition = delimiters.repetition().ok_or_else(|| writer.error(0, WriteFault::NoRepetition))?;
        let usage = if self.usage == Usage::Test { "T" } else { "P" };
        let values: [(String, usize, &'static str); 15] = [
            ("00".to_owned(), 2, "2"),
            (" ".repeat(10), 10, "10"),
            ("00".to_owned(), 2, "2"),
            (" ".repeat(10), 10, "10"),
            (self.sender.qualifier.clone(), 2, "2"),
            (format!("{:15}", self.sender.id), 15, "1 to 15"),
            (self.receiver.qualifier.clone(), 2, "2"),
            (format!("{:15}", self.receiver.id), 15, "1 to 15"),
            (self.date.clone(), 6, "6"),
            (self.time.clone(), 4, "4"),
            (String::new(), 0, "1"),
            ("00501".to_owned(), 5, "5"),
            (format!("{:09}", self.control), 9, "up to 9"),
            (u8::from(self.acknowledgment_requested).to_string(), 1, "1"),
            (usage.to_owned(), 1, "1"),
        ];
        writer.text.push_str("ISA");
        for ((value, width, allowed_width), number) in values.into_iter().zip(1..) {
            writer.text.push(delimiters.element());
            if number == 11 {
                writer.text.push(repetition);
            } else if value.chars().count() != width || (width == 15 && value.trim().is_empty()) {
                let (value, width) = (value.trim().to_owned(), allowed_width);
                return Err(writer.error(number, WriteFault::Width { value, width }));
            } else {
                writer.write_value(&value, number)?;
            }
        }
        writer.text.push(delimiters.element());
        writer.text.push(delimiters.component());
        writer.terminate();
        Ok(())
    }

    /// Delimiters that occur in no value: each of the usual ones if possible, else a substitute.
    pub fn free_delimiters(&self) -> Option<Delimiters> {
        let mut used = [false; 128];
        let envelope = self.groups.iter().flat_map(|group| [&group.sender, &group.receiver, &group.version]);
        let segments = self.groups.iter().flat_map(|group| &group.transactions).flat_map(|set| &set.segments);
        let elements = segments.chain(&self.acknowledgments).flat_map(|segment| &segment.elements);
        let values = elements.flat_map(|element| element.0.iter().flatten());
        for c in values.chain(envelope).chain([&self.sender.id, &self.receiver.id]).flat_map(|value| value.chars()) {
            if let Some(used) = used.get_mut(c as usize) {
                *used = true;
            }
        }
        let is_free = |c: &char| !used[*c as usize];
        let mut others = "|>+!;\u{1d}\u{1f}\u{1e}\u{1c}".chars().filter(is_free);
        let mut choose = |usual: char| Some(usual).filter(is_free).or_else(|| others.next());
        let (element, repetition, component, terminator) = (choose('*')?, choose('^')?, choose(':')?, choose('~')?);
        Delimiters::new(element, repetition, component, terminator).ok()
    }
}

impl GroupDraft {
    fn write(&self, writer: &mut Writer) -> Result<(), WriteError> {
        let control = self.control.to_string();
        let header = [&self.function, &self.sender, &self.receiver, &self.date, &self.time, &control];
        let header: Vec<&str> = header.into_iter().map(String::as_str).chain(["X", self.version.as_str()]).collect();
        writer.write_control("GS", &header)?;
        for (transaction, number) in self.transactions.iter().zip(1..) {
            writer.location.transaction = Some(number);
            transaction.write(writer)?;
        }
        writer.location.transaction = None;
        writer.write_control("GE", &[self.transactions.len().to_string(), control])
    }
}

impl TransactionDraft {
    fn write(&self, writer: &mut Writer) -> Result<(), WriteError> {
        writer.location.segment = Some(1);
        let header: Vec<&String> = [&self.set, &self.control].into_iter().chain(&self.version).collect();
        writer.write_control("ST", &header)?;
        for (segment, number) in self.segments.iter().zip(2..) {
            writer.location.segment = Some(number);
            writer.write_segment(segment)?;
        }
        writer.location.segment = None;
        writer.write_control("SE", &[(self.segments.len() + 2).to_string(), self.control.clone()])
    }
}

struct Writer {
    delimiters: Delimiters,
    lines: Lines,
    text: String,
    location: X12Location,
}

impl Writer {
    fn error(&self, element: usize, fault: WriteFault) -> WriteError {
        let element = (element > 0).then_some(element);
        WriteError { location: X12Location { element, ..self.location }, fault }
    }

    /// Writes a segment of the envelope.
    fn write_control(&mut self, name: &str, values: &[impl AsRef<str>]) -> Result<(), WriteError> {
        self.text.push_str(name);
        for (value, number) in values.iter().zip(1..) {
            self.text.push(self.delimiters.element());
            self.write_value(value.as_ref(), number)?;
        }
        self.terminate();
        Ok(())
    }

    /// Writes a segment that is not part of the envelope. Trailing separators are left out, as the standard requires.
    fn write_segment(&mut self, segment: &SegmentDraft) -> Result<(), WriteError> {
        let is_control = matches!(segment.name.as_str(), "ISA" | "IEA" | "GS" | "GE" | "ST" | "SE");
        if is_control || !is_segment_name(&segment.name) {
            return Err(self.error(0, WriteFault::Name(segment.name.clone())));
        }
        self.text.push_str(&segment.name);
        let mut end = self.text.len();
        for (element, number) in segment.elements.iter().zip(1..) {
            self.text.push(self.delimiters.element());
            if self.write_element(element, number)? {
                end = self.text.len();
            }
        }
        self.text.truncate(end);
        self.terminate();
        Ok(())
    }

    /// Writes an element; returns whether it was not empty.
    fn write_element(&mut self, element: &ElementDraft, number: usize) -> Result<bool, WriteError> {
        let start = self.text.len();
        let mut end = start;
        for (repetition, which) in element.0.iter().zip(1..) {
            if which > 1 {
                let separator = self.delimiters.repetition().ok_or_else(|| self.error(0, WriteFault::NoRepetition))?;
                self.text.push(separator);
            }
            let mut repetition_end = self.text.len();
            for (component, which) in repetition.iter().zip(1..) {
                if which > 1 {
                    self.text.push(self.delimiters.component());
                }
                self.write_value(component, number)?;
                if !component.is_empty() {
                    repetition_end = self.text.len();
                    end = repetition_end;
                }
            }
            self.text.truncate(repetition_end);
        }
        self.text.truncate(end);
        Ok(end > start)
    }

    fn write_value(&mut self, value: &str, number: usize) -> Result<(), WriteError> {
        for c in value.chars() {
            if self.delimiters.contains(c) {
                return Err(self.error(number, WriteFault::Delimiter(c)));
            }
            if c.is_control() {
                return Err(self.error(number, WriteFault::Control(c)));
            }
        }
        self.text.push_str(value);
        Ok(())
    }

    fn terminate(&mut self) {
        self.text.push(self.delimiters.terminator());
        if self.lines == Lines::PerSegment {
            self.text.push('\n');
        }
    }
}
