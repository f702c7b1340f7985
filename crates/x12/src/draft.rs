//! Writing interchanges (X12.5, X12.6): counts are made here, control numbers and dates come from the caller.
//!
//! X12 has no escapes. A value with a delimiter in it cannot be written; choose other delimiters for it.

use thiserror::Error;

use crate::check::header::{is_party, is_party_qualifier};
use crate::check::is_segment_name;
use crate::{Delimiters, Place, Segment};

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
    /// TA1 segments, which are in no group.
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
    /// Mutually agreed, `ZZ`.
    pub fn agreed(id: &str) -> Self {
        Self { qualifier: "ZZ".to_owned(), id: id.to_owned() }
    }

    /// As a header names it, with what cannot stand in a header replaced.
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
    /// ST02: four to nine letters or digits.
    pub control: String,
    /// ST03; the 835 has none.
    pub version: Option<String>,
    /// Those between ST and SE.
    pub segments: Vec<SegmentDraft>,
}

/// `SegmentDraft::new("SVC").with(composite(["HC", "99213"])).with("85")`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentDraft {
    pub name: String,
    pub elements: Vec<ElementDraft>,
}

/// Repetitions of components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementDraft(pub Vec<Vec<String>>);

impl SegmentDraft {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), elements: Vec::new() }
    }

    /// All elements at once, none of them composite.
    pub fn of<'t>(name: &str, elements: impl IntoIterator<Item = &'t str>) -> Self {
        Self { name: name.to_owned(), elements: elements.into_iter().map(ElementDraft::from).collect() }
    }

    #[must_use]
    pub fn with(mut self, element: impl Into<ElementDraft>) -> Self {
        self.elements.push(element.into());
        self
    }
}

/// As it was read, whatever the delimiters. Control characters, which cannot be written, become spaces.
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

/// An element of several components.
pub fn composite<'t>(components: impl IntoIterator<Item = &'t str>) -> ElementDraft {
    ElementDraft(vec![components.into_iter().map(str::to_owned).collect()])
}

/// An element that repeats.
pub fn repeated<'t>(values: impl IntoIterator<Item = &'t str>) -> ElementDraft {
    ElementDraft(values.into_iter().map(|value| vec![value.to_owned()]).collect())
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {fault}")]
pub struct WriteError {
    pub place: Place,
    pub fault: WriteFault,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WriteFault {
    #[error("{0:?} is a delimiter of this interchange and cannot be in a value")]
    Delimiter(char),
    #[error("{0:?} cannot be in a value")]
    Control(char),
    #[error("{0:?} is not the name of a segment that may stand here")]
    Name(String),
    #[error("the value {value:?} must have {width} characters")]
    Width { value: String, width: &'static str },
    #[error("the delimiters have no repetition separator, which 005010 needs")]
    NoRepetition,
}

/// How segments follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// One line, as it is sent.
    One,
    /// A line break after each terminator, as people read it.
    PerSegment,
}

impl InterchangeDraft {
    pub fn write(&self, delimiters: Delimiters, lines: Lines) -> Result<String, WriteError> {
        let place = Place::interchange(1);
        let mut writer = Writer { delimiters, lines, text: String::new(), place };
        self.header(&mut writer)?;
        for segment in &self.acknowledgments {
            writer.inner(segment)?;
        }
        for (group, number) in self.groups.iter().zip(1..) {
            writer.place = Place { group: Some(number), ..place };
            group.write(&mut writer)?;
        }
        writer.place = place;
        let trailer = [self.groups.len().to_string(), format!("{:09}", self.control)];
        writer.control("IEA", &trailer)?;
        Ok(writer.text)
    }

    /// The fixed widths of an ISA.
    fn header(&self, writer: &mut Writer) -> Result<(), WriteError> {
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
        for ((value, width, said), number) in values.into_iter().zip(1..) {
            writer.text.push(delimiters.element());
            if number == 11 {
                writer.text.push(repetition);
            } else if value.chars().count() != width || (width == 15 && value.trim().is_empty()) {
                return Err(writer.error(number, WriteFault::Width { value: value.trim().to_owned(), width: said }));
            } else {
                writer.value(&value, number)?;
            }
        }
        writer.text.push(delimiters.element());
        writer.text.push(delimiters.component());
        writer.terminate();
        Ok(())
    }

    /// Delimiters that are in no value: the usual ones if they are free.
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
        writer.control("GS", &header)?;
        for (transaction, number) in self.transactions.iter().zip(1..) {
            writer.place.transaction = Some(number);
            transaction.write(writer)?;
        }
        writer.place.transaction = None;
        writer.control("GE", &[self.transactions.len().to_string(), control])
    }
}

impl TransactionDraft {
    fn write(&self, writer: &mut Writer) -> Result<(), WriteError> {
        writer.place.segment = Some(1);
        let header: Vec<&String> = [&self.set, &self.control].into_iter().chain(&self.version).collect();
        writer.control("ST", &header)?;
        for (segment, number) in self.segments.iter().zip(2..) {
            writer.place.segment = Some(number);
            writer.inner(segment)?;
        }
        writer.place.segment = None;
        writer.control("SE", &[(self.segments.len() + 2).to_string(), self.control.clone()])
    }
}

struct Writer {
    delimiters: Delimiters,
    lines: Lines,
    text: String,
    place: Place,
}

impl Writer {
    fn error(&self, element: usize, fault: WriteFault) -> WriteError {
        let element = (element > 0).then_some(element);
        WriteError { place: Place { element, ..self.place }, fault }
    }

    fn control(&mut self, name: &str, values: &[impl AsRef<str>]) -> Result<(), WriteError> {
        self.text.push_str(name);
        for (value, number) in values.iter().zip(1..) {
            self.text.push(self.delimiters.element());
            self.value(value.as_ref(), number)?;
        }
        self.terminate();
        Ok(())
    }

    /// A segment that is not part of the envelope. Separators at its end are left out, as the standard wants.
    fn inner(&mut self, segment: &SegmentDraft) -> Result<(), WriteError> {
        let is_control = matches!(segment.name.as_str(), "ISA" | "IEA" | "GS" | "GE" | "ST" | "SE");
        if is_control || !is_segment_name(&segment.name) {
            return Err(self.error(0, WriteFault::Name(segment.name.clone())));
        }
        self.text.push_str(&segment.name);
        let mut end = self.text.len();
        for (element, number) in segment.elements.iter().zip(1..) {
            self.text.push(self.delimiters.element());
            if self.element(element, number)? {
                end = self.text.len();
            }
        }
        self.text.truncate(end);
        self.terminate();
        Ok(())
    }

    /// Whether anything was written.
    fn element(&mut self, element: &ElementDraft, number: usize) -> Result<bool, WriteError> {
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
                self.value(component, number)?;
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

    fn value(&mut self, value: &str, number: usize) -> Result<(), WriteError> {
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
