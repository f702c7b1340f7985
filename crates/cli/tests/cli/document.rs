//! `verial document`: renders and reads documents.

use std::path::Path;

use crate::process::{failure, output, verial};

fn document(arguments: &[&str], folder: &Path) -> std::process::Command {
    let mut command = verial(&["document"]);
    command.args(arguments).current_dir(folder);
    command
}

/// Renders the example of the documentation.
#[test]
fn the_documented_example_is_rendered_and_read() {
    let page = include_str!("../../../../docs/documents.md");
    let example = page.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("scan.json", example);
    write("letter.json", &example.replace("\"text_layer\": false", "\"text_layer\": true"));
    write("fax.json", &example.replace("\"format\": \"pdf\"", "\"format\": \"tiff\""));
    for (name, expected_text) in
        [("letter.pdf", "Metoprolol"), ("scan.pdf", "(no text layer)"), ("fax.tif", "(no text layer)")]
    {
        let specification = format!("{}.json", name.split('.').next().unwrap());
        let text = output(&mut document(&["render", &specification, "-o", name], folder.path()));
        assert!(text.contains("1 page,"), "{text}");
        let read = output(&mut document(&["text", name], folder.path()));
        assert!(read.contains("--- page 1 of 1") && read.contains(expected_text), "{read}");
    }
    let pages = output(&mut document(&["pages", "fax.tif", "-o", "pages"], folder.path()));
    assert_eq!(pages.trim(), "pages/page-1.png");
    assert!(folder.path().join("pages/page-1.png").is_file());
}

#[test]
fn invalid_documents_are_rejected_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("typo.json", r#"{"titel": "x", "signature": "forged"}"#);
    write("broken.json", "{");
    write("odd.pdf", "hello");
    for (arguments, expected) in [
        (vec!["render", "typo.json", "-o", "x.pdf"], "signature"),
        (vec!["render", "broken.json", "-o", "x.pdf"], "not JSON"),
        (vec!["render", "nothing.json", "-o", "x.pdf"], "cannot read"),
        (vec!["text", "odd.pdf"], "neither PDF, TIFF, PNG nor JPEG"),
    ] {
        let text = failure(&mut document(&arguments, folder.path()));
        assert!(text.contains(expected), "{text}");
    }
    assert!(!folder.path().join("x.pdf").exists());
}
