//! Where a run's sandboxes are reached, by channel.

use std::collections::{BTreeMap, BTreeSet};

use model::publication::Snapshot;
use model::simulator::SimulatorType;
use model::{BenchmarkRunId, TaskRunId};

/// Name and path of each channel of a type. Types without a running simulator have none yet.
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
    below(snapshot, &format!("/v1/benchmark-runs/{run}"))
}

/// Below the task run, which needs not be the only one started.
pub(crate) fn of_task_run(snapshot: &Snapshot, task_run: &TaskRunId) -> BTreeMap<String, String> {
    below(snapshot, &doors_of(task_run))
}

/// Where a run's token opens the sandboxes of a task run.
pub(crate) fn doors_of(task_run: &TaskRunId) -> String {
    format!("/v1/task-runs/{task_run}/sandbox")
}

fn below(snapshot: &Snapshot, base: &str) -> BTreeMap<String, String> {
    let kinds: BTreeSet<SimulatorType> =
        snapshot.environment.simulators.iter().map(|simulator| simulator.r#type).collect();
    let channels = kinds.into_iter().flat_map(of);
    channels.map(|(name, path)| ((*name).to_owned(), format!("{base}/{path}"))).collect()
}
