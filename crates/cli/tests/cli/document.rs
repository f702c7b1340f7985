//! `verial document`: what an author makes of a specification and reads again.

use std::path::Path;

use crate::process::{failure, output, verial};

fn document(words: &[&str], folder: &Path) -> std::process::Command {
    let mut command = verial(&["document"]);
    command.args(words).current_dir(folder);
    command
}

/// The example of the documentation is rendered as it stands there.
#[test]
fn the_documented_example_becomes_a_file_that_is_read_again() {
    let page = include_str!("../../../../docs/documents.md");
    let example = page.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("scan.json", example);
    write("letter.json", &example.replace("\"text_layer\": false", "\"text_layer\": true"));
    write("fax.json", &example.replace("\"format\": \"pdf\"", "\"format\": \"tiff\""));
    for (name, says) in [("letter.pdf", "Metoprolol"), ("scan.pdf", "(no text layer)"), ("fax.tif", "(no text layer)")]
    {
        let specification = format!("{}.json", name.split('.').next().unwrap());
        let told = output(&mut document(&["render", &specification, "-o", name], folder.path()));
        assert!(told.contains("1 page,"), "{told}");
        let read = output(&mut document(&["text", name], folder.path()));
        assert!(read.contains("--- page 1 of 1") && read.contains(says), "{read}");
    }
    let pages = output(&mut document(&["pages", "fax.tif", "-o", "pages"], folder.path()));
    assert_eq!(pages.trim(), "pages/page-1.png");
    assert!(folder.path().join("pages/page-1.png").is_file());
}

#[test]
fn what_is_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("typo.json", r#"{"titel": "x", "signature": "forged"}"#);
    write("broken.json", "{");
    write("odd.pdf", "hello");
    for (words, said) in [
        (vec!["render", "typo.json", "-o", "x.pdf"], "signature"),
        (vec!["render", "broken.json", "-o", "x.pdf"], "not JSON"),
        (vec!["render", "nothing.json", "-o", "x.pdf"], "cannot read"),
        (vec!["text", "odd.pdf"], "neither PDF, TIFF, PNG nor JPEG"),
    ] {
        let told = failure(&mut document(&words, folder.path()));
        assert!(told.contains(said), "{told}");
    }
    assert!(!folder.path().join("x.pdf").exists());
}
