//! The tasks that an earlier run did not pass, for `--failed-from`.

use std::collections::BTreeSet;

use model::BenchmarkRunId;
use model::score::Verdict;

use super::drive::Asker;
use super::journal::{Journal, find_journal};
use super::retry;
use crate::exit::usage;

/// Names of the tasks without the verdict `pass`, measured or not. A journal is looked for first: it also knows runs whose
/// server is gone.
pub(super) async fn find(named: &str, asker: &Asker) -> anyhow::Result<BTreeSet<String>> {
    if let Some(journal) = find_journal(named)? {
        return Ok(of_journal(&journal));
    }
    let run: BenchmarkRunId = named
        .parse()
        .map_err(|_| usage(format!("--failed-from {named}: this is neither a journal nor the id of a run (br_…)")))?;
    let summary = match asker.summary(&run).await {
        Ok(summary) => summary,
        Err(error) if error.status() == Some(404) => {
            return Err(usage(format!("--failed-from {named}: there is no such run on {}", asker.client().base_url())));
        }
        Err(error) => return Err(error.into()),
    };
    let failed = summary.task_runs.into_iter().filter(|task| task.verdict != Some(Verdict::Pass));
    Ok(failed.map(|task| task.name).collect())
}

fn of_journal(journal: &Journal) -> BTreeSet<String> {
    let settled = retry::settled(journal);
    let tasks = settled.iter().flat_map(|run| &run.tasks);
    let failed = tasks.filter(|task| {
        let verdict = task.result.as_ref().and_then(|result| result.verdict);
        !task.is_measured() || verdict != Some(Verdict::Pass)
    });
    failed.map(|task| task.name.clone()).collect()
}
