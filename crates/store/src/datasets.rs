//! Datasets, their current content and their stored revisions.

use std::collections::BTreeMap;

use model::dataset::{Checkpoint, Dataset, DatasetFile, DatasetType, FileContent, Manifest};
use model::page::{Page, PageRequest};
use model::{DatasetId, OrgId, Timestamp, canonical};

use crate::paging::{Order, Paged};
use crate::value::{Row, bind, json_text, rows};
use crate::{Db, StoreError};

rows! {
    SELECT from "datasets where org_id = $1", read: Dataset {
        id: Row::parsed = "id",
        name: Row::text = "name",
        description: Row::text_or_null = "description",
        r#type: Row::parsed = "type",
        parent_id: Row::parsed_or_null = "parent_id",
        revision: Row::integer = "revision",
        counts: Row::json = "counts",
        bytes: Row::size = "bytes",
        created_at: Row::time = "created_at",
        updated_at: Row::time = "updated_at",
    }
}

pub fn insert(db: &mut Db<'_>, org: &OrgId, dataset: &Dataset, manifest: &Manifest) -> Result<(), StoreError> {
    let sql = "insert into datasets (id, org_id, name, description, type, parent_id, revision, counts, bytes, manifest, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    db.execute(
        sql,
        bind![
            &dataset.id,
            org,
            &dataset.name,
            &dataset.description,
            dataset.r#type.name(),
            dataset.parent_id.as_ref(),
            dataset.revision,
            json_text(&dataset.counts)?,
            dataset.bytes,
            json_text(manifest)?,
            dataset.created_at,
            dataset.updated_at
        ],
    )?;
    Ok(())
}

pub fn find(db: &mut Db<'_>, org: &OrgId, dataset: &DatasetId) -> Result<Option<Dataset>, StoreError> {
    db.query_one(&format!("{SELECT} and id = $2"), bind![org, dataset])?.map(|mut row| read(&mut row)).transpose()
}

pub fn list(db: &mut Db<'_>, org: &OrgId, page: &PageRequest) -> Result<Page<Dataset>, StoreError> {
    let paged = Paged { select: SELECT, key: "id", order: Order::NewestFirst };
    paged.fetch(db, bind![org].to_vec(), page, read, |dataset| dataset.id.to_string())
}

pub fn update(db: &mut Db<'_>, org: &OrgId, dataset: &Dataset) -> Result<(), StoreError> {
    let sql = "update datasets set name = $3, description = $4, revision = $5, counts = $6, bytes = $7, updated_at = $8
        where org_id = $1 and id = $2";
    db.execute(
        sql,
        bind![
            org,
            &dataset.id,
            &dataset.name,
            &dataset.description,
            dataset.revision,
            json_text(&dataset.counts)?,
            dataset.bytes,
            dataset.updated_at
        ],
    )?;
    Ok(())
}

/// Stored revisions stay, because published versions use them.
pub fn delete(db: &mut Db<'_>, org: &OrgId, dataset: &DatasetId) -> Result<(), StoreError> {
    db.execute("delete from dataset_files where dataset_id = $1", bind![dataset])?;
    db.execute("delete from dataset_entities where dataset_id = $1", bind![dataset])?;
    db.execute("delete from datasets where org_id = $1 and id = $2", bind![org, dataset])?;
    Ok(())
}

pub fn set_manifest(db: &mut Db<'_>, dataset: &DatasetId, manifest: &Manifest) -> Result<(), StoreError> {
    db.execute("update datasets set manifest = $2 where id = $1", bind![dataset, json_text(manifest)?])?;
    Ok(())
}

/// The manifest of the current revision.
pub fn manifest(db: &mut Db<'_>, dataset: &Dataset) -> Result<Manifest, StoreError> {
    match dataset.r#type {
        DatasetType::Fhir => {
            let row = db.query_one("select manifest from datasets where id = $1", bind![&dataset.id])?;
            row.map_or(Ok(Manifest::default()), |mut row| row.json())
        }
        DatasetType::Files => Ok(Manifest { chunks: Vec::new(), files: file_contents(db, &dataset.id)? }),
    }
}

/// Stores the current revision permanently. Storing it again changes nothing.
pub fn keep_revision(
    db: &mut Db<'_>,
    org: &OrgId,
    dataset: &Dataset,
    manifest: &Manifest,
    now: Timestamp,
) -> Result<(), StoreError> {
    let text = json_text(manifest)?;
    let hash = canonical::sha256_hex(text.as_bytes());
    let sql =
        "insert into checkpoints (dataset_id, revision, org_id, content_hash, manifest, counts, bytes, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (dataset_id, revision) do nothing";
    db.execute(
        sql,
        bind![&dataset.id, dataset.revision, org, hash, text, json_text(&dataset.counts)?, dataset.bytes, now],
    )?;
    Ok(())
}

