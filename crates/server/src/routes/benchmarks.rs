//! `/benchmarks`: drafts, publication and published versions.

use axum::Json;
use axum::extract;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::BenchmarkId;
use model::audit::{NewAudit, VersionAudit};
use model::benchmark::{Benchmark, BenchmarkPatch, NewBenchmark};
use model::page::List;
use model::publication::{BenchmarkVersion, Publish, VersionContent};
use model::slug::{self, VersionRef};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, Code, ErrorResponses, WriteErrorResponses};
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Params, PathId, PathSegment, Precondition, TwoPathSegments};
use crate::json_body::{OptionalPost, Patch, Post};
use crate::responses::{CreatedResponse, Tagged, page};

/// The organization's benchmarks and everyone's published Public ones, newest first.
#[utoipa::path(get, path = "/benchmarks", tag = "benchmarks", params(PageQuery),
    responses((status = 200, description = "Benchmarks", body = List<Benchmark>), ErrorResponses))]
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
    params(IdempotencyKey),
    responses((status = 201, description = "The benchmark", body = Benchmark), ErrorResponses, WriteErrorResponses))]
async fn create_benchmark(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Post(new, once): Post<NewBenchmark>,
) -> Result<CreatedResponse<Benchmark>, ApiError> {
    let created = app::benchmarks::create(&state.app, &grant, once, new).await?;
    Ok(CreatedResponse::at(created, |benchmark| format!("/benchmarks/{}", benchmark.id)))
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
    responses((status = 200, description = "The benchmark or the version", body = BenchmarkOrVersion), ErrorResponses))]
async fn get_benchmark(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathSegment(reference): PathSegment,
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

/// Change a benchmark. Fields that the body leaves out keep their values.
#[utoipa::path(patch, path = "/benchmarks/{benchmark_id}", tag = "benchmarks", request_body = BenchmarkPatch,
    params(("benchmark_id" = BenchmarkId, Path, description = "The benchmark"),
        Precondition),
    responses((status = 200, description = "The benchmark after the change", body = Benchmark), ErrorResponses, WriteErrorResponses))]
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
        Precondition),
    responses((status = 204, description = "Deleted"), ErrorResponses, WriteErrorResponses))]
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
        IdempotencyKey),
    responses((status = 201, description = "The new version", body = BenchmarkVersion), ErrorResponses, WriteErrorResponses))]
async fn publish_benchmark(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(benchmark): PathId<BenchmarkId>,
    OptionalPost(publish, once): OptionalPost<Publish>,
) -> Result<CreatedResponse<BenchmarkVersion>, ApiError> {
    let created = app::publications::publish(&state.app, &grant, &benchmark, once, publish).await?;
    Ok(CreatedResponse::at(created, |version| format!("/benchmarks/{}@{}", version.slug, version.version)))
}

/// The published versions, newest first.
#[utoipa::path(get, path = "/benchmarks/{benchmark_id}/versions", tag = "benchmarks",
    params(("benchmark_id" = BenchmarkId, Path, description = "The benchmark"), PageQuery),
    responses((status = 200, description = "Versions", body = List<BenchmarkVersion>), ErrorResponses))]
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
    responses((status = 200, description = "The audit as it is kept", body = VersionAudit), ErrorResponses, WriteErrorResponses))]
async fn record_audit(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathSegment(reference): PathSegment,
    Patch(audit): Patch<NewAudit>,
) -> Result<Tagged<VersionAudit>, ApiError> {
    Ok(Tagged(app::publications::record_audit(&state.app, &grant, &version_of(&reference)?, audit).await?))
}

/// The frozen content of a version of your own: its environment, tasks with criteria, entities, and the manifests of its
/// datasets.
#[utoipa::path(get, path = "/benchmarks/{benchmark_id}/content", tag = "benchmarks",
    params(("benchmark_id" = String, Path, description = "`slug@version`")),
    responses((status = 200, description = "The version's content", body = VersionContent), ErrorResponses))]
async fn get_content(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathSegment(reference): PathSegment,
) -> Result<Json<VersionContent>, ApiError> {
    Ok(Json(app::publications::content(&state.app, &grant, &version_of(&reference)?).await?))
}

/// The bytes of one chunk or file of a version's datasets, by the SHA-256 that the version's content names.
#[utoipa::path(get, path = "/benchmarks/{benchmark_id}/content/{sha256}", tag = "benchmarks",
    params(("benchmark_id" = String, Path, description = "`slug@version`"),
        ("sha256" = String, Path, description = "As in a manifest of the version's content")),
    responses((status = 200, description = "The bytes", body = Vec<u8>, content_type = "application/octet-stream"), ErrorResponses))]
async fn get_content_blob(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    TwoPathSegments(reference, sha256): TwoPathSegments,
) -> Result<Response, ApiError> {
    let content = app::publications::blob(&state.app, &grant, &version_of(&reference)?, &sha256).await?;
    // Authored bytes must never be rendered as a page of this server.
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
    ];
    Ok((headers, content).into_response())
}

fn version_of(reference: &str) -> Result<VersionRef, ApiError> {
    reference.parse().map_err(|()| ApiError::new(Code::NotFound, "no such benchmark"))
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_benchmarks, create_benchmark))
        .routes(routes!(get_benchmark, update_benchmark, delete_benchmark))
        .routes(routes!(publish_benchmark))
        .routes(routes!(list_versions))
        .routes(routes!(record_audit))
        .routes(routes!(get_content))
        .routes(routes!(get_content_blob))
}
