//! `/benchmark-runs`: the organization's runs, compared and put on leaderboards.

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
use crate::envelope::{ApiError, Code, Refusals, WriteRefusals};
use crate::extract::{Auth, PageQuery, Params, PathId, Segment, filter_id};
use crate::json_body::{Bodyless, OptionalPost, Post};
use crate::respond::{Done, Made, Tagged, page};

/// What the list can be narrowed to.
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
    /// Only runs that were made with this `agent`.
    #[param(value_type = String, required = false)]
    agent: Option<String>,
    /// Only runs that stand so.
    #[param(value_type = Status, required = false)]
    status: Option<String>,
    /// How many, 20 by default; more than 100 is read as 100.
    #[param(value_type = u64, required = false, minimum = 1)]
    limit: Option<String>,
    /// `next` or `prev` of an earlier answer of the same list.
    #[param(value_type = String, required = false)]
    cursor: Option<String>,
}

/// Runs, newest first, without their task runs.
#[utoipa::path(get, path = "/benchmark-runs", tag = "runs", params(Filter),
    responses((status = 200, description = "Runs", body = List<BenchmarkRun>), Refusals))]
async fn list_runs(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Params(query): Params<Filter>,
) -> Result<Json<List<BenchmarkRun>>, ApiError> {
    let status =
        |text: &str| text.parse::<Status>().map_err(|rule| ApiError::invalid(FieldErrors::one("status", rule)));
    let filter = RunFilter {
        benchmark_id: query.benchmark_id.as_deref().map(filter_id::<BenchmarkId>("benchmark_id")).transpose()?,
        solver_id: query.solver_id.as_deref().map(filter_id::<SolverId>("solver_id")).transpose()?,
        agent: query.agent,
        status: query.status.as_deref().map(status).transpose()?,
    };
    let request = PageQuery { limit: query.limit, cursor: query.cursor }.request("benchmark-runs")?;
    Ok(page("benchmark-runs", app::runs::list(&state.app, &grant, filter, request).await?))
}

/// Begin a run of a version, or of a draft as it is now. The answer holds the run's token: it is shown this once.
#[utoipa::path(post, path = "/benchmark-runs", tag = "runs", request_body = NewRun,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The run, its token and its tasks", body = CreatedRun), Refusals, WriteRefusals))]
async fn create_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Post(new, once): Post<NewRun>,
) -> Result<Made<CreatedRun>, ApiError> {
    let created = app::runs::create_as_owner(&state.app, &grant, once, new).await?;
    Ok(Made::at(created, |run| format!("/benchmark-runs/{}", run.benchmark_run_id)))
}

/// One run, with its task runs and what became of their criteria.
#[utoipa::path(get, path = "/benchmark-runs/{benchmark_run_id}", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run")),
    responses((status = 200, description = "The run", body = BenchmarkRun), Refusals))]
async fn get_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
) -> Result<Tagged<BenchmarkRun>, ApiError> {
    Ok(Tagged(app::runs::get_as_owner(&state.app, &grant, &run).await?))
}

/// End a run with a score: started tasks are completed, tasks that were not started count 0.
#[utoipa::path(post, path = "/benchmark-runs/{benchmark_run_id}/complete", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 200, description = "The run", body = BenchmarkRun), Refusals, WriteRefusals))]
async fn complete_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    Bodyless(once): Bodyless,
) -> Result<Done<BenchmarkRun>, ApiError> {
    Ok(Done(app::runs::complete(&state.app, &grant, &run, once).await?))
}

/// End a run without a score: completed tasks keep their results, the rest is cancelled, the token ends.
#[utoipa::path(post, path = "/benchmark-runs/{benchmark_run_id}/cancel", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 200, description = "The run", body = BenchmarkRun), Refusals, WriteRefusals))]
async fn cancel_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    Bodyless(once): Bodyless,
) -> Result<Done<BenchmarkRun>, ApiError> {
    Ok(Done(app::runs::cancel(&state.app, &grant, &run, once).await?))
}

/// Put the series of a completed run with `scored: true` on the leaderboard of its version: all scored runs by its solver
/// with its agent and agent version, also later ones. 409 for a selection of tasks, and if the organization's key wrote
/// into the run's sandboxes.
#[utoipa::path(post, path = "/benchmark-runs/{benchmark_run_id}/publish", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 200, description = "The run", body = BenchmarkRun), Refusals, WriteRefusals))]
async fn publish_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    Bodyless(once): Bodyless,
) -> Result<Done<BenchmarkRun>, ApiError> {
    Ok(Done(app::runs::publish(&state.app, &grant, &run, once).await?))
}

