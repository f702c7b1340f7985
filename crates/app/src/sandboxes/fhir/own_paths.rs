//! The base paths of a FHIR sandbox below its run and its task run.

use model::simulator::SimulatorType;
use store::sandboxes::StoredSandbox;

use super::Request;
use crate::{App, AppError};

/// Whether the request may contain a URL below a run. Most do not, and need no query.
pub(super) fn may_mention_run(request: &Request) -> bool {
    let mentions = |text: &str| text.contains("benchmark-runs") || text.contains("task-runs");
    mentions(&request.query)
        || request.header("if-none-exist").is_some_and(mentions)
        || str::from_utf8(&request.body).is_ok_and(mentions)
}

/// The base paths below the run of the sandbox; none without a run.
pub(super) async fn of_run(app: &App, sandbox: &StoredSandbox) -> Result<Vec<String>, AppError> {
    let (org, playground, id) = (sandbox.org.clone(), sandbox.playground.clone(), sandbox.id.clone());
    let read = app.store().read(move |db| {
        let found = store::playgrounds::find(db, &org, &playground)?.and_then(|playground| playground.task_run_id);
        let Some(task_run) = found else { return Ok(None) };
        let Some(task_run) = store::task_runs::find(db, &org, &task_run)? else { return Ok(None) };
        let all = store::sandboxes::of_playground(db, &playground)?;
        let first = all.iter().find(|sandbox| sandbox.kind == SimulatorType::Fhir);
        Ok::<_, AppError>(Some((task_run, first.is_some_and(|first| first.id == id))))
    });
    let Some((task_run, is_first)) = read.await? else { return Ok(Vec::new()) };
    let below_task_run = format!("/v1/task-runs/{}/sandbox", task_run.id);
    let mut paths = vec![format!("{below_task_run}/{}/fhir", sandbox.id)];
    if is_first {
        // A path without a sandbox id means the first sandbox of the type.
        paths.push(format!("{below_task_run}/fhir"));
        paths.push(format!("/v1/benchmark-runs/{}/fhir", task_run.run));
    }
    Ok(paths)
}
