//! The CDS services of an EHR: listing, registration and discovery.

use model::FieldErrors;
use model::cds::NewCdsService;
use model::page::{Page, PageRequest};
use serde_json::{Value, json};
use sims::cds_hooks::config::CdsHooksConfig;
use sims::cds_hooks::services::{self, Discovery};
use world::{Context, Sandbox, World};

use super::call::{self, Request};
use super::{command, look, passed, query, silent};
use crate::outbound;
use crate::sandboxes::Access;
use crate::{App, AppError};

/// Discovers servers of the config that were not asked before, unless the sandbox takes no traffic.
pub async fn list_services(app: &App, access: &Access, request: PageRequest) -> Result<Page<Value>, AppError> {
    if app.runtime().takes_traffic(&access.sandbox).await? {
        discover_config(app, access).await?;
    }
    let actor = access.actor.clone();
    look(app, access, move |_, sandbox, _| passed(services::list(sandbox, &actor, &request))).await
}

/// Returns the registered services: `{services}`.
pub async fn register(app: &App, access: &Access, new: NewCdsService) -> Result<Value, AppError> {
    let NewCdsService { base_url, discovery_url, timeout_seconds, service } = new;
    let base_url = match (base_url, discovery_url) {
        (None, Some(discovery)) => Some(services::base_of_discovery(&discovery)?),
        (Some(_), Some(_)) => {
            return Err(FieldErrors::one("discovery_url", "cannot be combined with `base_url`").into());
        }
        (base_url, None) => base_url,
    };
    let rows = match (base_url, service) {
        (Some(base_url), None) => {
            services::check_server(&base_url, timeout_seconds)?;
            discover(app, access, base_url, timeout_seconds).await?
        }
        (None, Some(service)) => {
            if timeout_seconds.is_some() {
                return Err(
                    FieldErrors::one("timeout_seconds", "is only for a server: nobody waits for the agent").into()
                );
            }
            let actor = access.actor.clone();
            let register = move |_: &World, sandbox: &Sandbox, context: &Context<'_>| {
                services::register_own(sandbox, &actor, context, &service)
            };
            vec![command(app, access, register).await?]
        }
        _ => {
            return Err(
                FieldErrors::one("base_url", "must be given, or `discovery_url` or `service`; one of them").into()
            );
        }
    };
    Ok(json!({ "services": rows }))
}

pub async fn remove(app: &App, access: &Access, id: String) -> Result<(), AppError> {
    let actor = access.actor.clone();
    command(app, access, move |_, sandbox, context| services::remove(sandbox, &actor, context, &id)).await
}

/// Discovers the servers of the config that have not responded yet. A failure is logged as an event.
pub(super) async fn discover_config(app: &App, access: &Access) -> Result<(), AppError> {
    let unknown = query(app, access, |_, sandbox, _| silent(Ok(services::undiscovered(sandbox)))).await?;
    for found in futures_util::future::join_all(unknown.into_iter().map(|url| discover(app, access, url, None))).await {
        match found {
            // Logged as an event.
            Ok(_) | Err(AppError::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn discover(
    app: &App,
    access: &Access,
    base_url: String,
    timeout_seconds: Option<i64>,
) -> Result<Vec<Value>, AppError> {
    // Fails for a sandbox that takes no traffic, before the server is called.
    query(app, access, |_, _, _| silent(Ok(()))).await?;
    let config = CdsHooksConfig::of(&access.sandbox.config);
    let answer = match outbound::below(base_url.trim_end_matches('/'), "cds-services", "") {
        None => Err("the address cannot be read".to_owned()),
        Some(url) => {
            let request = Request {
                sandbox: &access.sandbox.id,
                url,
                headers: headers(&config, &base_url),
                body: None,
                seconds: config.timeout_seconds(&base_url, timeout_seconds),
            };
            call::json(app, request).await
        }
    };
    let actor = access.actor.clone();
    let message = move |_: &World, sandbox: &Sandbox, context: &Context<'_>| {
        let discovery = Discovery { base_url: &base_url, timeout_seconds, answer: &answer };
        services::record_discovery(sandbox, &actor, context, &discovery)
    };
    command(app, access, message).await
}

/// The headers that the config adds to requests to a server.
pub(super) fn headers(config: &CdsHooksConfig, base_url: &str) -> Vec<(String, String)> {
    let server = config.server(base_url);
    server.into_iter().flat_map(|server| server.headers.clone()).collect()
}
