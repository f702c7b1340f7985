//! An application on a temporary database, with a clock that the test advances, and a benchmark to run on it.

use app::sandboxes::fhir::{self, Request, Response};
use app::{App, AppError, Clock, Limits, Once, OrgGrant, Principal, RunGrant, SolverGrant};
use model::benchmark::Benchmark;
use model::run::CreatedRun;
use model::simulator::SimulatorType;
use model::{BenchmarkId, SolverId, TaskId, TaskRunId, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::blobs::BlobUrl;
use store::{Blobs, Store};
use testkit::{Database, TestDatabase};

const START: Timestamp = Timestamp(1_800_000_000_000);
pub(crate) const BASE: &str = "https://verial.example";
/// The timeout of each task, in milliseconds.
pub(crate) const TIMEOUT: i64 = 60_000;

pub(crate) struct Fixture {
    pub(crate) app: App,
    pub(crate) clock: Clock,
    /// The organization that owns the benchmark.
    pub(crate) author: OrgGrant,
    _database: TestDatabase,
}

/// A draft benchmark with one FHIR simulator, whose tasks are to create a Basic resource with the code `a`.
pub(crate) struct Draft {
    pub(crate) id: BenchmarkId,
    pub(crate) tasks: Vec<TaskId>,
}

/// An agent with the token of its run.
pub(crate) struct Agent {
    pub(crate) grant: RunGrant,
    pub(crate) created: CreatedRun,
}

/// Builds a request as the API would parse it.
pub(crate) fn request<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// An idempotency key for a request with this hash.
pub(crate) fn once(key: &str, request_hash: &str) -> Option<Once> {
    Some(Once { key: key.to_owned(), request_hash: request_hash.to_owned() })
}

pub(crate) fn conflict<T>(result: Result<T, AppError>) -> String {
    match result {
        Err(AppError::Conflict { message, .. }) => message,
        Err(error) => panic!("expected a conflict, got {error:?}"),
        Ok(_) => panic!("expected a conflict, got a success"),
    }
}

pub(crate) fn not_found<T>(result: Result<T, AppError>) -> &'static str {
    match result {
        Err(AppError::NotFound(noun)) => noun,
        Err(error) => panic!("expected a missing resource, got {error:?}"),
        Ok(_) => panic!("expected a missing resource, got a success"),
    }
}

impl Fixture {
    pub(crate) async fn new(database: Database) -> Self {
        let database = TestDatabase::new(database);
        let url = database.url().clone();
        let store = tokio::task::spawn_blocking(move || Store::open(&url, START)).await.unwrap().unwrap();
        let blobs = Blobs::open(&BlobUrl::Directory(database.directory().join("blobs"))).unwrap();
        let clock = Clock::fixed(START);
        let app = App::new(store, blobs, clock.clone(), Limits::default());
        let author = organization(&app, "Author").await;
        Self { app, clock, author, _database: database }
    }

    pub(crate) async fn organization(&self, name: &str) -> OrgGrant {
        organization(&self.app, name).await
    }

    /// A second key of the same organization.
    pub(crate) async fn second_key(&self, org: &OrgGrant) -> OrgGrant {
        let key = app::admin::create_key(&self.app, &org.org, "Second key").await.unwrap();
        org_grant(&self.app, &key.key).await
    }

    pub(crate) async fn solver(&self, org: &OrgGrant, alias: &str) -> SolverGrant {
        let new = request(json!({"alias": alias}));
        let solver: SolverId = app::solvers::create(&self.app, org, None, new).await.unwrap().value.id;
        let new = request(json!({"name": "ci"}));
        let key = app::api_keys::create(&self.app, org, Some(&solver), None, new).await.unwrap().value;
        match app::credentials::authenticate(&self.app, &key.key).await.unwrap() {
            Principal::Solver(grant) => grant,
            _ => panic!("not the key of a solver"),
        }
    }

    pub(crate) async fn run_grant(&self, token: &str) -> Result<RunGrant, AppError> {
        match app::credentials::authenticate(&self.app, token).await? {
            Principal::Run(grant) => Ok(grant),
            _ => panic!("not the token of a run"),
        }
    }

