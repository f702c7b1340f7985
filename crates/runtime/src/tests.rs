//! The runtime over SQLite in a temporary directory, with commands that write notes into one sandbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use model::event::EventType;
use model::identity::Organization;
use model::page::PageRequest;
use model::run::{Phase, RunBenchmark, Status};
use model::simulator::SimulatorType;
use model::{BenchmarkRunId, EnvironmentId, Id, OrgId, PlaygroundId, SandboxId, TaskRunId, Timestamp, Ulid};
use serde_json::{Value, json};
use store::log::EventFilter;
use store::playgrounds::Provisioned;
use store::runs::{StoredRun, TaskCounts};
use store::sandboxes::StoredSandbox;
use store::task_runs::StoredTaskRun;
use store::{Blobs, DatabaseUrl, Db, Store, StoreError, playgrounds};
use tempfile::TempDir;
use world::{Context, NewEvent, Outcome, World};

use crate::{Clock, Cost, Runtime, RuntimeError, RuntimeOptions, SandboxReader};

const START: Timestamp = Timestamp(1_800_000_000_000);
const MAX_EVENTS: i64 = 8;

/// A playground with one sandbox.
struct Fixture {
    _directory: TempDir,
    store: Store,
    blobs: Blobs,
    clock: Clock,
    runtime: Runtime,
    sandbox: StoredSandbox,
    /// Makes the append hook panic.
    hook_panics: Arc<AtomicBool>,
    appended: Arc<AtomicUsize>,
}

fn id<I: Id>(number: u128) -> I {
    I::from_ulid(Ulid(number))
}

impl Fixture {
    async fn new() -> Self {
        Self::with(|db, org, playground| playgrounds::insert(db, org, playground, None, START)).await
    }

    /// The playground of a task run.
    async fn provisioned() -> Self {
        Self::with(|db, org, id| {
            let row = Provisioned { id, task_run: &task_run_id() };
            playgrounds::provision(db, org, &EnvironmentId::from_ulid(Ulid(1)), &[row], START)
        })
        .await
    }

    async fn with(
        insert: impl Fn(&mut Db<'_>, &OrgId, &PlaygroundId) -> Result<(), StoreError> + Send + 'static,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&DatabaseUrl::Sqlite(directory.path().join("test.db")), START).unwrap();
        let blobs = Blobs::open(&store::blobs::BlobUrl::Directory(directory.path().join("blobs"))).unwrap();
        let clock = Clock::fixed(START);
        let (hook_panics, appended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (panics, counter) = (Arc::clone(&hook_panics), Arc::clone(&appended));
        let runtime = Runtime::new(RuntimeOptions {
            store: store.clone(),
            blobs: blobs.clone(),
            clock: clock.clone(),
            layer_bytes: 1 << 20,
            task_run_events: MAX_EVENTS,
            on_append: Box::new(move |entries| {
                assert!(!panics.swap(false, Ordering::SeqCst), "the hook panics on purpose");
                counter.fetch_add(entries.len(), Ordering::SeqCst);
            }),
        });
        let sandbox = stored_sandbox();
        let row = sandbox.clone();
        let write = move |db: &mut Db<'_>| {
            let (id, name) = (row.org.clone(), "Test".to_owned());
            let organization = Organization { id, name, created_at: START, updated_at: START };
            store::organizations::insert(db, &organization)?;
            insert(db, &row.org, &row.playground)?;
            store::sandboxes::insert(db, &row)
        };
        store.write(write).await.unwrap();
        Self { _directory: directory, store, blobs, clock, runtime, sandbox, hook_panics, appended }
    }

    /// A runtime without copies in memory over the same database, like another process.
    fn second_runtime(&self) -> Runtime {
        Runtime::new(RuntimeOptions {
            store: self.store.clone(),
            blobs: self.blobs.clone(),
            clock: self.clock.clone(),
            layer_bytes: 1 << 20,
            task_run_events: MAX_EVENTS,
            on_append: Box::new(|_| {}),
        })
    }

    async fn write_note(&self, key: &str) -> Result<(), RuntimeError> {
        self.runtime.command(&self.sandbox, note(&self.sandbox.id, key)).await
    }

    async fn open(&self, ends_at: Timestamp) {
        let playground = self.sandbox.playground.clone();
        self.store.write(move |db| playgrounds::open(db, &playground, ends_at)).await.unwrap();
    }

    async fn events(&self) -> Vec<String> {
        let (playground, sandbox) = (self.sandbox.playground.clone(), self.sandbox.id.clone());
        let page = PageRequest { limit: 100, cursor: None };
        let filter = EventFilter::default();
        let read = move |db: &mut Db<'_>| store::log::events(db, (&playground, &sandbox), &filter, &page);
        let events = self.store.read(read).await.unwrap();
        events.items.into_iter().map(|stored| stored.event.summary).collect()
    }
}

