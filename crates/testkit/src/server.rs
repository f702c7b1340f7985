//! A complete server in the test process, on a free port.

use std::sync::Arc;

use app::admin::NewOrganization;
use app::{App, Clock, Limits, Options, SftpAddress};
use server::{MllpListen, ServerOptions};
use store::blobs::BlobUrl;
use store::{Blobs, Store};
use tokio::net::TcpListener;

use crate::{Caller, Contract, Database, TestDatabase};

pub struct TestServer {
    pub app: App,
    pub base_url: String,
    pub clock: Clock,
    http: reqwest::Client,
    contract: Arc<Contract>,
    serving: tokio::task::JoinHandle<()>,
    database: Arc<TestDatabase>,
}

impl TestServer {
    pub async fn start(database: Database) -> Self {
        Self::start_with(database, Self::unhurried()).await
    }

    /// Limits with request rates that no test reaches.
    pub fn unhurried() -> Limits {
        const RATE: u32 = 1_000_000;
        Limits {
            requests_per_second: RATE,
            request_burst: RATE,
            refusals_per_second: RATE,
            refusal_burst: RATE,
            ..Limits::default()
        }
    }

    pub async fn start_with(database: Database, options: impl Into<Options>) -> Self {
        Self::start_on(Arc::new(TestDatabase::new(database)), Clock::system(), options.into()).await
    }

    /// An independent server on the same kind of database that may call these hosts.
    pub async fn stranger(&self, allowed_hosts: Vec<String>) -> Self {
        Self::start_with(self.database.kind(), Options { allowed_hosts, ..Self::unhurried().into() }).await
    }

    /// An independent server on the same kind of database, with a clock that the test advances.
    pub async fn with_fixed_clock(&self) -> Self {
        let database = Arc::new(TestDatabase::new(self.database.kind()));
        Self::start_on(database, Clock::fixed(self.clock.now()), Self::unhurried().into()).await
    }

    /// A server on a copy of a stored data directory, with a clock that the test advances.
    pub async fn on_copy_of(stored: &std::path::Path, clock: Clock) -> Self {
        Self::start_on(Arc::new(TestDatabase::copy_of(stored)), clock, Self::unhurried().into()).await
    }

    /// A second server on the same database and blobs, as behind a load balancer.
    pub async fn another_node(&self) -> Self {
        self.another_node_at(Clock::system()).await
    }

    /// A second server on the same database and blobs, with another clock.
    pub async fn another_node_at(&self, clock: Clock) -> Self {
        Self::start_on(Arc::clone(&self.database), clock, Self::unhurried().into()).await
    }

    /// A second server on the same database, with this engine version.
    pub async fn another_node_with_engine(&self, engine: &'static str) -> Self {
        let options = Options { engine: Some(engine), ..Self::unhurried().into() };
        Self::start_on(Arc::clone(&self.database), self.clock.clone(), options).await
    }

    async fn start_on(database: Arc<TestDatabase>, clock: Clock, options: Options) -> Self {
        let url = database.url().clone();
        let now = clock.now();
        let store = tokio::task::spawn_blocking(move || Store::open(&url, now)).await.unwrap().unwrap();
        let blobs = Blobs::open(&BlobUrl::Directory(database.directory().join("blobs"))).unwrap();
        let sftp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = SftpAddress { host: None, port: sftp.local_addr().unwrap().port() };
        let spool = Some(database.directory().join("spool"));
        let options = Options { sftp: Some(address), spool, ..options };
        let app = App::new(store, blobs, clock.clone(), options);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let server_options = ServerOptions { mllp: Some(MllpListen::LOOPBACK), public_url: None };
        let serving = tokio::spawn({
            let app = app.clone();
            async move {
                let sftp_server = sftp::serve(sftp, app.clone(), std::future::pending());
                let http_server = server::serve(listener, app, server_options, std::future::pending());
                let ((), sftp_server) = tokio::join!(http_server, sftp_server);
                sftp_server.unwrap();
            }
        });
        let (http, contract) = (crate::http_client(), Arc::new(Contract::load()));
        Self { app, base_url, clock, http, contract, serving, database }
    }

    /// A new organization and a caller with its key.
    pub async fn organization(&self, name: &str) -> Caller {
        let created: NewOrganization = app::admin::create_organization(&self.app, name).await.unwrap();
        self.caller(&created.api_key.key)
    }

    pub fn caller(&self, key: &str) -> Caller {
        self.any_caller(Some(key))
    }

    pub fn anonymous(&self) -> Caller {
        self.any_caller(None)
    }

    fn any_caller(&self, key: Option<&str>) -> Caller {
        Caller::new(self.http.clone(), &self.base_url, key, Arc::clone(&self.contract))
    }

    pub fn database(&self) -> &TestDatabase {
        &self.database
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
