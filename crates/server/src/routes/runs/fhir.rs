//! FHIR sandboxes of a started task, below its run or below the task run, with the run's token.

use app::runs::access;
use app::sandboxes::fhir::Access;
use axum::Router;
use axum::body::Body;
use axum::extract::{self, Request};
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::any;
use model::simulator::SimulatorType;
use model::{BenchmarkRunId, TaskRunId};
use utoipa_axum::router::OpenApiRouter;

use crate::State;
use crate::api_error::ApiError;
use crate::base_url;
use crate::extractors::run;
use crate::routes::sandbox_routes::{first_id, named_sandbox};
use crate::routes::sandboxes::fhir::{Address, forward, outcome};

const RUN_PATH: &str = "/v1/benchmark-runs/{benchmark_run_id}/fhir";
const TASK_RUN_PATH: &str = "/v1/task-runs/{task_run_id}/sandbox/fhir";
const NAMED_SANDBOX_PATH: &str = "/v1/task-runs/{task_run_id}/sandbox/{sandbox}/fhir";

async fn fhir_of_run(extract::State(state): extract::State<State>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let response = async {
        let grant = run(&parts, &state).await?;
        let (id, _) = first_id::<BenchmarkRunId>(&mut parts, &state).await?;
        let access = access::of_run(&state.app, &grant, &id, SimulatorType::Fhir).await?;
        let base = format!("/v1/benchmark-runs/{id}/fhir");
        forward_below(&state, &parts, body, access.into(), &base).await
    };
    response.await.unwrap_or_else(outcome)
}

async fn fhir_of_task_run(extract::State(state): extract::State<State>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let response = async {
        let grant = run(&parts, &state).await?;
        let (id, _) = first_id::<TaskRunId>(&mut parts, &state).await?;
        let access = access::of_task_run(&state.app, &grant, &id, SimulatorType::Fhir, None).await?;
        let base = format!("/v1/task-runs/{id}/sandbox/fhir");
        forward_below(&state, &parts, body, access.into(), &base).await
    };
    response.await.unwrap_or_else(outcome)
}

async fn fhir_of_named_sandbox(extract::State(state): extract::State<State>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let response = async {
        let grant = run(&parts, &state).await?;
        let (id, name, _) = named_sandbox(&mut parts, &state).await?;
        let access = access::of_task_run(&state.app, &grant, &id, SimulatorType::Fhir, Some(&name)).await?;
        let base = format!("/v1/task-runs/{id}/sandbox/{}/fhir", access.sandbox());
        forward_below(&state, &parts, body, access.into(), &base).await
    };
    response.await.unwrap_or_else(outcome)
}

/// Forwards a request to the FHIR sandbox whose base path is `base`.
async fn forward_below(
    state: &State,
    parts: &Parts,
    body: Body,
    access: Access,
    base: &str,
) -> Result<Response, ApiError> {
    // The base is cut off by counting segments, because an id can be percent-encoded in several ways.
    let segments = base.split('/').count();
    let path = parts.uri.path().splitn(segments + 1, '/').nth(segments).unwrap_or_default();
    let path = path.trim_start_matches('/').to_owned();
    let server_url = base_url::of(parts, state);
    let token_url = Some(format!("{server_url}/sandboxes/{}/fhir/auth/token", access.sandbox()));
    forward(state, (parts, body), access, Address { path, base_url: format!("{server_url}{base}"), token_url }).await
}

/// Not in the OpenAPI document: a FHIR server describes itself at `…/fhir/metadata`.
pub(crate) fn router() -> OpenApiRouter<State> {
    let route = |router: Router<State>, base: &str, handler: axum::routing::MethodRouter<State>| {
        let deeper = format!("{base}/{{*path}}");
        router.route(base, handler.clone()).route(&format!("{base}/"), handler.clone()).route(&deeper, handler)
    };
    let of_run = route(Router::new(), RUN_PATH, any(fhir_of_run));
    let of_task_run = route(of_run, TASK_RUN_PATH, any(fhir_of_task_run));
    route(of_task_run, NAMED_SANDBOX_PATH, any(fhir_of_named_sandbox)).into()
}