/// Take the series of a run off the leaderboard.
#[utoipa::path(post, path = "/benchmark-runs/{benchmark_run_id}/unpublish", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 200, description = "The run", body = BenchmarkRun), Refusals, WriteRefusals))]
async fn unpublish_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    Bodyless(once): Bodyless,
) -> Result<Done<BenchmarkRun>, ApiError> {
    Ok(Done(app::runs::unpublish(&state.app, &grant, &run, once).await?))
}

/// Criteria to try on a finished run.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TriedCriteria {
    /// Assertions in place of the version's own; none to score again as it was.
    #[serde(default)]
    criteria: Vec<CriteriaChange>,
}

/// Score a run again from its stored evidence, and say what would be different. What is stored stays; without other
/// criteria, an engine that has not scored the run yet stores its result beside the others.
#[utoipa::path(post, path = "/benchmark-runs/{benchmark_run_id}/rescore", tag = "runs", request_body = TriedCriteria,
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run")),
    responses((status = 200, description = "What scoring again gave", body = Rescore), Refusals, WriteRefusals))]
async fn rescore_run(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    OptionalPost(tried, _): OptionalPost<TriedCriteria>,
) -> Result<Json<Rescore>, ApiError> {
    Ok(Json(app::runs::rescore(&state.app, &grant, &run, tried.criteria).await?))
}

/// Which result is meant.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ResultQuery {
    /// The engine that made it, such as `verify/5`; by default the result that the run ended with.
    #[param(value_type = String, required = false)]
    engine: Option<String>,
}

/// What one engine made of a run, criterion by criterion.
#[utoipa::path(get, path = "/benchmark-runs/{benchmark_run_id}/results", tag = "runs",
    params(("benchmark_run_id" = BenchmarkRunId, Path, description = "The run"), ResultQuery),
    responses((status = 200, description = "The result", body = EngineResult), Refusals))]
async fn run_result(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(run): PathId<BenchmarkRunId>,
    Params(query): Params<ResultQuery>,
) -> Result<Json<EngineResult>, ApiError> {
    Ok(Json(app::runs::engines::result(&state.app, &grant, &run, query.engine).await?))
}

/// Which runs are compared: `ids`, or all completed ones of `benchmark`.
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
    /// What stands side by side: `run` (default), `agent` or `solver`.
    #[param(value_type = String, required = false)]
    group_by: Option<String>,
    /// Only results of this engine; of the newest that all named runs have a result of, by default.
    #[param(value_type = String, required = false)]
    engine: Option<String>,
}

/// Runs side by side: numbers for each group, and paired differences over the tasks that two groups have in common.
#[utoipa::path(get, path = "/benchmark-runs/compare", tag = "runs", params(CompareQuery),
    responses((status = 200, description = "The comparison", body = Comparison), Refusals, WriteRefusals))]
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
        _ => return Err(invalid("ids", "name the runs by one of `ids` and `benchmark`")),
    };
    let group_by = match query.group_by.as_deref() {
        None | Some("run") => GroupBy::Run,
        Some("agent") => GroupBy::Agent,
        Some("solver") => GroupBy::Solver,
        Some(_) => return Err(invalid("group_by", "must be one of `run`, `agent`, `solver`")),
    };
    Ok(Json(statistics::compare(&state.app, &grant, compared, group_by, query.engine).await?))
}

/// What the numbers can be narrowed to.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StatisticsQuery {
    /// Only runs of this solver.
    #[param(value_type = SolverId, required = false)]
    solver_id: Option<String>,
    /// Only runs that were made with this `agent`.
    #[param(value_type = String, required = false)]
    agent: Option<String>,
    /// Only results of this engine; of the newest that has any, by default.
    #[param(value_type = String, required = false)]
    engine: Option<String>,
}

/// Numbers over the organization's completed runs of all tasks of a version: mean, spread, intervals, pass@k and pass^k, per task and
/// per axis.
#[utoipa::path(get, path = "/benchmarks/{benchmark_id}/stats", tag = "runs",
    params(("benchmark_id" = String, Path, description = "`slug@version`"), StatisticsQuery),
    responses((status = 200, description = "The numbers", body = Statistics), Refusals))]
async fn version_statistics(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Segment(reference): Segment,
    Params(query): Params<StatisticsQuery>,
) -> Result<Json<Statistics>, ApiError> {
    let no_such = |()| ApiError::new(Code::NotFound, "no such benchmark");
    let reference: VersionRef = reference.parse().map_err(no_such)?;
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
