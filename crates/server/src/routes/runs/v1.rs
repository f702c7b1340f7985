//! `/v1`: what an agent does with a solver key and then with the token of its run.

use app::Principal;
use axum::extract;
use model::publication::RunnableVersion;
use model::run::{CreatedRun, NewSolverRun, RunSummary, StartedTaskRun, TaskRunResult};
use model::slug::VersionRef;
use model::{BenchmarkRunId, TaskRunId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::base_url::Base;
use crate::envelope::{ApiError, Code, Refusals, WriteRefusals};
use crate::extract::{AnyAuth, PathId, RunAuth, Segment, SolverAuth};
use crate::json_body::{Bodyless, Post};
use crate::respond::{Done, Made, Tagged};

/// Begin a run of a published version, with a solver key. The answer holds the run's token: it is shown this once.
#[utoipa::path(post, path = "/v1/benchmark-runs", tag = "v1", operation_id = "begin_run",
    security(("solver_key" = [])), request_body = NewSolverRun,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The run, its token and its tasks", body = CreatedRun), Refusals, WriteRefusals))]
async fn create_run(
    extract::State(state): extract::State<State>,
    SolverAuth(grant): SolverAuth,
    Post(new, once): Post<NewSolverRun>,
) -> Result<Made<CreatedRun>, ApiError> {
    let created = app::runs::create(&state.app, &grant, once, new).await?;
    Ok(Made::at(created, |run| format!("/v1/benchmark-runs/{}", run.benchmark_run_id)))
}

/// What is known about a version before it is run, with a solver key: how many tasks it has.
#[utoipa::path(get, path = "/v1/benchmarks/{reference}", tag = "v1", operation_id = "read_version",
    security(("solver_key" = [])),
    params(("reference" = String, Path, description = "`slug@version`")),
    responses((status = 200, description = "The version", body = RunnableVersion), Refusals))]
async fn get_version(
    extract::State(state): extract::State<State>,
    SolverAuth(grant): SolverAuth,
    Segment(reference): Segment,
) -> Result<Tagged<RunnableVersion>, ApiError> {
    let missing = |_| ApiError::new(Code::NotFound, "no such benchmark");
    let reference: VersionRef = reference.parse().map_err(missing)?;
    Ok(Tagged(app::publications::runnable(&state.app, &grant, &reference).await?))
}

/// How a run stands, for its own token or for a key of the solver that made it.
#[utoipa::path(get, path = "/v1/benchmark-runs/{benchmark_run_id}", tag = "v1", operation_id = "read_run",
    security(("run_token" = []), ("solver_key" = [])),
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run")),
    responses((status = 200, description = "The run", body = RunSummary), Refusals))]
async fn get_run(
    extract::State(state): extract::State<State>,
    AnyAuth(principal): AnyAuth,
    PathId(run): PathId<BenchmarkRunId>,
) -> Result<Tagged<RunSummary>, ApiError> {
    match principal {
        Principal::Run(grant) => Ok(Tagged(app::runs::get(&state.app, &grant, &run).await?)),
        Principal::Solver(grant) => Ok(Tagged(app::runs::get_as_solver(&state.app, &grant, &run).await?)),
        Principal::Organization(_) => {
            let message =
                "this endpoint takes a run's token or a solver key; with an organization key read /benchmark-runs";
            Err(ApiError::new(Code::Forbidden, message))
        }
    }
}

/// Start a task: its playground is made, its scenario happens, its clock runs.
#[utoipa::path(post, path = "/v1/task-runs/{task_run_id}/start", tag = "v1", operation_id = "start_task",
    security(("run_token" = [])),
    params(("task_run_id" = TaskRunId, Path, description = "The task run"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 200, description = "The task, and where its sandboxes are", body = StartedTaskRun), Refusals, WriteRefusals))]
async fn start_task_run(
    extract::State(state): extract::State<State>,
    RunAuth(grant): RunAuth,
    Base(base): Base,
    PathId(task_run): PathId<TaskRunId>,
    Bodyless(once): Bodyless,
) -> Result<Done<StartedTaskRun>, ApiError> {
    Ok(Done(app::runs::tasks::start(&state.app, &grant, &base, &task_run, once).await?))
}

/// Complete a task: its playground is frozen and scored. In a scored run the checks come without details and evidence.
#[utoipa::path(post, path = "/v1/task-runs/{task_run_id}/complete", tag = "v1", operation_id = "complete_task",
    security(("run_token" = [])),
    params(("task_run_id" = TaskRunId, Path, description = "The task run"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 200, description = "The result", body = TaskRunResult), Refusals, WriteRefusals))]
async fn complete_task_run(
    extract::State(state): extract::State<State>,
    RunAuth(grant): RunAuth,
    PathId(task_run): PathId<TaskRunId>,
    Bodyless(once): Bodyless,
) -> Result<Done<TaskRunResult>, ApiError> {
    Ok(Done(app::runs::tasks::complete(&state.app, &grant, &task_run, once).await?))
}

/// Cancel a task that could not be measured, such as when the agent was interrupted. It is not scored, counts 0 in the
/// run's score, and is left out of statistics.
#[utoipa::path(post, path = "/v1/task-runs/{task_run_id}/cancel", tag = "v1", operation_id = "cancel_task",
    security(("run_token" = [])),
    params(("task_run_id" = TaskRunId, Path, description = "The task run"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 200, description = "The task run", body = TaskRunResult), Refusals, WriteRefusals))]
async fn cancel_task_run(
    extract::State(state): extract::State<State>,
    RunAuth(grant): RunAuth,
    PathId(task_run): PathId<TaskRunId>,
    Bodyless(once): Bodyless,
) -> Result<Done<TaskRunResult>, ApiError> {
    Ok(Done(app::runs::tasks::cancel_as_agent(&state.app, &grant, &task_run, once).await?))
}

/// How a task run stands, with its result when it has one.
#[utoipa::path(get, path = "/v1/task-runs/{task_run_id}", tag = "v1", operation_id = "read_task_run",
    security(("run_token" = [])),
    params(("task_run_id" = TaskRunId, Path, description = "The task run")),
    responses((status = 200, description = "The task run", body = TaskRunResult), Refusals))]
async fn get_task_run(
    extract::State(state): extract::State<State>,
    RunAuth(grant): RunAuth,
    PathId(task_run): PathId<TaskRunId>,
) -> Result<Tagged<TaskRunResult>, ApiError> {
    Ok(Tagged(app::runs::tasks::get(&state.app, &grant, &task_run).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(create_run))
        .routes(routes!(get_version))
        .routes(routes!(get_run))
        .routes(routes!(start_task_run))
        .routes(routes!(complete_task_run))
        .routes(routes!(cancel_task_run))
        .routes(routes!(get_task_run))
}
