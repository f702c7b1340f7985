//! Published versions. Rows are never updated; audit results are stored separately.

use model::audit::VersionAudit;
use model::benchmark::Visibility;
use model::page::{Page, PageRequest};
use model::publication::Snapshot;
use model::slug::VersionRef;
use model::{BenchmarkId, OrgId, Timestamp};

use crate::paging::{Order, Paged};
use crate::value::{Row, bind, json_text, rows};
use crate::{Db, StoreError};

/// A version with its frozen content.
#[derive(Clone, Debug)]
pub struct StoredVersion {
    pub reference: VersionRef,
    pub org: OrgId,
    pub benchmark: BenchmarkId,
    pub visibility: Visibility,
    pub content_hash: String,
    pub snapshot: Snapshot,
    pub published_at: Timestamp,
    pub audit: Option<VersionAudit>,
}

rows! {
    SELECT from "benchmark_versions v join slugs s on s.slug = v.slug
        left join version_audits a on a.slug = v.slug and a.version = v.version",
    read: StoredVersion {
        reference: read_reference = "v.slug, v.version",
        org: Row::parsed = "v.org_id",
        benchmark: Row::parsed = "v.benchmark_id",
        visibility: Row::parsed = "s.visibility",
        content_hash: Row::text = "v.content_hash",
        snapshot: Row::json = "v.snapshot",
        published_at: Row::time = "v.published_at",
        audit: Row::json_or_null = "a.audit",
    }
}

/// The newest version's number and, if the content was published before, the number of that version.
pub fn newest_and_equal(db: &mut Db<'_>, slug: &str, content_hash: &str) -> Result<(i64, Option<i64>), StoreError> {
    let newest = db.query_one("select coalesce(newest_version, 0) from slugs where slug = $1", bind![slug])?;
    let newest = newest.map_or(Ok(0), |mut row| row.integer())?;
    let sql = "select version from benchmark_versions where slug = $1 and content_hash = $2";
    let equal = db.query_one(sql, bind![slug, content_hash])?.map(|mut row| row.integer()).transpose()?;
    Ok((newest, equal))
}

pub fn insert(db: &mut Db<'_>, version: &StoredVersion) -> Result<(), StoreError> {
    let StoredVersion { reference: VersionRef { slug, version: number }, org, benchmark, snapshot, .. } = version;
    let sql = "insert into benchmark_versions
        (slug, version, org_id, benchmark_id, name, description, timeout, concurrency, content_hash, snapshot, published_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    db.execute(
        sql,
        bind![
            slug,
            *number,
            org,
            benchmark,
            &snapshot.name,
            &snapshot.description,
            snapshot.timeout,
            snapshot.concurrency,
            &version.content_hash,
            json_text(snapshot)?,
            version.published_at
        ],
    )?;
    db.execute("update slugs set newest_version = $2 where slug = $1", bind![slug, *number])?;
    Ok(())
}

/// A version that the organization can run: its own or a public one.
pub fn find_visible(db: &mut Db<'_>, org: &OrgId, reference: &VersionRef) -> Result<Option<StoredVersion>, StoreError> {
    let sql = format!("{SELECT} where v.slug = $1 and v.version = $2 and (v.org_id = $3 or s.visibility = 'Public')");
    db.query_one(&sql, bind![&reference.slug, reference.version, org])?.map(|mut row| read(&mut row)).transpose()
}

/// A version that the organization has published.
pub fn find_own(db: &mut Db<'_>, org: &OrgId, reference: &VersionRef) -> Result<Option<StoredVersion>, StoreError> {
    let sql = format!("{SELECT} where v.slug = $1 and v.version = $2 and v.org_id = $3");
    db.query_one(&sql, bind![&reference.slug, reference.version, org])?.map(|mut row| read(&mut row)).transpose()
}

/// The visibility of a version that the organization has published, and its content hash.
pub fn own_heading(
    db: &mut Db<'_>,
    org: &OrgId,
    reference: &VersionRef,
) -> Result<Option<(Visibility, String)>, StoreError> {
    let sql = "select s.visibility, v.content_hash from benchmark_versions v join slugs s on s.slug = v.slug
        where v.slug = $1 and v.version = $2 and v.org_id = $3";
    let found = db.query_one(sql, bind![&reference.slug, reference.version, org])?;
    found.map(|mut row| Ok((row.parsed()?, row.text()?))).transpose()
}

/// Not scoped by organization: the caller has found the version under its own organization.
pub fn record_audit(db: &mut Db<'_>, reference: &VersionRef, audit: &VersionAudit) -> Result<(), StoreError> {
    let sql = "insert into version_audits (slug, version, audit) values ($1, $2, $3)
        on conflict (slug, version) do update set audit = excluded.audit";
    db.execute(sql, bind![&reference.slug, reference.version, json_text(audit)?])?;
    Ok(())
}

/// A version without its content.
#[derive(Clone, Debug)]
pub struct Heading {
    pub benchmark: BenchmarkId,
    pub name: String,
    pub content_hash: String,
    pub audit: Option<VersionAudit>,
}

/// A version that the reader can see.
pub fn find_heading(
    db: &mut Db<'_>,
    org: Option<&OrgId>,
    reference: &VersionRef,
) -> Result<Option<Heading>, StoreError> {
    let sql = "select v.benchmark_id, v.name, v.content_hash, a.audit
        from benchmark_versions v join slugs s on s.slug = v.slug
        left join version_audits a on a.slug = v.slug and a.version = v.version
        where v.slug = $1 and v.version = $2 and (v.org_id = $3 or s.visibility = 'Public')";
    let found = db.query_one(sql, bind![&reference.slug, reference.version, org])?;
    let read = |mut row: Row| {
        let (benchmark, name, content_hash) = (row.parsed()?, row.text()?, row.text()?);
        Ok(Heading { benchmark, name, content_hash, audit: row.json_or_null()? })
    };
    found.map(read).transpose()
}

/// The versions of a benchmark that the organization can run, newest first.
pub fn list_visible(
    db: &mut Db<'_>,
    org: &OrgId,
    benchmark: &BenchmarkId,
    page: &PageRequest,
) -> Result<Page<StoredVersion>, StoreError> {
    let select = format!("{SELECT} where s.benchmark_id = $1 and (v.org_id = $2 or s.visibility = 'Public')");
    let paged = Paged { select: &select, key: "v.version", order: Order::HighestFirst };
    paged.fetch(db, bind![benchmark, org].to_vec(), page, read, |version| version.reference.version.to_string())
}

/// The newest version of a slug that the organization can run.
pub fn newest_visible(db: &mut Db<'_>, org: &OrgId, slug: &str) -> Result<Option<i64>, StoreError> {
    let sql = "select newest_version from slugs where slug = $1 and newest_version is not null and (org_id = $2 or visibility = 'Public')";
    db.query_one(sql, bind![slug, org])?.map(|mut row| row.integer()).transpose()
}

fn read_reference(row: &mut Row) -> Result<VersionRef, StoreError> {
    Ok(VersionRef { slug: row.text()?, version: row.integer()? })
}
