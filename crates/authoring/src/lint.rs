//! Lints a benchmark folder offline.
//!
//! Reports what the server would reject, broken references, unused parts, tasks that no agent can fail or pass, and tasks that
//! depend on the current date.

mod answer_leaks;
pub(crate) mod criteria;
mod data;
mod limits;
mod resources;
mod rules;
mod source_lines;
#[cfg(test)]
mod tests;
mod weights;

use std::fmt;

use model::FieldErrors;
use serde::Serialize;

use crate::Error;
use crate::folder::Folder;

pub use rules::lint;
pub use source_lines::SourceLines;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The folder cannot be published, or cannot work.
    Error,
    /// Probably a mistake.
    Warning,
    /// Correct, but could be stricter. `--strict` ignores hints.
    Hint,
}

/// A problem in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    pub file: String,
    /// The line, counted from 1, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub message: String,
}

impl Finding {
    pub fn error(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, file: file.into(), line: None, message: message.into() }
    }

    pub fn hint(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Hint, ..Self::error(file, message) }
    }

    pub fn warning(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(file, message) }
    }

    pub(crate) fn at(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }

    /// The file and line, such as `tasks/10-order.yaml:12`.
    pub fn location(&self) -> String {
        self.line.map_or_else(|| self.file.clone(), |line| format!("{}:{line}", self.file))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Hint => "hint",
        };
        write!(f, "{severity}: {}: {}", self.location(), self.message)
    }
}

/// A list of findings without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    pub(crate) fn add(&mut self, finding: Finding) {
        if !self.0.contains(&finding) {
            self.0.push(finding);
        }
    }

    /// Adds field errors. Their dotted paths are prefixed with `prefix`.
    pub(crate) fn add_fields(&mut self, file: &str, prefix: &str, errors: &FieldErrors) {
        for (path, messages) in errors.iter() {
            let full_path = match (prefix.is_empty(), path.is_empty()) {
                (true, _) => path.to_owned(),
                (false, true) => prefix.to_owned(),
                (false, false) => format!("{prefix}.{path}"),
            };
            for message in messages {
                let separator = if full_path.is_empty() { "" } else { ": " };
                self.add(Finding::error(file, format!("{full_path}{separator}{message}")));
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds line numbers and sorts by severity, file and line.
    pub(crate) fn into_sorted(mut self, source_lines: &SourceLines) -> Vec<Finding> {
        self.0.iter_mut().for_each(|finding| source_lines.locate(finding));
        self.0.sort_by(|left, right| {
            let key = |one: &Finding| (one.severity, one.file.clone(), one.line);
            key(left).cmp(&key(right))
        });
        self.0
    }
}

/// Whether any finding is an error, so that the folder cannot be pushed.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// Lints a folder. Fails if there are errors, which prevent it from being pushed or run.
pub fn lint_or_fail(folder: &Folder) -> Result<Vec<Finding>, Error> {
    let findings = lint(folder);
    match has_errors(&findings) {
        true => Err(Error::Findings(findings.into_iter().filter(|one| one.severity == Severity::Error).collect())),
        false => Ok(findings),
    }
}

/// Counts the expanded tasks with a tag.
pub fn count_tagged(folder: &Folder, tag: &str) -> usize {
    folder
        .tasks
        .iter()
        .filter(|(_, task)| task.tags.iter().any(|one| one == tag))
        .map(|(_, task)| task.each.len().max(1))
        .sum()
}
