//! The bytes that a PostgreSQL cluster stores for one database: its files, and the write-ahead log since a position.

use postgres::{Client, NoTls};

/// The current end of the write-ahead log (an LSN).
pub(crate) fn wal_end(url: &str) -> String {
    with_client(url, |client| first_text(client, "select pg_current_wal_lsn()::text"))
}

/// Reads the files and the log. Only a superuser may do that: other roles get nothing, and a note on stderr.
pub(crate) fn read(url: &str, wal_start: &str) -> Vec<u8> {
    let since = wal_start.to_owned();
    with_client(url, move |client| {
        if first_text(client, "show is_superuser") != "on" {
            eprintln!("skipped: reading the cluster's files, which needs a superuser in VERIAL_TEST_POSTGRES");
            return Vec::new();
        }
        client.batch_execute("checkpoint").expect("a checkpoint");
        let folder = "select 'base/' || oid::text from pg_database where datname = current_database()";
        let folder = first_text(client, folder);
        let files = format!("select '{folder}/' || name from pg_ls_dir('{folder}') as name");
        let log = format!(
            "select 'pg_wal/' || name from pg_ls_waldir() \
             where name between pg_walfile_name('{since}'::pg_lsn) and pg_walfile_name(pg_current_wal_lsn())"
        );
        [files, log].iter().flat_map(|list| read_listed(client, list)).collect()
    })
}

fn read_listed(client: &mut Client, list: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in client.query(list, &[]).expect("a list of files") {
        let path: String = row.get(0);
        // The cluster may remove files in the meantime.
        let content = client.query_one("select pg_read_binary_file($1, 0, 1 << 29, true)", &[&path]).expect("a file");
        bytes.extend(content.get::<_, Option<Vec<u8>>>(0).unwrap_or_default());
    }
    bytes
}

fn first_text(client: &mut Client, sql: &str) -> String {
    client.query_one(sql, &[]).expect("a row").get(0)
}

/// Runs on a thread of its own, because the synchronous client must not block an async runtime.
pub(crate) fn with_client<T: Send + 'static>(url: &str, work: impl FnOnce(&mut Client) -> T + Send + 'static) -> T {
    let url = url.to_owned();
    let thread = std::thread::spawn(move || {
        let mut client = Client::connect(&url, NoTls).expect("a connection to the PostgreSQL cluster");
        work(&mut client)
    });
    thread.join().unwrap()
}