fn stored_sandbox() -> StoredSandbox {
    StoredSandbox {
        id: id(3),
        org: id(1),
        playground: id(2),
        simulator: id(4),
        kind: SimulatorType::Message,
        name: "Messages".into(),
        config: json!({}),
        datasets: vec![],
        secret: "secret".into(),
        created_at: START,
        torn_down_at: None,
        is_standalone: false,
        reshaped_at: None,
        is_provisioned: false,
    }
}

fn task_run_id() -> TaskRunId {
    id(5)
}

fn event(sandbox: &SandboxId, summary: &str) -> NewEvent {
    NewEvent {
        sandbox: sandbox.clone(),
        r#type: EventType::MessageRead,
        actor: "test".into(),
        summary: summary.into(),
        payload: json!({}).into(),
    }
}

/// Writes one note with an event.
fn note(sandbox: &SandboxId, key: &str) -> impl Fn(&World, &Context<'_>) -> Outcome<()> + Send + use<> {
    let (id, key) = (sandbox.clone(), key.to_owned());
    move |world, context| {
        let change = world.sandboxes[&id].put("notes", &key, &json!({"text": key}), context.now);
        Outcome { answer: (), changes: vec![change], events: vec![event(&id, &key)] }
    }
}

/// The keys of all notes, without an event.
async fn notes(runtime: &Runtime, reader: SandboxReader<'_>) -> Result<Vec<String>, RuntimeError> {
    let id = reader.sandbox.id.clone();
    let query = move |world: &World, _: &Context<'_>| {
        let window = world::Window { from: None, direction: world::Direction::Forward, most: 100 };
        let records = world.sandboxes[&id].records.window(Some("notes"), window);
        let answer = records.iter().map(|record| record.key.to_owned()).collect();
        Outcome { answer, changes: vec![], events: vec![] }
    };
    runtime.query(reader, Cost::Heavy, query).await
}

#[tokio::test]
async fn a_command_is_durable_and_loaded_by_folding_the_log() {
    let fixture = Fixture::new().await;
    fixture.write_note("one").await.unwrap();
    fixture.write_note("two").await.unwrap();
    let sandbox = &fixture.sandbox;
    assert_eq!(notes(&fixture.runtime, sandbox.into()).await.unwrap(), ["one", "two"]);
    assert_eq!(notes(&fixture.second_runtime(), sandbox.into()).await.unwrap(), ["one", "two"]);
    fixture.runtime.unload(&sandbox.playground);
    assert_eq!(notes(&fixture.runtime, sandbox.into()).await.unwrap(), ["one", "two"]);
    assert_eq!(fixture.runtime.load(&sandbox.playground).await.unwrap().world.seq, 2);
    assert_eq!(fixture.appended.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn long_texts_are_stored_as_blobs() {
    let fixture = Fixture::new().await;
    let (id, long) = (fixture.sandbox.id.clone(), json!({"text": "x".repeat(100_000)}));
    let row = long.clone();
    let command = move |world: &World, context: &Context<'_>| {
        let change = world.sandboxes[&id].put("notes", "long", &row, context.now);
        Outcome { answer: (), changes: vec![change], events: vec![event(&id, "long")] }
    };
    fixture.runtime.command(&fixture.sandbox, command).await.unwrap();
    let loaded = fixture.second_runtime().load(&fixture.sandbox.playground).await.unwrap();
    let record = loaded.world.sandboxes[&fixture.sandbox.id].records.get("notes", "long").live().unwrap();
    assert_eq!(Value::clone(&record.json()), long);
}

#[tokio::test]
async fn events_of_queries_are_written_before_the_next_command() {
    let fixture = Fixture::new().await;
    let id = fixture.sandbox.id.clone();
    let query =
        move |_: &World, _: &Context<'_>| Outcome { answer: 7, changes: vec![], events: vec![event(&id, "read")] };
    let answer = fixture.runtime.query(&fixture.sandbox, Cost::Light, query).await.unwrap();
    assert_eq!(answer, 7);
    fixture.write_note("one").await.unwrap();
    assert_eq!(fixture.events().await, ["read", "one"]);
}

#[tokio::test]
async fn unwritten_events_are_flushed() {
    let fixture = Fixture::new().await;
    let read = |name: &'static str| {
        let id = fixture.sandbox.id.clone();
        let query =
            move |_: &World, _: &Context<'_>| Outcome { answer: (), changes: vec![], events: vec![event(&id, name)] };
        fixture.runtime.query(&fixture.sandbox, Cost::Light, query)
    };
    read("first").await.unwrap();
    fixture.runtime.flush(&fixture.sandbox.playground).await.unwrap();
    assert_eq!(fixture.events().await, ["first"]);
    read("second").await.unwrap();
    fixture.runtime.flush_waiting(&fixture.sandbox.playground).await.unwrap();
    read("third").await.unwrap();
    fixture.runtime.flush_all().await;
    assert_eq!(fixture.events().await, ["first", "second", "third"]);
}

