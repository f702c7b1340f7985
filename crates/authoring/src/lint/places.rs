//! The line that a finding is about.

use std::collections::BTreeMap;

use super::Finding;
use crate::source::Files;
use crate::yaml;

/// The lines of a folder's YAML files. Two folders with the same content are the same, wherever it stands.
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<String, Place>);

#[derive(Clone, Debug)]
struct Place {
    text: String,
    lines: BTreeMap<String, usize>,
}

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Places {
    pub(crate) fn of(files: &Files) -> Self {
        let texts = files.iter().filter(|(path, _)| path.ends_with(".yaml"));
        let texts = texts.filter_map(|(path, bytes)| Some((path, std::str::from_utf8(bytes).ok()?)));
        let place = |text: &str| Place { text: text.to_owned(), lines: yaml::lines(text) };
        Self(texts.map(|(path, text)| (path.clone(), place(text))).collect())
    }

    /// Adds the line, where it is known.
    pub(crate) fn locate(&self, finding: &mut Finding) {
        if let Some(place) = self.0.get(&finding.file).filter(|_| finding.line.is_none()) {
            finding.line = place.line(&finding.message);
        }
    }
}

impl Place {
    /// Most messages begin with the dotted path of what they are about; others quote it.
    fn line(&self, message: &str) -> Option<usize> {
        if let Some((_, place)) = message.rsplit_once(" at line ") {
            return place.split(' ').next()?.parse().ok();
        }
        let path = message.split(": ").next().unwrap_or_default();
        let known = ancestors(path).find_map(|path| self.lines.get(path).copied());
        known.or_else(|| self.quoted(message))
    }

    /// The first line with what stands in backticks.
    fn quoted(&self, message: &str) -> Option<usize> {
        let quoted = message.split('`').nth(1).filter(|quoted| !quoted.is_empty())?;
        let line = self.text.lines().position(|line| line.contains(quoted))?;
        Some(line + 1)
    }
}

/// `a.b.c`, `a.b`, `a`.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('.').map(|(parent, _)| parent))
}
