//! Organization keys and solver keys. Only hashes of secrets are stored.

use model::api_key::KeyKind;
use model::identity::ApiKey;
use model::page::{Page, PageRequest};
use model::{KeyId, OrgId, SolverId, Timestamp};

use crate::paging::{Order, Paged};
use crate::value::{Row, Value, bind};
use crate::{Db, StoreError};

const COLUMNS: &str = "id, name, prefix, suffix, created_at, last_used_at, revoked_at";

/// The owner of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub org: OrgId,
    pub solver: Option<SolverId>,
}

/// The key of a presented secret.
#[derive(Clone, Debug)]
pub struct Credential {
    pub key: KeyId,
    pub owner: Owner,
    pub hash: String,
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

pub fn insert(db: &mut Db<'_>, owner: &Owner, key: &ApiKey, hash: &str) -> Result<(), StoreError> {
    let sql = "insert into keys (id, org_id, solver_id, name, prefix, suffix, hash, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8)";
    db.execute(
        sql,
        bind![&key.id, &owner.org, owner.solver.as_ref(), &key.name, &key.prefix, &key.suffix, hash, key.created_at],
    )?;
    Ok(())
}

pub fn find_by_hash(db: &mut Db<'_>, hash: &str) -> Result<Option<Credential>, StoreError> {
    let sql = "select id, org_id, solver_id, hash, last_used_at, revoked_at from keys where hash = $1";
    let read = |row: &mut Row| -> Result<Credential, StoreError> {
        Ok(Credential {
            key: row.parsed()?,
            owner: Owner { org: row.parsed()?, solver: row.parsed_or_null()? },
            hash: row.text()?,
            last_used_at: row.time_or_null()?,
            revoked_at: row.time_or_null()?,
        })
    };
    db.query_one(sql, bind![hash])?.as_mut().map(read).transpose()
}

pub fn list(db: &mut Db<'_>, owner: &Owner, page: &PageRequest) -> Result<Page<ApiKey>, StoreError> {
    let (whose, parameters) = scope(owner);
    let select = format!("select {COLUMNS} from keys where {whose}");
    let paged = Paged { select: &select, key: "id", order: Order::NewestFirst };
    paged.fetch(db, parameters, page, read, |key| key.id.to_string())
}

pub fn find(db: &mut Db<'_>, owner: &Owner, key: &KeyId) -> Result<Option<ApiKey>, StoreError> {
    let (whose, mut parameters) = scope(owner);
    parameters.push(Value::from(key.to_string()));
    let sql = format!("select {COLUMNS} from keys where {whose} and id = ${}", parameters.len());
    db.query_one(&sql, &parameters)?.map(|mut row| read(&mut row)).transpose()
}

/// The number of keys of the owner that are not revoked.
pub fn count_active(db: &mut Db<'_>, owner: &Owner) -> Result<i64, StoreError> {
    let (whose, parameters) = scope(owner);
    let sql = format!("select count(*) from keys where {whose} and revoked_at is null");
    db.query_one(&sql, &parameters)?.map_or(Ok(0), |mut row| row.integer())
}

/// Revoking it again changes nothing.
pub fn revoke(db: &mut Db<'_>, key: &KeyId, now: Timestamp) -> Result<u64, StoreError> {
    db.execute("update keys set revoked_at = $2 where id = $1 and revoked_at is null", bind![key, now])
}

/// Deletes all keys of a solver and returns their ids.
pub fn revoke_of_solver(db: &mut Db<'_>, org: &OrgId, solver: &SolverId, now: Timestamp) -> Result<(), StoreError> {
    let sql = "update keys set revoked_at = $3 where org_id = $1 and solver_id = $2 and revoked_at is null";
    db.execute(sql, bind![org, solver, now])?;
    Ok(())
}

pub fn touch(db: &mut Db<'_>, key: &KeyId, now: Timestamp) -> Result<(), StoreError> {
    db.execute("update keys set last_used_at = $2 where id = $1", bind![key, now])?;
    Ok(())
}

fn scope(owner: &Owner) -> (&'static str, Vec<Value<'_>>) {
    match &owner.solver {
        None => ("org_id = $1 and solver_id is null", bind![&owner.org].to_vec()),
        Some(solver) => ("org_id = $1 and solver_id = $2", bind![&owner.org, solver].to_vec()),
    }
}

fn read(row: &mut Row) -> Result<ApiKey, StoreError> {
    let (id, name, shown_prefix, suffix) = (row.parsed()?, row.text()?, row.text()?, row.text()?);
    let created_at = row.time()?;
    Ok(ApiKey {
        id,
        name,
        prefix: kind_prefix(shown_prefix),
        suffix,
        created_at,
        created_at_alias: Some(created_at),
        last_used_at: row.time_or_null()?,
        revoked_at: row.time_or_null()?,
    })
}

/// Keys created by older versions of the server are stored with four more characters.
fn kind_prefix(shown: String) -> String {
    let kind = KeyKind::ALL.into_iter().find(|kind| shown.starts_with(kind.prefix()));
    kind.map_or(shown, |kind| kind.prefix().to_owned())
}