    /// `fields` are added to the benchmark.
    pub(crate) async fn draft(&self, tasks: usize, fields: Value) -> Draft {
        let (app, grant) = (&self.app, &self.author);
        let new = request(json!({"type": "Fhir", "name": "EHR"}));
        let simulator = app::simulators::create(app, grant, None, new).await.unwrap().value.id;
        let environment =
            app::environments::create(app, grant, None, request(json!({"name": "Clinic"}))).await.unwrap().value.id;
        app::environments::attach(app, grant, &environment, &simulator, None).await.unwrap();
        let mut new = json!({"name": "Orders", "environment_id": environment, "timeout": TIMEOUT / 1000});
        new.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let benchmark: Benchmark = app::benchmarks::create(app, grant, None, request(new)).await.unwrap().value;
        let mut draft = Draft { id: benchmark.id, tasks: Vec::new() };
        for number in 0..tasks {
            let new = json!({"benchmark_id": draft.id, "name": format!("Task {number}")});
            let task = app::tasks::create(app, grant, None, request(new)).await.unwrap().value.id;
            let assertion = json!({
                "assert": "fhir-resource-state", "resource_type": "Basic", "match": "any",
                "fields": [{"path": "code.text", "expected": "a"}],
            });
            let new = json!({"task_id": task, "label": "Basic", "assertion": assertion});
            app::criteria::create(app, grant, None, request(new)).await.unwrap();
            draft.tasks.push(task);
        }
        draft
    }

    /// Publishes the benchmark and returns `slug@version`.
    pub(crate) async fn publish(&self, draft: &Draft) -> Result<String, AppError> {
        let published = app::publications::publish(&self.app, &self.author, &draft.id, None, request(json!({}))).await;
        published.map(|created| format!("{}@{}", created.value.slug, created.value.version))
    }

    /// A published benchmark.
    pub(crate) async fn version(&self, tasks: usize, fields: Value) -> String {
        self.publish(&self.draft(tasks, fields).await).await.unwrap()
    }

    /// A solver's run of a version.
    pub(crate) async fn agent(&self, solver: &SolverGrant, benchmark: &str, scored: bool) -> Agent {
        let new = request(json!({"benchmark": benchmark, "scored": scored}));
        let created = app::runs::create_run(&self.app, solver, BASE, None, new).await.unwrap().value;
        Agent { grant: self.run_grant(&created.bearer_token).await.unwrap(), created }
    }
}

impl Agent {
    pub(crate) fn task(&self, index: usize) -> &TaskRunId {
        &self.created.task_runs[index].id
    }

    pub(crate) async fn start(&self, app: &App, index: usize) -> Result<(), AppError> {
        app::runs::start_task_run(app, &self.grant, BASE, self.task(index), None).await.map(|_| ())
    }

    /// Creates a Basic resource with this code in the started task.
    pub(crate) async fn write(&self, app: &App, code: &str) -> Result<Response, AppError> {
        let access = app::runs::access::of_run(app, &self.grant, &self.created.id, SimulatorType::Fhir).await?;
        let body = json!({"resourceType": "Basic", "code": {"text": code}});
        let request = Request {
            method: "POST".to_owned(),
            path: "Basic".to_owned(),
            query: String::new(),
            headers: vec![("content-type".to_owned(), "application/fhir+json".to_owned())],
            body: body.to_string().into_bytes(),
            base_url: format!("{BASE}/fhir"),
            other_paths: Vec::new(),
            token_url: None,
        };
        fhir::exchange(app, access.into(), request).await
    }
}

async fn organization(app: &App, name: &str) -> OrgGrant {
    let created = app::admin::create_organization(app, name).await.unwrap();
    org_grant(app, &created.api_key.key).await
}

async fn org_grant(app: &App, key: &str) -> OrgGrant {
    match app::credentials::authenticate(app, key).await.unwrap() {
        Principal::Organization(grant) => grant,
        _ => panic!("not the key of an organization"),
    }
}
