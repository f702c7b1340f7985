//! Fires a hook: calls all of its services concurrently.

use model::cds::FiredHook;
use serde_json::{Value, json};
use sims::cds_hooks::CdsError;
use sims::cds_hooks::chart::fhir_server;
use sims::cds_hooks::config::CdsHooksConfig;
use sims::cds_hooks::invoke::{self, CallResult, HookRequest, InvocationPlan, ServiceCall};
use sims::idempotency::IdempotencyKey;
use world::{Context, Sandbox, World};

use super::call::{self, Request};
use super::services::{discover_config, headers};
use super::{command, query, silent};
use crate::outbound;
use crate::sandboxes::fhir::token;
use crate::sandboxes::{Access, BaseUrl, credentials};
use crate::{App, AppError, Once};

/// Returns the responses of all services: `{hook, hook_instance, cards, invocations}`.
pub async fn fire(
    app: &App,
    access: &Access,
    base: BaseUrl<'_>,
    hook: String,
    new: FiredHook,
    once: Option<Once>,
) -> Result<Value, AppError> {
    let is_flat = new.is_flat();
    let (context, service) = new.into_context()?;
    match fire_with(app, access, base, (hook, context, service), once).await {
        Err(AppError::Invalid(faults)) if is_flat => Err(FiredHook::flat_faults(&faults).into()),
        fired => fired,
    }
}

async fn fire_with(
    app: &App,
    access: &Access,
    base: BaseUrl<'_>,
    (hook, context, service): (String, Value, Option<String>),
    once: Option<Once>,
) -> Result<Value, AppError> {
    let token = once.map(IdempotencyKey::from);
    discover_config(app, access).await?;
    let reach = FhirReach::find(app, access, base).await?;
    let fired = HookRequest { hook, context, service, fhir_url: reach.url.clone() };
    let known = token.clone();
    let looked = query(app, access, move |world, sandbox, context| {
        let earlier = known.as_ref().map_or(Ok(None), |token| invoke::earlier_result(sandbox, token));
        silent(earlier.and_then(|earlier| match earlier {
            Some(earlier) => Ok(Err(earlier)),
            None => invoke::plan(world, sandbox, context, &fired).map(Ok),
        }))
    });
    let plan: InvocationPlan = match looked.await? {
        Ok(plan) => plan,
        Err(earlier) => return Ok(earlier),
    };
    let answers = futures_util::future::join_all(plan.calls.iter().map(|one| called(app, access, &reach, one))).await;
    let actor = access.actor.clone();
    let message = move |_: &World, sandbox: &Sandbox, context: &Context<'_>| {
        invoke::record(sandbox, &actor, context, &plan, &answers, token.as_ref())
    };
    command(app, access, message).await
}

async fn called(app: &App, access: &Access, reach: &FhirReach, one: &ServiceCall) -> CallResult {
    if let Some(cards) = &one.service.canned_cards {
        return CallResult::Response(json!({ "cards": cards }));
    }
    let Some(base_url) = &one.service.base_url else { return CallResult::Pending };
    let config = CdsHooksConfig::of(&access.sandbox.config);
    let path = format!("cds-services/{}", one.service.definition.id);
    let Some(url) = outbound::below(base_url, &path, "") else {
        return CallResult::Failed("the service's address cannot be read".to_owned());
    };
    let mut body = one.request.clone();
    reach.grant(&mut body, &one.service.definition.id);
    let request = Request {
        sandbox: &access.sandbox.id,
        url,
        headers: headers(&config, base_url),
        body: Some(body),
        seconds: config.timeout_seconds(base_url, one.service.timeout_seconds),
    };
    call::json(app, request).await.map_or_else(CallResult::Failed, CallResult::Response)
}

/// The URL and the access token for services to reach the playground's FHIR server, if the config provides them.
struct FhirReach {
    url: String,
    token: Option<token::AccessToken>,
}

impl FhirReach {
    async fn find(app: &App, access: &Access, base: BaseUrl<'_>) -> Result<Self, AppError> {
        let server = query(app, access, |world, _, _| {
            silent(Ok::<_, CdsError>(fhir_server(world).map(|server| server.id.clone())))
        });
        let server = match server.await? {
            Some(id) => app.runtime().sandbox(&id).await?,
            None => None,
        };
        let Some(server) = server else { return Ok(Self { url: String::new(), token: None }) };
        let scope = CdsHooksConfig::of(&access.sandbox.config).fhir_authorization.map(|wanted| wanted.scope);
        let token = scope.and_then(|scope| token::for_service(app, &server, &scope));
        Ok(Self { url: format!("{}/fhir", credentials::sandbox_url(&server, base)), token })
    }

    /// The token is sent with the request and not stored.
    fn grant(&self, body: &mut Value, service: &str) {
        if let Some(token) = &self.token {
            body["fhirServer"] = self.url.as_str().into();
            body["fhirAuthorization"] = json!({"access_token": token.access_token, "token_type": "Bearer",
                "expires_in": token.expires_in, "scope": token.scope, "subject": service});
        }
    }
}
