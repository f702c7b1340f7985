//! The operations of the application on both databases, without HTTP: idempotency, tenancy, runs and publishing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

extern crate verial_app as app;

mod fixture;
mod idempotency;
mod publishing;
mod runs;
mod tenancy;

use fixture::Fixture;

/// One async test for each database, with an application on an empty database of its own.
///
/// The PostgreSQL half needs the cluster that `./test` starts; without it the half is skipped.
macro_rules! both_databases {
    ($(async fn $name:ident($fixture:ident: Fixture) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports, reason = "a test uses what it needs of its file")]
            use super::*;

            async fn story($fixture: crate::Fixture) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                story(crate::Fixture::new(testkit::Database::Sqlite).await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                if testkit::postgres_url().is_some() {
                    story(crate::Fixture::new(testkit::Database::Postgres).await).await;
                }
            }
        }
    )*};
}
use both_databases;
