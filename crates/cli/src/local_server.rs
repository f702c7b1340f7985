//! A server inside this process, for `verial run --local`, `verial demo` and audits.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use app::{App, Options, SftpAddress};
use client::Client;
use server::{MllpListen, ServerOptions};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::folders::bounds;
use crate::settings::{SettingsFile, Storage, StorageArguments};

pub(crate) struct LocalServer {
    pub(crate) url: String,
    /// A key of the server's first organization, created for this process.
    pub(crate) api_key: String,
    pub(crate) data: PathBuf,
    app: App,
    key_id: model::KeyId,
    stop: watch::Sender<bool>,
    serving: tokio::task::JoinHandle<()>,
    /// The data folder if it is temporary; removed when dropped.
    _temporary: Option<tempfile::TempDir>,
}

impl LocalServer {
    /// Starts a server on `data`, or on a temporary folder. Port 0 uses a free port.
    pub(crate) async fn start(data: Option<&Path>, listen: SocketAddr) -> anyhow::Result<Self> {
        let temporary = match data {
            Some(_) => None,
            None => Some(tempfile::Builder::new().prefix("verial-").tempdir().context("no temporary folder")?),
        };
        Self::start_on(data.unwrap_or(Path::new("verial-data")), temporary, listen).await
    }

    /// Starts a server on a temporary folder outside of the usual one for temporary files: agents must not read it, and
    /// can therefore not create anything next to it.
    pub(crate) async fn start_hidden(listen: SocketAddr) -> anyhow::Result<Self> {
        let folder_result = tempfile::Builder::new().prefix("verial-").tempdir_in("/var/tmp");
        match folder_result {
            Ok(folder) => Self::start_on(Path::new(""), Some(folder), listen).await,
            Err(_) => Self::start(None, listen).await,
        }
    }

    async fn start_on(data: &Path, temporary: Option<tempfile::TempDir>, listen: SocketAddr) -> anyhow::Result<Self> {
        let data = temporary.as_ref().map_or(data, tempfile::TempDir::path).to_owned();
        let (listener, sftp) = (TcpListener::bind(listen).await, TcpListener::bind("127.0.0.1:0").await?);
        let listener = listener.with_context(|| format!("cannot listen on {listen}"))?;
        let url = format!("http://{}", listener.local_addr()?);
        let app = open(data.clone(), sftp.local_addr()?.port()).await?;
        let (api_key, key_id) = create_key(&app).await?;
        let (stop, stopped) = watch::channel(false);
        let serving = tokio::spawn(serve(listener, sftp, app.clone(), stopped));
        Ok(Self { url, api_key, data, app, key_id, stop, serving, _temporary: temporary })
    }

    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        Ok(Client::new(&self.url, &self.api_key)?)
    }

    /// Whether its data is removed with it.
    pub(crate) fn is_temporary(&self) -> bool {
        self._temporary.is_some()
    }

    /// Revokes the key and stops the server.
    pub(crate) async fn stop(self) {
        let _ = app::admin::revoke_key(&self.app, &self.key_id).await;
        self.stop.send_replace(true);
        let _ = tokio::time::timeout(std::time::Duration::from_secs(5), self.serving).await;
    }
}

/// Publishes the bundled benchmarks, or only `wanted`, in versions that the server does not have yet, with their floor and
/// ceiling. Calls `on_load` with each slug before it is loaded.
pub(crate) async fn load_benchmarks(
    client: &Client,
    wanted: Option<&str>,
    on_load: impl Fn(&str),
) -> anyhow::Result<()> {
    let known = client.list_all("/benchmarks", &[]).await?;
    let newest_version = |slug: &str| {
        let published = known.iter().find(|one| one["slug"] == slug && one["published"] == true);
        published.map(|one| one["version"].as_i64().unwrap_or(0))
    };
    let slugs = agents::bundled::slugs().into_iter().filter(|slug| wanted.is_none_or(|wanted| wanted == *slug));
    for slug in slugs {
        let folder = authoring::read(&agents::bundled::files(slug)).with_context(|| slug.to_owned())?;
        if newest_version(slug) >= Some(folder.benchmark.version.unwrap_or(1)) {
            continue;
        }
        on_load(slug);
        let pushed = authoring::push(client, &folder, true).await.with_context(|| slug.to_owned())?;
        if let (Some(version), Some(audit)) = (pushed.version, agents::bundled::audit(slug)) {
            let version = client.get(&format!("/benchmarks/{slug}@{version}")).await?;
            bounds::store(client, &version, &audit).await.with_context(|| slug.to_owned())?;
        }
    }
    Ok(())
}

async fn open(data: PathBuf, sftp_port: u16) -> anyhow::Result<App> {
    let opened = tokio::task::spawn_blocking(move || {
        let arguments = StorageArguments { data: Some(data), ..StorageArguments::default() };
        let storage = Storage::merge(&arguments, &SettingsFile::default())?;
        let sftp = Some(SftpAddress { host: None, port: sftp_port });
        let spool = Some(storage.spool());
        storage.open(Options { sftp, spool, ..Options::from(limits()) })
    });
    opened.await?
}

/// Practically unlimited request rates: only the user's own agents call this server.
fn limits() -> app::Limits {
    const RATE: u32 = 1_000_000;
    app::Limits { requests_per_second: RATE, request_burst: RATE, ..app::Limits::default() }
}

async fn create_key(app: &App) -> anyhow::Result<(String, model::KeyId)> {
    let created = match app::admin::create_first_organization(app).await? {
        Some(first) => first.api_key,
        None => {
            let all = app::admin::list_organizations(app).await?;
            let first = all.first().context("the data has no organization")?;
            app::admin::create_key(app, &first.id, "local").await?
        }
    };
    Ok((created.key, created.id))
}

async fn serve(listener: TcpListener, sftp: TcpListener, app: App, stopped: watch::Receiver<bool>) {
    let shutdown = |mut stopped: watch::Receiver<bool>| async move {
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    let files = tokio::spawn(sftp::serve(sftp, app.clone(), shutdown(stopped.clone())));
    let options = ServerOptions { mllp: Some(MllpListen::LOOPBACK), public_url: None };
    server::serve(listener, app, options, shutdown(stopped)).await;
    files.abort();
}
