//! Transactions without an HTTP request, by scenario steps and other simulators.

use std::rc::Rc;

use serde_json::Value;
use world::{Change, Context, Sandbox, World};

use super::bundle;
use super::config::WriteRules;
use super::depth;
use super::interaction_context::{Conditions, InteractionContext, Prefer, own_paths};

/// There is no client, so no real base URL is needed. Authored references cannot match it.
const BASE_URL: &str = "urn:verial:scenario";

pub(super) fn internal_context<'a>(
    world: &'a World,
    sandbox: &'a Sandbox,
    context: &'a Context<'a>,
) -> InteractionContext<'a> {
    InteractionContext {
        world,
        sandbox,
        records: &sandbox.records,
        scopes: None,
        base_url: BASE_URL,
        own_paths: own_paths(&sandbox.id, &[]),
        token_url: None,
        world_context: context,
        prefer: Prefer::default(),
        conditions: Conditions::default(),
        // Writes by authors and other simulators are not restricted.
        rules: WriteRules::default(),
        search_budget: Rc::default(),
        raw_accept: None,
        parameters: Vec::new(),
    }
}

/// The changes of a transaction, or why it failed.
pub(crate) fn apply_transaction(
    world: &World,
    sandbox: &Sandbox,
    context: &Context<'_>,
    transaction: &Value,
) -> Result<Vec<Change>, String> {
    let interaction_context = internal_context(world, sandbox, context);
    let processed = depth::check(transaction).and_then(|()| bundle::process(&interaction_context, transaction));
    processed.map(|reply| reply.changes).map_err(|error| {
        let issue = &error.json()["issue"][0];
        let diagnostics = issue["diagnostics"].as_str().unwrap_or("it was refused");
        let path = issue["expression"][0].as_str().map_or_else(String::new, |path| format!("{path}: "));
        model::reading::shortened(&format!("{path}{diagnostics}"), 1000)
    })
}
