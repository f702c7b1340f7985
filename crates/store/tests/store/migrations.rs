//! Opening a database: fresh, known, by several at once, or one that this binary must keep its hands off.

use model::Timestamp;
use model::slug::VersionRef;
use store::leaderboards::{self, CountedRun};
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

    /// What was a published run becomes a published series.
    async fn published_runs_stay_on_the_leaderboard(database: TestDatabase) {
        let store = open(&database).await.unwrap();
        store.write(|db| organizations::insert(db, &organization(1))).await.unwrap();
        drop(store);
        run_sql(&database, BEFORE_SERIES);
        let store = open(&database).await.unwrap();
        let reference = VersionRef { slug: "orders".into(), version: 1 };
        let counted = store.read(move |db| leaderboards::counted_runs(db, &reference, Timestamp(0))).await.unwrap();
        let seen: Vec<_> = counted.into_iter().map(|counted| {
            let CountedRun { run, alias, .. } = counted;
            (alias, run.agent, run.agent_version, run.published_at)
        }).collect();
        // The second run was not published, and is of the same series.
        let series = ("ann".to_owned(), None, Some("v1".to_owned()), Some(Timestamp(7)));
        assert_eq!(seen, [series.clone(), series]);
    }
}

/// Back to the tables before migration 8, with three runs, of which the first is published.
const BEFORE_SERIES: &str = "
    drop table published_series;
    alter table benchmark_runs drop column order_seed;
    alter table benchmark_runs drop column partial_selection;
    alter table benchmark_runs drop column organization_writes;
    alter table benchmark_runs drop column agent_version;
    alter table benchmark_runs add column published_at bigint;
    delete from schema_migrations where version = 8;
    insert into solvers (id, org_id, alias, agent_version, created_at, updated_at)
        select 'slv_00000000000000000000000001', id, 'ann', 'v1', 0, 0 from organizations;
    insert into benchmark_runs (id, org_id, solver_id, benchmark_id, slug, version, name, content_hash, agent, scored,
            concurrency, phase, status, score, axes, created_at, token_hash, token_expires_at, published_at)
        select 'br_00000000000000000000000001', id, 'slv_00000000000000000000000001', 'bench_00000000000000000000000001',
            'orders', 1, 'Orders', '', null, 1, 1, 'completed', 'completed', '1/1', '{}', 0, 'a', 0, 7 from organizations
        union all
        select 'br_00000000000000000000000002', id, 'slv_00000000000000000000000001', 'bench_00000000000000000000000001',
            'orders', 1, 'Orders', '', null, 1, 1, 'completed', 'completed', '1/2', '{}', 0, 'b', 0, null from organizations
        union all
        select 'br_00000000000000000000000003', id, 'slv_00000000000000000000000001', 'bench_00000000000000000000000001',
            'orders', 1, 'Orders', '', 'other', 1, 1, 'completed', 'completed', '1/2', '{}', 0, 'c', 0, null
            from organizations;
";

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
