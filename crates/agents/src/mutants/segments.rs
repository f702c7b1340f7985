//! Reads and changes fields of HL7 v2 and X12 text.

/// Segment, field and component, each counted from zero. Field zero is the segment's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldPosition {
    segment: usize,
    field: usize,
    component: usize,
}

impl std::fmt::Display for FieldPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "segment {}, field {}.{}", self.segment + 1, self.field, self.component + 1)
    }
}

/// A component of a field.
pub(super) struct Field {
    pub(super) position: FieldPosition,
    /// The name, such as `PID-3.1` or `NM1-9.1`.
    pub(super) name: String,
    /// The first field of the segment, which says whom an X12 segment is about.
    pub(super) qualifier: String,
    pub(super) text: String,
}

/// The delimiters of segments, fields and components.
fn separators(text: &str) -> Option<(char, char, char)> {
    match text.get(..3)? {
        "MSH" => Some(('\r', '|', '^')),
        "ISA" => Some(('~', '*', ':')),
        _ => None,
    }
}

pub(super) fn is_message(text: &str) -> bool {
    separators(text).is_some()
}

/// Lists the components that are not empty, without the envelope segments.
pub(super) fn fields(text: &str) -> Vec<Field> {
    let Some((segments, fields, components)) = separators(text) else { return Vec::new() };
    let mut found = Vec::new();
    for (segment, line) in text.split(segments).enumerate() {
        let cells: Vec<&str> = line.trim_start().split(fields).collect();
        let name = cells.first().copied().unwrap_or_default();
        if matches!(name, "MSH" | "ISA" | "GS" | "ST" | "SE" | "GE" | "IEA" | "BHT" | "HL" | "TRN") {
            continue;
        }
        for (field, cell) in cells.iter().enumerate().skip(1) {
            let parts = cell.split(components).enumerate().filter(|(_, text)| !text.is_empty());
            found.extend(parts.map(|(component, text)| Field {
                position: FieldPosition { segment, field, component },
                name: format!("{name}-{field}.{}", component + 1),
                qualifier: cells.get(1).copied().unwrap_or_default().to_owned(),
                text: text.to_owned(),
            }));
        }
    }
    found
}

/// Replaces a component.
pub(super) fn with(text: &str, position: FieldPosition, value: &str) -> String {
    let Some((segments, fields, components)) = separators(text) else { return text.to_owned() };
    replaced(text, segments, position.segment, |line| {
        replaced(line, fields, position.field, |cell| {
            replaced(cell, components, position.component, |_| value.to_owned())
        })
    })
}

fn replaced(text: &str, separator: char, index: usize, change: impl Fn(&str) -> String) -> String {
    let parts = text.split(separator).enumerate();
    let parts = parts.map(|(number, part)| if number == index { change(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join(&separator.to_string())
}

/// Changes the control number of an HL7 v2 message, so that the interface does not take it for a duplicate.
pub(super) fn with_new_control_number(text: &str) -> String {
    match separators(text) {
        Some(('\r', ..)) => replaced(text, '\r', 0, |header| replaced(header, '|', 9, |number| format!("{number}-2"))),
        _ => text.to_owned(),
    }
}
