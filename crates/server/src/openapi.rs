//! The OpenAPI 3.1 document, made from the handlers themselves: a route that is not documented does not exist.

use axum::Router;
use utoipa::OpenApi as _;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi, RefOr, Required};
use utoipa_axum::router::OpenApiRouter;

use crate::{State, docs, routes};

#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "Verial", description = "Simulated health systems for AI agents, and verification of what they did there."),
    security(("organization_key" = [])),
    // Statistics hold statistics of single agents, so no handler's answer leads to this one.
    components(schemas(model::stats::AgentStatistics)),
    tags(
        (name = "identity", description = "The organization, its keys and its solvers"),
        (name = "environments", description = "Sets of simulators"),
        (name = "simulators", description = "Definitions of simulated systems"),
        (name = "datasets", description = "What sandboxes start from"),
        (name = "playgrounds", description = "Running environments"),
        (name = "sandboxes", description = "Running simulators. Below `/sandboxes/{sandbox_id}` (or `/services/{sandbox_id}`) hang the paths of each protocol: a FHIR sandbox answers FHIR R4 at `…/fhir` and describes itself at `…/fhir/metadata`; its token endpoint is `…/fhir/auth/token`. The others have `…/hl7`, `…/x12`, `…/files`, `…/portal`, `…/voice` and `…/messages`."),
        (name = "benchmarks", description = "Benchmarks and their published versions"),
        (name = "tasks", description = "What agents are asked to do"),
        (name = "criteria", description = "What is checked afterwards"),
        (name = "runs", description = "Runs of benchmarks: their tasks, the evidence of their criteria, numbers over many"),
        (name = "v1", description = "For agents: a run is made with a solver key and worked through with its token. Below `/v1/benchmark-runs/{benchmark_run_id}` and `/v1/task-runs/{task_run_id}/sandbox` hang the sandboxes of the started task: FHIR R4 at `…/fhir`, the others at `…/hl7`, `…/x12`, `…/files`, `…/portal`, `…/voice` and `…/messages`."),
        (name = "machinery", description = "For operators"),
    )
)]
struct Base;

/// The router and the document that describes it.
pub(crate) fn build() -> (Router<State>, OpenApi) {
    let (router, mut api) =
        OpenApiRouter::with_openapi(Base::openapi()).merge(routes::router()).merge(docs::router()).split_for_parts();
    let components = api.components.get_or_insert_with(Default::default);
    for (name, prefix, whose) in [
        ("organization_key", "vk_", "An organization key"),
        ("solver_key", "vrl_slv_", "A key of a solver"),
        ("run_token", "vrl_run_", "The token of a run, from the answer that made it"),
    ] {
        let form = format!("{whose}. Its form: `^{prefix}[0-9A-Za-z]{{38}}$`.");
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format(format!("{prefix}…"));
        components.add_security_scheme(name, SecurityScheme::Http(scheme.description(Some(form)).build()));
    }
    name_wildcards(&mut api);
    describe_parameters(&mut api);
    describe_optional_bodies(&mut api);
    (router, api)
}

/// The router writes `{*path}` for the rest of a path; OpenAPI has one kind of parameter.
fn name_wildcards(api: &mut OpenApi) {
    let paths = std::mem::take(&mut api.paths.paths);
    api.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
}

/// A body that may be left out, but is no `null` when it is there.
fn describe_optional_bodies(api: &mut OpenApi) {
    for path in ["/benchmarks/{benchmark_id}/publish", "/benchmark-runs/{benchmark_run_id}/rescore"] {
        let operation = api.paths.paths.get_mut(path).and_then(|item| item.post.as_mut());
        if let Some(RefOr::T(body)) = operation.and_then(|operation| operation.request_body.as_mut()) {
            body.required = Some(Required::False);
        }
    }
}

/// What the types of the handlers cannot say: a header is left out or has a value but is never null, and a limit has no
/// upper bound, since more than the most is read as the most.
fn describe_parameters(api: &mut OpenApi) {
    let of_type = |kind| ObjectBuilder::new().schema_type(kind);
    for item in api.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            for parameter in operation.parameters.iter_mut().flatten() {
                let RefOr::T(parameter) = parameter else { continue };
                let schema = match parameter.name.as_str() {
                    "Idempotency-Key" => {
                        of_type(Type::String).min_length(Some(1)).max_length(Some(255)).pattern(Some("^[ -~]+$"))
                    }
                    "If-Match" => of_type(Type::String),
                    "limit" => of_type(Type::Integer).minimum(Some(1)),
                    _ => continue,
                };
                parameter.schema = Some(schema.into());
            }
        }
    }
}

/// The document as it is served, for tests and tools.
pub fn document() -> OpenApi {
    build().1
}
