//! Datasets: the initial data of sandboxes, in revisions.

pub mod data;
pub mod files;

use std::collections::BTreeMap;

use model::dataset::{Checkpoint, Dataset, DatasetPatch, DatasetType, Manifest, NewDataset};
use model::page::{Page, PageRequest};
use model::{DatasetId, FieldErrors, OrgId, Timestamp};
use store::{Db, datasets, simulators};

use crate::etag::IfMatch;
use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant, entities};

pub async fn create(
    app: &App,
    grant: &OrgGrant,
    once: Option<Once>,
    mut new: NewDataset,
) -> Result<Created<Dataset>, AppError> {
    let (id, kind) = (app.new_id(), new.chosen_type()?);
    let content = match new.take_data()? {
        Some(bundle) => Some(data::receive_inline(app, &bundle).await?),
        None => None,
    };
    let (org, now) = (grant.org.clone(), app.now());
    let work = move |db: &mut Db<'_>| {
        let parent = find_parent(db, &org, &new, kind)?;
        let (mut dataset, manifest) = begin(db, &id, (&new, kind), parent.as_ref(), now)?;
        dataset.validate()?;
        datasets::insert(db, &org, &dataset, &manifest)?;
        if let Some(parent) = &parent {
            datasets::copy_files(db, &parent.id, &dataset.id)?;
        }
        if dataset.revision > 0 && dataset.r#type == DatasetType::Fhir {
            datasets::keep_revision(db, &org, &dataset, &manifest, now)?;
        }
        if let Some(content) = &content {
            content.replace(db, &org, &mut dataset, now)?;
        }
        Ok(dataset)
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

/// Empty, or with the parent's current content.
fn begin(
    db: &mut Db<'_>,
    id: &DatasetId,
    (new, kind): (&NewDataset, Option<DatasetType>),
    parent: Option<&Dataset>,
    now: Timestamp,
) -> Result<(Dataset, Manifest), AppError> {
    let manifest = match parent {
        Some(parent) if parent.r#type == DatasetType::Fhir => datasets::manifest(db, parent)?,
        _ => Manifest::default(),
    };
    let empty = BTreeMap::new();
    let dataset = Dataset {
        id: id.clone(),
        name: new.name.clone(),
        description: new.description.clone(),
        r#type: kind.or(parent.map(|parent| parent.r#type)).unwrap_or(DatasetType::Fhir),
        parent_id: new.parent_id.clone(),
        revision: parent.map_or(0, |parent| i64::from(parent.revision > 0)),
        counts: parent.map_or(empty, |parent| parent.counts.clone()),
        bytes: parent.map_or(0, |parent| parent.bytes),
        created_at: now,
        updated_at: now,
    };
    Ok((dataset, manifest))
}

fn find_parent(
    db: &mut Db<'_>,
    org: &OrgId,
    new: &NewDataset,
    kind: Option<DatasetType>,
) -> Result<Option<Dataset>, AppError> {
    let Some(parent) = &new.parent_id else { return Ok(None) };
    let mut errors = FieldErrors::new();
    let found = datasets::find(db, org, parent)?;
    match &found {
        None => errors.no_such("parent_id", parent),
        Some(found) if kind.is_some_and(|kind| kind != found.r#type) => {
            errors.add("parent_id", format!("is a dataset of type {}", found.r#type.name()));
        }
        Some(_) => {}
    }
    errors.into_result()?;
    Ok(found)
}

pub async fn get(app: &App, grant: &OrgGrant, dataset: &DatasetId) -> Result<Dataset, AppError> {
    let (org, dataset) = (grant.org.clone(), dataset.clone());
    app.store().read(move |db| found(db, &org, &dataset)).await
}

pub async fn list(app: &App, grant: &OrgGrant, page: PageRequest) -> Result<Page<Dataset>, AppError> {
    let org = grant.org.clone();
    app.store().read(move |db| Ok(datasets::list(db, &org, &page)?)).await
}

pub async fn update(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    if_match: IfMatch,
    mut patch: DatasetPatch,
) -> Result<Dataset, AppError> {
    let content = match patch.data.take() {
        Some(bundle) => Some(data::receive_inline(app, &bundle).await?),
        None => None,
    };
    let (org, id, now) = (grant.org.clone(), dataset.clone(), app.now());
    let change = move |db: &mut Db<'_>| {
        let mut dataset = match &content {
            Some(_) => found_of_type(db, &org, &id, DatasetType::Fhir)?,
            None => found(db, &org, &id)?,
        };
        if_match.check(&dataset)?;
        patch.clone().apply(&mut dataset);
        dataset.validate()?;
        dataset.updated_at = now;
        datasets::update(db, &org, &dataset)?;
        if let Some(content) = &content {
            content.replace(db, &org, &mut dataset, now)?;
        }
        Ok(dataset)
    };
    app.store().write(change).await
}

/// Deletes the dataset with its entities. Stored revisions stay for the versions that use them.
pub async fn delete(app: &App, grant: &OrgGrant, dataset: &DatasetId, if_match: IfMatch) -> Result<(), AppError> {
    let (org, dataset) = (grant.org.clone(), dataset.clone());
    let change = move |db: &mut Db<'_>| {
        if_match.check(&found(db, &org, &dataset)?)?;
        if let Some(simulator) = simulators::with_dataset(db, &dataset)? {
            return Err(AppError::conflict(format!("simulator {simulator} starts from this dataset; detach it first")));
        }
        if let Some(child) = datasets::has_children(db, &org, &dataset)? {
            return Err(AppError::conflict(format!("dataset {child} was branched from this one; delete that first")));
        }
        entities::refuse_in_use(db, &dataset, None)?;
        Ok(datasets::delete(db, &org, &dataset)?)
    };
    app.store().write(change).await
}

pub async fn checkpoints(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    page: PageRequest,
) -> Result<Page<Checkpoint>, AppError> {
    let (org, dataset) = (grant.org.clone(), dataset.clone());
    let read = move |db: &mut Db<'_>| {
        found(db, &org, &dataset)?;
        Ok(datasets::checkpoints(db, &org, &dataset, &page)?)
    };
    app.store().read(read).await
}

fn found(db: &mut Db<'_>, org: &OrgId, dataset: &DatasetId) -> Result<Dataset, AppError> {
    datasets::find(db, org, dataset)?.ok_or(AppError::missing::<DatasetId>())
}

/// Fails if the dataset has another type.
fn found_of_type(db: &mut Db<'_>, org: &OrgId, dataset: &DatasetId, wanted: DatasetType) -> Result<Dataset, AppError> {
    let dataset = found(db, org, dataset)?;
    if dataset.r#type == wanted {
        return Ok(dataset);
    }
    let (kind, instead) = match dataset.r#type {
        DatasetType::Fhir => ("fhir", "its content is at `…/data`"),
        DatasetType::Files => ("files", "its content is at `…/files`"),
    };
    Err(AppError::conflict(format!("the dataset is of type {kind}: {instead}")))
}
