//! Benchmarks by their slugs, where the API wants ids: a slug can be remembered, an id cannot.

use client::Client;
use serde_json::Value;

use super::describe::{Call, Resource, Verb};
use crate::exit::{refused, usage};

/// What a command does with a benchmark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    /// The benchmark itself, which can change.
    Draft,
    /// All of its versions.
    Versions,
    /// The benchmark or one version.
    Either,
    /// One version, which must be said: the newest is another one tomorrow.
    Version,
}

/// What the API calls the benchmark that `get`, `update` or `delete` is given; everything else as it is.
pub(super) async fn of_command(
    client: &Client,
    resource: &Resource,
    name: &str,
    given: &str,
) -> anyhow::Result<String> {
    if resource.name != "benchmarks" {
        return Ok(given.to_owned());
    }
    resolved(client, given, if name == "get" { Wanted::Either } else { Wanted::Draft }).await
}

/// The same for the first argument of a verb.
pub(super) async fn of_verb(client: &Client, resource: &Resource, verb: &Verb, given: &str) -> anyhow::Result<String> {
    if resource.name != "benchmarks" {
        return Ok(given.to_owned());
    }
    let wanted = match verb.method {
        Call::Get if verb.name == "versions" => Wanted::Versions,
        Call::Get => Wanted::Version,
        Call::Post | Call::Delete => Wanted::Draft,
    };
    resolved(client, given, wanted).await
}

/// The same for `--benchmark` of other groups.
pub(super) async fn of_member(client: &Client, member: &str, given: &str) -> anyhow::Result<Option<String>> {
    if member != "benchmark_id" || given.is_empty() {
        return Ok(None);
    }
    Ok(Some(resolved(client, given, Wanted::Draft).await?))
}

/// The slug of a benchmark of the organization's own, as `pull` wants it.
pub(crate) async fn own(client: &Client, given: &str) -> anyhow::Result<String> {
    if let Some((name, _)) = given.split_once('@') {
        return Err(usage(format!("a benchmark is pulled as it is now, not one version of it: give `{name}`")));
    }
    let found = find(client, given).await?;
    match found["slug"].as_str() {
        Some(slug) if found["owned"] == true => Ok(slug.to_owned()),
        Some(slug) => Err(refused(format!("`{slug}` is another organization's, which keeps its files to itself"))),
        None => {
            Err(refused(format!("`{given}` has no slug yet: `verial benchmarks update {given} --slug …` gives one")))
        }
    }
}

async fn resolved(client: &Client, given: &str, wanted: Wanted) -> anyhow::Result<String> {
    let (name, version) = given.split_once('@').map_or((given, None), |(name, version)| (name, Some(version)));
    match (wanted, version) {
        (Wanted::Version | Wanted::Either, Some(_)) => return Ok(given.to_owned()),
        (Wanted::Draft, Some(_)) => {
            return Err(usage(format!("`{given}` is one version; here the benchmark is meant: give `{name}`")));
        }
        _ if name.starts_with("bench_") && wanted != Wanted::Version => return Ok(name.to_owned()),
        _ => {}
    }
    let found = find(client, name).await?;
    match (wanted, found["slug"].as_str(), found["version"].as_u64()) {
        (Wanted::Version, Some(slug), Some(newest)) => {
            Err(usage(format!("name a version: the newest is `{slug}@{newest}`")))
        }
        (Wanted::Version, ..) => Err(usage(format!("`{name}` has no published version yet"))),
        _ => Ok(found["id"].as_str().unwrap_or(name).to_owned()),
    }
}

/// One's own before those of others.
async fn find(client: &Client, name: &str) -> anyhow::Result<Value> {
    let mut all = client.all("/benchmarks", &[]).await?;
    all.retain(|one| one["slug"] == name || one["id"] == name);
    all.sort_by_key(|one| one["owned"] != true);
    let none =
        || refused(format!("no benchmark has the slug `{name}`: `verial benchmarks list` shows those there are"));
    all.into_iter().next().ok_or_else(none)
}
