//! Stored responses to requests with an `Idempotency-Key`.

use model::Timestamp;

use crate::value::bind;
use crate::{Db, StoreError};

#[derive(Clone, Debug)]
pub struct StoredResponse {
    pub request_hash: String,
    pub response: String,
}

/// A response that was stored at or after `oldest`.
pub fn find(db: &mut Db<'_>, owner: &str, key: &str, oldest: Timestamp) -> Result<Option<StoredResponse>, StoreError> {
    let sql =
        "select request_hash, answer from idempotency where owner = $1 and idempotency_key = $2 and created_at >= $3";
    let row = db.query_one(sql, bind![owner, key, oldest])?;
    row.map(|mut row| Ok(StoredResponse { request_hash: row.text()?, response: row.text()? })).transpose()
}

/// Replaces an expired response with the same key.
pub fn insert(
    db: &mut Db<'_>,
    owner: &str,
    key: &str,
    stored: &StoredResponse,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql =
        "insert into idempotency (owner, idempotency_key, request_hash, answer, created_at) values ($1, $2, $3, $4, $5)
        on conflict (owner, idempotency_key) do update
        set request_hash = excluded.request_hash, answer = excluded.answer, created_at = excluded.created_at";
    db.execute(sql, bind![owner, key, &stored.request_hash, &stored.response, now])?;
    Ok(())
}

pub fn delete_before(db: &mut Db<'_>, oldest: Timestamp) -> Result<u64, StoreError> {
    db.execute("delete from idempotency where created_at < $1", bind![oldest])
}
