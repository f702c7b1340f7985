//! Drafts of benchmarks, and the public benchmarks of other organizations.

use model::benchmark::{Benchmark, BenchmarkPatch, NewBenchmark};
use model::page::{Page, PageRequest};
use model::{BenchmarkId, FieldErrors, OrgId};
use store::{Db, benchmarks, environments};

use crate::etag::IfMatch;
use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant};

pub async fn create(
    app: &App,
    grant: &OrgGrant,
    once: Option<Once>,
    new: NewBenchmark,
) -> Result<Created<Benchmark>, AppError> {
    let benchmark = new.into_benchmark(app.new_id(), app.now());
    benchmark.validate()?;
    let org = grant.org.clone();
    let work = move |db: &mut Db<'_>| {
        check_environment(db, &org, &benchmark)?;
        if let Some(slug) = &benchmark.slug {
            claim_slug(db, &org, &benchmark, slug)?;
        }
        benchmarks::insert(db, &org, &benchmark)?;
        found(db, &org, &benchmark.id)
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

/// The organization's own benchmark, or a public one.
pub async fn get(app: &App, grant: &OrgGrant, benchmark: &BenchmarkId) -> Result<Benchmark, AppError> {
    let (org, benchmark) = (grant.org.clone(), benchmark.clone());
    let read = move |db: &mut Db<'_>| {
        benchmarks::find_visible(db, &org, &benchmark)?.ok_or(AppError::missing::<BenchmarkId>())
    };
    app.store().read(read).await
}

/// The organization's own benchmarks, and all public ones.
pub async fn list(app: &App, grant: &OrgGrant, page: PageRequest) -> Result<Page<Benchmark>, AppError> {
    let org = grant.org.clone();
    app.store().read(move |db| Ok(benchmarks::list_visible(db, &org, &page)?)).await
}

pub async fn update(
    app: &App,
    grant: &OrgGrant,
    benchmark: &BenchmarkId,
    if_match: IfMatch,
    patch: BenchmarkPatch,
) -> Result<Benchmark, AppError> {
    let (org, benchmark, now) = (grant.org.clone(), benchmark.clone(), app.now());
    let change = move |db: &mut Db<'_>| {
        let before = found(db, &org, &benchmark)?;
        if_match.check(&before)?;
        let mut benchmark = before.clone();
        patch.clone().apply(&mut benchmark);
        benchmark.validate()?;
        check_environment(db, &org, &benchmark)?;
        change_slug(db, &org, &before, &benchmark)?;
        benchmarks::set_visibility(db, &org, &benchmark.id, benchmark.visibility)?;
        benchmark.updated_at = now;
        benchmarks::update(db, &org, &benchmark)?;
        found(db, &org, &benchmark.id)
    };
    app.store().write(change).await
}

/// Deletes the draft with its tasks and criteria. Published versions can still be run.
pub async fn delete(app: &App, grant: &OrgGrant, benchmark: &BenchmarkId, if_match: IfMatch) -> Result<(), AppError> {
    let (org, benchmark) = (grant.org.clone(), benchmark.clone());
    let change = move |db: &mut Db<'_>| {
        if_match.check(&found(db, &org, &benchmark)?)?;
        Ok(benchmarks::delete(db, &org, &benchmark)?)
    };
    app.store().write(change).await
}

fn change_slug(db: &mut Db<'_>, org: &OrgId, before: &Benchmark, after: &Benchmark) -> Result<(), AppError> {
    if before.slug == after.slug {
        return Ok(());
    }
    if let (Some(slug), Some(version)) = (&before.slug, before.version) {
        return Err(AppError::conflict(format!("the slug is fixed: `{slug}@{version}` is published")));
    }
    benchmarks::release_slug(db, org, &before.id)?;
    match &after.slug {
        Some(slug) => claim_slug(db, org, after, slug),
        None => Ok(()),
    }
}

pub(crate) fn claim_slug(db: &mut Db<'_>, org: &OrgId, benchmark: &Benchmark, slug: &str) -> Result<(), AppError> {
    if benchmarks::claim_slug(db, org, &benchmark.id, slug, benchmark.visibility)? {
        Ok(())
    } else {
        Err(AppError::conflict(format!("the slug `{slug}` is taken; choose another one")))
    }
}

fn check_environment(db: &mut Db<'_>, org: &OrgId, benchmark: &Benchmark) -> Result<(), AppError> {
    let mut errors = FieldErrors::new();
    if let Some(environment) = &benchmark.environment_id
        && environments::find(db, org, environment)?.is_none()
    {
        errors.no_such("environment_id", environment);
    }
    Ok(errors.into_result()?)
}

pub(crate) fn found(db: &mut Db<'_>, org: &OrgId, benchmark: &BenchmarkId) -> Result<Benchmark, AppError> {
    benchmarks::find(db, org, benchmark)?.ok_or(AppError::missing::<BenchmarkId>())
}
