//! The caller's own organization.

use model::identity::{Organization, OrganizationPatch};
use store::organizations;

use crate::etag::IfMatch;
use crate::{App, AppError, OrgGrant};

pub async fn get(app: &App, grant: &OrgGrant) -> Result<Organization, AppError> {
    let org = grant.org.clone();
    app.store().read(move |db| organizations::find(db, &org)?.ok_or(AppError::missing::<model::OrgId>())).await
}

pub async fn update(
    app: &App,
    grant: &OrgGrant,
    if_match: IfMatch,
    patch: OrganizationPatch,
) -> Result<Organization, AppError> {
    let (org, now) = (grant.org.clone(), app.now());
    let change = move |db: &mut store::Db<'_>| {
        let mut organization = organizations::find(db, &org)?.ok_or(AppError::missing::<model::OrgId>())?;
        if_match.check(&organization)?;
        patch.clone().apply(&mut organization);
        organization.validate()?;
        organization.updated_at = now;
        organizations::update(db, &organization)?;
        Ok(organization)
    };
    app.store().write(change).await
}
