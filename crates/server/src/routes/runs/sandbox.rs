//! The sandboxes of a started task, below its run or below the task run, with the run's token.

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
use crate::base_url;
use crate::envelope::ApiError;
use crate::extract::run;
use crate::routes::doors::first_id;
use crate::routes::sandboxes::fhir::{Address, outcome, pass_on};

const OF_RUN: &str = "/v1/benchmark-runs/{benchmark_run_id}/fhir";
const OF_TASK_RUN: &str = "/v1/task-runs/{task_run_id}/sandbox/fhir";

async fn fhir_of_run(extract::State(state): extract::State<State>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let answered = async {
        let grant = run(&parts, &state).await?;
        let (id, _) = first_id::<BenchmarkRunId>(&mut parts, &state).await?;
        let access = access::of_run(&state.app, &grant, &id, SimulatorType::Fhir).await?;
        let base = format!("/v1/benchmark-runs/{id}/fhir");
        below(&state, &parts, body, access.into(), &base).await
    };
    answered.await.unwrap_or_else(outcome)
}

async fn fhir_of_task_run(extract::State(state): extract::State<State>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let answered = async {
        let grant = run(&parts, &state).await?;
        let (id, _) = first_id::<TaskRunId>(&mut parts, &state).await?;
        let access = access::of_task_run(&state.app, &grant, &id, SimulatorType::Fhir).await?;
        let base = format!("/v1/task-runs/{id}/sandbox/fhir");
        below(&state, &parts, body, access.into(), &base).await
    };
    answered.await.unwrap_or_else(outcome)
}

async fn below(state: &State, parts: &Parts, body: Body, access: Access, base: &str) -> Result<Response, ApiError> {
    // By its place, because an id can be written in several ways.
    let segments = base.split('/').count();
    let path = parts.uri.path().splitn(segments + 1, '/').nth(segments).unwrap_or_default();
    let path = path.trim_start_matches('/').to_owned();
    let here = base_url::of(parts, state);
    let token_url = Some(format!("{here}/sandboxes/{}/fhir/auth/token", access.sandbox()));
    pass_on(state, (parts, body), access, Address { path, base_url: format!("{here}{base}"), token_url }).await
}

/// Not in the OpenAPI document: FHIR describes itself, at `…/fhir/metadata`.
pub(crate) fn router() -> OpenApiRouter<State> {
    let below = |router: Router<State>, base: &str, handler: axum::routing::MethodRouter<State>| {
        let deeper = format!("{base}/{{*path}}");
        router.route(base, handler.clone()).route(&format!("{base}/"), handler.clone()).route(&deeper, handler)
    };
    let of_run = below(Router::new(), OF_RUN, any(fhir_of_run));
    below(of_run, OF_TASK_RUN, any(fhir_of_task_run)).into()
}