#[tokio::test]
async fn a_command_runs_again_after_another_writer_was_faster() {
    let fixture = Fixture::new().await;
    let (sandbox, second) = (&fixture.sandbox, fixture.second_runtime());
    fixture.write_note("one").await.unwrap();
    second.command(sandbox, note(&sandbox.id, "two")).await.unwrap();
    let (runs, write) = (Arc::new(AtomicUsize::new(0)), note(&sandbox.id, "three"));
    let counter = Arc::clone(&runs);
    let command = move |world: &World, context: &Context<'_>| {
        counter.fetch_add(1, Ordering::SeqCst);
        write(world, context)
    };
    fixture.runtime.command(sandbox, command).await.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    assert_eq!(notes(&fixture.runtime, sandbox.into()).await.unwrap(), ["one", "three", "two"]);
    assert_eq!(fixture.events().await, ["one", "two", "three"]);
}

#[tokio::test]
async fn a_command_that_panics_fails_alone() {
    let fixture = Fixture::new().await;
    let panics = |_: &World, _: &Context<'_>| -> Outcome<()> { panic!("on purpose") };
    let (failed, written) = tokio::join!(fixture.runtime.command(&fixture.sandbox, panics), fixture.write_note("one"));
    assert!(matches!(failed, Err(RuntimeError::Internal(_))));
    written.unwrap();
    fixture.write_note("two").await.unwrap();
    assert_eq!(fixture.events().await, ["one", "two"]);
}

/// A panic between two commands must not leave the queue without a task that drains it.
#[tokio::test]
async fn the_queue_is_drained_after_a_panic_of_the_commit() {
    let fixture = Fixture::new().await;
    fixture.hook_panics.store(true, Ordering::SeqCst);
    let failed = tokio::time::timeout(std::time::Duration::from_secs(30), fixture.write_note("one")).await;
    assert!(matches!(failed, Ok(Err(RuntimeError::Internal(_)))));
    tokio::time::timeout(std::time::Duration::from_secs(30), fixture.write_note("two")).await.unwrap().unwrap();
    assert_eq!(fixture.events().await, ["one", "two"]);
}

