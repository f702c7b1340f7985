//! The same in messages that are one text: HL7 v2 and X12.

use super::{Mutation, other, ten_times};

/// Segments with their separators, or the text as it is when it is neither.
fn separators(text: &str) -> Option<(char, char)> {
    match text.get(..3)? {
        "MSH" => Some(('\r', '|')),
        "ISA" => Some(('~', '*')),
        _ => None,
    }
}

pub(super) fn mutated(mutation: Mutation, text: &str) -> String {
    each_field(text, |segment, place, field| change(mutation, segment, place, field))
}

/// Another control number in the header.
pub(super) fn renumbered(text: &str, number: usize) -> String {
    each_field(text, |segment, place, field| match (segment, place) {
        ("MSH", 9) => format!("{field}-{number}"),
        _ => field.to_owned(),
    })
}

/// Places count from 1 after the segment's name; of MSH the separator itself is not counted.
fn each_field(text: &str, change: impl Fn(&str, usize, &str) -> String) -> String {
    let Some((segments, fields)) = separators(text) else {
        return text.to_owned();
    };
    let changed = text.split(segments).map(|segment| {
        let mut parts = segment.split(fields);
        let name = parts.next().unwrap_or_default();
        let parts = parts.enumerate().map(|(place, field)| change(name.trim(), place + 1, field));
        std::iter::once(name.to_owned()).chain(parts).collect::<Vec<_>>().join(&fields.to_string())
    });
    changed.collect::<Vec<_>>().join(&segments.to_string())
}

fn change(mutation: Mutation, segment: &str, place: usize, field: &str) -> String {
    let (first, rest) = field.split_once('^').map_or((field, None), |(first, rest)| (first, Some(rest)));
    let with = |first: &str| rest.map_or_else(|| first.to_owned(), |rest| format!("{first}^{rest}"));
    let is_patient = matches!((segment, place), ("PID", 3) | ("NM1", 9));
    let is_code = matches!((segment, place), ("OBR", 4 | 31) | ("DG1", 3) | ("OBX", 3) | ("EQ", 1));
    let is_provider = matches!((segment, place), ("ORC", 12) | ("OBR", 16));
    let is_timing = matches!((segment, place), ("ORC", 7) | ("OBR", 27));
    let is_amount = matches!((segment, place), ("OBX", 5) | ("AMT", 2));
    let is_date = first.len() == 8
        && first.bytes().all(|byte| byte.is_ascii_digit())
        && (first.starts_with("19") || first.starts_with("20"));
    match mutation {
        Mutation::WrongPatient if is_patient && !first.is_empty() => with(&other(first)),
        Mutation::WrongProvider if is_provider && !first.is_empty() => with(&other(first)),
        Mutation::WrongPriority if is_timing => other_priority(field),
        Mutation::WrongCode if is_code && !first.is_empty() => with(&other(first)),
        Mutation::MissingCode if is_code => String::new(),
        Mutation::DayLate if is_date && !matches!(segment, "ISA" | "GS" | "MSH" | "BHT") => with(&other(first)),
        Mutation::TenTimes if is_amount => {
            first.parse().map_or_else(|_| field.to_owned(), |number| with(&ten_times(&number).to_string()))
        }
        _ => field.to_owned(),
    }
}

/// The sixth component of a timing: `S` is urgent, `R` routine.
fn other_priority(timing: &str) -> String {
    match timing.strip_suffix("^S") {
        Some(before) => format!("{before}^R"),
        None => timing.strip_suffix("^R").map_or_else(|| timing.to_owned(), |before| format!("{before}^S")),
    }
}
