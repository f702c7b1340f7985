//! Temporary databases: an SQLite file, or a new database in the PostgreSQL cluster that `./test` started.

use std::sync::atomic::{AtomicU32, Ordering};

use store::DatabaseUrl;
use tempfile::TempDir;

use crate::cluster_files;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

/// The cluster's URL, from `VERIAL_TEST_POSTGRES`, ending in `/postgres`.
#[expect(clippy::disallowed_methods, reason = "configures the tests")]
pub fn postgres_url() -> Option<String> {
    let url = std::env::var("VERIAL_TEST_POSTGRES").ok();
    if url.is_none() {
        eprintln!("skipped: VERIAL_TEST_POSTGRES is not set; ./test starts a cluster");
    }
    url
}

/// A database for one test, removed when dropped.
pub struct TestDatabase {
    url: DatabaseUrl,
    postgres: Option<PostgresDatabase>,
    directory: TempDir,
}

/// A PostgreSQL database that must be dropped.
struct PostgresDatabase {
    name: String,
    cluster: String,
    /// The end of the cluster's write-ahead log before the database was created.
    wal_start: String,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl TestDatabase {
    pub fn new(database: Database) -> Self {
        let directory = tempfile::tempdir().unwrap();
        match database {
            Database::Sqlite => {
                let url = DatabaseUrl::Sqlite(directory.path().join("verial.db"));
                Self { url, postgres: None, directory }
            }
            Database::Postgres => {
                let cluster = postgres_url().expect("a PostgreSQL cluster");
                let name = format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
                let wal_start = cluster_files::wal_end(&cluster);
                execute_in_cluster(&cluster, format!("create database {name}"));
                let url = format!("{}/{name}?pool=6", cluster.trim_end_matches("/postgres"));
                Self {
                    url: DatabaseUrl::Postgres(url),
                    postgres: Some(PostgresDatabase { name, cluster, wal_start }),
                    directory,
                }
            }
        }
    }

    /// A copy of an SQLite data directory that was stored as `verial.db.zst` and `blobs/`.
    pub fn copy_of(stored: &std::path::Path) -> Self {
        let copy = Self::new(Database::Sqlite);
        let compressed = std::fs::read(stored.join("verial.db.zst")).unwrap();
        let database = zstd::stream::decode_all(compressed.as_slice()).unwrap();
        std::fs::write(copy.directory().join("verial.db"), database).unwrap();
        copy_directory(&stored.join("blobs"), &copy.directory().join("blobs"));
        copy
    }

    pub fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    pub fn kind(&self) -> Database {
        match self.url {
            DatabaseUrl::Sqlite(_) => Database::Sqlite,
            DatabaseUrl::Postgres(_) => Database::Postgres,
        }
    }

    /// The value for `--database`.
    pub fn argument(&self) -> String {
        match &self.url {
            DatabaseUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
            DatabaseUrl::Postgres(url) => url.clone(),
        }
    }

    /// All stored bytes: the files of the directory (blobs decompressed, SQLite's log included), and for PostgreSQL every
    /// column of every table, the database's files and the write-ahead log.
    pub fn at_rest(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        read_files(self.directory(), &mut bytes);
        if let (DatabaseUrl::Postgres(url), Some(postgres)) = (&self.url, &self.postgres) {
            let url = url.split('?').next().unwrap_or_default();
            bytes.extend(cluster_files::with_client(url, read_tables));
            bytes.extend(cluster_files::read(url, &postgres.wal_start));
        }
        bytes
    }

    /// Runs a statement outside of the server, to recreate what an older version stored.
    pub fn execute(&self, sql: &str) {
        match &self.url {
            DatabaseUrl::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).expect("the database opens");
                connection.busy_timeout(std::time::Duration::from_secs(60)).expect("a timeout");
                connection.execute_batch(sql).expect("the statement runs");
            }
            DatabaseUrl::Postgres(url) => {
                execute_in_cluster(url.split('?').next().unwrap_or_default(), sql.to_owned());
            }
        }
    }

    pub fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Some(PostgresDatabase { name, cluster, .. }) = &self.postgres {
            execute_in_cluster(cluster, format!("drop database if exists {name} with (force)"));
        }
    }
}

fn execute_in_cluster(cluster: &str, sql: String) {
    cluster_files::with_client(cluster, move |client| client.batch_execute(&sql).expect("the statement runs"));
}

fn copy_directory(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_directory(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

fn read_files(directory: &std::path::Path, bytes: &mut Vec<u8>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_files(&path, bytes);
            continue;
        }
        let content = std::fs::read(&path).unwrap();
        match zstd::stream::decode_all(content.as_slice()) {
            Ok(decompressed) => bytes.extend(decompressed),
            Err(_) => bytes.extend(content),
        }
    }
}

fn read_tables(client: &mut postgres::Client) -> Vec<u8> {
    let tables = client
        .query("select table_name::text from information_schema.tables where table_schema = 'public'", &[])
        .expect("the tables");
    let mut bytes = Vec::new();
    for table in tables {
        let table: String = table.get(0);
        let rows = client.query(&format!("select row_to_json(t)::text from \"{table}\" t"), &[]).expect("the rows");
        rows.iter().for_each(|row| bytes.extend(row.get::<_, String>(0).into_bytes()));
    }
    bytes
}
