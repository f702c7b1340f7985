//! Answers kept for requests that carried an `Idempotency-Key`.

use model::Timestamp;

use crate::value::bind;
use crate::{Db, StoreError};

#[derive(Clone, Debug)]
pub struct Kept {
    pub request_hash: String,
    pub answer: String,
}

/// An answer kept since `oldest`.
pub fn find(db: &mut Db<'_>, owner: &str, key: &str, oldest: Timestamp) -> Result<Option<Kept>, StoreError> {
    let sql =
        "select request_hash, answer from idempotency where owner = $1 and idempotency_key = $2 and created_at >= $3";
    let row = db.query_one(sql, bind![owner, key, oldest])?;
    row.map(|mut row| Ok(Kept { request_hash: row.text()?, answer: row.text()? })).transpose()
}

/// Replaces one that is past its time.
pub fn keep(db: &mut Db<'_>, owner: &str, key: &str, kept: &Kept, now: Timestamp) -> Result<(), StoreError> {
    let sql =
        "insert into idempotency (owner, idempotency_key, request_hash, answer, created_at) values ($1, $2, $3, $4, $5)
        on conflict (owner, idempotency_key) do update
        set request_hash = excluded.request_hash, answer = excluded.answer, created_at = excluded.created_at";
    db.execute(sql, bind![owner, key, &kept.request_hash, &kept.answer, now])?;
    Ok(())
}

pub fn forget_before(db: &mut Db<'_>, oldest: Timestamp) -> Result<u64, StoreError> {
    db.execute("delete from idempotency where created_at < $1", bind![oldest])
}
