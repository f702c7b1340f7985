//! Throw-away databases: a file, or a fresh database in the cluster that `./test` started.

use std::sync::atomic::{AtomicU32, Ordering};

use store::DatabaseUrl;
use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

/// The cluster's URL, from `VERIAL_TEST_POSTGRES`, ending in `/postgres`.
#[expect(clippy::disallowed_methods, reason = "the only setting of the tests")]
pub fn postgres_url() -> Option<String> {
    let url = std::env::var("VERIAL_TEST_POSTGRES").ok();
    if url.is_none() {
        eprintln!("skipped: VERIAL_TEST_POSTGRES is not set; ./test starts a cluster");
    }
    url
}

/// A database of its own for one test, gone with it.
pub struct TestDatabase {
    url: DatabaseUrl,
    /// Name and cluster of a PostgreSQL database to drop.
    in_cluster: Option<(String, String)>,
    directory: TempDir,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl TestDatabase {
    pub fn new(database: Database) -> Self {
        let directory = tempfile::tempdir().unwrap();
        match database {
            Database::Sqlite => {
                let url = DatabaseUrl::Sqlite(directory.path().join("verial.db"));
                Self { url, in_cluster: None, directory }
            }
            Database::Postgres => {
                let cluster = postgres_url().expect("a PostgreSQL cluster");
                let name = format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
                in_cluster(&cluster, &format!("create database {name}"));
                let url = format!("{}/{name}?pool=6", cluster.trim_end_matches("/postgres"));
                Self { url: DatabaseUrl::Postgres(url), in_cluster: Some((name, cluster)), directory }
            }
        }
    }

    pub fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// As `--database` takes it.
    pub fn argument(&self) -> String {
        match &self.url {
            DatabaseUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
            DatabaseUrl::Postgres(url) => url.clone(),
        }
    }

    /// Everything that is at rest: the files of the directory (blobs unpacked) and, in PostgreSQL, every column of every table.
    pub fn at_rest(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        read_files(self.directory(), &mut bytes);
        if let DatabaseUrl::Postgres(url) = &self.url {
            bytes.extend(read_tables(url.split('?').next().unwrap_or_default()));
        }
        bytes
    }

    pub fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Some((name, cluster)) = &self.in_cluster {
            in_cluster(cluster, &format!("drop database if exists {name} with (force)"));
        }
    }
}

/// The synchronous client must not run on a thread that drives a runtime.
fn in_cluster(cluster: &str, sql: &str) {
    let (cluster, sql) = (cluster.to_owned(), sql.to_owned());
    let done = std::thread::spawn(move || {
        let mut client = postgres::Client::connect(&cluster, postgres::NoTls).expect("the PostgreSQL cluster answers");
        client.batch_execute(&sql).expect("the statement runs");
    });
    done.join().unwrap();
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
            Ok(unpacked) => bytes.extend(unpacked),
            Err(_) => bytes.extend(content),
        }
    }
}

fn read_tables(url: &str) -> Vec<u8> {
    let url = url.to_owned();
    let reading = std::thread::spawn(move || {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).expect("the database answers");
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
    });
    reading.join().unwrap()
}
