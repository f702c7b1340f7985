//! Writes messages (HL7 v2.8, chapter 2.6). Values are given unescaped and escaped on output.

use crate::escape::escape;
use crate::{Delimiters, Limits, Message, ParseError};

/// Builder for a message. MSH is the first segment, and its first two fields are set from the delimiters.
#[derive(Clone, Debug)]
pub struct Draft {
    delimiters: Delimiters,
    segments: Vec<SegmentDraft>,
}

/// Builder for a segment. Numbers count from 1, as in the standard; 0 is treated as 1.
#[derive(Clone, Debug)]
pub struct SegmentDraft {
    name: String,
    fields: Vec<Field>,
}

type Field = Vec<Repetition>;
type Repetition = Vec<Component>;
type Component = Vec<Value>;

#[derive(Clone, Debug, Default)]
enum Value {
    #[default]
    Empty,
    Null,
    Text(String),
}

impl Draft {
    /// Starts a message. Missing delimiters are added; MSH declares the ones in use.
    pub fn new(delimiters: Delimiters) -> Self {
        Self { delimiters: delimiters.completed(), segments: vec![SegmentDraft::new("MSH")] }
    }

    pub fn header(&mut self) -> &mut SegmentDraft {
        &mut self.segments[0]
    }

    /// Adds a segment at the end.
    pub fn segment(&mut self, name: &str) -> &mut SegmentDraft {
        let last = self.segments.len();
        self.segments.push(SegmentDraft::new(name));
        &mut self.segments[last]
    }

    /// Builds the message; every segment ends with CR. Fails for an invalid segment name or for a character that is not
    /// in the character set of MSH-18.
    pub fn build(&self) -> Result<Message, ParseError> {
        let mut text = String::new();
        for segment in &self.segments {
            segment.write(&self.delimiters, &mut text);
            text.push('\r');
        }
        Message::parse_text(&text, &Limits::default())
    }
}

impl SegmentDraft {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), fields: Vec::new() }
    }

    /// Sets a field; an empty text leaves it empty.
    pub fn field(&mut self, field: u16, text: impl Into<String>) -> &mut Self {
        self.value(field, 1, 1, 1, text)
    }

    pub fn component(&mut self, field: u16, component: u16, text: impl Into<String>) -> &mut Self {
        self.value(field, 1, component, 1, text)
    }

    pub fn value(
        &mut self,
        field: u16,
        repetition: u16,
        component: u16,
        subcomponent: u16,
        text: impl Into<String>,
    ) -> &mut Self {
        *self.value_mut(field, repetition, component, subcomponent) = Value::Text(text.into());
        self
    }

    /// Sets a field to null (`""`), which tells the receiver to delete the value.
    pub fn null(&mut self, field: u16) -> &mut Self {
        *self.value_mut(field, 1, 1, 1) = Value::Null;
        self
    }

    fn value_mut(&mut self, field: u16, repetition: u16, component: u16, subcomponent: u16) -> &mut Value {
        let field = item_mut(&mut self.fields, field);
        let repetition = item_mut(field, repetition);
        let component = item_mut(repetition, component);
        item_mut(component, subcomponent)
    }

    fn write(&self, delimiters: &Delimiters, text: &mut String) {
        text.push_str(&self.name);
        let mut fields = self.fields.as_slice();
        if self.name == "MSH" {
            text.push(delimiters.field_separator());
            text.push_str(&delimiters.encoding_characters());
            fields = fields.get(2..).unwrap_or_default();
        }
        for field in fields {
            text.push(delimiters.field_separator());
            write_field(field, delimiters, text);
        }
    }
}

/// The item with this number, created if it does not exist.
fn item_mut<T: Default>(list: &mut Vec<T>, number: u16) -> &mut T {
    let index = usize::from(number.max(1)) - 1;
    if list.len() <= index {
        list.resize_with(index + 1, T::default);
    }
    &mut list[index]
}

fn write_field(field: &Field, delimiters: &Delimiters, text: &mut String) {
    write_separated(field, delimiters.repetition, text, |repetition, text| {
        write_separated(repetition, Some(delimiters.component), text, |component, text| {
            write_separated(component, delimiters.subcomponent, text, |value, text| match value {
                Value::Empty => {}
                Value::Null => text.push_str("\"\""),
                Value::Text(value) => text.push_str(&escape(value, delimiters)),
            });
        });
    });
}

fn write_separated<T>(items: &[T], separator: Option<u8>, text: &mut String, write: impl Fn(&T, &mut String)) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.extend(separator.map(char::from));
        }
        write(item, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_and_written_at_their_position() {
        let mut draft = Draft::new(Delimiters::STANDARD);
        draft.header().component(9, 1, "ADT").component(9, 2, "A08").field(10, "1").field(12, "2.5");
        draft.segment("PID").value(3, 2, 4, 2, "1.2.3").value(3, 1, 1, 1, "A|1").null(6).component(5, 2, "O^Neil");
        draft.segment("ZZZ");
        let message = draft.build().unwrap();
        assert_eq!(message.text(), "MSH|^~\\&|||||||ADT^A08|1||2.5\rPID|||A\\F\\1~^^^&1.2.3||^O\\S\\Neil|\"\"\rZZZ\r");
    }

    #[test]
    fn an_invalid_segment_name_is_an_error() {
        for name in ["pid", "PIDX", "P|D", "MSH"] {
            let mut draft = Draft::new(Delimiters::STANDARD);
            draft.segment(name);
            assert!(draft.build().is_err(), "{name}");
        }
    }
}
