//! The store as its callers meet it: transactions and migrations on both databases, blobs in a directory and in S3.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

extern crate verial_store as store;

mod blobs;
mod migrations;
mod transactions;
mod unresponsive;

use model::identity::Organization;
use model::{Id, OrgId, Timestamp, Ulid};
use store::{Store, StoreError};
use testkit::TestDatabase;

const NOW: Timestamp = Timestamp(1_760_000_000_000);

/// One async test for each database, on an empty one of its own.
///
/// The PostgreSQL half needs the cluster that `./test` starts; without it the half says that it is skipped.
macro_rules! both_databases {
    ($($(#[$meta:meta])* async fn $name:ident($database:ident: TestDatabase) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports, reason = "a test uses what it needs of its file")]
            use super::*;

            async fn story($database: testkit::TestDatabase) $body

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                story(testkit::TestDatabase::new(testkit::Database::Sqlite)).await;
            }

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                if testkit::postgres_url().is_some() {
                    story(testkit::TestDatabase::new(testkit::Database::Postgres)).await;
                }
            }
        }
    )*};
}
use both_databases;

/// Opening blocks, so it has a thread of its own.
async fn open(database: &TestDatabase) -> Result<Store, StoreError> {
    let url = database.url().clone();
    tokio::task::spawn_blocking(move || Store::open(&url, NOW)).await.unwrap()
}

/// The simplest row that there is.
fn organization(number: u128) -> Organization {
    let id = OrgId::from_ulid(Ulid::new(0, number));
    Organization { id, name: format!("Organization {number}"), created_at: NOW, updated_at: NOW }
}

/// The numbers of all organizations that are there.
async fn numbers(store: &Store) -> Vec<u128> {
    let all = store.read(store::organizations::all).await.unwrap();
    let number = |organization: Organization| organization.name.rsplit(' ').next().unwrap().parse().unwrap();
    all.into_iter().map(number).collect()
}
