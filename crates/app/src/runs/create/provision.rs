//! The playgrounds of a run: one for each task run, with one sandbox for each simulator. They are only rows. Datasets are
//! read and worlds are built when a task is started.

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

use crate::runs::channels;
use crate::sandboxes::{Addresses, credentials};
use crate::{App, AppError, random};

/// Sandboxes that are provisioned with one run. The playgrounds of further task runs are created at their start.
const MAX_PROVISIONED: usize = 10_000;
/// Sandboxes that the response to a creation lists.
const MAX_LISTED: usize = 500;

/// The secrets of a run's sandboxes are derived from it. It is not stored.
pub(in crate::runs) struct RunSecret([u8; 32]);

impl RunSecret {
    pub(in crate::runs) fn new() -> Result<Self, AppError> {
        Ok(Self(random::bytes::<32>()?))
    }

    fn derive(&self, sandbox: &SandboxId) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        hmac::sign(&key, sandbox.as_str().as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The playground of a task run with its sandboxes, in the order of the environment's simulators.
pub(in crate::runs) struct NewPlayground {
    pub(in crate::runs) id: PlaygroundId,
    pub(in crate::runs) sandboxes: Vec<StoredSandbox>,
}

impl NewPlayground {
    /// With the complete configs of the simulators.
    pub(in crate::runs) fn new(
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
        let new = |simulator: &FrozenSimulator| {
            let sandbox = app.new_id::<SandboxId>();
            let secret = secret.derive(&sandbox);
            let sandbox = new_sandbox((sandbox, &id, secret), run, simulator, snapshot, now)?;
            Ok(StoredSandbox { config: config(simulator), ..sandbox })
        };
        let sandboxes = snapshot.environment.simulators.iter().map(new).collect::<Result<_, AppError>>()?;
        Ok(Self { id, sandboxes })
    }
}

/// Writes the playgrounds of the task runs, up to the maximum number of sandboxes, and sets their ids.
pub(super) fn provision(
    db: &mut Db<'_>,
    app: &App,
    (run, snapshot): (&StoredRun, &Snapshot),
    task_runs: &mut [StoredTaskRun],
    secret: &RunSecret,
) -> Result<Vec<StoredSandbox>, AppError> {
    let each = snapshot.environment.simulators.len().max(1);
    let mut sandboxes = Vec::new();
    for task_run in task_runs.iter_mut().take(MAX_PROVISIONED / each) {
        let new = NewPlayground::with_configs(app, (run, snapshot), secret, run.created_at, credentials_config)?;
        sandboxes.extend(new.sandboxes.into_iter().map(|sandbox| StoredSandbox { is_provisioned: true, ..sandbox }));
        task_run.playground = Some(new.id);
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

/// A config may be large, and is written when the task is started. Until then only the members that credentials show are
/// stored.
fn credentials_config(simulator: &FrozenSimulator) -> Value {
    let shown = ["phone_number", "fax_number"];
    let members = shown.iter().filter_map(|name| Some(((*name).to_owned(), simulator.config.get(*name)?.clone())));
    Value::Object(members.collect())
}

/// The sandboxes of a provisioned playground with their complete configs, as the start writes them.
pub(in crate::runs) fn with_full_configs(
    stored: Vec<StoredSandbox>,
    snapshot: &Snapshot,
) -> Result<Vec<StoredSandbox>, AppError> {
    let configured = |sandbox: StoredSandbox| {
        let simulators = &snapshot.environment.simulators;
        let simulator = simulators.iter().find(|simulator| simulator.id == sandbox.simulator);
        let simulator = simulator.ok_or_else(|| AppError::Internal("a simulator of a version is missing".into()))?;
        Ok(StoredSandbox { config: simulator.config.clone(), is_provisioned: false, ..sandbox })
    };
    stored.into_iter().map(configured).collect()
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
        let dataset = dataset.ok_or_else(|| AppError::Internal("a dataset of a version is missing".into()))?;
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

/// The sandboxes in the response to the creation of a run: those of the first task runs, up to a maximum number.
pub(super) fn sandbox_views(
    task_runs: &[StoredTaskRun],
    sandboxes: &[StoredSandbox],
    snapshot: &Snapshot,
    base: &Addresses,
) -> Vec<RunSandbox> {
    let each = snapshot.environment.simulators.len().max(1);
    let views = |(task_run, sandboxes): (&StoredTaskRun, &[StoredSandbox])| {
        sandboxes.iter().map(|sandbox| sandbox_view(&task_run.id, sandbox, sandboxes, base)).collect::<Vec<_>>()
    };
    task_runs.iter().zip(sandboxes.chunks(each)).take(MAX_LISTED / each).flat_map(views).collect()
}

fn sandbox_view(
    task_run: &TaskRunId,
    sandbox: &StoredSandbox,
    sandboxes: &[StoredSandbox],
    base: &Addresses,
) -> RunSandbox {
    let prefix = format!("{}{}", base.base, channels::prefix_of(task_run, sandbox, sandboxes));
    RunSandbox {
        id: sandbox.id.clone(),
        task_run_id: task_run.clone(),
        r#type: sandbox.kind,
        name: sandbox.name.clone(),
        credentials: credentials::of(sandbox, base, &prefix),
    }
}
