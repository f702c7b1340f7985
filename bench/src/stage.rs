//! An application over a database and blobs of its own, an organization in it, and what benchmarks do there.

use std::net::SocketAddr;

use anyhow::{Context, ensure};
use app::etag::IfMatch;
use app::sandboxes::fhir;
use app::{App, AppError, Clock, Limits, Options, OrgGrant, Principal};
use fhir::{Request, Response};
use model::dataset::{Dataset, DatasetType, NewDataset};
use model::environment::NewEnvironment;
use model::playground::{NewPlayground, Playground};
use model::simulator::{NewSimulator, SimulatorType};
use model::{EnvironmentId, SandboxId};
use store::blobs::BlobUrl;
use store::{Blobs, DatabaseUrl, Store};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::Ward;

const BASE_URL: &str = "http://bench";

pub struct Stage {
    pub app: App,
    pub grant: OrgGrant,
    pub key: String,
    store: Store,
    blobs: Blobs,
    _directory: TempDir,
}

impl Stage {
    /// SQLite in a directory of its own, unless a database is named.
    pub async fn open(database: Option<DatabaseUrl>) -> anyhow::Result<Self> {
        Self::open_with(database, Options::default()).await
    }

    /// The same with what an operator decides; but without a limit on how often a key may ask.
    pub async fn open_with(database: Option<DatabaseUrl>, options: Options) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir()?;
        let database = database.unwrap_or_else(|| DatabaseUrl::Sqlite(directory.path().join("verial.db")));
        let store = Store::open(&database, Clock::system().now())?;
        let blobs = Blobs::open(&BlobUrl::Directory(directory.path().join("blobs")))?;
        let app = application(&store, &blobs, options);
        let key = app::admin::create_organization(&app, "Bench").await?.api_key.key;
        let Principal::Organization(grant) = app::credentials::authenticate(&app, &key).await? else {
            anyhow::bail!("an organization key opened something else");
        };
        Ok(Self { app, grant, key, store, blobs, _directory: directory })
    }

    /// Forgets everything that is in memory, as a new process would.
    pub fn restart(&mut self) {
        self.app = application(&self.store, &self.blobs, Options::default());
    }

    pub async fn upload(&self, ward: Ward) -> anyhow::Result<Dataset> {
        let name = format!("{} resources", ward.resources());
        let new = NewDataset { name, r#type: Some(DatasetType::Fhir), ..NewDataset::default() };
        let dataset = app::datasets::create(&self.app, &self.grant, None, new).await?.value;
        let (none, ndjson) = (IfMatch(None), ::fhir::ingest::Format::Ndjson);
        let lines = ward.lines::<AppError>();
        Ok(app::datasets::data::put(&self.app, &self.grant, &dataset.id, none, ndjson, lines).await?)
    }

    /// One with a FHIR simulator over the dataset.
    pub async fn environment(&self, dataset: &Dataset) -> anyhow::Result<EnvironmentId> {
        let (app, grant) = (&self.app, &self.grant);
        let new = NewSimulator { r#type: SimulatorType::Fhir, name: "Records".into(), config: serde_json::Value::Null };
        let simulator = app::simulators::create(app, grant, None, new).await?.value.id;
        app::simulators::attach(app, grant, &simulator, &dataset.id, None).await?;
        let new = NewEnvironment { name: dataset.name.clone(), description: None };
        let environment = app::environments::create(app, grant, None, new).await?.value.id;
        app::environments::attach(app, grant, &environment, &simulator, None).await?;
        Ok(environment)
    }

    /// A playground and its one sandbox.
    pub async fn provision(&self, environment: &EnvironmentId) -> anyhow::Result<(Playground, SandboxId)> {
        let new = NewPlayground { environment_id: environment.clone() };
        let made = app::playgrounds::create(&self.app, &self.grant, BASE_URL, None, new).await?.value;
        let sandbox = made.sandboxes.first().context("a playground without a sandbox")?.id.clone();
        Ok((made, sandbox))
    }

    pub async fn reset(&self, playground: &Playground) -> anyhow::Result<()> {
        app::playgrounds::reset(&self.app, &self.grant, BASE_URL, &playground.id, None).await?;
        Ok(())
    }

    pub async fn tear_down(&self, playground: &Playground) -> anyhow::Result<()> {
        app::playgrounds::tear_down(&self.app, &self.grant, BASE_URL, &playground.id, None).await?;
        Ok(())
    }

    pub async fn read(&self, sandbox: &SandboxId, path: &str) -> anyhow::Result<()> {
        self.exchange(sandbox, "GET", path, "", 200).await.map(drop)
    }

    /// What a new playground of the environment answers.
    pub async fn text(&self, environment: &EnvironmentId, path: &str) -> anyhow::Result<String> {
        let (_, sandbox) = self.provision(environment).await?;
        Ok(self.exchange(&sandbox, "GET", path, "", 200).await?.body)
    }

    /// A resource of its own, under an id that the server gives it.
    pub async fn write(&self, sandbox: &SandboxId) -> anyhow::Result<()> {
        self.exchange(sandbox, "POST", "Observation", Ward::new_observation(), 201).await.map(drop)
    }

    async fn exchange(
        &self,
        sandbox: &SandboxId,
        method: &str,
        path: &str,
        body: &str,
        status: u16,
    ) -> anyhow::Result<Response> {
        let request = Request {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: vec![("content-type".into(), "application/fhir+json".into())],
            body: body.into(),
            base_url: format!("{BASE_URL}/sandboxes/{sandbox}/fhir"),
            ..Request::default()
        };
        let access = fhir::admit_key(&self.app, &self.grant, sandbox).await?;
        let answer = fhir::exchange(&self.app, access, request).await?;
        ensure!(answer.status == status, "{method} {path}: {} {}", answer.status, answer.body);
        Ok(answer)
    }

    /// Starts the server.
    pub async fn serve(&self) -> anyhow::Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(server::serve(
            listener,
            self.app.clone(),
            server::ServerOptions::default(),
            std::future::pending(),
        ));
        Ok(address)
    }
}

/// As in production, but without a limit on how often a key may ask.
fn application(store: &Store, blobs: &Blobs, options: Options) -> App {
    let unlimited = Limits { requests_per_second: u32::MAX, request_burst: u32::MAX, ..Limits::default() };
    App::new(store.clone(), blobs.clone(), Clock::system(), Options { limits: unlimited, ..options })
}

/// A server with one handler that answers the same bytes always: what HTTP alone costs.
pub async fn bare(answer: String) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let handler = axum::routing::get(move || async move { ([("content-type", "application/json")], answer.clone()) });
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().route("/bare", handler)).await });
    Ok(address)
}
