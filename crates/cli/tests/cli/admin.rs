//! First start, `verial admin` beside a running server, settings, graceful stop.

use serde_json::Value;
use testkit::{Database, postgres_url};

use crate::process::{Site, failure, output, verial, write_file};

async fn organization(base_url: &str, key: &str) -> (u16, Value) {
    let answer = reqwest::Client::new().get(format!("{base_url}/organization")).bearer_auth(key).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn admin_works_beside_a_running_server_on_sqlite() {
    admin_beside_a_server(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn admin_works_beside_a_running_server_on_postgres() {
    if postgres_url().is_some() {
        admin_beside_a_server(Database::Postgres).await;
    }
}

async fn admin_beside_a_server(database: Database) {
    let site = Site::new(database);
    let mut serving = site.serve();
    let made = output(&mut site.command(&["admin", "org", "create", "--name", "Second", "--json"]));
    let made: Value = serde_json::from_str(&made).unwrap();
    let (id, key) = (made["id"].as_str().unwrap(), made["api_key"].as_str().unwrap());
    let (status, shown) = organization(&serving.base_url, key).await;
    assert_eq!((status, shown["id"].as_str()), (200, Some(id)));

    let listed = output(&mut site.command(&["admin", "org", "list", "--json"]));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 2);

    let second = output(&mut site.command(&["admin", "key", "create", "--org", id, "--name", "ci", "--json"]));
    let second: Value = serde_json::from_str(&second).unwrap();
    assert_eq!(organization(&serving.base_url, second["key"].as_str().unwrap()).await.0, 200);
    output(&mut site.command(&["admin", "key", "revoke", second["id"].as_str().unwrap()]));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(1);
    while organization(&serving.base_url, second["key"].as_str().unwrap()).await.0 == 200 {
        assert!(std::time::Instant::now() < deadline, "a revoked key still works after a second");
    }
    assert_eq!(organization(&serving.base_url, key).await.0, 200, "the other keys go on");
    output(&mut site.command(&["admin", "check"]));
    assert_eq!(serving.terminate(), Some(0), "a stop by signal is a success");
}

#[test]
fn bad_settings_are_refused_in_words() {
    let site = Site::new(Database::Sqlite);
    for (words, said) in [
        (&["serve", "--database", "mysql://x"][..], "must be sqlite:PATH or postgres://"),
        (&["serve", "--blobs", "ftp://x"], "must be file:PATH"),
        (&["serve", "--listen", "nowhere"], "invalid"),
        (&["serve", "--limit", "speed=5"], "no limit is called speed"),
        (&["serve", "--database", "postgres://127.0.0.1:1/none"], "cannot open the database"),
        (&["admin", "key", "revoke", "key_x"], "not an id of the form key_"),
    ] {
        let words = failure(verial(words).current_dir(site.directory()));
        assert!(words.contains(said), "{said} in {words}");
    }
    let file = write_file(site.directory(), "settings.toml", "databse = 'sqlite:x'");
    let words = failure(verial(&["serve", "--config"]).arg(file));
    assert!(words.contains("unknown field `databse`"), "{words}");
}

#[test]
fn an_unknown_key_cannot_be_revoked() {
    let site = Site::new(Database::Sqlite);
    let words = failure(&mut site.command(&["admin", "key", "revoke", "key_01K9Z3T5Q8W7N4M2R6V0XBHCDE"]));
    assert!(words.contains("no such active key"), "{words}");
}
