//! Organizations: the tenants.

use model::OrgId;
use model::identity::Organization;

use crate::value::{Row, bind, rows};
use crate::{Db, StoreError};

rows! {
    COLUMNS, read: Organization {
        id: Row::parsed = "id",
        name: Row::text = "name",
        created_at: Row::time = "created_at",
        updated_at: Row::time = "updated_at",
    }
}

pub fn insert(db: &mut Db<'_>, organization: &Organization) -> Result<(), StoreError> {
    let Organization { id, name, created_at, updated_at } = organization;
    let sql = "insert into organizations (id, name, created_at, updated_at) values ($1, $2, $3, $4)";
    db.execute(sql, bind![id, name, *created_at, *updated_at])?;
    Ok(())
}

pub fn find(db: &mut Db<'_>, org: &OrgId) -> Result<Option<Organization>, StoreError> {
    let sql = format!("select {COLUMNS} from organizations where id = $1");
    db.query_one(&sql, bind![org])?.map(|mut row| read(&mut row)).transpose()
}

/// All tenants, oldest first. Only for the operator.
pub fn all(db: &mut Db<'_>) -> Result<Vec<Organization>, StoreError> {
    let sql = format!("select {COLUMNS} from organizations order by id");
    db.query(&sql, &[])?.iter_mut().map(read).collect()
}

pub fn update(db: &mut Db<'_>, organization: &Organization) -> Result<(), StoreError> {
    let sql = "update organizations set name = $2, updated_at = $3 where id = $1";
    db.execute(sql, bind![&organization.id, &organization.name, organization.updated_at])?;
    Ok(())
}
