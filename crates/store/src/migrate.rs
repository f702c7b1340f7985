//! Forward-only migrations, compiled into the binary, with one text for both databases.

use model::{Timestamp, canonical};

use crate::value::bind;
use crate::{Db, StoreError};

/// Number and text. A migration that has been released never changes; the next change is the next number.
const MIGRATIONS: [(i64, &str); 12] = [
    (1, include_str!("../migrations/0001_foundation.sql")),
    (2, include_str!("../migrations/0002_playgrounds.sql")),
    (3, include_str!("../migrations/0003_runs.sql")),
    (4, include_str!("../migrations/0004_lean_events.sql")),
    (5, include_str!("../migrations/0005_server_secrets.sql")),
    (6, include_str!("../migrations/0006_version_audits.sql")),
    (7, include_str!("../migrations/0007_critical_criteria.sql")),
    (8, include_str!("../migrations/0008_series.sql")),
    (9, include_str!("../migrations/0009_sealing_and_engines.sql")),
    (10, include_str!("../migrations/0010_standalone_sandboxes.sql")),
    (11, include_str!("../migrations/0011_run_metadata.sql")),
    (12, include_str!("../migrations/0012_provisioned_playgrounds.sql")),
];

pub(crate) fn apply(db: &mut Db<'_>, now: Timestamp) -> Result<(), StoreError> {
    db.batch("create table if not exists schema_migrations (version bigint primary key, checksum text not null, applied_at bigint not null)")?;
    let known = MIGRATIONS.last().map_or(0, |(version, _)| *version);
    let newest = db.query_one("select coalesce(max(version), 0) from schema_migrations", &[])?;
    let found = newest.map_or(Ok(0), |mut row| row.integer())?;
    if found > known {
        return Err(StoreError::TooNew { found, known });
    }
    for (version, sql) in MIGRATIONS {
        apply_one(db, version, sql, now)?;
    }
    Ok(())
}

fn apply_one(db: &mut Db<'_>, version: i64, sql: &str, now: Timestamp) -> Result<(), StoreError> {
    let checksum = canonical::sha256_hex(sql.as_bytes());
    let applied = db.query_one("select checksum from schema_migrations where version = $1", bind![version])?;
    match applied.map(|mut row| row.text()).transpose()? {
        Some(recorded) if recorded == checksum => Ok(()),
        Some(_) => Err(StoreError::MigrationChanged(version)),
        None => {
            db.batch(sql)?;
            db.execute(
                "insert into schema_migrations (version, checksum, applied_at) values ($1, $2, $3)",
                bind![version, &checksum, now],
            )?;
            Ok(())
        }
    }
}
