//! For tests: a server on either database, callers that read like a story, and answers checked against the API's own description.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod answer;
mod caller;
mod cluster_files;
mod contract;
mod database;
mod object_storage;
pub mod runs;
mod server;
mod sftp_client;
pub mod traversal;
pub mod world;

pub use answer::Answer;
pub use caller::Caller;
pub use contract::Contract;
pub use database::{Database, TestDatabase, postgres_url};
pub use object_storage::s3_bucket;
pub use server::TestServer;
pub use sftp_client::{OpenFlags, SftpClient, SftpError, StatusCode};

/// One async test for each database: `both_databases! { async fn name(server: TestServer) { … } }`.
///
/// The PostgreSQL half needs the cluster that `./test` starts; without it the half says that it is skipped.
#[macro_export]
macro_rules! both_databases {
    ($($(#[$meta:meta])* async fn $name:ident($argument:ident: TestServer) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports, reason = "a test uses what it needs of its file")]
            use super::*;

            async fn story($argument: $crate::TestServer) $body

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                story($crate::TestServer::start($crate::Database::Sqlite).await).await;
            }

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                if $crate::postgres_url().is_some() {
                    story($crate::TestServer::start($crate::Database::Postgres).await).await;
                }
            }
        }
    )*};
}
