//! HL7 v2 segments by the numbers of their fields.

/// A segment with these fields; what is not named is empty.
pub(crate) fn segment(name: &str, fields: &[(usize, &str)]) -> String {
    let last = fields.iter().map(|(place, _)| *place).max().unwrap_or(0);
    let value = |place: usize| fields.iter().find(|(one, _)| *one == place).map_or("", |(_, value)| *value);
    let values: Vec<&str> = (1..=last).map(value).collect();
    format!("{name}|{}", values.join("|"))
}
