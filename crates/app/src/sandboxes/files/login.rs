//! SFTP logins: the user is the sandbox, and the password is derived from its secret.

use model::SandboxId;
use model::simulator::SimulatorType;
use sims::files::{self, Call, Client, Protocol};
use subtle::ConstantTimeEq;
use world::{Context, Outcome, World};

use super::FileDrop;
use crate::sandboxes::credentials;
use crate::{App, AppError};
use runtime::Cost;

/// The file drop of a user with the right password; none for any other login.
pub async fn login(app: &App, user: &str, password: &str) -> Result<Option<FileDrop>, AppError> {
    let Ok(id) = user.parse::<SandboxId>() else { return Ok(None) };
    let sandbox = app.runtime().sandbox(&id).await?.filter(|sandbox| sandbox.kind == SimulatorType::Files);
    let Some(sandbox) = sandbox else { return Ok(None) };
    if !app.runtime().takes_traffic(&sandbox).await? {
        return Ok(None);
    }
    let expected = credentials::own(&sandbox, "password");
    let is_right: bool = expected.as_bytes().ct_eq(password.as_bytes()).into();
    let client = Client { actor: sandbox.id.to_string(), protocol: Protocol::Sftp };
    let drop = FileDrop { app: app.clone(), sandbox, client, after_end: false };
    if drop.is_locked().await? {
        return Ok(None);
    }
    if is_right {
        drop.note_login().await?;
        return Ok(Some(drop));
    }
    drop.note_wrong_password().await?;
    Ok(None)
}

impl FileDrop {
    async fn is_locked(&self) -> Result<bool, AppError> {
        let id = self.sandbox.id.clone();
        let look = move |world: &World, context: &Context<'_>| {
            let answer = world.sandboxes.get(&id).is_some_and(|sandbox| files::is_locked(sandbox, context.now));
            Outcome { answer, changes: Vec::new(), events: Vec::new() }
        };
        Ok(self.app.runtime().query(&self.sandbox, Cost::Light, look).await?)
    }

    /// Most logins change nothing and are therefore queries, which run concurrently.
    async fn note_login(&self) -> Result<(), AppError> {
        let (id, client) = (self.sandbox.id.clone(), self.client.clone());
        let look = move |world: &World, context: &Context<'_>| {
            let changes = world.sandboxes.get(&id).is_some_and(files::has_failed_logins);
            let call = Call { world, context, sandbox: &id, client: &client };
            let Outcome { events, .. } = files::record_login(&call);
            Outcome { answer: changes, changes: Vec::new(), events: if changes { Vec::new() } else { events } }
        };
        if self.app.runtime().query(&self.sandbox, Cost::Light, look).await? {
            let (id, client) = (self.sandbox.id.clone(), self.client.clone());
            let note = move |world: &World, context: &Context<'_>| {
                files::record_login(&Call { world, context, sandbox: &id, client: &client })
            };
            self.app.runtime().command(&self.sandbox, note).await?;
        }
        Ok(())
    }

    /// Only if the config locks accounts.
    async fn note_wrong_password(&self) -> Result<(), AppError> {
        let locks = self.sandbox.config.get("faults").is_some_and(|faults| faults.get("locked_account").is_some());
        if !locks {
            return Ok(());
        }
        let (id, client) = (self.sandbox.id.clone(), self.client.clone());
        let note = move |world: &World, context: &Context<'_>| {
            files::record_wrong_password(&Call { world, context, sandbox: &id, client: &client })
        };
        Ok(self.app.runtime().command(&self.sandbox, note).await?)
    }
}
