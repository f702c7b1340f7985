//! The OpenAPI 3.1 document, generated from the handlers. Registering a route also documents it.

use axum::Router;
use serde_json::{Value, json};
use utoipa::OpenApi as _;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi, RefOr, Required};
use utoipa_axum::router::OpenApiRouter;

use crate::{State, docs, routes};

#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "Verial", description = "Simulated health systems for AI agents, and verification of what they did there."),
    security(("organization_key" = [])),
    // Listed here because no handler's response type refers to it directly.
    components(schemas(model::stats::AgentStatistics)),
    tags(
        (name = "identity", description = "The organization, its keys and its solvers"),
        (name = "environments", description = "Sets of simulators"),
        (name = "simulators", description = "Definitions of simulated systems"),
        (name = "datasets", description = "The initial data of sandboxes"),
        (name = "playgrounds", description = "Running environments"),
        (name = "sandboxes", description = "Running simulators. The paths of each protocol are below `/sandboxes/{sandbox_id}` (or `/services/{sandbox_id}`): a FHIR sandbox serves FHIR R4 at `…/fhir` and describes itself at `…/fhir/metadata`; its token endpoint is `…/fhir/auth/token`. The others have `…/hl7`, `…/x12`, `…/files`, `…/portal`, `…/voice` and `…/messages`."),
        (name = "benchmarks", description = "Benchmarks and their published versions"),
        (name = "tasks", description = "What agents are asked to do"),
        (name = "criteria", description = "What is checked afterwards"),
        (name = "runs", description = "Benchmark runs: their task runs, the evidence of their criteria, and statistics"),
        (name = "v1", description = "For agents: a run is created with a solver key and worked on with its token. The sandboxes of the started task are below `/v1/benchmark-runs/{benchmark_run_id}` and `/v1/task-runs/{task_run_id}/sandbox`: FHIR R4 at `…/fhir`, the others at `…/hl7`, `…/x12`, `…/files`, `…/portal`, `…/voice` and `…/messages`."),
        (name = "operations", description = "For operators"),
    )
)]
struct ApiDocument;

/// The router and the document that describes it.
pub(crate) fn build() -> (Router<State>, OpenApi) {
    let (router, mut api) = OpenApiRouter::with_openapi(ApiDocument::openapi())
        .merge(routes::router())
        .merge(docs::router())
        .split_for_parts();
    let components = api.components.get_or_insert_with(Default::default);
    for (name, prefix, description) in [
        ("organization_key", "vk_", "An organization key"),
        ("solver_key", "vrl_slv_", "A key of a solver"),
        ("run_token", "vrl_run_", "The token of a run, from the response that created it"),
    ] {
        let description = format!("{description}. Format: `^{prefix}[0-9A-Za-z]{{38}}$`.");
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format(format!("{prefix}…"));
        components.add_security_scheme(name, SecurityScheme::Http(scheme.description(Some(description)).build()));
    }
    name_wildcards(&mut api);
    describe_optional_bodies(&mut api);
    (router, api)
}

/// Replaces the router's `{*path}` wildcards by plain path parameters, the only ones OpenAPI has.
fn name_wildcards(api: &mut OpenApi) {
    let paths = std::mem::take(&mut api.paths.paths);
    api.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
}

/// Marks the bodies that may be left out. A body that is sent must not be `null`.
fn describe_optional_bodies(api: &mut OpenApi) {
    for path in ["/benchmarks/{benchmark_id}/publish", "/benchmark-runs/{benchmark_run_id}/rescore"] {
        let operation = api.paths.paths.get_mut(path).and_then(|item| item.post.as_mut());
        if let Some(RefOr::T(body)) = operation.and_then(|operation| operation.request_body.as_mut()) {
            body.required = Some(Required::False);
        }
    }
}

/// Fields that hold authored JSON: the component, the field, its schema, and whether it can be null.
const AUTHORED: [(&str, &str, &str, bool); 16] = [
    ("Criterion", "assertion", "Assertion", false),
    ("NewCriterion", "assertion", "Assertion", false),
    ("CriterionPatch", "assertion", "Assertion", false),
    ("Simulator", "config", "SimulatorConfig", true),
    ("NewSimulator", "config", "SimulatorConfig", true),
    ("SimulatorPatch", "config", "SimulatorConfig", true),
    ("FrozenSimulator", "config", "SimulatorConfig", true),
    ("Task", "scenario", "Scenario", true),
    ("NewTask", "scenario", "Scenario", true),
    ("TaskPatch", "scenario", "Scenario", true),
    ("FrozenTask", "scenario", "Scenario", true),
    ("CreatedRun", "endpoints", "Endpoints", false),
    ("StartedTaskRun", "endpoints", "Endpoints", false),
    ("RunSummary", "endpoints", "Endpoints", false),
    ("TaskSnapshot", "scenario", "Scenario", true),
    ("CriterionSnapshot", "assertion", "Assertion", false),
];

/// The complete document, in which authored JSON is described by the catalogs of checks, simulators and steps.
pub(crate) fn full_document(api: &OpenApi) -> Value {
    let mut document = serde_json::to_value(api).unwrap_or_default();
    let schemas = &mut document["components"]["schemas"];
    for (name, schema) in app::schemas::components() {
        schemas[name] = schema;
    }
    for (component, field, schema, is_nullable) in AUTHORED {
        let Some(described) = schemas.get_mut(component).and_then(|one| one["properties"].get_mut(field)) else {
            continue;
        };
        let reference = json!({"$ref": format!("#/components/schemas/{schema}")});
        let mut replaced = match is_nullable {
            true => json!({"anyOf": [reference, {"type": "null"}]}),
            false => reference,
        };
        if let Some(description) = described.get("description") {
            replaced["description"] = description.clone();
        }
        *described = replaced;
    }
    document
}

/// The document as it is served, for tests and tools.
pub fn document() -> Value {
    full_document(&build().1)
}
