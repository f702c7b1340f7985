//! `verial datasets` and `verial auth` against a running server.

use serde_json::Value;
use testkit::Database;
use testkit::world::patients;

use crate::process::{ServerData, ServerProcess, failure, output, verial, write_file};

fn datasets(server: &ServerProcess, arguments: &[&str]) -> std::process::Command {
    let mut command = verial(&["datasets"]);
    command.args(arguments).args(["--url", &server.base_url, "--api-key", server.first_key.as_deref().unwrap()]);
    command
}

#[test]
fn two_hundred_thousand_resources_upload_in_limited_memory() {
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let before = server.peak_kibibytes();
    let file = write_file(data.directory(), "patients.ndjson", observations(200_000));
    let size = std::fs::metadata(&file).unwrap().len();
    let shown =
        output(&mut datasets(&server, &["create", "--name", "Large", "--json", "--data", file.to_str().unwrap()]));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["counts"]["Observation"], 200_000);
    assert_eq!(shown["bytes"].as_u64().unwrap(), size);
    let grown = server.peak_kibibytes() - before;
    println!("peak resident memory: {before} KiB before, {grown} KiB more for {} MiB of NDJSON", size / 1_048_576);
    // Less than the file: it was never completely in memory. The exact amount depends on the allocator.
    assert!(grown < 128 * 1024, "{grown} KiB more for an upload of {size} bytes");
}

#[test]
fn an_invalid_file_is_reported_by_line_and_changes_nothing() {
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let good = write_file(data.directory(), "good.ndjson", patients(3));
    let created =
        output(&mut datasets(&server, &["create", "--name", "Small", "--json", "--data", good.to_str().unwrap()]));
    let id = serde_json::from_str::<Value>(&created).unwrap()["id"].as_str().unwrap().to_owned();
    let bad = write_file(
        data.directory(),
        "bad.ndjson",
        format!("{}{{\"resourceType\":\"Pateint\",\"id\":\"x\"}}\n", patients(1)),
    );
    let stderr = failure(&mut datasets(&server, &["upload", &id, bad.to_str().unwrap()]));
    assert!(stderr.contains("line 2") && stderr.contains("Patient"), "{stderr}");
    let after: Value = serde_json::from_str(&output(&mut datasets(&server, &["get", &id, "--json"]))).unwrap();
    assert_eq!((&after["revision"], &after["counts"]["Patient"]), (&Value::from(1), &Value::from(3)));
    let stderr = failure(&mut datasets(&server, &["upload", &id, "nowhere.ndjson"]));
    assert!(stderr.contains("cannot read nowhere.ndjson"), "{stderr}");
}

#[test]
fn the_key_sources_have_an_order_and_the_stored_key_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let home = data.directory();
    let status =
        |command: &mut std::process::Command| output(command.env("HOME", home).arg("--url").arg(&server.base_url));
    let key = server.first_key.as_deref().unwrap();
    let stderr = failure(verial(&["auth", "status"]).env("HOME", home));
    assert!(stderr.contains("verial auth set-key"), "{stderr}");
    output(verial(&["auth", "set-key", key]).env("HOME", home));
    let mode = std::fs::metadata(home.join(".verial/config.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(status(&mut verial(&["auth", "status"])).contains("Authenticated (key: vk_"));
    let (whole, last) = key.split_at(key.len() - 1);
    let typo = format!("{whole}{}", if last == "x" { "y" } else { "x" });
    let stderr = failure(verial(&["auth", "status"]).env("HOME", home).env("VERIAL_API_KEY", typo));
    assert!(stderr.contains("is not valid"), "{stderr}");
}

fn observations(count: usize) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    let note = "a note as long as clinical notes tend to be; ".repeat(12);
    for number in 0..count {
        let _ = writeln!(
            text,
            r#"{{"resourceType":"Observation","id":"o{number}","status":"final","code":{{"text":"Glucose"}},"valueQuantity":{{"value":{}.{:02},"unit":"mg/dL"}},"note":[{{"text":"{note}{number}"}}]}}"#,
            number % 300,
            number % 100
        );
    }
    text
}
