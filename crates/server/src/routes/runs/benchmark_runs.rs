//! `/benchmark-runs`: the organization's runs, their comparison, statistics, and publication on leaderboards.

use app::runs::statistics::{self, Compared, GroupBy};
use axum::Json;
use axum::extract;
use model::page::List;
use model::run::{BenchmarkRun, CreatedRun, CriteriaChange, EngineResult, NewRun, Rescore, RunFilter, Status};
use model::slug::VersionRef;
use model::stats::{Comparison, Statistics};
use model::{BenchmarkId, BenchmarkRunId, FieldErrors, SolverId};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, Code, ErrorResponses, WriteErrorResponses};
use crate::base_url::BaseUrl;
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Paged, Params, PathId, PathSegment, filter_id};
use crate::json_body::{Bodyless, OptionalPost, Post};
use crate::responses::{CreatedResponse, Tagged, TransitionResponse, page};

/// Query parameters of the list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only runs of this benchmark, in any version.
    #[param(value_type = BenchmarkId, required = false)]
    benchmark_id: Option<String>,
    /// Only runs of this solver.
    #[param(value_type = SolverId, required = false)]
    solver_id: Option<String>,
    /// Only runs that were created with this `agent`.
    #[param(value_type = String, required = false)]
    agent: Option<String>,
    /// Only runs with this status.
    #[param(value_type = Status, required = false)]
    status: Option<String>,
}

/// Runs, newest first, without their task runs.
#[utoipa::path(get, path = "/benchmark-runs", tag = "runs", params(Filter, PageQuery),
    responses((status = 200, description = "Runs", body = List<BenchmarkRun>), ErrorResponses))]
async fn list_runs(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Paged(query, paging): Paged<Filter>,
) -> Result<Json<List<BenchmarkRun>>, ApiError> {
    let status =
        |text: &str| text.parse::<Status>().map_err(|rule| ApiError::invalid(FieldErrors::one("status", rule)));
    let filter = RunFilter {
        benchmark_id: query.benchmark_id.as_deref().map(filter_id::<BenchmarkId>("benchmark_id")).transpose()?,
        solver_id: query.solver_id.as_deref().map(filter_id::<SolverId>("solver_id")).transpose()?,
        agent: query.agent,
        status: query.status.as_deref().map(status).transpose()?,
    };
    let request = paging.request("benchmark-runs")?;
    Ok(page("benchmark-runs", app::runs::list_runs(&state.app, &grant, filter, request).await?))
}

/// Begin a run of a version, or of a draft in its current state. The run's token is only shown in this response.
#[utoipa::path(post, path = "/benchmark-runs", tag = "runs", request_body = NewRun,
    params(IdempotencyKey),
    responses((status = 201, description = "The run, its token, its tasks and the sandboxes that are provisioned for them", body = CreatedRun), ErrorResponses, WriteErrorResponses))]
async fn create_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    BaseUrl(base): BaseUrl,
    Post(new, once): Post<NewRun>,
) -> Result<CreatedResponse<CreatedRun>, ApiError> {
    let created = app::runs::create_run(&state.app, &grant, &base, once, new).await?;
    Ok(CreatedResponse::at(created, |run| format!("/benchmark-runs/{}", run.benchmark_run_id)))
}

/// One run, with its task runs and the results of their criteria.
#[utoipa::path(get, path = "/benchmark-runs/{benchmark_run_id}", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run")),
    responses((status = 200, description = "The run", body = BenchmarkRun), ErrorResponses))]
async fn get_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
) -> Result<Tagged<BenchmarkRun>, ApiError> {
    Ok(Tagged(app::runs::get_run(&state.app, &grant, &run).await?))
}

/// End a run with a score: started tasks are completed, and tasks that were not started score 0.
#[utoipa::path(post, path = "/benchmark-runs/{benchmark_run_id}/complete", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run"),
        IdempotencyKey),
    responses((status = 200, description = "The run", body = BenchmarkRun), ErrorResponses, WriteErrorResponses))]
async fn complete_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<BenchmarkRun>, ApiError> {
    Ok(TransitionResponse(app::runs::complete_run(&state.app, &grant, &run, once).await?))
}

/// End a run without a score: completed tasks keep their results, the other tasks are cancelled, and the token expires.
#[utoipa::path(post, path = "/benchmark-runs/{benchmark_run_id}/cancel", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run"),
        IdempotencyKey),
    responses((status = 200, description = "The run", body = BenchmarkRun), ErrorResponses, WriteErrorResponses))]
async fn cancel_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<BenchmarkRun>, ApiError> {
    Ok(TransitionResponse(app::runs::cancel_run(&state.app, &grant, &run, once).await?))
}

/// Put the series of a completed run with `scored: true` on the leaderboard of its version: all scored runs by its solver
/// with its agent and agent version, including later ones. 409 for a selection of tasks, and if an organization
/// key wrote to the run's sandboxes.
#[utoipa::path(post, path = "/benchmark-runs/{benchmark_run_id}/publish", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run"),
        IdempotencyKey),
    responses((status = 200, description = "The run", body = BenchmarkRun), ErrorResponses, WriteErrorResponses))]
async fn publish_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<BenchmarkRun>, ApiError> {
    Ok(TransitionResponse(app::runs::leaderboards::publish_run(&state.app, &grant, &run, once).await?))
}

/// Remove the series of a run from the leaderboard.
#[utoipa::path(post, path = "/benchmark-runs/{benchmark_run_id}/unpublish", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run"),
        IdempotencyKey),
    responses((status = 200, description = "The run", body = BenchmarkRun), ErrorResponses, WriteErrorResponses))]
