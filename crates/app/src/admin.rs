//! Operations of the operator. They need no grant, because the operator has access to the database anyway.

use model::identity::{CreatedApiKey, Organization};
use model::{FieldErrors, KeyId, OrgId};
use store::keys::{self, Owner};
use store::{Db, organizations};

use crate::{App, AppError, api_keys, sandboxes};

/// An organization with its first key.
#[derive(Debug, Clone, serde::Serialize)]
pub struct NewOrganization {
    pub organization: Organization,
    pub api_key: CreatedApiKey,
}

pub async fn create_organization(app: &App, name: &str) -> Result<NewOrganization, AppError> {
    let created = insert_organization(app, name, false).await?;
    created.ok_or_else(|| AppError::Internal("the organization was not created".into()))
}

/// Creates an organization if there is none. If several nodes start at once, only one of them creates it.
pub async fn create_first_organization(app: &App) -> Result<Option<NewOrganization>, AppError> {
    insert_organization(app, "Default organization", true).await
}

async fn insert_organization(app: &App, name: &str, only_first: bool) -> Result<Option<NewOrganization>, AppError> {
    let now = app.now();
    let organization = Organization { id: app.new_id(), name: name.to_owned(), created_at: now, updated_at: now };
    organization.validate()?;
    let owner = Owner { org: organization.id.clone(), solver: None };
    let (key, hash, secret) = api_keys::generate(app, &owner, "First key".into())?;
    let work = move |db: &mut Db<'_>| {
        if only_first && !organizations::all(db)?.is_empty() {
            return Ok(None);
        }
        organizations::insert(db, &organization)?;
        keys::insert(db, &owner, &key, &hash)?;
        let api_key = CreatedApiKey::new(key.clone(), secret.clone());
        Ok(Some(NewOrganization { organization: organization.clone(), api_key }))
    };
    app.store().write(work).await
}

pub async fn list_organizations(app: &App) -> Result<Vec<Organization>, AppError> {
    app.store().read(|db| Ok(organizations::all(db)?)).await
}

pub async fn create_key(app: &App, org: &OrgId, name: &str) -> Result<CreatedApiKey, AppError> {
    let mut errors = FieldErrors::new();
    errors.name("name", name);
    errors.into_result()?;
    let owner = Owner { org: org.clone(), solver: None };
    let (key, hash, secret) = api_keys::generate(app, &owner, name.to_owned())?;
    let work = move |db: &mut Db<'_>| {
        organizations::find(db, &owner.org)?.ok_or(AppError::missing::<OrgId>())?;
        keys::insert(db, &owner, &key, &hash)?;
        Ok(CreatedApiKey::new(key.clone(), secret.clone()))
    };
    app.store().write(work).await
}

/// The blobs that a record refers to.
type BlobsOfRow = fn(&str) -> Vec<String>;

/// Reads all stored data and describes what is damaged or missing.
pub async fn check(app: &App) -> Result<Vec<String>, AppError> {
    let mut problems = app.store().check().await?;
    let mut names = app.store().read(store::content::all_blobs).await?;
    let collections: [(&str, BlobsOfRow); 2] =
        [("files", sandboxes::files::blobs_of_row), ("faxes", sandboxes::fax::blobs_of_row)];
    for (collection, blobs_of_row) in collections {
        for row in app.store().read(move |db| store::content::all_rows(db, collection)).await? {
            match app.runtime().read_text(row).await {
                Ok(text) => names.extend(blobs_of_row(&text)),
                Err(error) => problems.push(format!("a row of {collection}: {error}")),
            }
        }
    }
    for name in names {
        if let Err(error) = app.blobs().get(&name).await {
            problems.push(format!("blob {name}: {error}"));
        }
    }
    Ok(problems)
}

/// Revokes any key, even the last one of an organization.
pub async fn revoke_key(app: &App, key: &KeyId) -> Result<(), AppError> {
    let (key, now) = (key.clone(), app.now());
    let revoked: Result<u64, AppError> = app.store().write(move |db| Ok(keys::revoke(db, &key, now)?)).await;
    app.inner.credentials.clear();
    if revoked? == 0 { Err(AppError::NotFound("active key")) } else { Ok(()) }
}
