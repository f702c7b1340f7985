//! Why the runtime could not serve a request.

use store::StoreError;
use world::Seq;

#[derive(Clone, Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("no such playground")]
    PlaygroundNotFound,
    #[error("no such sandbox")]
    SandboxNotFound,
    #[error("the task run is not started; its sandboxes take no traffic")]
    NotStarted,
    #[error("the task run was never started; its sandboxes take no traffic")]
    NeverStarted,
    #[error("the task run is past its deadline; its sandboxes take no traffic")]
    PastDeadline,
    #[error("the log of a task run has at most {0} events; it is full")]
    LogFull(Seq),
    #[error("the sandbox is torn down; its events and state can be read, but it takes no traffic")]
    TornDown,
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A defect of the server, for example a simulator that panicked.
    #[error("{0}")]
    Internal(String),
}

impl RuntimeError {
    /// A blocking task or a message panicked.
    pub(crate) fn panicked(work: &str) -> Self {
        Self::Internal(format!("{work} panicked"))
    }
}
