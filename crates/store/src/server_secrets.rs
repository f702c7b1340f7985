//! Secrets of the server itself, the same for all of its nodes.

use model::Timestamp;

use crate::value::bind;
use crate::{Db, StoreError};

/// The secret with this name. The first caller stores the one that it passes.
pub fn find_or_keep(db: &mut Db<'_>, name: &str, fresh: &str, now: Timestamp) -> Result<String, StoreError> {
    let sql = "insert into server_secrets (name, secret, created_at) values ($1, $2, $3) on conflict (name) do nothing";
    db.execute(sql, bind![name, fresh, now])?;
    let found = db.query_one("select secret from server_secrets where name = $1", bind![name])?;
    found.map_or_else(|| Ok(fresh.to_owned()), |mut row| row.text())
}
