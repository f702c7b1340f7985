//! A file drop from outside: every face calls these, and none of them knows where the bytes are.

mod dropped;
mod fault;
pub mod host_key;
pub mod login;
mod upload;

use model::dataset::DatasetFile;
use model::page::{Page, PageRequest};
use sims::files::config::FilesConfig;
use sims::files::{self, Answered, Call, Client, Quota};
pub use sims::files::{Condition, Move, Parents};
pub use sims::files::{Entry, Refusal, TreePath, Via, Written, lists};
use std::sync::Arc;
use store::sandboxes::StoredSandbox;
use world::{Context, Direction, World};

use crate::sandboxes::Access;
use crate::{App, AppError};
pub use fault::Fault;
pub use runtime::FileReader;
use runtime::{Cost, SandboxReader};
pub use upload::{Target, Upload};

const INBOX: &str = "inbox/";
/// Files that the list of the inbox has at most; the others are on the pages of the list of all.
pub const MOST_LISTED: usize = 1000;

/// A caller in the sandbox that it may use.
#[derive(Clone)]
pub struct FileDrop {
    app: App,
    sandbox: Arc<StoredSandbox>,
    client: Client,
    after_end: bool,
}

impl FileDrop {
    pub fn new(app: &App, access: Access, via: Via) -> Self {
        let Access { sandbox, actor, after_end } = access;
        Self { app: app.clone(), sandbox, client: Client { actor, via }, after_end }
    }

    /// Files whose paths start so, by path.
    pub async fn list(&self, prefix: &str, request: PageRequest) -> Result<Page<DatasetFile>, Fault> {
        let (prefix, from) = (prefix.to_owned(), request.cursor.as_ref().map(|cursor| cursor.key.clone()));
        let is_back = request.cursor.as_ref().is_some_and(|cursor| cursor.direction == model::page::Direction::Prev);
        let direction = if is_back { Direction::Backward } else { Direction::Forward };
        let most = request.limit + 1;
        let list = move |call: &Call<'_>| {
            files::list(call, files::Part { prefix: &prefix, from: from.as_deref(), direction, most })
        };
        let rows = self.ask(Cost::Heavy, list).await?;
        Ok(Page::from_rows(rows, &request, |file| file.path.clone()))
    }

    /// What waits in the inbox, by path.
    pub async fn inbox(&self) -> Result<Vec<DatasetFile>, Fault> {
        let part = files::Part { prefix: INBOX, from: None, direction: Direction::Forward, most: MOST_LISTED };
        self.ask(Cost::Heavy, move |call| files::list(call, part)).await
    }

    pub async fn stat(&self, path: &TreePath) -> Result<Entry, Fault> {
        let path = path.clone();
        self.ask(Cost::Light, move |call| files::stat(call, &path)).await
    }

    pub async fn directory(&self, path: &TreePath) -> Result<Vec<Entry>, Fault> {
        let path = path.clone();
        self.ask(Cost::Heavy, move |call| files::directory(call, &path)).await
    }

    pub async fn open(&self, path: &TreePath) -> Result<FileReader, Fault> {
        let path = path.clone();
        let opened = self.ask(Cost::Light, move |call| files::open(call, &path)).await?;
        Ok(self.app.runtime().file_reader(opened))
    }

    pub async fn delete(&self, path: &TreePath, condition: Condition) -> Result<(), Fault> {
        let path = path.clone();
        self.tell(move |call| files::delete(call, &path, &condition)).await
    }

    pub async fn rename(&self, wanted: Move) -> Result<(), Fault> {
        let target = wanted.to.clone();
        self.tell(move |call| files::rename(call, &wanted)).await?;
        self.after_write(&target).await;
        Ok(())
    }

    pub async fn make_directory(&self, path: &TreePath, parents: Parents) -> Result<(), Fault> {
        let (path, quota) = (path.clone(), self.quota());
        self.tell(move |call| files::make_directory(call, &path, parents, quota)).await
    }

    pub async fn remove_directory(&self, path: &TreePath) -> Result<(), Fault> {
        let path = path.clone();
        self.tell(move |call| files::remove_directory(call, &path)).await
    }

    /// Whether the sandbox takes traffic: a session of one that does not has nothing more to do.
    pub async fn is_open(&self) -> Result<bool, AppError> {
        Ok(self.app.runtime().takes_traffic(&self.sandbox).await?)
    }

    pub fn sandbox(&self) -> &model::SandboxId {
        &self.sandbox.id
    }

    /// A file lies at a path from now on, whole and durable, however it came there. The one place for whatever another
    /// simulator does with files that are dropped into a folder.
    async fn after_write(&self, path: &TreePath) {
        if let Err(fault) = dropped::hand_over(self, path).await {
            tracing::warn!(sandbox = %self.sandbox.id, %path, %fault, "a dropped file was not answered");
        }
    }

    fn quota(&self) -> Quota {
        let limits = self.app.limits();
        let own = FilesConfig::of(&self.sandbox.config).quota_bytes.and_then(|bytes| u64::try_from(bytes).ok());
        Quota { bytes: own.unwrap_or(u64::MAX).min(limits.sandbox_bytes), files: limits.sandbox_files }
    }

    async fn ask<T: Send + 'static>(
        &self,
        cost: Cost,
        question: impl FnOnce(&Call<'_>) -> Answered<T> + Send + 'static,
    ) -> Result<T, Fault> {
        let (id, client) = (self.sandbox.id.clone(), self.client.clone());
        let ask = move |world: &World, context: &Context<'_>| {
            question(&Call { world, context, sandbox: &id, client: &client })
        };
        let reader = SandboxReader { sandbox: &self.sandbox, after_end: self.after_end };
        Ok(self.app.runtime().query(reader, cost, ask).await??)
    }

    async fn tell<T: Send + 'static>(
        &self,
        message: impl Fn(&Call<'_>) -> Answered<T> + Send + 'static,
    ) -> Result<T, Fault> {
        let (id, client) = (self.sandbox.id.clone(), self.client.clone());
        let tell = move |world: &World, context: &Context<'_>| {
            message(&Call { world, context, sandbox: &id, client: &client })
        };
        Ok(self.app.runtime().command(&self.sandbox, tell).await??)
    }
}

/// The blobs that the row of a file names.
pub(crate) fn blobs_of_row(row: &str) -> Vec<String> {
    let row = serde_json::from_str(row).unwrap_or_default();
    match files::content(&row) {
        Some(files::Content::Blobs(names)) => names,
        Some(files::Content::Inline(_)) | None => Vec::new(),
    }
}
