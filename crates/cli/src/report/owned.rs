//! Converts a run as its organization sees it to the summary that agents see.

use model::run::{BenchmarkRun, RunSummary, RunTask};

pub(crate) fn summary(run: BenchmarkRun) -> RunSummary {
    let task_runs = run.task_runs.unwrap_or_default().into_iter().map(|task| RunTask {
        playground_id: task.playground_id,
        start_url: String::new(),
        complete_url: String::new(),
        id: task.id,
        task_id: task.task_id,
        name: task.name,
        phase: task.phase,
        status: task.status,
        verdict: task.verdict,
        score: task.score,
        critical_failures: task.critical_failures,
        floor: task.floor,
        ceiling: task.ceiling,
        started_at: task.started_at,
        deadline_at: task.deadline_at,
        sealed_at: task.sealed_at,
        completed_at: task.completed_at,
    });
    RunSummary {
        benchmark_id: run.benchmark.id.clone(),
        id: run.id.clone(),
        benchmark_run_id: run.id,
        benchmark: run.benchmark,
        scored: run.scored,
        partial_selection: run.partial_selection,
        phase: run.phase,
        status: run.status,
        verdict: run.verdict,
        score: run.score,
        critical_failures: run.critical_failures,
        tasks_passed: run.tasks_passed,
        clean_tasks: run.clean_tasks,
        floor: run.floor,
        ceiling: run.ceiling,
        axes: run.axes,
        agent: run.agent,
        metadata: run.metadata,
        created_at: run.created_at,
        started_at: run.started_at,
        completed_at: run.completed_at,
        bearer_token_expires_at: run.bearer_token_expires_at,
        concurrency: 1,
        endpoints: std::collections::BTreeMap::new(),
        task_runs: task_runs.collect(),
    }
}
