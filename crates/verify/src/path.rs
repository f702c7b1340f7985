//! Paths to values in documents, with one notation for each kind of document.

pub mod fhirpath;
pub mod hl7;
pub mod json;
pub mod segment;
pub mod x12;

use std::collections::BTreeMap;
use std::fmt;

use model::FieldErrors;
use model::template::is_template;

use crate::authored::Notation;
use crate::limits::{self, LONGEST_LIST, LONGEST_TEXT};

/// Parses a key of `correlate_by` as a path. Keys cannot contain templates.
pub(crate) fn read_key<P: Notation>(text: &str) -> Result<P, String> {
    limits::check_text(text, P::LONGEST)?;
    if is_template(text) {
        return Err("a key must not contain a template".to_owned());
    }
    P::read(text)
}

/// Validates the values of `correlate_by`.
pub(crate) fn check_correlation<K>(
    correlate_by: &BTreeMap<K, String>,
    name: impl Fn(&K) -> String,
    errors: &mut FieldErrors,
) {
    errors.size("correlate_by", correlate_by.len(), LONGEST_LIST);
    for (key, value) in correlate_by {
        if let Err(error) = limits::check_text(value, LONGEST_TEXT) {
            errors.add(format!("correlate_by.{}", name(key)), error);
        }
    }
}

/// Splits at the first delimiter that is not escaped by a backslash.
pub(crate) fn split_at_unescaped(text: &str, delimiter: char) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    for (index, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == delimiter => return Some((&text[..index], &text[index + c.len_utf8()..])),
            _ => {}
        }
    }
    None
}

/// Removes the backslashes of escaped characters.
pub(crate) fn unescaped(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        plain.push(if c == '\\' { characters.next().ok_or("must not end in a backslash")? } else { c });
    }
    Ok(plain)
}

/// The value of a selector, `value` in `[key=value]`.
pub(crate) fn read_selected_value(text: &str) -> Result<String, String> {
    if text.starts_with(['"', '\'']) {
        return Err("has a quoted value: write `[key=value]` without quotes".to_owned());
    }
    let value = unescaped(text)?;
    if value.is_empty() {
        Err("has a selector without a value: write `[key=value]`".to_owned())
    } else if value.trim() != value {
        Err("has spaces around the value of a selector".to_owned())
    } else {
        Ok(value)
    }
}

pub(crate) fn write_selected_value(value: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if value.starts_with(['"', '\'']) {
        f.write_str("\\")?;
    }
    write_escaped(value, &[']', '\\'], f)
}

pub(crate) fn write_escaped(text: &str, special: &[char], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for c in text.chars() {
        if special.contains(&c) {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
    }
    Ok(())
}