async fn unpublish_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    Bodyless(once): Bodyless,
) -> Result<TransitionResponse<BenchmarkRun>, ApiError> {
    Ok(TransitionResponse(app::runs::leaderboards::unpublish_run(&state.app, &grant, &run, once).await?))
}

/// Assertions to try on a finished run.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TriedCriteria {
    /// Assertions that replace those of the version; empty to score again with the version's own.
    #[serde(default)]
    criteria: Vec<CriteriaChange>,
}

/// Score a run again from its stored evidence, and report the differences. Stored results do not change. Without other
/// criteria, an engine that has not scored the run yet stores its result in addition to the existing ones.
#[utoipa::path(post, path = "/benchmark-runs/{benchmark_run_id}/rescore", tag = "runs", request_body = TriedCriteria,
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run")),
    responses((status = 200, description = "The new scores and the differences", body = Rescore), ErrorResponses, WriteErrorResponses))]
async fn rescore_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    OptionalPost(tried, _): OptionalPost<TriedCriteria>,
) -> Result<Json<Rescore>, ApiError> {
    Ok(Json(app::runs::rescore(&state.app, &grant, &run, tried.criteria).await?))
}

/// Selects a result.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ResultQuery {
    /// The engine of the result, such as `verify/5`; by default the result with which the run ended.
    #[param(value_type = String, required = false)]
    engine: Option<String>,
}

/// The result of a run by one engine, with every criterion.
#[utoipa::path(get, path = "/benchmark-runs/{benchmark_run_id}/results", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run"), ResultQuery),
    responses((status = 200, description = "The result", body = EngineResult), ErrorResponses))]
async fn run_result(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    Params(query): Params<ResultQuery>,
) -> Result<Json<EngineResult>, ApiError> {
    Ok(Json(app::runs::engines::result(&state.app, &grant, &run, query.engine).await?))
}

/// The runs to compare: either `ids` or `benchmark`.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CompareQuery {
    /// Run ids, separated by commas, at most 100.
    #[param(value_type = String, required = false)]
    ids: Option<String>,
    /// `slug@version`: its newest 100 completed runs.
    #[param(value_type = String, required = false)]
    benchmark: Option<String>,
    /// The groups to compare: `run` (default), `agent` or `solver`.
    #[param(value_type = String, required = false)]
    group_by: Option<String>,
    /// Only results of this engine; by default the newest engine that has a result for every named run.
    #[param(value_type = String, required = false)]
    engine: Option<String>,
}

/// Compare runs: statistics of each group, and paired differences over the tasks that two groups have in common.
#[utoipa::path(get, path = "/benchmark-runs/compare", tag = "runs", params(CompareQuery),
    responses((status = 200, description = "The comparison", body = Comparison), ErrorResponses, WriteErrorResponses))]
async fn compare_runs(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Params(query): Params<CompareQuery>,
) -> Result<Json<Comparison>, ApiError> {
    let invalid = |field: &str, rule: &str| ApiError::invalid(FieldErrors::one(field, rule));
    let compared = match (&query.ids, &query.benchmark) {
        (Some(ids), None) => {
            let ids = ids.split(',').map(str::trim).filter(|id| !id.is_empty()).map(filter_id("ids"));
            Compared::Runs(ids.collect::<Result<Vec<BenchmarkRunId>, _>>()?)
        }
        (None, Some(benchmark)) => {
            Compared::Version(benchmark.parse().map_err(|()| invalid("benchmark", "must be `slug@version`"))?)
        }
        _ => return Err(invalid("ids", "give either `ids` or `benchmark`")),
    };
    let group_by = match query.group_by.as_deref() {
        None | Some("run") => GroupBy::Run,
        Some("agent") => GroupBy::Agent,
        Some("solver") => GroupBy::Solver,
        Some(_) => return Err(invalid("group_by", "must be one of `run`, `agent`, `solver`")),
    };
    Ok(Json(statistics::compare(&state.app, &grant, compared, group_by, query.engine).await?))
}

/// Filters of the statistics.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StatisticsQuery {
    /// Only runs of this solver.
    #[param(value_type = SolverId, required = false)]
    solver_id: Option<String>,
    /// Only runs that were created with this `agent`.
    #[param(value_type = String, required = false)]
    agent: Option<String>,
    /// Only results of this engine; by default the newest engine that has results.
    #[param(value_type = String, required = false)]
    engine: Option<String>,
}

/// Statistics over the organization's completed runs of all tasks of a version: mean, spread, intervals, pass@k and pass^k, per
/// task and per axis.
#[utoipa::path(get, path = "/benchmarks/{benchmark_id}/stats", tag = "runs",
    params(("benchmark_id" = String, Path, description = "`slug@version`"), StatisticsQuery),
    responses((status = 200, description = "The statistics", body = Statistics), ErrorResponses))]
async fn version_statistics(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathSegment(reference): PathSegment,
    Params(query): Params<StatisticsQuery>,
) -> Result<Json<Statistics>, ApiError> {
    let not_found = |()| ApiError::new(Code::NotFound, "no such benchmark");
    let reference: VersionRef = reference.parse().map_err(not_found)?;
    let filter = RunFilter {
        solver_id: query.solver_id.as_deref().map(filter_id::<SolverId>("solver_id")).transpose()?,
        agent: query.agent,
        ..RunFilter::default()
    };
    Ok(Json(statistics::of_version(&state.app, &grant, &reference, filter, query.engine).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_runs, create_run))
        .routes(routes!(compare_runs))
        .routes(routes!(get_run))
        .routes(routes!(complete_run))
        .routes(routes!(cancel_run))
        .routes(routes!(publish_run))
        .routes(routes!(unpublish_run))
        .routes(routes!(rescore_run))
        .routes(routes!(run_result))
        .routes(routes!(version_statistics))
}
