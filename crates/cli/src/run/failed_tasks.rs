//! The tasks that an earlier run did not pass, for `--failed-from`.

use std::collections::BTreeSet;

use model::BenchmarkRunId;
use model::score::Verdict;

use super::journal::{Journal, find_journal};
use super::rerun;
use super::runner::RunCreator;
use crate::exit::usage;

/// Names of the tasks without the verdict `pass`, measured or not. A journal is tried first: it also has runs whose
/// server has stopped.
pub(super) async fn find(named: &str, creator: &RunCreator) -> anyhow::Result<BTreeSet<String>> {
    if let Some(journal) = find_journal(named)? {
        return Ok(failed_in_journal(&journal));
    }
    let run: BenchmarkRunId =
        named.parse().map_err(|_| usage(format!("--failed-from {named}: neither a journal nor a run id (br_…)")))?;
    let summary = match creator.summary(&run).await {
        Ok(summary) => summary,
        Err(error) if error.status() == Some(404) => {
            return Err(usage(format!("--failed-from {named}: run not found on {}", creator.client().base_url())));
        }
        Err(error) => return Err(error.into()),
    };
    let failed = summary.task_runs.into_iter().filter(|task| task.verdict != Some(Verdict::Pass));
    Ok(failed.map(|task| task.name).collect())
}

fn failed_in_journal(journal: &Journal) -> BTreeSet<String> {
    let merged_runs = rerun::merged_runs(journal);
    let tasks = merged_runs.iter().flat_map(|run| &run.tasks);
    let failed = tasks.filter(|task| {
        let verdict = task.result.as_ref().and_then(|result| result.verdict);
        !task.is_measured() || verdict != Some(Verdict::Pass)
    });
    failed.map(|task| task.name.clone()).collect()
}
