//! The paths of a run's sandboxes, by channel.

use std::collections::{BTreeMap, BTreeSet};

use model::publication::Snapshot;
use model::simulator::SimulatorType;
use model::{BenchmarkRunId, Id, TaskRunId};
use store::sandboxes::StoredSandbox;

/// Below the run, for the sandboxes of the one started task.
pub(crate) fn of_run(snapshot: &Snapshot, run: &BenchmarkRunId) -> BTreeMap<String, String> {
    let simulators = snapshot.environment.simulators.iter();
    of_kinds(simulators.map(|simulator| simulator.r#type), &format!("/v1/benchmark-runs/{run}"))
}

/// Below the task run, which need not be the only one that is started. If several sandboxes have the same type, the plain
/// key is that of the first one, and each also has its own key: `fax:Pharmacy fax`, or with its id if names are ambiguous.
pub(crate) fn of_task_run(task_run: &TaskRunId, sandboxes: &[StoredSandbox]) -> BTreeMap<String, String> {
    let mut endpoints = of_kinds(sandboxes.iter().map(|sandbox| sandbox.kind), &sandboxes_path(task_run));
    for sandbox in sandboxes.iter().filter(|sandbox| is_one_of_several(sandbox, sandboxes)) {
        let prefix = prefix_of(task_run, sandbox, sandboxes);
        let same = |other: &&StoredSandbox| other.kind == sandbox.kind && other.name == sandbox.name;
        let is_ambiguous = sandboxes.iter().filter(same).count() > 1;
        let name = if is_ambiguous { sandbox.id.as_str() } else { sandbox.name.as_str() };
        let own = sims::info(sandbox.kind).endpoints.iter();
        endpoints.extend(own.map(|own| (format!("{}:{name}", own.name), format!("{prefix}/{}", own.path))));
    }
    endpoints
}

/// The path prefix of a task run's sandboxes.
pub(crate) fn sandboxes_path(task_run: &TaskRunId) -> String {
    format!("/v1/task-runs/{task_run}/sandbox")
}

/// The path prefix of this sandbox: with its id if it is not the only one of its type.
pub(crate) fn prefix_of(task_run: &TaskRunId, sandbox: &StoredSandbox, sandboxes: &[StoredSandbox]) -> String {
    let all = sandboxes_path(task_run);
    if is_one_of_several(sandbox, sandboxes) { format!("{all}/{}", sandbox.id) } else { all }
}

fn is_one_of_several(sandbox: &StoredSandbox, sandboxes: &[StoredSandbox]) -> bool {
    sandboxes.iter().filter(|other| other.kind == sandbox.kind).count() > 1
}

fn of_kinds(kinds: impl Iterator<Item = SimulatorType>, base: &str) -> BTreeMap<String, String> {
    let kinds: BTreeSet<SimulatorType> = kinds.collect();
    let endpoints = kinds.into_iter().flat_map(|kind| sims::info(kind).endpoints);
    endpoints.map(|endpoint| (endpoint.name.to_owned(), format!("{base}/{}", endpoint.path))).collect()
}
