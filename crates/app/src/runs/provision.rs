//! The playgrounds of a run: rows that are made with the run, one playground for each task run and one sandbox for each
//! simulator. No dataset is read and no world is built before the start.

use model::playground::SandboxDataset;
use model::publication::{FrozenSimulator, Snapshot};
use model::run::RunSandbox;
use model::{Id, PlaygroundId, SandboxId, TaskRunId, Timestamp};
use ring::hmac;
use serde_json::Value;
use store::runs::StoredRun;
use store::sandboxes::StoredSandbox;
use store::task_runs::StoredTaskRun;
use store::{Db, playgrounds};

use super::channels;
use crate::sandboxes::{Addresses, credentials};
use crate::{App, AppError, random};

/// Sandboxes that are provisioned with one run. The playgrounds of further task runs are made at their start.
const MOST_PROVISIONED: usize = 10_000;
/// Sandboxes that the answer to a creation lists.
const MOST_LISTED: usize = 500;

/// What the secrets of a run's sandboxes are derived from. It is kept nowhere.
pub(super) struct RunSecret([u8; 32]);

impl RunSecret {
    pub(super) fn new() -> Result<Self, AppError> {
        Ok(Self(random::bytes::<32>()?))
    }

    fn of(&self, sandbox: &SandboxId) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        hmac::sign(&key, sandbox.as_str().as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The playground of a task run with its sandboxes, in the order of the environment's simulators.
pub(super) struct NewPlayground {
    pub(super) id: PlaygroundId,
    pub(super) sandboxes: Vec<StoredSandbox>,
}

impl NewPlayground {
    /// With the simulators' whole configs.
    pub(super) fn new(
        app: &App,
        run: &StoredRun,
        snapshot: &Snapshot,
        secret: &RunSecret,
        now: Timestamp,
    ) -> Result<Self, AppError> {
        Self::with_configs(app, (run, snapshot), secret, now, |simulator| simulator.config.clone())
    }

    fn with_configs(
        app: &App,
        (run, snapshot): (&StoredRun, &Snapshot),
        secret: &RunSecret,
        now: Timestamp,
        config: impl Fn(&FrozenSimulator) -> Value,
    ) -> Result<Self, AppError> {
        let id = app.new_id::<PlaygroundId>();
        let made = |simulator: &FrozenSimulator| {
            let sandbox = app.new_id::<SandboxId>();
            let secret = secret.of(&sandbox);
            let sandbox = new_sandbox((sandbox, &id, secret), run, simulator, snapshot, now)?;
            Ok(StoredSandbox { config: config(simulator), ..sandbox })
        };
        let sandboxes = snapshot.environment.simulators.iter().map(made).collect::<Result<_, AppError>>()?;
        Ok(Self { id, sandboxes })
    }
}

/// Gives task runs playgrounds and writes those, as long as the run has not too many sandboxes.
pub(super) fn provision(
    db: &mut Db<'_>,
    app: &App,
    (run, snapshot): (&StoredRun, &Snapshot),
    task_runs: &mut [StoredTaskRun],
    secret: &RunSecret,
) -> Result<Vec<StoredSandbox>, AppError> {
    let each = snapshot.environment.simulators.len().max(1);
    let mut sandboxes = Vec::new();
    for task_run in task_runs.iter_mut().take(MOST_PROVISIONED / each) {
        let made = NewPlayground::with_configs(app, (run, snapshot), secret, run.created_at, shown_config)?;
        sandboxes.extend(made.sandboxes.into_iter().map(|sandbox| StoredSandbox { is_provisioned: true, ..sandbox }));
        task_run.playground = Some(made.id);
    }
    let rows: Vec<_> = task_runs
        .iter()
        .filter_map(|task_run| {
            Some(playgrounds::Provisioned { id: task_run.playground.as_ref()?, task_run: &task_run.id })
        })
        .collect();
    playgrounds::provision(db, &run.org, &snapshot.environment.id, &rows, run.created_at)?;
    store::sandboxes::insert_all(db, &sandboxes)?;
    Ok(sandboxes)
}

/// A config may be large, and is written once the task is started. Until then only what credentials show is kept.
fn shown_config(simulator: &FrozenSimulator) -> Value {
    let shown = ["phone_number", "fax_number"];
    let kept = shown.iter().filter_map(|name| Some(((*name).to_owned(), simulator.config.get(*name)?.clone())));
    Value::Object(kept.collect())
}

/// The sandboxes of a provisioned playground as their simulators configure them.
pub(super) fn opened(stored: Vec<StoredSandbox>, snapshot: &Snapshot) -> Result<Vec<StoredSandbox>, AppError> {
    let opened = |sandbox: StoredSandbox| {
        let simulators = &snapshot.environment.simulators;
        let simulator = simulators.iter().find(|simulator| simulator.id == sandbox.simulator);
        let simulator = simulator.ok_or_else(|| AppError::Internal("a simulator of a version is gone".into()))?;
        Ok(StoredSandbox { config: simulator.config.clone(), is_provisioned: false, ..sandbox })
    };
    stored.into_iter().map(opened).collect()
}

/// Without its config.
fn new_sandbox(
    (id, playground, secret): (SandboxId, &PlaygroundId, String),
    run: &StoredRun,
    simulator: &FrozenSimulator,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Result<StoredSandbox, AppError> {
    let revision = |id: &model::DatasetId| {
        let dataset = snapshot.datasets.iter().find(|dataset| dataset.id == *id);
        let dataset = dataset.ok_or_else(|| AppError::Internal("a dataset of a version is gone".into()))?;
        Ok(SandboxDataset { dataset_id: id.clone(), revision: dataset.revision })
    };
    Ok(StoredSandbox {
        id,
        org: run.org.clone(),
        playground: playground.clone(),
        simulator: simulator.id.clone(),
        kind: simulator.r#type,
        name: simulator.name.clone(),
        config: Value::Null,
        datasets: simulator.datasets.iter().map(revision).collect::<Result<_, AppError>>()?,
        secret,
        created_at: now,
        torn_down_at: None,
        is_standalone: false,
        reshaped_at: None,
        is_provisioned: false,
    })
}

/// What the answer to the creation of a run lists: the sandboxes of as many whole task runs as fit.
pub(super) fn listed(
    task_runs: &[StoredTaskRun],
    sandboxes: &[StoredSandbox],
    snapshot: &Snapshot,
    base: &Addresses,
) -> Vec<RunSandbox> {
    let each = snapshot.environment.simulators.len().max(1);
    let shown = |(task_run, sandboxes): (&StoredTaskRun, &[StoredSandbox])| {
        sandboxes.iter().map(|sandbox| run_sandbox(&task_run.id, sandbox, sandboxes, base)).collect::<Vec<_>>()
    };
    task_runs.iter().zip(sandboxes.chunks(each)).take(MOST_LISTED / each).flat_map(shown).collect()
}

fn run_sandbox(
    task_run: &TaskRunId,
    sandbox: &StoredSandbox,
    beside: &[StoredSandbox],
    base: &Addresses,
) -> RunSandbox {
    let prefix = format!("{}{}", base.base, channels::prefix_of(task_run, sandbox, beside));
    RunSandbox {
        id: sandbox.id.clone(),
        task_run_id: task_run.clone(),
        r#type: sandbox.kind,
        name: sandbox.name.clone(),
        credentials: credentials::of(sandbox, base, &prefix),
    }
}
