//! `verial datasets` and `verial auth` against a running server.

use serde_json::Value;
use testkit::Database;
use testkit::world::patients;

use crate::process::{Serving, Site, failure, output, verial, write_file};

fn datasets(serving: &Serving, words: &[&str]) -> std::process::Command {
    let mut command = verial(&["datasets"]);
    command.args(words).args(["--url", &serving.base_url, "--api-key", serving.first_key.as_deref().unwrap()]);
    command
}

#[test]
fn two_hundred_thousand_resources_upload_in_bounded_memory() {
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let before = serving.peak_kibibytes();
    let file = write_file(site.directory(), "patients.ndjson", observations(200_000));
    let size = std::fs::metadata(&file).unwrap().len();
    let shown =
        output(&mut datasets(&serving, &["create", "--name", "Large", "--json", "--data", file.to_str().unwrap()]));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["counts"]["Observation"], 200_000);
    assert_eq!(shown["bytes"].as_u64().unwrap(), size);
    let grown = serving.peak_kibibytes() - before;
    println!("peak resident memory: {before} KiB before, {grown} KiB more for {} MiB of NDJSON", size / 1_048_576);
    // Less than the file: nobody held it as a whole. How much less is the allocator's business.
    assert!(grown < 128 * 1024, "{grown} KiB more for an upload of {size} bytes");
}

#[test]
fn a_faulty_file_is_named_by_line_and_changes_nothing() {
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let good = write_file(site.directory(), "good.ndjson", patients(3));
    let made =
        output(&mut datasets(&serving, &["create", "--name", "Small", "--json", "--data", good.to_str().unwrap()]));
    let id = serde_json::from_str::<Value>(&made).unwrap()["id"].as_str().unwrap().to_owned();
    let bad = write_file(
        site.directory(),
        "bad.ndjson",
        format!("{}{{\"resourceType\":\"Pateint\",\"id\":\"x\"}}\n", patients(1)),
    );
    let words = failure(&mut datasets(&serving, &["upload", &id, bad.to_str().unwrap()]));
    assert!(words.contains("line 2") && words.contains("Patient"), "{words}");
    let after: Value = serde_json::from_str(&output(&mut datasets(&serving, &["get", &id, "--json"]))).unwrap();
    assert_eq!((&after["revision"], &after["counts"]["Patient"]), (&Value::from(1), &Value::from(3)));
    let words = failure(&mut datasets(&serving, &["upload", &id, "nowhere.ndjson"]));
    assert!(words.contains("cannot read nowhere.ndjson"), "{words}");
}

#[test]
fn the_key_is_found_in_its_order_and_kept_privately() {
    use std::os::unix::fs::PermissionsExt;
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let home = site.directory();
    let status =
        |command: &mut std::process::Command| output(command.env("HOME", home).arg("--url").arg(&serving.base_url));
    let key = serving.first_key.as_deref().unwrap();
    let words = failure(verial(&["auth", "status"]).env("HOME", home));
    assert!(words.contains("verial auth set-key"), "{words}");
    output(verial(&["auth", "set-key", key]).env("HOME", home));
    let mode = std::fs::metadata(home.join(".verial/config.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(status(&mut verial(&["auth", "status"])).contains("Authenticated (key: vk_"));
    let (whole, last) = key.split_at(key.len() - 1);
    let typo = format!("{whole}{}", if last == "x" { "y" } else { "x" });
    let words = failure(verial(&["auth", "status"]).env("HOME", home).env("VERIAL_API_KEY", typo));
    assert!(words.contains("not a valid one"), "{words}");
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
