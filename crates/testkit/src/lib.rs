//! Test support: a server on either database, and API clients that check every response against the OpenAPI document.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::print_stderr, reason = "skipped tests are reported on stderr")]

mod caller;
mod cluster_files;
mod contract;
mod database;
mod object_storage;
pub mod runs;
mod server;
mod sftp_client;
mod test_response;
pub mod traversal;
pub mod world;

pub use caller::Caller;
pub use contract::Contract;
pub use database::{Database, TestDatabase, postgres_url};
pub use object_storage::s3_bucket;
pub use server::TestServer;
pub use sftp_client::{OpenFlags, SftpClient, SftpError, StatusCode};
pub use test_response::TestResponse;

/// An HTTP client. `reqwest::Client::new` panics in a process that has not installed a cryptography provider.
pub fn http_client() -> reqwest::Client {
    // Fails if it is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// Runs an async test once per database: `both_databases! { async fn name(server: TestServer) { … } }`.
///
/// The PostgreSQL test needs the cluster that `./test` starts; without it, the test reports that it is skipped.
#[macro_export]
macro_rules! both_databases {
    ($($(#[$meta:meta])* async fn $name:ident($argument:ident: TestServer) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports, reason = "not every test uses all imports of its file")]
            use super::*;

            async fn test_body($argument: $crate::TestServer) $body

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                test_body($crate::TestServer::start($crate::Database::Sqlite).await).await;
            }

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                if $crate::postgres_url().is_some() {
                    test_body($crate::TestServer::start($crate::Database::Postgres).await).await;
                }
            }
        }
    )*};
}
