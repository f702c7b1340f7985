//! `/benchmarks`: drafts, publication and published versions.

use axum::Json;
use axum::extract;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use model::BenchmarkId;
use model::audit::{NewAudit, VersionAudit};
use model::benchmark::{Benchmark, BenchmarkPatch, NewBenchmark};
use model::page::List;
use model::publication::{BenchmarkVersion, Publish};
use model::slug::{self, VersionRef};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::envelope::{ApiError, Code, Refusals, WriteRefusals};
use crate::extract::{Auth, PageQuery, Params, PathId, Precondition, Segment};
use crate::json_body::{OptionalPost, Patch, Post};
use crate::respond::{Made, Tagged, page};

/// The organization's benchmarks and everyone's published Public ones, newest first.
#[utoipa::path(get, path = "/benchmarks", tag = "benchmarks", params(PageQuery),
    responses((status = 200, description = "Benchmarks", body = List<Benchmark>), Refusals))]
async fn list_benchmarks(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<Benchmark>>, ApiError> {
    let request = query.request("benchmarks")?;
    Ok(page("benchmarks", app::benchmarks::list(&state.app, &grant, request).await?))
}

/// Create a benchmark.
#[utoipa::path(post, path = "/benchmarks", tag = "benchmarks", request_body = NewBenchmark,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The benchmark", body = Benchmark), Refusals, WriteRefusals))]
async fn create_benchmark(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Post(new, once): Post<NewBenchmark>,
) -> Result<Made<Benchmark>, ApiError> {
    let created = app::benchmarks::create(&state.app, &grant, once, new).await?;
    Ok(Made::at(created, |benchmark| format!("/benchmarks/{}", benchmark.id)))
}

/// A draft (or another organization's newest version), or a published version.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documentation: the two shapes of one answer")]
enum BenchmarkOrVersion {
    Benchmark(Benchmark),
    Version(BenchmarkVersion),
}

/// One benchmark by its id, or one published version by `slug@version`.
#[utoipa::path(get, path = "/benchmarks/{benchmark_id}", tag = "benchmarks",
    params(("benchmark_id" = String, Path, description = "The benchmark's id, or `slug@version`")),
    responses((status = 200, description = "The benchmark or the version", body = BenchmarkOrVersion), Refusals))]
async fn get_benchmark(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Segment(reference): Segment,
) -> Result<Response, ApiError> {
    if let Ok(version) = reference.parse::<VersionRef>() {
        return Ok(Tagged(app::publications::version(&state.app, &grant, &version).await?).into_response());
    }
    if let Ok(benchmark) = reference.parse::<BenchmarkId>() {
        return Ok(Tagged(app::benchmarks::get(&state.app, &grant, &benchmark).await?).into_response());
    }
    if slug::is_slug(&reference) {
        return Err(app::publications::refuse_bare_slug(&state.app, &grant.org, &reference).await.into());
    }
    Err(ApiError::new(Code::NotFound, "no such benchmark"))
}

/// Change a benchmark. What the body does not name stays.
#[utoipa::path(patch, path = "/benchmarks/{benchmark_id}", tag = "benchmarks", request_body = BenchmarkPatch,
    params(("benchmark_id" = BenchmarkId, Path, description = "The benchmark"),
        ("If-Match" = Option<String>, Header, description = "Change it only in this state")),
    responses((status = 200, description = "The benchmark after the change", body = Benchmark), Refusals, WriteRefusals))]
async fn update_benchmark(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(benchmark): PathId<BenchmarkId>,
    Precondition(if_match): Precondition,
    Patch(patch): Patch<BenchmarkPatch>,
) -> Result<Tagged<Benchmark>, ApiError> {
    Ok(Tagged(app::benchmarks::update(&state.app, &grant, &benchmark, if_match, patch).await?))
}

/// Delete a benchmark.
#[utoipa::path(delete, path = "/benchmarks/{benchmark_id}", tag = "benchmarks",
    params(("benchmark_id" = BenchmarkId, Path, description = "The benchmark"),
        ("If-Match" = Option<String>, Header, description = "Delete it only in this state")),
    responses((status = 204, description = "It is gone"), Refusals, WriteRefusals))]
async fn delete_benchmark(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(benchmark): PathId<BenchmarkId>,
    Precondition(if_match): Precondition,
) -> Result<StatusCode, ApiError> {
    app::benchmarks::delete(&state.app, &grant, &benchmark, if_match).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Publish the benchmark as it is now, as the next version of its slug. A version never changes.
#[utoipa::path(post, path = "/benchmarks/{benchmark_id}/publish", tag = "benchmarks", request_body = Publish,
    params(("benchmark_id" = BenchmarkId, Path, description = "The benchmark"),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat")),
    responses((status = 201, description = "The new version", body = BenchmarkVersion), Refusals, WriteRefusals))]
async fn publish_benchmark(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(benchmark): PathId<BenchmarkId>,
    OptionalPost(publish, once): OptionalPost<Publish>,
) -> Result<Made<BenchmarkVersion>, ApiError> {
    let created = app::publications::publish(&state.app, &grant, &benchmark, once, publish).await?;
    Ok(Made::at(created, |version| format!("/benchmarks/{}@{}", version.slug, version.version)))
}

/// The published versions, newest first.
#[utoipa::path(get, path = "/benchmarks/{benchmark_id}/versions", tag = "benchmarks",
    params(("benchmark_id" = BenchmarkId, Path, description = "The benchmark"), PageQuery),
    responses((status = 200, description = "Versions", body = List<BenchmarkVersion>), Refusals))]
async fn list_versions(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(benchmark): PathId<BenchmarkId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<BenchmarkVersion>>, ApiError> {
    let request = query.request("versions")?;
    Ok(page("versions", app::publications::versions(&state.app, &grant, &benchmark, request).await?))
}

/// Record what an audit found of a version of your own. It replaces what was recorded before; the version stays as it is.
#[utoipa::path(put, path = "/benchmarks/{benchmark_id}/audit", tag = "benchmarks", request_body = NewAudit,
    params(("benchmark_id" = String, Path, description = "`slug@version`")),
    responses((status = 200, description = "The audit as it is kept", body = VersionAudit), Refusals, WriteRefusals))]
async fn record_audit(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Segment(reference): Segment,
    Patch(audit): Patch<NewAudit>,
) -> Result<Tagged<VersionAudit>, ApiError> {
    let no_such = |()| ApiError::new(Code::NotFound, "no such benchmark");
    let reference: VersionRef = reference.parse().map_err(no_such)?;
    Ok(Tagged(app::publications::record_audit(&state.app, &grant, &reference, audit).await?))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_benchmarks, create_benchmark))
        .routes(routes!(get_benchmark, update_benchmark, delete_benchmark))
        .routes(routes!(publish_benchmark))
        .routes(routes!(list_versions))
        .routes(routes!(record_audit))
}
