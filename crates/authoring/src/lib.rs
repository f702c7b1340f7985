//! A benchmark as a folder of files: read, judged without a server, put on one, and taken from one.

mod collapse;
mod expand;
pub mod folder;
mod keys;
pub mod lint;
mod pull;
mod push;
pub mod schema;
pub mod source;
mod write;
pub mod yaml;

pub use expand::{bound, expand, filled};
pub use folder::{Folder, read};
pub use lint::{Finding, Severity, lint};
pub use pull::{pull, slugged};
pub use push::{Pushed, push};
pub use write::write;

/// Why a folder could not be read, pushed or pulled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What is wrong in which files, one line each.
    #[error("{}", listed(.0))]
    Faults(Vec<Finding>),
    #[error("{0}")]
    Missing(String),
    #[error("{path}: {reason}")]
    File { path: String, reason: std::io::Error },
    #[error("{doing}: {reason}")]
    Server { doing: String, reason: client::ClientError },
}

impl Error {
    /// The server does not have what was spoken of.
    fn is_missing(&self) -> bool {
        matches!(self, Error::Server { reason, .. } if reason.status() == Some(404))
    }
}

fn listed(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
