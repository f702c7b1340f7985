//! `verial call`: one API call, for agents that are shell scripts.

use anyhow::Context;
use clap::Args;
use client::{Client, Method};
use serde_json::Value;

use crate::auth::Connection;
use crate::block_on;
use crate::exit::usage;
use crate::output::{print_json, print_member};

#[derive(Args)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    connection: Connection,
    /// The URL of the run's server, as `verial run` passes it to agents
    #[arg(long = "run-url", env = "VERIAL_BASE_URL", value_name = "URL", hide = true)]
    base_url: Option<String>,
    /// The run's token, as `verial run` passes it to agents
    #[arg(long, env = "VERIAL_RUN_TOKEN", value_name = "TOKEN", hide = true, hide_env_values = true)]
    run_token: Option<String>,
    /// GET, POST, PUT, PATCH or DELETE
    method: String,
    /// For example /benchmarks or /v1/task-runs/tr_…/sandbox/fhir/Patient?name=Stone
    path: String,
    /// The body as JSON; @FILE reads a file, - reads standard input
    body: Option<String>,
    /// Print only this member of the response, such as `id` or `data.0.id`
    #[arg(long, value_name = "MEMBER")]
    get: Option<String>,
}

pub(crate) fn run(arguments: &CallArgs) -> anyhow::Result<()> {
    let method: Method = match arguments.method.to_ascii_uppercase().parse() {
        Ok(method) => method,
        Err(_) => return Err(usage(format!("{} is not an HTTP method", arguments.method))),
    };
    if !arguments.path.starts_with('/') {
        return Err(usage("the path must start with /"));
    }
    let client = match (&arguments.base_url, &arguments.run_token) {
        (Some(url), Some(token)) => Client::new(url, token)?,
        _ => arguments.connection.client()?,
    };
    let body = arguments.body.as_deref().map(read_body).transpose()?;
    let response = block_on(async { Ok(client.call(method, &arguments.path, &[], body.as_ref()).await?) })?;
    match &arguments.get {
        Some(path) => print_member(&response, path)?,
        None if response.is_null() => {}
        None => print_json(&response),
    }
    Ok(())
}

fn read_body(source: &str) -> anyhow::Result<Value> {
    let text = match (source, source.strip_prefix('@')) {
        ("-", _) => std::io::read_to_string(std::io::stdin()).context("cannot read standard input")?,
        (_, Some(path)) => std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?,
        _ => source.to_owned(),
    };
    serde_json::from_str(&text).map_err(|error| usage(format!("the body is not JSON: {error}")))
}
