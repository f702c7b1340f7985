//! The blobs of indexed dataset revisions.

use model::Timestamp;

use crate::value::{bind, json_text};
use crate::{Db, StoreError};

/// The blobs of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerBlobs {
    pub index: String,
    pub segments: Vec<String>,
}

pub fn find(db: &mut Db<'_>, content_hash: &str, format: i64) -> Result<Option<LayerBlobs>, StoreError> {
    let sql = "select index_blob, segment_blobs from layers where content_hash = $1 and format = $2";
    let found = db.query_one(sql, bind![content_hash, format])?;
    found.map(|mut row| Ok(LayerBlobs { index: row.text()?, segments: row.json()? })).transpose()
}

/// Several nodes may build the same layer at once. Their results are equivalent.
pub fn keep(
    db: &mut Db<'_>,
    content_hash: &str,
    format: i64,
    blobs: &LayerBlobs,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql =
        "insert into layers (content_hash, format, index_blob, segment_blobs, created_at) values ($1, $2, $3, $4, $5)
        on conflict (content_hash, format) do nothing";
    db.execute(sql, bind![content_hash, format, &blobs.index, json_text(&blobs.segments)?, now])?;
    Ok(())
}