#[tokio::test]
async fn a_query_that_panics_fails_alone() {
    let fixture = Fixture::new().await;
    let panics = |_: &World, _: &Context<'_>| -> Outcome<()> { panic!("on purpose") };
    let failed = fixture.runtime.query(&fixture.sandbox, Cost::Heavy, panics).await;
    assert!(matches!(failed, Err(RuntimeError::Internal(_))));
    assert!(notes(&fixture.runtime, (&fixture.sandbox).into()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_reset_is_seen_after_invalidation() {
    let fixture = Fixture::new().await;
    fixture.write_note("one").await.unwrap();
    let id = fixture.sandbox.playground.clone();
    fixture.store.write(move |db| playgrounds::reset(db, &id, START)).await.unwrap();
    fixture.runtime.invalidate(&fixture.sandbox.playground);
    assert!(notes(&fixture.runtime, (&fixture.sandbox).into()).await.unwrap().is_empty());
    fixture.write_note("two").await.unwrap();
    assert_eq!(notes(&fixture.second_runtime(), (&fixture.sandbox).into()).await.unwrap(), ["two"]);
}

#[tokio::test]
async fn a_playground_that_is_torn_down_takes_no_traffic() {
    let fixture = Fixture::new().await;
    fixture.write_note("one").await.unwrap();
    assert!(fixture.runtime.takes_traffic(&fixture.sandbox).await.unwrap());
    let id = fixture.sandbox.playground.clone();
    fixture.store.write(move |db| playgrounds::tear_down(db, &id, START)).await.unwrap();
    // The copy in memory is not invalidated: the append is rejected.
    assert!(matches!(fixture.write_note("two").await, Err(RuntimeError::TornDown)));
    assert!(!fixture.runtime.takes_traffic(&fixture.sandbox).await.unwrap());
    assert!(matches!(notes(&fixture.runtime, (&fixture.sandbox).into()).await, Err(RuntimeError::TornDown)));
    assert_eq!(fixture.events().await, ["one"]);
}

#[tokio::test]
async fn a_task_run_takes_traffic_from_its_start_to_its_deadline() {
    let fixture = Fixture::provisioned().await;
    assert!(matches!(fixture.write_note("early").await, Err(RuntimeError::NotStarted)));
    assert!(!fixture.runtime.takes_traffic(&fixture.sandbox).await.unwrap());
    fixture.open(START.plus_milliseconds(1000)).await;
    fixture.write_note("one").await.unwrap();
    fixture.clock.advance(1000);
    assert!(matches!(fixture.write_note("late").await, Err(RuntimeError::PastDeadline)));
    assert_eq!(fixture.events().await, ["one"]);
}

#[tokio::test]
async fn the_log_of_a_task_run_is_limited() {
    let fixture = Fixture::provisioned().await;
    fixture.open(START.plus_milliseconds(1000)).await;
    for number in 0..MAX_EVENTS {
        fixture.write_note(&number.to_string()).await.unwrap();
    }
    assert!(matches!(fixture.write_note("more").await, Err(RuntimeError::LogFull(MAX_EVENTS))));
    assert!(matches!(notes(&fixture.runtime, (&fixture.sandbox).into()).await, Err(RuntimeError::LogFull(_))));
}

#[tokio::test]
async fn unknown_playgrounds_and_sandboxes_are_not_found() {
    let fixture = Fixture::new().await;
    let unknown = fixture.runtime.load(&id(99)).await;
    assert!(matches!(unknown, Err(RuntimeError::PlaygroundNotFound)));
    assert!(fixture.runtime.sandbox(&id(99)).await.unwrap().is_none());
    let other = StoredSandbox { id: id(99), ..fixture.sandbox.clone() };
    assert!(matches!(notes(&fixture.runtime, (&other).into()).await, Err(RuntimeError::SandboxNotFound)));
}

#[tokio::test]
async fn a_frozen_playground_stays_as_it_was_completed() {
    let fixture = Fixture::provisioned().await;
    let deadline = START.plus_milliseconds(60_000);
    fixture.open(deadline).await;
    let (run, task_run, playground) = (run(), task_run(), fixture.sandbox.playground.clone());
    let write = move |db: &mut Db<'_>| {
        store::runs::insert(db, &run, "hash")?;
        store::task_runs::insert_all(db, std::slice::from_ref(&task_run))?;
        store::task_runs::start(db, &task_run.id, &playground, START, deadline)
    };
    fixture.store.write(write).await.unwrap();
    fixture.write_note("one").await.unwrap();
    fixture.clock.advance(5000);
    let id = task_run_id();
    let freeze = || fixture.runtime.freeze(&id, &fixture.sandbox.playground);
    let frozen = freeze().await.unwrap().unwrap();
    assert_eq!((frozen.sealed_at, frozen.completed_seq), (START.plus_milliseconds(5000), Some(1)));
    assert!(matches!(fixture.write_note("two").await, Err(RuntimeError::TornDown)));
    // The organization may still read it.
    let reader = SandboxReader { sandbox: &fixture.sandbox, after_end: true };
    assert_eq!(notes(&fixture.runtime, reader).await.unwrap(), ["one"]);
    fixture.clock.advance(5000);
    let again = freeze().await.unwrap().unwrap();
    assert_eq!((again.sealed_at, again.completed_seq, again.world.seq), (frozen.sealed_at, Some(1), frozen.world.seq));
}

fn run() -> StoredRun {
    StoredRun {
        id: id::<BenchmarkRunId>(6),
        org: id(1),
        solver: None,
        benchmark: RunBenchmark { id: id(7), slug: None, version: None, name: "Test".into() },
        content_hash: String::new(),
        agent: None,
        agent_version: None,
        scored: false,
        order_seed: None,
        partial_selection: false,
        organization_writes: false,
        concurrency: 1,
        phase: Phase::Created,
        status: Status::Active,
        result: None,
        counts: TaskCounts::default(),
        created_at: START,
        started_at: None,
        completed_at: None,
        token_expires_at: START,
        published_at: None,
        engine: None,
        audit: None,
        metadata: Default::default(),
    }
}

fn task_run() -> StoredTaskRun {
    StoredTaskRun {
        id: task_run_id(),
        org: id(1),
        run: id(6),
        position: 0,
        task: id(8),
        name: "Task".into(),
        timeout: 60,
        phase: Phase::Created,
        status: Status::Active,
        result: None,
        unscored_axes: Default::default(),
        critical_failures: 0,
        clean: false,
        playground: None,
        sealed: None,
        sealed_at: None,
        completed_seq: None,
        failure: None,
        created_at: START,
        started_at: None,
        deadline_at: None,
        completed_at: None,
    }
}
