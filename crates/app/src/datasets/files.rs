//! File content of a dataset: a tree of paths to blobs.

use std::collections::BTreeMap;

use bytes::Bytes;
use model::dataset::{Dataset, DatasetFile, DatasetType, FILE_PATH_RULE, is_file_path};
use model::page::{Page, PageRequest};
use model::{DatasetId, FieldErrors, OrgId, Timestamp};
use store::{Db, datasets};

use super::found_of_type;
use crate::etag::IfMatch;
use crate::{App, AppError, OrgGrant};

const MAX_FILES: u64 = 100_000;

/// Replaces or adds one file atomically.
pub async fn put(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    path: &str,
    if_match: IfMatch,
    content_type: &str,
    content: Bytes,
) -> Result<DatasetFile, AppError> {
    check_path(path)?;
    let (org, id) = (grant.org.clone(), dataset.clone());
    app.store().read(move |db| found_of_type(db, &org, &id, DatasetType::Files)).await?;
    let size = content.len() as u64;
    let sha256 = app.blobs().put(content).await?;
    let now = app.now();
    let file =
        DatasetFile { path: path.to_owned(), size, content_type: content_type.to_owned(), sha256, modified_at: now };
    let (org, id) = (grant.org.clone(), dataset.clone());
    let change = move |db: &mut Db<'_>| {
        let dataset = found_of_type(db, &org, &id, DatasetType::Files)?;
        let current = datasets::find_file(db, &id, &file.path)?;
        if_match.check_tag(current.as_ref().map(tag).as_deref())?;
        if let Some(current) =
            current.filter(|current| current.sha256 == file.sha256 && current.content_type == file.content_type)
        {
            return Ok(current);
        }
        if let Some(other) = datasets::conflicting_path(db, &id, &file.path)? {
            return Err(AppError::conflict(format!(
                "`{other}` is in the way: a file and a folder cannot have one path"
            )));
        }
        datasets::put_file(db, &id, &file)?;
        note_change(db, &org, dataset, now)?;
        Ok(file.clone())
    };
    app.store().write(change).await
}

pub async fn delete(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    path: &str,
    if_match: IfMatch,
) -> Result<(), AppError> {
    find_path(path)?;
    let (org, id, path, now) = (grant.org.clone(), dataset.clone(), path.to_owned(), app.now());
    let change = move |db: &mut Db<'_>| {
        let dataset = found_of_type(db, &org, &id, DatasetType::Files)?;
        let file = datasets::find_file(db, &id, &path)?.ok_or(AppError::NotFound("file"))?;
        if_match.check_tag(Some(&tag(&file)))?;
        datasets::delete_file(db, &id, &path)?;
        note_change(db, &org, dataset, now)
    };
    app.store().write(change).await
}

/// The file and its bytes.
pub async fn get(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    path: &str,
) -> Result<(DatasetFile, Bytes), AppError> {
    find_path(path)?;
    let (org, id, path) = (grant.org.clone(), dataset.clone(), path.to_owned());
    let read = move |db: &mut Db<'_>| {
        found_of_type(db, &org, &id, DatasetType::Files)?;
        datasets::find_file(db, &id, &path)?.ok_or(AppError::NotFound("file"))
    };
    let file = app.store().read(read).await?;
    let content = app.blobs().get(&file.sha256).await?;
    Ok((file, content))
}

/// By path.
pub async fn list(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    page: PageRequest,
) -> Result<Page<DatasetFile>, AppError> {
    let (org, id) = (grant.org.clone(), dataset.clone());
    let read = move |db: &mut Db<'_>| {
        found_of_type(db, &org, &id, DatasetType::Files)?;
        Ok(datasets::list_files(db, &id, &page)?)
    };
    app.store().read(read).await
}

/// The entity tag of a file is the hash of its bytes.
pub fn tag(file: &DatasetFile) -> String {
    format!("\"{}\"", file.sha256)
}

fn note_change(db: &mut Db<'_>, org: &OrgId, mut dataset: Dataset, now: Timestamp) -> Result<(), AppError> {
    let (files, bytes) = datasets::measure_files(db, &dataset.id)?;
    if files > MAX_FILES {
        return Err(AppError::conflict(format!("a dataset has at most {MAX_FILES} files")));
    }
    dataset.revision += 1;
    dataset.counts = BTreeMap::from([("files".to_owned(), files)]);
    dataset.bytes = bytes;
    dataset.updated_at = now;
    Ok(datasets::update(db, org, &dataset)?)
}

/// An invalid path is reported as missing without a query, because the databases treat such texts differently.
fn find_path(path: &str) -> Result<(), AppError> {
    if is_file_path(path) { Ok(()) } else { Err(AppError::NotFound("file")) }
}

fn check_path(path: &str) -> Result<(), FieldErrors> {
    if is_file_path(path) { Ok(()) } else { Err(FieldErrors::one("path", FILE_PATH_RULE)) }
}
