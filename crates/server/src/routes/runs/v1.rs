//! `/v1`: endpoints of agents, which create a run with a solver key and work on it with the run's token.

use app::Principal;
use axum::extract;
use model::publication::RunnableVersion;
use model::run::{CreatedRun, NewSolverRun, RunSummary, StartedTaskRun, TaskRunResult};
use model::slug::VersionRef;
use model::{BenchmarkRunId, TaskRunId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, Code, ErrorResponses, WriteErrorResponses};
use crate::base_url::BaseUrl;
use crate::extractors::{AnyAuth, IdempotencyKey, PathId, PathSegment, RunAuth, SolverAuth};
use crate::json_body::{Bodyless, Post};
use crate::responses::{CreatedResponse, Tagged, TransitionResponse};

/// Begin a run of a published version, with a solver key. The run's token is only shown in this response.
#[utoipa::path(post, path = "/v1/benchmark-runs", tag = "v1", operation_id = "begin_run",
    security(("solver_key" = [])), request_body = NewSolverRun,
    params(IdempotencyKey),
    responses((status = 201, description = "The run, its token, its tasks and the sandboxes that are provisioned for them", body = CreatedRun), ErrorResponses, WriteErrorResponses))]
async fn create_run(
    extract::State(state): extract::State<State>,
    SolverAuth(grant): SolverAuth,
    BaseUrl(base): BaseUrl,
    Post(new, once): Post<NewSolverRun>,
) -> Result<CreatedResponse<CreatedRun>, ApiError> {
    let created = app::runs::create_run(&state.app, &grant, &base, once, new).await?;
    Ok(CreatedResponse::at(created, |run| format!("/v1/benchmark-runs/{}", run.benchmark_run_id)))
}

/// Information about a version before it is run, with a solver key: how many tasks it has.
#[utoipa::path(get, path = "/v1/benchmarks/{reference}", tag = "v1", operation_id = "read_version",
    security(("solver_key" = [])),
    params(("reference" = String, Path, description = "`slug@version`")),
    responses((status = 200, description = "The version", body = RunnableVersion), ErrorResponses))]
async fn get_version(
    extract::State(state): extract::State<State>,
    SolverAuth(grant): SolverAuth,
    PathSegment(reference): PathSegment,
) -> Result<Tagged<RunnableVersion>, ApiError> {
    let not_found = |_| ApiError::new(Code::NotFound, "no such benchmark");
    let reference: VersionRef = reference.parse().map_err(not_found)?;
    Ok(Tagged(app::publications::runnable(&state.app, &grant, &reference).await?))
}

/// The status of a run, with its own token or with a key of the solver that created it.
#[utoipa::path(get, path = "/v1/benchmark-runs/{benchmark_run_id}", tag = "v1", operation_id = "read_run",
    security(("run_token" = []), ("solver_key" = [])),
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run")),
    responses((status = 200, description = "The run", body = RunSummary), ErrorResponses))]
async fn get_run(
    extract::State(state): extract::State<State>,
    AnyAuth(principal): AnyAuth,
    PathId(run): PathId<BenchmarkRunId>,
) -> Result<Tagged<RunSummary>, ApiError> {
    match principal {
        Principal::Run(grant) => Ok(Tagged(app::runs::get_run_summary(&state.app, &grant, &run).await?)),
        Principal::Solver(grant) => Ok(Tagged(app::runs::get_run_summary(&state.app, &grant, &run).await?)),
        Principal::Organization(_) => {
            let message =
                "this endpoint requires a run token or a solver key; with an organization key use /benchmark-runs";
            Err(ApiError::new(Code::Forbidden, message))
        }
    }
}

/// Start a task: its playground is opened, its scenario starts, and its time starts to run.
#[utoipa::path(post, path = "/v1/task-runs/{task_run_id}/start", tag = "v1", operation_id = "start_task",
    security(("run_token" = [])),
    params(("task_run_id" = TaskRunId, Path, description = "The task run"),
        IdempotencyKey),
    responses((status = 200, description = "The task and the endpoints of its sandboxes", body = StartedTaskRun), ErrorResponses, WriteErrorResponses))]
async fn start_task_run(
    extract::State(state): extract::State<State>,
    RunAuth(grant): RunAuth,
    BaseUrl(base): BaseUrl,
    PathId(task_run): PathId<TaskRunId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<StartedTaskRun>, ApiError> {
    let mut started = app::runs::start_task_run(&state.app, &grant, &base, &task_run, once).await?;
    state.add_started_mllp_ports(&mut started.value, &base);
    Ok(TransitionResponse(started))
}

/// Complete a task: its playground is frozen and scored. In a scored run, criteria have no details and evidence.
#[utoipa::path(post, path = "/v1/task-runs/{task_run_id}/complete", tag = "v1", operation_id = "complete_task",
    security(("run_token" = [])),
    params(("task_run_id" = TaskRunId, Path, description = "The task run"),
        IdempotencyKey),
    responses((status = 200, description = "The result", body = TaskRunResult), ErrorResponses, WriteErrorResponses))]
async fn complete_task_run(
    extract::State(state): extract::State<State>,
    RunAuth(grant): RunAuth,
    PathId(task_run): PathId<TaskRunId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<TaskRunResult>, ApiError> {
    Ok(TransitionResponse(app::runs::complete_task_run(&state.app, &grant, &task_run, once).await?))
}

/// Cancel a task that could not be measured, such as when the agent was interrupted. It is not scored, counts as 0 in
/// the run's score, and is left out of statistics.
#[utoipa::path(post, path = "/v1/task-runs/{task_run_id}/cancel", tag = "v1", operation_id = "cancel_task",
    security(("run_token" = [])),
    params(("task_run_id" = TaskRunId, Path, description = "The task run"),
        IdempotencyKey),
    responses((status = 200, description = "The task run", body = TaskRunResult), ErrorResponses, WriteErrorResponses))]
async fn cancel_task_run(
    extract::State(state): extract::State<State>,
    RunAuth(grant): RunAuth,
    PathId(task_run): PathId<TaskRunId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<TaskRunResult>, ApiError> {
    Ok(TransitionResponse(app::runs::cancel_task_run(&state.app, &grant, &task_run, once).await?))
}

/// The status of a task run, with its result once it has one.
#[utoipa::path(get, path = "/v1/task-runs/{task_run_id}", tag = "v1", operation_id = "read_task_run",
    security(("run_token" = [])),
    params(("task_run_id" = TaskRunId, Path, description = "The task run")),
    responses((status = 200, description = "The task run", body = TaskRunResult), ErrorResponses))]
async fn get_task_run(
    extract::State(state): extract::State<State>,
    RunAuth(grant): RunAuth,
    PathId(task_run): PathId<TaskRunId>,
) -> Result<Tagged<TaskRunResult>, ApiError> {
    Ok(Tagged(app::runs::get_task_run(&state.app, &grant, &task_run).await?))
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
