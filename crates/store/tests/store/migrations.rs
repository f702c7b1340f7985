//! Opening a database: fresh, known, by several at once, or one that this binary must keep its hands off.

use store::{DatabaseUrl, StoreError, organizations};
use testkit::TestDatabase;

use crate::{both_databases, numbers, open, organization};

both_databases! {
    async fn opening_again_changes_nothing(database: TestDatabase) {
        let store = open(&database).await.unwrap();
        store.write(|db| organizations::insert(db, &organization(1))).await.unwrap();
        let second = open(&database).await.unwrap();
        assert_eq!(numbers(&second).await, [1]);
        drop((store, second));
        assert_eq!(numbers(&open(&database).await.unwrap()).await, [1]);
    }

    async fn several_that_open_a_fresh_database_at_once_all_succeed(database: TestDatabase) {
        let opened = futures_util::future::join_all((0..8).map(|_| open(&database))).await;
        for (number, store) in opened.into_iter().enumerate() {
            let store = store.unwrap();
            store.write(move |db| organizations::insert(db, &organization(number as u128))).await.unwrap();
        }
        assert_eq!(numbers(&open(&database).await.unwrap()).await, (0..8).collect::<Vec<_>>());
    }

    async fn a_database_of_a_newer_version_is_refused(database: TestDatabase) {
        drop(open(&database).await.unwrap());
        run_sql(&database, "insert into schema_migrations (version, checksum, applied_at) values (999, 'later', 0)");
        let refused = open(&database).await.err().unwrap();
        assert!(matches!(refused, StoreError::TooNew { found: 999, .. }));
        assert!(refused.to_string().starts_with("the database was written by a newer version: it has migration 999"));
    }

    async fn a_migration_that_was_changed_after_it_ran_is_refused(database: TestDatabase) {
        drop(open(&database).await.unwrap());
        run_sql(&database, "update schema_migrations set checksum = 'other' where version = 1");
        let refused = open(&database).await.err().unwrap();
        assert!(matches!(refused, StoreError::MigrationChanged(1)));
        assert_eq!(refused.to_string(), "migration 1 was changed after it had been applied");
    }

    /// A table of someone else stands where a migration wants its own.
    async fn a_migration_that_fails_leaves_no_trace(database: TestDatabase) {
        run_sql(&database, "create table tasks (theirs bigint)");
        assert!(matches!(open(&database).await, Err(StoreError::Database(_))));
        run_sql(&database, "drop table tasks");
        assert!(numbers(&open(&database).await.unwrap()).await.is_empty());
    }
}

/// Past the store, as someone with a database client could.
fn run_sql(database: &TestDatabase, sql: &'static str) {
    match database.url().clone() {
        DatabaseUrl::Sqlite(path) => rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap(),
        DatabaseUrl::Postgres(url) => {
            let url = url.split('?').next().unwrap().to_owned();
            // The synchronous client must not run on a thread that drives a runtime.
            let ran = std::thread::spawn(move || {
                postgres::Client::connect(&url, postgres::NoTls).unwrap().batch_execute(sql).unwrap();
            });
            ran.join().unwrap();
        }
    }
}
