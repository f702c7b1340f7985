//! Keys of an organization and of its solvers. The secret of a key is only shown when it is created.

use model::api_key::KeyKind;
use model::identity::{ApiKey, CreatedApiKey, NewApiKey};
use model::page::{Page, PageRequest};
use model::{KeyId, SolverId};
use store::keys::{self, Owner};
use store::{Db, solvers};

use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant, credentials, random};

/// More keys are a mistake or an attack.
const MAX_ACTIVE_KEYS: i64 = 1000;

pub async fn create(
    app: &App,
    grant: &OrgGrant,
    solver: Option<&SolverId>,
    once: Option<Once>,
    new: NewApiKey,
) -> Result<Created<CreatedApiKey>, AppError> {
    new.validate()?;
    let owner = Owner { org: grant.org.clone(), solver: solver.cloned() };
    let (key, hash, secret) = generate(app, &owner, new.into_name())?;
    let work = move |db: &mut Db<'_>| {
        check_owner(db, &owner)?;
        if keys::count_active(db, &owner)? >= MAX_ACTIVE_KEYS {
            return Err(AppError::conflict(format!("there are {MAX_ACTIVE_KEYS} active keys; revoke one first")));
        }
        keys::insert(db, &owner, &key, &hash)?;
        Ok(CreatedApiKey::new(key.clone(), secret.clone()))
    };
    app.once(grant, once, ResponseStorage::Encrypted, work).await
}

/// A new key with the hash to store and the secret to show.
pub(crate) fn generate(app: &App, owner: &Owner, name: String) -> Result<(ApiKey, String, String), AppError> {
    let kind = if owner.solver.is_some() { KeyKind::Solver } else { KeyKind::Organization };
    let secret = random::secret(kind)?;
    let (prefix, suffix) = secret.shown();
    let now = app.now();
    let key = ApiKey {
        id: app.new_id(),
        name,
        prefix,
        suffix,
        created_at: now,
        created_at_alias: Some(now),
        last_used_at: None,
        revoked_at: None,
    };
    Ok((key, credentials::hash(&secret), secret.reveal().to_owned()))
}

pub async fn list(
    app: &App,
    grant: &OrgGrant,
    solver: Option<&SolverId>,
    page: PageRequest,
) -> Result<Page<ApiKey>, AppError> {
    let owner = Owner { org: grant.org.clone(), solver: solver.cloned() };
    let read = move |db: &mut Db<'_>| {
        check_owner(db, &owner)?;
        Ok(keys::list(db, &owner, &page)?)
    };
    app.store().read(read).await
}

/// Revoking it again changes nothing. An organization's last key cannot be revoked, because only a key can create another.
pub async fn revoke(app: &App, grant: &OrgGrant, solver: Option<&SolverId>, key: &KeyId) -> Result<(), AppError> {
    let owner = Owner { org: grant.org.clone(), solver: solver.cloned() };
    let (key, now) = (key.clone(), app.now());
    let change = move |db: &mut Db<'_>| {
        let found = keys::find(db, &owner, &key)?.ok_or(AppError::missing::<KeyId>())?;
        let is_last = owner.solver.is_none() && found.revoked_at.is_none() && keys::count_active(db, &owner)? <= 1;
        if is_last {
            return Err(AppError::conflict("this is the organization's last active key; create another one first"));
        }
        keys::revoke(db, &key, now)?;
        Ok(())
    };
    app.store().write(change).await?;
    app.inner.credentials.clear();
    Ok(())
}

fn check_owner(db: &mut Db<'_>, owner: &Owner) -> Result<(), AppError> {
    match &owner.solver {
        Some(solver) if solvers::find(db, &owner.org, solver)?.is_none() => Err(AppError::missing::<SolverId>()),
        _ => Ok(()),
    }
}
