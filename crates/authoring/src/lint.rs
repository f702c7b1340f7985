//! What is wrong with a folder, or likely to be, told without a server: what the server would refuse, what leads
//! nowhere, what is never used, what no agent can fail or pass, and what depends on the day.

mod answer_leaks;
pub(crate) mod criteria;
mod data;
mod fields;
mod limits;
mod places;
mod resources;
mod rules;
#[cfg(test)]
mod tests;
mod weights;

use std::fmt;

use model::FieldErrors;
use serde::Serialize;

use crate::folder::Folder;

pub use places::Places;
pub use rules::lint;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It cannot be published, or cannot work.
    Error,
    /// It is probably not what was meant.
    Warning,
    /// It works, and could be stricter. `--strict` does not count these.
    Hint,
}

/// One sentence about one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    pub file: String,
    /// Counted from 1, where it is known.
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

    /// `tasks/10-order.yaml:12`.
    pub fn place(&self) -> String {
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
        write!(f, "{severity}: {}: {}", self.place(), self.message)
    }
}

/// What was found, each once.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    pub(crate) fn add(&mut self, finding: Finding) {
        if !self.0.contains(&finding) {
            self.0.push(finding);
        }
    }

    /// Faults by dotted path, below `prefix`.
    pub(crate) fn add_fields(&mut self, file: &str, prefix: &str, faults: &FieldErrors) {
        for (path, messages) in faults.iter() {
            let place = match (prefix.is_empty(), path.is_empty()) {
                (true, _) => path.to_owned(),
                (false, true) => prefix.to_owned(),
                (false, false) => format!("{prefix}.{path}"),
            };
            for message in messages {
                let separator = if place.is_empty() { "" } else { ": " };
                self.add(Finding::error(file, format!("{place}{separator}{message}")));
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Errors first, in the order of files and lines.
    pub(crate) fn into_list(mut self, places: &Places) -> Vec<Finding> {
        self.0.iter_mut().for_each(|finding| places.locate(finding));
        self.0.sort_by(|left, right| {
            let key = |one: &Finding| (one.severity, one.file.clone(), one.line);
            key(left).cmp(&key(right))
        });
        self.0
    }
}

/// Whether there is anything that keeps the folder from being pushed.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// How many of the tasks carry a tag.
pub fn tagged(folder: &Folder, tag: &str) -> usize {
    folder
        .tasks
        .iter()
        .filter(|(_, task)| task.tags.iter().any(|one| one == tag))
        .map(|(_, task)| task.each.len().max(1))
        .sum()
}
