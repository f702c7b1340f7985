//! Benchmark folders: reads a benchmark from files, lints it offline, pushes it to a server and pulls it from one.

mod collapse;
mod expansion;
pub mod folder;
mod idempotency_keys;
pub mod lint;
mod pull;
mod pull_version;
mod push;
pub mod schema;
pub mod source;
mod write;
pub mod yaml;

pub use expansion::{expand, render_item_and_assertions, render_task};
pub use folder::{Folder, read};
pub use lint::{Finding, Severity, lint, lint_or_fail};
pub use pull::{pull, slugify};
pub use pull_version::pull_version;
pub use push::{PushResult, push};
pub use write::write;

/// Why a folder could not be read, pushed or pulled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The lint errors of the folder, one line each.
    #[error("{}", format_findings(.0))]
    Findings(Vec<Finding>),
    #[error("{0}")]
    Message(String),
    #[error("{path}: {reason}")]
    File { path: String, reason: std::io::Error },
    #[error("{path}: {reason}")]
    Server { path: String, reason: client::ClientError },
}

impl Error {
    /// Whether the server responded with 404.
    fn is_not_found(&self) -> bool {
        matches!(self, Error::Server { reason, .. } if reason.status() == Some(404))
    }
}

fn format_findings(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
