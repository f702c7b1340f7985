//! Finds the line that a finding is about.

use std::collections::BTreeMap;

use super::Finding;
use crate::source::Files;
use crate::yaml;

/// The line numbers of a folder's YAML files. All values compare as equal, so that folders compare by content only.
#[derive(Clone, Debug, Default)]
pub struct SourceLines(BTreeMap<String, FileLines>);

#[derive(Clone, Debug)]
struct FileLines {
    text: String,
    lines: BTreeMap<String, usize>,
}

impl PartialEq for SourceLines {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl SourceLines {
    pub(crate) fn of(files: &Files) -> Self {
        let texts = files.iter().filter(|(path, _)| path.ends_with(".yaml"));
        let texts = texts.filter_map(|(path, bytes)| Some((path, std::str::from_utf8(bytes).ok()?)));
        let file_lines = |text: &str| FileLines { text: text.to_owned(), lines: yaml::line_numbers(text) };
        Self(texts.map(|(path, text)| (path.clone(), file_lines(text))).collect())
    }

    /// Sets the line of a finding, if it can be found.
    pub(crate) fn locate(&self, finding: &mut Finding) {
        if let Some(file) = self.0.get(&finding.file).filter(|_| finding.line.is_none()) {
            finding.line = file.line(&finding.message);
        }
    }
}

impl FileLines {
    /// The line of a message. Most messages start with the dotted path of a value; others quote it.
    fn line(&self, message: &str) -> Option<usize> {
        if let Some((_, position)) = message.rsplit_once(" at line ") {
            return position.split(' ').next()?.parse().ok();
        }
        let path = message.split(": ").next().unwrap_or_default();
        let line = ancestors(path).find_map(|path| self.lines.get(path).copied());
        line.or_else(|| self.quoted_line(message))
    }

    /// The first line that contains the text in backticks.
    fn quoted_line(&self, message: &str) -> Option<usize> {
        let quoted = message.split('`').nth(1).filter(|quoted| !quoted.is_empty())?;
        let line = self.text.lines().position(|line| line.contains(quoted))?;
        Some(line + 1)
    }
}

/// `a.b.c`, `a.b`, `a`.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('.').map(|(parent, _)| parent))
}
