//! `verial call`: one call of the API, enough for an agent that is a shell script.

use anyhow::Context;
use clap::Args;
use client::{Client, Method};
use serde_json::Value;

use crate::auth::Connection;
use crate::block_on;
use crate::exit::usage;
use crate::output::{say_json, say_member};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    /// The address of the run's server, as `verial run` gives it to agents
    #[arg(long = "run-url", env = "VERIAL_BASE_URL", value_name = "URL", hide = true)]
    base_url: Option<String>,
    /// The run's token, as `verial run` gives it to agents
    #[arg(long, env = "VERIAL_RUN_TOKEN", value_name = "TOKEN", hide = true, hide_env_values = true)]
    run_token: Option<String>,
    /// GET, POST, PUT, PATCH or DELETE
    method: String,
    /// As /benchmarks or /v1/task-runs/tr_…/sandbox/fhir/Patient?name=Stone
    path: String,
    /// JSON; @FILE reads a file, - standard input
    body: Option<String>,
    /// Print only this of the answer, as `id` or `data.0.id`
    #[arg(long, value_name = "MEMBER")]
    get: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let method: Method = match arguments.method.to_ascii_uppercase().parse() {
        Ok(method) => method,
        Err(_) => return Err(usage(format!("{} is no method of HTTP", arguments.method))),
    };
    if !arguments.path.starts_with('/') {
        return Err(usage("the path must begin with /"));
    }
    let client = match (&arguments.base_url, &arguments.run_token) {
        (Some(url), Some(token)) => Client::new(url, token)?,
        _ => arguments.connection.client()?,
    };
    let body = arguments.body.as_deref().map(read).transpose()?;
    let answer = block_on(async { Ok(client.call(method, &arguments.path, &[], body.as_ref()).await?) })?;
    match &arguments.get {
        Some(path) => say_member(&answer, path)?,
        None if answer.is_null() => {}
        None => say_json(&answer),
    }
    Ok(())
}

fn read(source: &str) -> anyhow::Result<Value> {
    let text = match (source, source.strip_prefix('@')) {
        ("-", _) => std::io::read_to_string(std::io::stdin()).context("cannot read standard input")?,
        (_, Some(path)) => std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?,
        _ => source.to_owned(),
    };
    serde_json::from_str(&text).map_err(|error| usage(format!("the body is not JSON: {error}")))
}
