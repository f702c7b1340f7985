//! Drafts of benchmarks, and their published versions that other organizations can see.

use model::benchmark::{Benchmark, Visibility};
use model::page::{Page, PageRequest};
use model::{BenchmarkId, EnvironmentId, OrgId};

use crate::paging::{Order, Paged};
use crate::value::{Row, bind};
use crate::{Db, StoreError};

/// The organization's own drafts, and the newest versions of other organizations' public benchmarks. `$1` is the reader's
/// organization.
const VISIBLE: &str = "select * from (
    select b.id, b.name, b.description, b.environment_id, b.timeout, b.concurrency, b.visibility, b.slug, s.newest_version,
        1 as owned, b.org_id as organization_id, b.created_at, b.updated_at
    from benchmarks b left join slugs s on s.slug = b.slug
    where b.org_id = $1
    union all
    select s.benchmark_id, v.name, v.description, null, v.timeout, v.concurrency, s.visibility, s.slug, s.newest_version,
        0, null, v.published_at, v.published_at
    from slugs s join benchmark_versions v on v.slug = s.slug and v.version = s.newest_version
    where s.visibility = 'Public' and s.org_id <> $1
) visible where 1 = 1";

pub fn insert(db: &mut Db<'_>, org: &OrgId, benchmark: &Benchmark) -> Result<(), StoreError> {
    let sql = "insert into benchmarks (id, org_id, name, description, environment_id, timeout, concurrency, visibility, slug, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    db.execute(
        sql,
        bind![
            &benchmark.id,
            org,
            &benchmark.name,
            &benchmark.description,
            benchmark.environment_id.as_ref(),
            benchmark.timeout,
            benchmark.concurrency,
            benchmark.visibility.name(),
            &benchmark.slug,
            benchmark.created_at,
            benchmark.updated_at
        ],
    )?;
    Ok(())
}

/// A benchmark that the organization can see: its own or a public one.
pub fn find_visible(db: &mut Db<'_>, org: &OrgId, benchmark: &BenchmarkId) -> Result<Option<Benchmark>, StoreError> {
    db.query_one(&format!("{VISIBLE} and id = $2"), bind![org, benchmark])?.map(|mut row| read(&mut row)).transpose()
}

/// A draft of the organization.
pub fn find(db: &mut Db<'_>, org: &OrgId, benchmark: &BenchmarkId) -> Result<Option<Benchmark>, StoreError> {
    Ok(find_visible(db, org, benchmark)?.filter(|benchmark| benchmark.owned))
}

pub fn list_visible(db: &mut Db<'_>, org: &OrgId, page: &PageRequest) -> Result<Page<Benchmark>, StoreError> {
    let paged = Paged { select: VISIBLE, key: "id", order: Order::NewestFirst };
    paged.fetch(db, bind![org].to_vec(), page, read, |benchmark| benchmark.id.to_string())
}

pub fn update(db: &mut Db<'_>, org: &OrgId, benchmark: &Benchmark) -> Result<(), StoreError> {
    let sql = "update benchmarks set name = $3, description = $4, environment_id = $5, timeout = $6, concurrency = $7, visibility = $8,
        slug = $9, updated_at = $10 where org_id = $1 and id = $2";
    db.execute(
        sql,
        bind![
            org,
            &benchmark.id,
            &benchmark.name,
            &benchmark.description,
            benchmark.environment_id.as_ref(),
            benchmark.timeout,
            benchmark.concurrency,
            benchmark.visibility.name(),
            &benchmark.slug,
            benchmark.updated_at
        ],
    )?;
    Ok(())
}

/// Deletes the draft with its tasks and criteria. Published versions stay; a slug without versions becomes available.
pub fn delete(db: &mut Db<'_>, org: &OrgId, benchmark: &BenchmarkId) -> Result<(), StoreError> {
    let of_benchmark = "(select id from tasks where org_id = $1 and benchmark_id = $2)";
    db.execute(
        &format!("delete from criteria where org_id = $1 and task_id in {of_benchmark}"),
        bind![org, benchmark],
    )?;
    db.execute(&format!("delete from task_entities where task_id in {of_benchmark}"), bind![org, benchmark])?;
    db.execute("delete from tasks where org_id = $1 and benchmark_id = $2", bind![org, benchmark])?;
    db.execute("delete from benchmarks where org_id = $1 and id = $2", bind![org, benchmark])?;
    release_slug(db, org, benchmark)
}

/// The slug and newest version of a benchmark of the organization, even if its draft was deleted.
pub fn published_reference(
    db: &mut Db<'_>,
    org: &OrgId,
    benchmark: &BenchmarkId,
) -> Result<Option<(String, i64)>, StoreError> {
    let sql =
        "select slug, newest_version from slugs where org_id = $1 and benchmark_id = $2 and newest_version is not null";
    db.query_one(sql, bind![org, benchmark])?.map(|mut row| Ok((row.text()?, row.integer()?))).transpose()
}

/// A benchmark that uses the environment, if any.
pub fn with_environment(
    db: &mut Db<'_>,
    org: &OrgId,
    environment: &EnvironmentId,
) -> Result<Option<BenchmarkId>, StoreError> {
    let sql = "select id from benchmarks where org_id = $1 and environment_id = $2 order by id limit 1";
    db.query_one(sql, bind![org, environment])?.map(|mut row| row.parsed()).transpose()
}

/// Assigns the slug to the benchmark. False if another organization or another benchmark has it. A slug that belonged to a
/// deleted benchmark of the organization can be reused.
pub fn claim_slug(
    db: &mut Db<'_>,
    org: &OrgId,
    benchmark: &BenchmarkId,
    slug: &str,
    visibility: Visibility,
) -> Result<bool, StoreError> {
    let sql = "insert into slugs (slug, org_id, benchmark_id, visibility) values ($1, $2, $3, $4)
        on conflict (slug) do update set benchmark_id = excluded.benchmark_id, visibility = excluded.visibility
        where slugs.org_id = excluded.org_id and (slugs.benchmark_id = excluded.benchmark_id
            or not exists (select 1 from benchmarks b where b.id = slugs.benchmark_id))";
    Ok(db.execute(sql, bind![slug, org, benchmark, visibility.name()])? > 0)
}

/// Releases a slug without published versions.
pub fn release_slug(db: &mut Db<'_>, org: &OrgId, benchmark: &BenchmarkId) -> Result<(), StoreError> {
    db.execute(
        "delete from slugs where org_id = $1 and benchmark_id = $2 and newest_version is null",
        bind![org, benchmark],
    )?;
    Ok(())
}

pub fn set_visibility(
    db: &mut Db<'_>,
    org: &OrgId,
    benchmark: &BenchmarkId,
    visibility: Visibility,
) -> Result<(), StoreError> {
    let sql = "update slugs set visibility = $3 where org_id = $1 and benchmark_id = $2";
    db.execute(sql, bind![org, benchmark, visibility.name()])?;
    Ok(())
}

fn read(row: &mut Row) -> Result<Benchmark, StoreError> {
    let mut benchmark = Benchmark {
        id: row.parsed()?,
        name: row.text()?,
        description: row.text_or_null()?,
        environment_id: row.parsed_or_null()?,
        timeout: row.integer()?,
        concurrency: row.integer()?,
        visibility: row.parsed()?,
        published: false,
        slug: row.text_or_null()?,
        version: row.integer_or_null()?,
        owned: row.flag()?,
        organization_id: row.parsed_or_null()?,
        created_at: row.time()?,
        updated_at: row.time()?,
    };
    benchmark.published = benchmark.version.is_some();
    Ok(benchmark)
}
