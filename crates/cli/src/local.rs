//! A server inside this process, for `verial run --local` and for trying things out: gone when it is dropped.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use app::mllp::MllpListen;
use app::{App, Options, SftpAddress};
use client::Client;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::folders::bounds;
use crate::settings::{File, Storage, StorageArguments};

pub(crate) struct Local {
    pub(crate) url: String,
    /// A key of the server's first organization, made for this process.
    pub(crate) api_key: String,
    pub(crate) data: PathBuf,
    app: App,
    key_id: model::KeyId,
    stop: watch::Sender<bool>,
    serving: tokio::task::JoinHandle<()>,
    /// Removed with all its content when nobody asked for the data to stay.
    _temporary: Option<tempfile::TempDir>,
}

impl Local {
    /// On `data`, or on a folder that is gone afterwards; port 0 takes a free one.
    pub(crate) async fn start(data: Option<&Path>, listen: SocketAddr) -> anyhow::Result<Self> {
        let temporary = match data {
            Some(_) => None,
            None => Some(tempfile::Builder::new().prefix("verial-").tempdir().context("no temporary folder")?),
        };
        Self::start_on(data.unwrap_or(Path::new("verial-data")), temporary, listen).await
    }

    /// On a folder that is gone afterwards, and that is not where programs create temporary files: agents must not read it,
    /// and can therefore not create anything beside it.
    pub(crate) async fn start_apart(listen: SocketAddr) -> anyhow::Result<Self> {
        let apart = tempfile::Builder::new().prefix("verial-").tempdir_in("/var/tmp");
        match apart {
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
        let (api_key, key_id) = key(&app).await?;
        let (stop, stopped) = watch::channel(false);
        let serving = tokio::spawn(serve(listener, sftp, app.clone(), stopped));
        Ok(Self { url, api_key, data, app, key_id, stop, serving, _temporary: temporary })
    }

    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        Ok(Client::new(&self.url, &self.api_key)?)
    }

    /// Whether its data are gone with it.
    pub(crate) fn is_passing(&self) -> bool {
        self._temporary.is_some()
    }

    /// Ends the key and the server.
    pub(crate) async fn stop(self) {
        let _ = app::admin::revoke_key(&self.app, &self.key_id).await;
        self.stop.send_replace(true);
        let _ = tokio::time::timeout(std::time::Duration::from_secs(5), self.serving).await;
    }
}

/// What a local server is filled with: the bundled benchmarks, or only the wanted one, in the versions that it does not have
/// yet, with their floor and ceiling.
/// `told` is given each slug before it is loaded.
pub(crate) async fn load_benchmarks(client: &Client, wanted: Option<&str>, told: impl Fn(&str)) -> anyhow::Result<()> {
    let known = client.all("/benchmarks", &[]).await?;
    let newest = |slug: &str| {
        let published = known.iter().find(|one| one["slug"] == slug && one["published"] == true);
        published.map(|one| one["version"].as_i64().unwrap_or(0))
    };
    let slugs = agents::bundled::slugs().into_iter().filter(|slug| wanted.is_none_or(|wanted| wanted == *slug));
    for slug in slugs {
        let folder = authoring::read(&agents::bundled::files(slug)).with_context(|| slug.to_owned())?;
        if newest(slug) >= Some(folder.benchmark.version.unwrap_or(1)) {
            continue;
        }
        told(slug);
        let pushed = authoring::push(client, &folder, true).await.with_context(|| slug.to_owned())?;
        if let (Some(version), Some(audit)) = (pushed.version, agents::bundled::audit(slug)) {
            let version = client.get(&format!("/benchmarks/{slug}@{version}")).await?;
            bounds::keep(client, &version, &audit).await.with_context(|| slug.to_owned())?;
        }
    }
    Ok(())
}

async fn open(data: PathBuf, sftp_port: u16) -> anyhow::Result<App> {
    let opened = tokio::task::spawn_blocking(move || {
        let arguments = StorageArguments { data: Some(data), ..StorageArguments::default() };
        let storage = Storage::merge(&arguments, &File::default())?;
        let sftp = Some(SftpAddress { host: None, port: sftp_port });
        let mllp = Some(MllpListen::LOOPBACK);
        let spool = Some(storage.spool());
        storage.open(Options { mllp, sftp, spool, ..Options::from(unhurried()) })
    });
    opened.await?
}

/// Nobody but the user's own agents asks this server.
fn unhurried() -> app::Limits {
    const OFTEN: u32 = 1_000_000;
    app::Limits { requests_per_second: OFTEN, request_burst: OFTEN, ..app::Limits::default() }
}

async fn key(app: &App) -> anyhow::Result<(String, model::KeyId)> {
    let made = match app::admin::create_first_organization(app).await? {
        Some(first) => first.api_key,
        None => {
            let all = app::admin::list_organizations(app).await?;
            let first = all.first().context("the data has no organization")?;
            app::admin::create_key(app, &first.id, "local").await?
        }
    };
    Ok((made.key, made.id))
}

async fn serve(listener: TcpListener, sftp: TcpListener, app: App, stopped: watch::Receiver<bool>) {
    let told = |mut stopped: watch::Receiver<bool>| async move {
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    let files = tokio::spawn(sftp::serve(sftp, app.clone(), told(stopped.clone())));
    server::serve(listener, app, None, told(stopped)).await;
    files.abort();
}
