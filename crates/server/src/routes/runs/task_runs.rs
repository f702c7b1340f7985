//! `/task-runs`: the tasks of the organization's runs.

use axum::Json;
use axum::extract;
use model::page::List;
use model::run::{StartedTaskRun, TaskRun};
use model::{BenchmarkRunId, TaskRunId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses, WriteErrorResponses};
use crate::base_url::BaseUrl;
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Paged, PathId, filter_id};
use crate::json_body::Bodyless;
use crate::responses::{Tagged, TransitionResponse, page};

/// Query parameters of the list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only the task runs of this run.
    #[param(value_type = BenchmarkRunId, required = false)]
    benchmark_run_id: Option<String>,
}

/// Task runs, newest first.
#[utoipa::path(get, path = "/task-runs", tag = "runs", params(Filter, PageQuery),
    responses((status = 200, description = "Task runs", body = List<TaskRun>), ErrorResponses))]
async fn list_task_runs(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Paged(query, paging): Paged<Filter>,
) -> Result<Json<List<TaskRun>>, ApiError> {
    let run = query.benchmark_run_id.as_deref().map(filter_id::<BenchmarkRunId>("benchmark_run_id")).transpose()?;
    let request = paging.request("task-runs")?;
    Ok(page("task-runs", app::runs::list_task_runs(&state.app, &grant, run, request).await?))
}

/// One task run, with its score and the results of its criteria.
#[utoipa::path(get, path = "/task-runs/{task_run_id}", tag = "runs",
    params(("task_run_id" = TaskRunId, Path, description = "The task run")),
    responses((status = 200, description = "The task run", body = TaskRun), ErrorResponses))]
async fn get_task_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(task_run): PathId<TaskRunId>,
) -> Result<Tagged<TaskRun>, ApiError> {
    Ok(Tagged(app::runs::get_task_run(&state.app, &grant, &task_run).await?))
}

/// Start a task: its playground is prepared, its scenario starts, and its time starts to run.
#[utoipa::path(post, path = "/task-runs/{task_run_id}/start", tag = "runs",
    params(("task_run_id" = TaskRunId, Path, description = "The task run"),
        IdempotencyKey),
    responses((status = 200, description = "The task and the endpoints of its sandboxes", body = StartedTaskRun), ErrorResponses, WriteErrorResponses))]
async fn start_task_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    PathId(task_run): PathId<TaskRunId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<StartedTaskRun>, ApiError> {
    let mut started = app::runs::start_task_run(&state.app, &grant, &base, &task_run, once).await?;
    state.add_started_mllp_ports(&mut started.value, &base);
    Ok(TransitionResponse(started))
}

/// Complete a task: its playground is frozen and scored. A task that was not started is started first.
#[utoipa::path(post, path = "/task-runs/{task_run_id}/complete", tag = "runs",
    params(("task_run_id" = TaskRunId, Path, description = "The task run"),
        IdempotencyKey),
    responses((status = 200, description = "The task run", body = TaskRun), ErrorResponses, WriteErrorResponses))]
async fn complete_task_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(task_run): PathId<TaskRunId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<TaskRun>, ApiError> {
    Ok(TransitionResponse(app::runs::complete_task_run(&state.app, &grant, &task_run, once).await?))
}

/// End a task run without scoring it. It scores 0, and its run continues.
#[utoipa::path(post, path = "/task-runs/{task_run_id}/cancel", tag = "runs",
    params(("task_run_id" = TaskRunId, Path, description = "The task run"),
        IdempotencyKey),
    responses((status = 200, description = "The task run", body = TaskRun), ErrorResponses, WriteErrorResponses))]
async fn cancel_task_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(task_run): PathId<TaskRunId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<TaskRun>, ApiError> {
    Ok(TransitionResponse(app::runs::cancel_task_run(&state.app, &grant, &task_run, once).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_task_runs))
        .routes(routes!(get_task_run))
        .routes(routes!(start_task_run))
        .routes(routes!(complete_task_run))
        .routes(routes!(cancel_task_run))
}
