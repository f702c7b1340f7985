//! Where a run's sandboxes are reached, by channel.

use std::collections::{BTreeMap, BTreeSet};

use model::publication::Snapshot;
use model::simulator::SimulatorType;
use model::{BenchmarkRunId, Id, TaskRunId};
use store::sandboxes::StoredSandbox;

/// Name and path of each channel of a type.
fn of(kind: SimulatorType) -> &'static [(&'static str, &'static str)] {
    match kind {
        SimulatorType::Fhir => &[("fhir", "fhir")],
        SimulatorType::Clearinghouse => &[("x12", "x12")],
        SimulatorType::Hl7 => &[("hl7_inbox", "hl7/inbox"), ("hl7_outbound", "hl7/outbound")],
        SimulatorType::Files => &[("files", "files"), ("files_inbox", "files/inbox")],
        SimulatorType::Fax => &[("fax", "fax")],
        SimulatorType::CdsHooks => &[("cds", "cds")],
        SimulatorType::Message => &[("messages", "messages")],
        SimulatorType::Payer => &[("portal", "portal")],
        SimulatorType::Voice => &[("voice", "voice")],
    }
}

/// Below the run: the sandboxes of the one started task.
pub(crate) fn of_run(snapshot: &Snapshot, run: &BenchmarkRunId) -> BTreeMap<String, String> {
    let simulators = snapshot.environment.simulators.iter();
    of_kinds(simulators.map(|simulator| simulator.r#type), &format!("/v1/benchmark-runs/{run}"))
}

/// Below the task run, which needs not be the only one started. Where several sandboxes have one type, the plain key
/// means the first of them, and each also has its own: `fax:Pharmacy fax`, or with its id where another has its name.
pub(crate) fn of_task_run(task_run: &TaskRunId, sandboxes: &[StoredSandbox]) -> BTreeMap<String, String> {
    let mut endpoints = of_kinds(sandboxes.iter().map(|sandbox| sandbox.kind), &doors_of(task_run));
    for sandbox in sandboxes.iter().filter(|sandbox| is_one_of_several(sandbox, sandboxes)) {
        let prefix = prefix_of(task_run, sandbox, sandboxes);
        let same = |other: &&StoredSandbox| other.kind == sandbox.kind && other.name == sandbox.name;
        let is_ambiguous = sandboxes.iter().filter(same).count() > 1;
        let name = if is_ambiguous { sandbox.id.as_str() } else { sandbox.name.as_str() };
        let named = of(sandbox.kind).iter().map(|(key, path)| (format!("{key}:{name}"), format!("{prefix}/{path}")));
        endpoints.extend(named);
    }
    endpoints
}

/// Where a run's token opens the sandboxes of a task run.
pub(crate) fn doors_of(task_run: &TaskRunId) -> String {
    format!("/v1/task-runs/{task_run}/sandbox")
}

/// Where a run's token reaches this sandbox: with its id if it is not the only one of its type.
pub(crate) fn prefix_of(task_run: &TaskRunId, sandbox: &StoredSandbox, beside: &[StoredSandbox]) -> String {
    let all = doors_of(task_run);
    if is_one_of_several(sandbox, beside) { format!("{all}/{}", sandbox.id) } else { all }
}

fn is_one_of_several(sandbox: &StoredSandbox, beside: &[StoredSandbox]) -> bool {
    beside.iter().filter(|other| other.kind == sandbox.kind).count() > 1
}

fn of_kinds(kinds: impl Iterator<Item = SimulatorType>, base: &str) -> BTreeMap<String, String> {
    let kinds: BTreeSet<SimulatorType> = kinds.collect();
    let channels = kinds.into_iter().flat_map(of);
    channels.map(|(name, path)| ((*name).to_owned(), format!("{base}/{path}"))).collect()
}