/// Newest first.
pub fn checkpoints(
    db: &mut Db<'_>,
    org: &OrgId,
    dataset: &DatasetId,
    page: &PageRequest,
) -> Result<Page<Checkpoint>, StoreError> {
    let sql = "select revision, content_hash, counts, bytes, created_at from checkpoints where org_id = $1 and dataset_id = $2";
    let paged = Paged { select: sql, key: "revision", order: Order::HighestFirst };
    let read = |row: &mut Row| {
        Ok(Checkpoint {
            revision: row.integer()?,
            content_hash: row.text()?,
            counts: row.json()?,
            bytes: row.size()?,
            created_at: row.time()?,
        })
    };
    paged.fetch(db, bind![org, dataset].to_vec(), page, read, |checkpoint| checkpoint.revision.to_string())
}

pub fn has_children(db: &mut Db<'_>, org: &OrgId, dataset: &DatasetId) -> Result<Option<DatasetId>, StoreError> {
    let sql = "select id from datasets where org_id = $1 and parent_id = $2 order by id limit 1";
    db.query_one(sql, bind![org, dataset])?.map(|mut row| row.parsed()).transpose()
}

pub fn put_file(db: &mut Db<'_>, dataset: &DatasetId, file: &DatasetFile) -> Result<(), StoreError> {
    let sql = "insert into dataset_files (dataset_id, path, sha256, size, content_type, modified_at) values ($1, $2, $3, $4, $5, $6)
        on conflict (dataset_id, path) do update
        set sha256 = excluded.sha256, size = excluded.size, content_type = excluded.content_type, modified_at = excluded.modified_at";
    db.execute(sql, bind![dataset, &file.path, &file.sha256, file.size, &file.content_type, file.modified_at])?;
    Ok(())
}

/// A branch starts with the files of its parent.
pub fn copy_files(db: &mut Db<'_>, from: &DatasetId, to: &DatasetId) -> Result<(), StoreError> {
    let sql = "insert into dataset_files (dataset_id, path, sha256, size, content_type, modified_at)
        select $2, path, sha256, size, content_type, modified_at from dataset_files where dataset_id = $1";
    db.execute(sql, bind![from, to])?;
    Ok(())
}

pub fn delete_file(db: &mut Db<'_>, dataset: &DatasetId, path: &str) -> Result<(), StoreError> {
    db.execute("delete from dataset_files where dataset_id = $1 and path = $2", bind![dataset, path])?;
    Ok(())
}

rows! {
    SELECT_FILES from "dataset_files where dataset_id = $1", read_file: DatasetFile {
        path: Row::text = "path",
        size: Row::size = "size",
        content_type: Row::text = "content_type",
        sha256: Row::text = "sha256",
        modified_at: Row::time = "modified_at",
    }
}

pub fn find_file(db: &mut Db<'_>, dataset: &DatasetId, path: &str) -> Result<Option<DatasetFile>, StoreError> {
    db.query_one(&format!("{SELECT_FILES} and path = $2"), bind![dataset, path])?
        .map(|mut row| read_file(&mut row))
        .transpose()
}

/// By path.
pub fn list_files(db: &mut Db<'_>, dataset: &DatasetId, page: &PageRequest) -> Result<Page<DatasetFile>, StoreError> {
    let paged = Paged { select: SELECT_FILES, key: "path", order: Order::Ascending };
    paged.fetch(db, bind![dataset].to_vec(), page, read_file, |file| file.path.clone())
}

/// A file whose path is a folder of `path`, or the other way round.
pub fn conflicting_path(db: &mut Db<'_>, dataset: &DatasetId, path: &str) -> Result<Option<String>, StoreError> {
    for (end, _) in path.match_indices('/') {
        if let Some(file) = find_file(db, dataset, &path[..end])? {
            return Ok(Some(file.path));
        }
    }
    // Everything that starts with `path/`: `0` is the character after `/`.
    let sql = "select path from dataset_files where dataset_id = $1 and path > $2 and path < $3 order by path limit 1";
    let below = db.query_one(sql, bind![dataset, format!("{path}/"), format!("{path}0")])?;
    below.map(|mut row| row.text()).transpose()
}

/// Number and bytes of all files.
pub fn measure_files(db: &mut Db<'_>, dataset: &DatasetId) -> Result<(u64, u64), StoreError> {
    let sql = "select count(*), cast(coalesce(sum(size), 0) as bigint) from dataset_files where dataset_id = $1";
    db.query_one(sql, bind![dataset])?.map_or(Ok((0, 0)), |mut row| Ok((row.size()?, row.size()?)))
}

fn file_contents(db: &mut Db<'_>, dataset: &DatasetId) -> Result<BTreeMap<String, FileContent>, StoreError> {
    let rows = db.query(&format!("{SELECT_FILES} order by path"), bind![dataset])?;
    let files = rows.into_iter().map(|mut row| read_file(&mut row));
    files
        .map(|file| {
            let DatasetFile { path, size, content_type, sha256, .. } = file?;
            Ok((path, FileContent { sha256, size, content_type }))
        })
        .collect()
}
