//! Access to a sandbox.

use std::sync::Arc;

use model::simulator::SimulatorType;
use model::{Id, SandboxId};
use store::sandboxes::StoredSandbox;

use super::open;
use crate::{App, AppError, OrgGrant};
use runtime::SandboxReader;

#[derive(Clone)]
pub struct Access {
    pub(crate) sandbox: Arc<StoredSandbox>,
    /// The key or run that events name as the actor.
    pub(crate) actor: String,
    /// Whether it can also read the sandbox after the end of its task run.
    pub(crate) after_end: bool,
}

impl Access {
    /// For a key of the organization that owns the sandbox.
    pub async fn by_key(app: &App, grant: &OrgGrant, id: &SandboxId, kind: SimulatorType) -> Result<Self, AppError> {
        let sandbox = open(app, grant, id).await?;
        if sandbox.kind != kind {
            return Err(AppError::NotFound(SandboxId::NOUN));
        }
        Ok(Self { sandbox, actor: grant.key.to_string(), after_end: true })
    }

    pub(crate) fn reader(&self) -> SandboxReader<'_> {
        SandboxReader { sandbox: &self.sandbox, after_end: self.after_end }
    }

    /// The same, without access after the end of a task run.
    pub(crate) fn during_traffic(&self) -> Self {
        Self { after_end: false, ..self.clone() }
    }

    pub fn sandbox(&self) -> &SandboxId {
        &self.sandbox.id
    }
}
