//! Resolves benchmark slugs where the API expects ids.

use client::Client;
use serde_json::Value;

use super::describe::{HttpMethod, Resource, Verb};
use crate::exit::{rejected, usage};

/// What a command expects: the draft, a version, or either.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BenchmarkRef {
    /// The benchmark itself, which can change.
    Draft,
    /// All of its versions.
    Versions,
    /// The benchmark or one version.
    Either,
    /// One version, which must be explicit: the newest one changes over time.
    Version,
}

/// Resolves the argument of `get`, `update` or `delete` if it is a benchmark.
pub(super) async fn resolve_for_command(
    client: &Client,
    resource: &Resource,
    name: &str,
    given: &str,
) -> anyhow::Result<String> {
    if resource.name != "benchmarks" {
        return Ok(given.to_owned());
    }
    resolve(client, given, if name == "get" { BenchmarkRef::Either } else { BenchmarkRef::Draft }).await
}

/// Resolves the first argument of a verb if it is a benchmark.
pub(super) async fn resolve_for_verb(
    client: &Client,
    resource: &Resource,
    verb: &Verb,
    given: &str,
) -> anyhow::Result<String> {
    if resource.name != "benchmarks" {
        return Ok(given.to_owned());
    }
    let wanted = match verb.method {
        HttpMethod::Get if verb.name == "versions" => BenchmarkRef::Versions,
        HttpMethod::Get => BenchmarkRef::Version,
        HttpMethod::Post | HttpMethod::Delete => BenchmarkRef::Draft,
    };
    resolve(client, given, wanted).await
}

/// Resolves `--benchmark` of other groups.
pub(super) async fn resolve_member(client: &Client, member: &str, given: &str) -> anyhow::Result<Option<String>> {
    if member != "benchmark_id" || given.is_empty() {
        return Ok(None);
    }
    Ok(Some(resolve(client, given, BenchmarkRef::Draft).await?))
}

/// The slug of a benchmark that the organization owns, for `pull`.
pub(crate) async fn own_slug(client: &Client, given: &str) -> anyhow::Result<String> {
    let benchmark = find(client, given).await?;
    match benchmark["slug"].as_str() {
        Some(slug) if benchmark["owned"] == true => Ok(slug.to_owned()),
        Some(slug) => {
            Err(rejected(format!("`{slug}` belongs to another organization, and only its owner can pull it")))
        }
        None => Err(rejected(format!(
            "`{given}` has no slug yet: set one with `verial benchmarks update {given} --slug …`"
        ))),
    }
}

async fn resolve(client: &Client, given: &str, wanted: BenchmarkRef) -> anyhow::Result<String> {
    let (name, version) = given.split_once('@').map_or((given, None), |(name, version)| (name, Some(version)));
    match (wanted, version) {
        (BenchmarkRef::Version | BenchmarkRef::Either, Some(_)) => return Ok(given.to_owned()),
        (BenchmarkRef::Draft, Some(_)) => {
            return Err(usage(format!("`{given}` is a version, but this command needs the benchmark: use `{name}`")));
        }
        _ if name.starts_with("bench_") && wanted != BenchmarkRef::Version => return Ok(name.to_owned()),
        _ => {}
    }
    let benchmark = find(client, name).await?;
    match (wanted, benchmark["slug"].as_str(), benchmark["version"].as_u64()) {
        (BenchmarkRef::Version, Some(slug), Some(newest)) => {
            Err(usage(format!("specify a version; the newest is `{slug}@{newest}`")))
        }
        (BenchmarkRef::Version, ..) => Err(usage(format!("`{name}` has no published version yet"))),
        _ => Ok(benchmark["id"].as_str().unwrap_or(name).to_owned()),
    }
}

/// Finds a benchmark by slug or id. The organization's own take precedence.
async fn find(client: &Client, name: &str) -> anyhow::Result<Value> {
    let mut all = client.list_all("/benchmarks", &[]).await?;
    all.retain(|one| one["slug"] == name || one["id"] == name);
    all.sort_by_key(|one| one["owned"] != true);
    let not_found = || rejected(format!("no benchmark has the slug `{name}`; `verial benchmarks list` shows all"));
    all.into_iter().next().ok_or_else(not_found)
}
