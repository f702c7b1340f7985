//! Tests the manual: runs or parses every command and example of README.md and docs/.
//!
//! Each page is executed from top to bottom in its own shell, with its own server and folder; only the introductory pages
//! share them. `sh` blocks are run; `http://127.0.0.1:8080` and `vk_…` are replaced by the test's server and key. A comment
//! right before a block says how it is tested:
//!
//! | comment | meaning |
//! |---|---|
//! | `<!-- not run: REASON -->` | cannot be run here; these are counted and printed |
//! | `<!-- file: NAME -->` | is written to a file in the page's folder, for the commands below it |
//! | `<!-- shown: output -->` | the output of the commands above it; `…` matches anything, and JSON may have more members |
//! | `<!-- shown: start -->` | the output of the server at startup |
//! | `<!-- is: Fax config -->` | the config of a simulator; also `is: step`, `is: assertion`, `is: settings`, `is: workflow` |
//! | `<!-- refused: 409 -->` | one of its requests gets this error status |
//! | `<!-- ends with: 1 -->` | its last command has this exit code |
//! | `<!-- needs: PROGRAM -->` | is skipped if the program or Python module is not installed |

mod blocks;
mod commands;
mod expected_output;
mod limits;
mod links;
mod page;
mod shell;
mod simulators;
mod snippets;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use blocks::{Block, Mark};

/// Defines a test for each group of pages that share a shell.
macro_rules! pages {
    ($($test:ident: $($page:literal)+,)+) => {
        const PAGES: &[&str] = &[$($($page),+),+];
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                page::run(&[$($page),+]).await;
            }
        )+
    };
}

pages! {
    beginning: "README.md" "docs/README.md" "docs/quick-start.md" "docs/concepts.md" "docs/authoring.md"
        "docs/benchmarks.md" "docs/criteria.md" "docs/runs.md" "docs/ci.md",
    fhir_sandbox: "docs/fhir-sandbox.md",
    fhir_search: "docs/fhir-search.md",
    fhir_validation: "docs/fhir-validation.md",
    fhirpath: "docs/fhirpath.md",
    hl7: "docs/hl7.md",
    x12: "docs/x12.md",
    files: "docs/files.md",
    documents: "docs/documents.md",
    population: "docs/population.md",
    portal: "docs/portal.md",
    voice: "docs/voice.md",
    fax: "docs/fax.md",
    messages: "docs/messages.md",
    cds_hooks: "docs/cds-hooks.md",
    command_line: "docs/command-line.md",
    api: "docs/api.md",
    operations: "docs/operations.md",
    security: "docs/security.md",
    performance: "docs/performance.md",
    engine_versions: "docs/engine-versions.md",
    dependencies: "docs/dependencies.md",
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Every page has a test and is listed in the table of contents.
#[test]
fn every_page_is_tested_and_listed() {
    let files = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let existing: BTreeSet<String> =
        files.filter(is_page).map(|path| format!("docs/{}", path.file_name().unwrap().to_str().unwrap())).collect();
    let tested: BTreeSet<String> =
        PAGES.iter().filter(|page| page.starts_with("docs/")).map(|&page| page.into()).collect();
    assert_eq!(existing, tested);
    let contents = read("docs/README.md");
    for page in tested.iter().filter_map(|page| page.strip_prefix("docs/")).filter(|&page| page != "README.md") {
        assert!(contents.contains(&format!("]({page})")), "docs/README.md does not link to {page}");
    }
}

/// Only a few examples are not run, each with a reason.
#[test]
fn most_examples_are_run() {
    let mut run = 0;
    let mut not_run = Vec::new();
    for page in PAGES {
        for Block { line, marks, language, .. } in blocks::parse(&read(page)) {
            match marks.iter().find_map(|mark| if let Mark::NotRun(reason) = mark { Some(reason) } else { None }) {
                Some(reason) => not_run.push(format!("{page}:{line}: {reason}")),
                None if language.is_empty() || language == "text" => {}
                None => run += 1,
            }
        }
    }
    println!("{run} examples are run or read, {} are not:\n{}", not_run.len(), not_run.join("\n"));
    assert!(run >= 60 && not_run.len() <= 12, "{run} {not_run:#?}");
}
