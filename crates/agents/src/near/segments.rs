//! Messages that are one text of segments: HL7 v2 and X12.

/// Segment, field and component, each counted from zero; the segment's name is its field zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    segment: usize,
    field: usize,
    component: usize,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "segment {}, field {}.{}", self.segment + 1, self.field, self.component + 1)
    }
}

pub(super) struct Field {
    pub(super) part: Part,
    /// As `PID-3.1` or `NM1-9.1`.
    pub(super) name: String,
    /// The first field, which says whom an X12 segment is about.
    pub(super) qualifier: String,
    pub(super) text: String,
}

/// What stands between segments, fields and components.
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

/// Those that say something, without the envelope.
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
                part: Part { segment, field, component },
                name: format!("{name}-{field}.{}", component + 1),
                qualifier: cells.get(1).copied().unwrap_or_default().to_owned(),
                text: text.to_owned(),
            }));
        }
    }
    found
}

pub(super) fn with(text: &str, part: Part, value: &str) -> String {
    let Some((segments, fields, components)) = separators(text) else { return text.to_owned() };
    replaced(text, segments, part.segment, |line| {
        replaced(line, fields, part.field, |cell| replaced(cell, components, part.component, |_| value.to_owned()))
    })
}

fn replaced(text: &str, separator: char, place: usize, change: impl Fn(&str) -> String) -> String {
    let parts = text.split(separator).enumerate();
    let parts = parts.map(|(number, part)| if number == place { change(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join(&separator.to_string())
}

/// Another control number in the header of an HL7 v2 message, so that no interface takes it for a repetition.
pub(super) fn renumbered(text: &str) -> String {
    match separators(text) {
        Some(('\r', ..)) => replaced(text, '\r', 0, |header| replaced(header, '|', 9, |number| format!("{number}-2"))),
        _ => text.to_owned(),
    }
}
