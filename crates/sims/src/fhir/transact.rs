//! What the machine itself does to the record, without a request: a transaction of a scenario or of another simulator.

use std::rc::Rc;

use serde_json::Value;
use world::{Change, Context, Sandbox, World};

use super::bundle;
use super::call::{Call, Conditions, Prefer, own_paths};
use super::config::WriteRules;
use super::depth;

/// Nobody is answered, so no address of this server is needed; and none that an author can write is meant.
const BASE_URL: &str = "urn:verial:scenario";

pub(super) fn own_call<'a>(world: &'a World, sandbox: &'a Sandbox, context: &'a Context<'a>) -> Call<'a> {
    Call {
        world,
        sandbox,
        records: &sandbox.records,
        scopes: None,
        base_url: BASE_URL,
        own_paths: own_paths(&sandbox.id, &[]),
        token_url: None,
        context,
        prefer: Prefer::default(),
        conditions: Conditions::default(),
        // What an author or another simulator writes is taken as it is.
        rules: WriteRules::default(),
        search_budget: Rc::default(),
        raw_accept: None,
        parameters: Vec::new(),
    }
}

/// The changes of a transaction, all or none; or what the record has against it.
pub(crate) fn transact(
    world: &World,
    sandbox: &Sandbox,
    context: &Context<'_>,
    transaction: &Value,
) -> Result<Vec<Change>, String> {
    let call = own_call(world, sandbox, context);
    let processed = depth::check(transaction).and_then(|()| bundle::process(&call, transaction));
    processed.map(|reply| reply.changes).map_err(|refusal| {
        let issue = &refusal.json()["issue"][0];
        let said = issue["diagnostics"].as_str().unwrap_or("it was refused");
        let place = issue["expression"][0].as_str().map_or_else(String::new, |place| format!("{place}: "));
        model::reading::shortened(&format!("{place}{said}"), 1000)
    })
}
