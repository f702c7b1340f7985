//! Writes HL7 v2 segments.

/// Formats a segment with these numbered fields. All other fields are empty.
pub(crate) fn segment(name: &str, fields: &[(usize, &str)]) -> String {
    let last = fields.iter().map(|(number, _)| *number).max().unwrap_or(0);
    let value = |number: usize| fields.iter().find(|(one, _)| *one == number).map_or("", |(_, value)| *value);
    let values: Vec<&str> = (1..=last).map(value).collect();
    format!("{name}|{}", values.join("|"))
}
