//! Operations on a file drop, for SFTP and HTTP.

mod dropped;
mod error;
pub mod host_key;
pub mod login;
mod upload;

use model::dataset::DatasetFile;
use model::page::{Page, PageRequest};
use sims::files::config::FilesConfig;
use sims::files::{self, Call, Client, FilesOutcome, Quota};
pub use sims::files::{Condition, MoveRequest, Parents};
pub use sims::files::{FilesError, Protocol, TreeEntry, TreePath, WrittenFile, etag_list_matches};
use std::sync::Arc;
use store::sandboxes::StoredSandbox;
use world::{Context, Direction, World};

use crate::sandboxes::Access;
use crate::{App, AppError};
pub use error::FileDropError;
pub use runtime::FileReader;
use runtime::{Cost, SandboxReader};
pub use upload::{Target, Upload};

const INBOX: &str = "inbox/";
/// Maximum number of files in the list of the inbox. The pages of the complete list contain the others.
pub const MAX_LISTED: usize = 1000;

/// A caller with access to a file drop.
#[derive(Clone)]
pub struct FileDrop {
    app: App,
    sandbox: Arc<StoredSandbox>,
    client: Client,
    after_end: bool,
}

impl FileDrop {
    pub fn new(app: &App, access: Access, protocol: Protocol) -> Self {
        let Access { sandbox, actor, after_end } = access;
        Self { app: app.clone(), sandbox, client: Client { actor, protocol }, after_end }
    }

    /// Files with this prefix, by path.
    pub async fn list(&self, prefix: &str, request: PageRequest) -> Result<Page<DatasetFile>, FileDropError> {
        let (prefix, from) = (prefix.to_owned(), request.cursor.as_ref().map(|cursor| cursor.key.clone()));
        let is_back = request.cursor.as_ref().is_some_and(|cursor| cursor.direction == model::page::Direction::Prev);
        let direction = if is_back { Direction::Backward } else { Direction::Forward };
        let most = request.limit + 1;
        let list = move |call: &Call<'_>| {
            files::list(call, files::ListRange { prefix: &prefix, after: from.as_deref(), direction, limit: most })
        };
        let rows = self.query(Cost::Heavy, list).await?;
        Ok(Page::from_rows(rows, &request, |file| file.path.clone()))
    }

    /// The files of the inbox, by path.
    pub async fn inbox(&self) -> Result<Vec<DatasetFile>, FileDropError> {
        let part = files::ListRange { prefix: INBOX, after: None, direction: Direction::Forward, limit: MAX_LISTED };
        self.query(Cost::Heavy, move |call| files::list(call, part)).await
    }

    pub async fn stat(&self, path: &TreePath) -> Result<TreeEntry, FileDropError> {
        let path = path.clone();
        self.query(Cost::Light, move |call| files::stat(call, &path)).await
    }

    pub async fn directory(&self, path: &TreePath) -> Result<Vec<TreeEntry>, FileDropError> {
        let path = path.clone();
        self.query(Cost::Heavy, move |call| files::directory(call, &path)).await
    }

    pub async fn open(&self, path: &TreePath) -> Result<FileReader, FileDropError> {
        let path = path.clone();
        let opened = self.query(Cost::Light, move |call| files::open(call, &path)).await?;
        Ok(self.app.runtime().file_reader(opened))
    }

    pub async fn delete(&self, path: &TreePath, condition: Condition) -> Result<(), FileDropError> {
        let path = path.clone();
        self.command(move |call| files::delete(call, &path, &condition)).await
    }

    pub async fn rename(&self, wanted: MoveRequest) -> Result<(), FileDropError> {
        let target = wanted.to.clone();
        self.command(move |call| files::rename(call, &wanted)).await?;
        self.after_write(&target).await;
        Ok(())
    }

    pub async fn make_directory(&self, path: &TreePath, parents: Parents) -> Result<(), FileDropError> {
        let (path, quota) = (path.clone(), self.quota());
        self.command(move |call| files::make_directory(call, &path, parents, quota)).await
    }

    pub async fn remove_directory(&self, path: &TreePath) -> Result<(), FileDropError> {
        let path = path.clone();
        self.command(move |call| files::remove_directory(call, &path)).await
    }

    /// Whether the sandbox takes traffic. Sessions end when it does not.
    pub async fn is_open(&self) -> Result<bool, AppError> {
        Ok(self.app.runtime().takes_traffic(&self.sandbox).await?)
    }

    pub fn sandbox(&self) -> &model::SandboxId {
        &self.sandbox.id
    }

    /// Called after a file was stored, by an upload or a rename. Passes it to simulators that process dropped files.
    async fn after_write(&self, path: &TreePath) {
        if let Err(error) = dropped::hand_over(self, path).await {
            tracing::warn!(sandbox = %self.sandbox.id, %path, %error, "a dropped file was not processed");
        }
    }

    fn quota(&self) -> Quota {
        let limits = self.app.limits();
        let own = FilesConfig::of(&self.sandbox.config).quota_bytes.and_then(|bytes| u64::try_from(bytes).ok());
        Quota { bytes: own.unwrap_or(u64::MAX).min(limits.sandbox_bytes), files: limits.sandbox_files }
    }

    async fn query<T: Send + 'static>(
        &self,
        cost: Cost,
        query: impl FnOnce(&Call<'_>) -> FilesOutcome<T> + Send + 'static,
    ) -> Result<T, FileDropError> {
        let (id, client) = (self.sandbox.id.clone(), self.client.clone());
        let run =
            move |world: &World, context: &Context<'_>| query(&Call { world, context, sandbox: &id, client: &client });
        let reader = SandboxReader { sandbox: &self.sandbox, after_end: self.after_end };
        Ok(self.app.runtime().query(reader, cost, run).await??)
    }

    async fn command<T: Send + 'static>(
        &self,
        command: impl Fn(&Call<'_>) -> FilesOutcome<T> + Send + 'static,
    ) -> Result<T, FileDropError> {
        let (id, client) = (self.sandbox.id.clone(), self.client.clone());
        let run = move |world: &World, context: &Context<'_>| {
            command(&Call { world, context, sandbox: &id, client: &client })
        };
        Ok(self.app.runtime().command(&self.sandbox, run).await??)
    }
}

/// The blobs that the record of a file refers to.
pub(crate) fn blobs_of_row(row: &str) -> Vec<String> {
    let row = serde_json::from_str(row).unwrap_or_default();
    match files::content(&row) {
        Some(files::Content::Blobs(names)) => names,
        Some(files::Content::Inline(_)) | None => Vec::new(),
    }
}
