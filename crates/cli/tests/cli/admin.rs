//! First start, `verial admin` while the server runs, settings, and graceful stop.

use serde_json::Value;
use testkit::{Database, postgres_url};

use crate::process::{ServerData, failure, output, verial, write_file};

async fn organization(base_url: &str, key: &str) -> (u16, Value) {
    let response =
        testkit::http_client().get(format!("{base_url}/organization")).bearer_auth(key).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn admin_works_while_the_server_runs_on_sqlite() {
    use_admin_while_the_server_runs(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn admin_works_while_the_server_runs_on_postgres() {
    if postgres_url().is_some() {
        use_admin_while_the_server_runs(Database::Postgres).await;
    }
}

async fn use_admin_while_the_server_runs(database: Database) {
    let data = ServerData::new(database);
    let mut server = data.serve();
    let created = output(&mut data.command(&["admin", "org", "create", "--name", "Second", "--json"]));
    let created: Value = serde_json::from_str(&created).unwrap();
    let (id, key) = (created["id"].as_str().unwrap(), created["api_key"].as_str().unwrap());
    let (status, shown) = organization(&server.base_url, key).await;
    assert_eq!((status, shown["id"].as_str()), (200, Some(id)));

    let listed = output(&mut data.command(&["admin", "org", "list", "--json"]));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 2);

    let second = output(&mut data.command(&["admin", "key", "create", "--org", id, "--name", "ci", "--json"]));
    let second: Value = serde_json::from_str(&second).unwrap();
    assert_eq!(organization(&server.base_url, second["key"].as_str().unwrap()).await.0, 200);
    output(&mut data.command(&["admin", "key", "revoke", second["id"].as_str().unwrap()]));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(1);
    while organization(&server.base_url, second["key"].as_str().unwrap()).await.0 == 200 {
        assert!(std::time::Instant::now() < deadline, "a revoked key still works after a second");
    }
    assert_eq!(organization(&server.base_url, key).await.0, 200, "other keys still work");
    output(&mut data.command(&["admin", "check"]));
    assert_eq!(server.terminate(), Some(0), "SIGTERM ends the server with success");
}

#[test]
fn invalid_settings_are_rejected_with_a_message() {
    let data = ServerData::new(Database::Sqlite);
    for (arguments, expected) in [
        (&["serve", "--database", "mysql://x"][..], "must be sqlite:PATH or postgres://"),
        (&["serve", "--blobs", "ftp://x"], "must be file:PATH"),
        (&["serve", "--listen", "nowhere"], "invalid"),
        (&["serve", "--limit", "speed=5"], "unknown limit speed"),
        (&["serve", "--database", "postgres://127.0.0.1:1/none"], "cannot open the database"),
        (&["admin", "key", "revoke", "key_x"], "not an id of the form key_"),
    ] {
        let stderr = failure(verial(arguments).current_dir(data.directory()));
        assert!(stderr.contains(expected), "{expected} in {stderr}");
    }
    let file = write_file(data.directory(), "settings.toml", "databse = 'sqlite:x'");
    let stderr = failure(verial(&["serve", "--config"]).arg(file));
    assert!(stderr.contains("unknown field `databse`"), "{stderr}");
}

#[test]
fn an_unknown_key_cannot_be_revoked() {
    let data = ServerData::new(Database::Sqlite);
    let stderr = failure(&mut data.command(&["admin", "key", "revoke", "key_01K9Z3T5Q8W7N4M2R6V0XBHCDE"]));
    assert!(stderr.contains("no such active key"), "{stderr}");
}
