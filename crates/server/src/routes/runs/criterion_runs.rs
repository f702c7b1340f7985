//! `/criterion-runs`: the result of each criterion, with its evidence.

use axum::Json;
use axum::extract;
use model::page::List;
use model::run::CriterionRun;
use model::{CriterionRunId, TaskRunId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses};
use crate::extractors::{Auth, PageQuery, Paged, PathId, filter_id};
use crate::responses::{Tagged, page};

/// Query parameters of the list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only the criterion runs of this task run.
    #[param(value_type = TaskRunId, required = false)]
    task_run_id: Option<String>,
}

/// Criterion runs with details and evidence, newest first.
#[utoipa::path(get, path = "/criterion-runs", tag = "runs", params(Filter, PageQuery),
    responses((status = 200, description = "Criterion runs", body = List<CriterionRun>), ErrorResponses))]
async fn list_criterion_runs(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Paged(query, paging): Paged<Filter>,
) -> Result<Json<List<CriterionRun>>, ApiError> {
    let task_run = query.task_run_id.as_deref().map(filter_id::<TaskRunId>("task_run_id")).transpose()?;
    let request = paging.request("criterion-runs")?;
    Ok(page("criterion-runs", app::runs::list_criterion_runs(&state.app, &grant, task_run, request).await?))
}

/// One criterion run with all details, also of a scored run.
#[utoipa::path(get, path = "/criterion-runs/{criterion_run_id}", tag = "runs",
    params(("criterion_run_id" = CriterionRunId, Path, description = "The criterion run")),
    responses((status = 200, description = "The criterion run", body = CriterionRun), ErrorResponses))]
async fn get_criterion_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(criterion_run): PathId<CriterionRunId>,
) -> Result<Tagged<CriterionRun>, ApiError> {
    Ok(Tagged(app::runs::get_criterion_run(&state.app, &grant, &criterion_run).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(list_criterion_runs)).routes(routes!(get_criterion_run))
}
