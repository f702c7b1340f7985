//! The blobs that are in use. Only for the operator.

use std::collections::BTreeSet;

use model::dataset::Manifest;

use crate::log::Text;
use crate::{Db, StoreError};

/// The names of all blobs that are referenced.
pub fn all_blobs(db: &mut Db<'_>) -> Result<BTreeSet<String>, StoreError> {
    let mut names = BTreeSet::new();
    for mut row in db.query("select manifest from datasets union all select manifest from checkpoints", &[])? {
        let Manifest { chunks, files } = row.json()?;
        names.extend(chunks.into_iter().map(|chunk| chunk.sha256));
        names.extend(files.into_values().map(|file| file.sha256));
    }
    for sql in [
        "select distinct sha256 from dataset_files",
        "select distinct blob from events where blob is not null",
        "select distinct blob from changes where blob is not null",
        "select distinct evidence_blob from criterion_runs where evidence_blob is not null",
        "select distinct criteria_blob from engine_task_results where criteria_blob is not null",
    ] {
        for mut row in db.query(sql, &[])? {
            names.insert(row.text()?);
        }
    }
    Ok(names)
}

/// All records of a collection that were written in sandboxes. Those of files and faxes may refer to blobs.
pub fn all_rows(db: &mut Db<'_>, collection: &str) -> Result<Vec<Text>, StoreError> {
    let sql = "select body, blob from changes where collection = $1 and write <> 'delete'";
    let rows =
        db.query(sql, &[collection.into()])?.into_iter().map(|mut row| Ok((row.text_or_null()?, row.text_or_null()?)));
    let rows: Vec<(Option<String>, Option<String>)> = rows.collect::<Result<_, StoreError>>()?;
    let text = |(body, blob): (Option<String>, Option<String>)| {
        body.map(|body| Text::Inline(body.into())).or_else(|| blob.map(Text::Blob))
    };
    Ok(rows.into_iter().filter_map(text).collect())
}
