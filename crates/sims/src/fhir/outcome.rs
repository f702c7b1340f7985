//! Errors as OperationOutcomes (<https://hl7.org/fhir/R4/operationoutcome.html>).

use fhir::validate::ValidationFault;
use serde_json::{Value, json};

/// Why a request failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FhirError {
    pub(crate) status: u16,
    pub(crate) issues: Vec<Issue>,
    pub(crate) headers: Vec<(&'static str, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Issue {
    pub(crate) severity: &'static str,
    /// A code of the value set issue-type.
    pub(crate) code: &'static str,
    pub(crate) diagnostics: String,
    /// The FHIRPath of the invalid element.
    pub(crate) expression: Option<String>,
}

impl Issue {
    pub(crate) fn error(code: &'static str, diagnostics: impl Into<String>) -> Self {
        Self { severity: "error", code, diagnostics: diagnostics.into(), expression: None }
    }

    pub(crate) fn warning(code: &'static str, diagnostics: impl Into<String>) -> Self {
        Self { severity: "warning", ..Self::error(code, diagnostics) }
    }

    pub(crate) fn information(diagnostics: impl Into<String>) -> Self {
        Self { severity: "information", ..Self::error("informational", diagnostics) }
    }

    pub(crate) fn at(mut self, expression: impl Into<String>) -> Self {
        self.expression = Some(expression.into());
        self
    }

    fn json(&self) -> Value {
        let diagnostics = printable(&self.diagnostics);
        let mut issue = json!({"severity": self.severity, "code": self.code, "diagnostics": diagnostics});
        if let Some(expression) = &self.expression {
            issue["expression"] = json!([printable(expression)]);
        }
        issue
    }
}

/// Escapes control characters: messages may quote the request, and FHIR strings must not contain them.
fn printable(text: &str) -> String {
    let mut printed = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_control() && !matches!(c, '\t' | '\r' | '\n') {
            printed.extend(c.escape_default());
        } else {
            printed.push(c);
        }
    }
    printed
}

impl From<&ValidationFault> for Issue {
    fn from(fault: &ValidationFault) -> Self {
        Self::error(fault.kind.as_str(), fault.message.as_str()).at(fault.path.as_str())
    }
}

impl FhirError {
    pub(crate) fn new(status: u16, code: &'static str, diagnostics: impl Into<String>) -> Self {
        Self { status, issues: vec![Issue::error(code, diagnostics)], headers: Vec::new() }
    }

    pub(crate) fn bad(code: &'static str, diagnostics: impl Into<String>) -> Self {
        Self::new(400, code, diagnostics)
    }

    pub(crate) fn not_found(diagnostics: impl Into<String>) -> Self {
        Self::new(404, "not-found", diagnostics)
    }

    pub(crate) fn precondition(code: &'static str, diagnostics: impl Into<String>) -> Self {
        Self::new(412, code, diagnostics)
    }

    pub(crate) fn invalid(faults: &[ValidationFault]) -> Self {
        Self { status: 422, issues: faults.iter().map(Issue::from).collect(), headers: Vec::new() }
    }

    pub(crate) fn at(mut self, expression: &str) -> Self {
        for issue in &mut self.issues {
            issue.expression = Some(expression.to_owned());
        }
        self
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The same error with paths relative to the Bundle that contains the entry.
    pub(crate) fn in_entry(mut self, index: usize) -> Self {
        for issue in &mut self.issues {
            let inner = issue.expression.take();
            let path = match inner.as_deref() {
                None => format!("Bundle.entry[{index}]"),
                Some(path) if path.starts_with("Bundle.entry[") => path.to_owned(),
                Some(path) => {
                    let rest = path.find(['.', '[']).map_or("", |at| &path[at..]);
                    format!("Bundle.entry[{index}].resource{rest}")
                }
            };
            issue.expression = Some(path);
        }
        self
    }

    pub(crate) fn json(&self) -> Value {
        operation_outcome(&self.issues)
    }
}

pub(crate) fn operation_outcome(issues: &[Issue]) -> Value {
    let issues: Vec<Value> = issues.iter().map(Issue::json).collect();
    json!({"resourceType": "OperationOutcome", "issue": issues})
}

/// Shortens a value of the request for an error message.
pub(crate) fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 80;
    let mut characters = text.chars();
    let mut excerpt: String = characters.by_ref().take(MAX_CHARS).collect();
    if characters.next().is_some() {
        excerpt.push('…');
    }
    excerpt
}
