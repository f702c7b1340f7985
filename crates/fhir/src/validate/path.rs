//! The FHIRPath of the element that is being validated.

use std::fmt;

use crate::excerpt::Excerpt;

/// A path as a linked list of segments. It is only formatted if there is a fault to report.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: PathSegment<'a>,
    depth: usize,
}

#[derive(Debug, Clone, Copy)]
enum PathSegment<'a> {
    Name(&'a str),
    Item(usize),
}

impl<'a> Path<'a> {
    pub(super) fn root(name: &'a str) -> Self {
        Self { parent: None, step: PathSegment::Name(name), depth: 0 }
    }

    pub(super) fn child(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), step: PathSegment::Name(name), depth: self.depth + 1 }
    }

    pub(super) fn item(&'a self, index: usize) -> Self {
        Self { parent: Some(self), step: PathSegment::Item(index), depth: self.depth }
    }

    /// The number of enclosing elements.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<&Self> = std::iter::successors(Some(self), |path| path.parent).collect();
        for (at, path) in steps.into_iter().rev().enumerate() {
            match path.step {
                PathSegment::Item(index) => write!(formatter, "[{index}]")?,
                PathSegment::Name(name) => {
                    formatter.write_str(if at == 0 { "" } else { "." })?;
                    write_name(formatter, name)?;
                }
            }
        }
        Ok(())
    }
}

/// FHIRPath quotes what is no identifier with backticks.
fn write_name(formatter: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    let is_identifier =
        (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_identifier {
        return formatter.write_str(name);
    }
    let quoted = Excerpt::of(name).to_string();
    write!(formatter, "`{}`", quoted.trim_matches('"').replace('`', "\\`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_fhirpath() {
        let (root, index) = (Path::root("Patient"), 1);
        let contact = root.child("contact");
        let item = contact.item(index);
        let name = item.child("name");
        assert_eq!(name.to_string(), "Patient.contact[1].name");
        assert_eq!(name.depth(), 2);
        assert_eq!(root.child("a `b").to_string(), r"Patient.`a \`b`");
        assert!(root.child(&"x".repeat(1000)).to_string().len() < 100);
    }
}
