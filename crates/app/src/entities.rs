//! Dataset entities: the named rows that tasks and criteria bind to.

use model::dataset::{
    Dataset, DatasetEntity, DatasetEntityPatch, DatasetType, FILE_PATH_RULE, NewDatasetEntity, is_file_path,
};
use model::page::{Page, PageRequest};
use model::{DatasetId, EntityId, FieldErrors, OrgId};
use store::{Constraint, Db, StoreError, datasets, entities};

use crate::etag::IfMatch;
use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant};

pub async fn create(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    once: Option<Once>,
    new: NewDatasetEntity,
) -> Result<Created<DatasetEntity>, AppError> {
    let entity = new.into_entity(app.new_id(), dataset.clone(), app.now());
    let org = grant.org.clone();
    let work = move |db: &mut Db<'_>| {
        let dataset = found_dataset(db, &org, &entity.dataset_id)?;
        validate(&entity, &dataset)?;
        entities::insert(db, &org, &entity).map_err(|error| name_taken(error, &entity.name))?;
        Ok(entity.clone())
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

pub async fn get(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    entity: &EntityId,
) -> Result<DatasetEntity, AppError> {
    let (org, dataset, entity) = (grant.org.clone(), dataset.clone(), entity.clone());
    app.store().read(move |db| found(db, &org, &dataset, &entity)).await
}

pub async fn list(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    page: PageRequest,
) -> Result<Page<DatasetEntity>, AppError> {
    let (org, dataset) = (grant.org.clone(), dataset.clone());
    let read = move |db: &mut Db<'_>| {
        found_dataset(db, &org, &dataset)?;
        Ok(entities::list(db, &org, &dataset, &page)?)
    };
    app.store().read(read).await
}

pub async fn update(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    entity: &EntityId,
    if_match: IfMatch,
    patch: DatasetEntityPatch,
) -> Result<DatasetEntity, AppError> {
    let (org, dataset, entity, now) = (grant.org.clone(), dataset.clone(), entity.clone(), app.now());
    let change = move |db: &mut Db<'_>| {
        let mut entity = found(db, &org, &dataset, &entity)?;
        if_match.check(&entity)?;
        patch.clone().apply(&mut entity);
        validate(&entity, &found_dataset(db, &org, &dataset)?)?;
        entity.updated_at = now;
        entities::update(db, &org, &entity).map_err(|error| name_taken(error, &entity.name))?;
        Ok(entity)
    };
    app.store().write(change).await
}

pub async fn delete(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    entity: &EntityId,
    if_match: IfMatch,
) -> Result<(), AppError> {
    let (org, dataset, entity) = (grant.org.clone(), dataset.clone(), entity.clone());
    let change = move |db: &mut Db<'_>| {
        if_match.check(&found(db, &org, &dataset, &entity)?)?;
        refuse_in_use(db, &dataset, Some(&entity))?;
        Ok(entities::delete(db, &org, &entity)?)
    };
    app.store().write(change).await
}

/// An entity that a task or a criterion uses cannot be deleted.
pub(crate) fn refuse_in_use(db: &mut Db<'_>, dataset: &DatasetId, entity: Option<&EntityId>) -> Result<(), AppError> {
    if let Some(task) = entities::used_by_task(db, dataset, entity)? {
        return Err(AppError::conflict(format!("task {task} is bound to it; unbind it first")));
    }
    if let Some(criterion) = entities::used_by_criterion(db, dataset, entity)? {
        return Err(AppError::conflict(format!("criterion {criterion} reads it; change that first")));
    }
    Ok(())
}

fn validate(entity: &DatasetEntity, dataset: &Dataset) -> Result<(), FieldErrors> {
    let mut errors = entity.validate().err().unwrap_or_default();
    match (&entity.r#ref, dataset.r#type) {
        (Some(reference), DatasetType::Fhir) if fhir::ResourceReference::parse_relative(reference).is_err() => {
            errors.add("ref", "must be `Type/id` with a FHIR R4 resource type, such as `Patient/123`");
        }
        (Some(path), DatasetType::Files) if !is_file_path(path) => errors.add("ref", FILE_PATH_RULE),
        _ => {}
    }
    errors.into_result()
}

fn name_taken(error: StoreError, name: &str) -> AppError {
    match error {
        StoreError::Unique(Constraint::EntityName) => {
            AppError::conflict(format!("the dataset has an entity called `{name}` already"))
        }
        other => other.into(),
    }
}

fn found(db: &mut Db<'_>, org: &OrgId, dataset: &DatasetId, entity: &EntityId) -> Result<DatasetEntity, AppError> {
    let found = entities::find(db, org, entity)?.filter(|found| found.dataset_id == *dataset);
    found.ok_or(AppError::missing::<EntityId>())
}

fn found_dataset(db: &mut Db<'_>, org: &OrgId, dataset: &DatasetId) -> Result<Dataset, AppError> {
    datasets::find(db, org, dataset)?.ok_or(AppError::missing::<DatasetId>())
}
