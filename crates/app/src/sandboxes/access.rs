//! A caller who may use a sandbox as a whole.

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
    /// Who it is, as events tell it: a key, or a run.
    pub(crate) actor: String,
    /// Whether it may also read what a task run left behind.
    pub(crate) after_end: bool,
}

impl Access {
    /// An organization's key, in the organization's own sandboxes.
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

    /// The same, for what nobody may do after the end of a task run.
    pub(crate) fn during_traffic(&self) -> Self {
        Self { after_end: false, ..self.clone() }
    }

    pub fn sandbox(&self) -> &SandboxId {
        &self.sandbox.id
    }
}
