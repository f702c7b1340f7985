//! The manual as a test: every command and example of README.md and docs/ is run or read as what it shows.
//!
//! Each page has a shell of its own and is gone through from top to bottom, with a server and a folder of its own too; only
//! those that a newcomer reads one after the other share them. `sh` blocks are run;
//! `http://127.0.0.1:8080` and `vk_…` in them are the server and the key that a reader would have. A comment right before
//! a block says what is to be done with it:
//!
//! | comment | means |
//! |---|---|
//! | `<!-- not run: REASON -->` | cannot be run here; the test counts and prints these |
//! | `<!-- file: NAME -->` | becomes a file in the page's folder, for the commands below it |
//! | `<!-- shown: output -->` | what the commands above it answered; `…` stands for anything, and JSON may have more members |
//! | `<!-- shown: start -->` | what the server printed when it started |
//! | `<!-- is: Fax config -->` | the config of a simulator; also `is: step`, `is: assertion`, `is: settings`, `is: workflow` |
//! | `<!-- refused: 409 -->` | one of its calls is answered with this status |
//! | `<!-- ends with: 1 -->` | its last command ends with this code |
//! | `<!-- needs: PROGRAM -->` | is left out where the program, or the Python module, is not installed |

mod blocks;
mod commands;
mod limits;
mod links;
mod page;
mod shell;
mod shown;
mod simulators;
mod things;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use blocks::{Block, Mark};

/// A test for what is read in one sitting.
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

/// What is there is in the book: gone through by a test, and named by the table of contents.
#[test]
fn no_page_is_left_out() {
    let files = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let there: BTreeSet<String> =
        files.filter(is_page).map(|path| format!("docs/{}", path.file_name().unwrap().to_str().unwrap())).collect();
    let told: BTreeSet<String> =
        PAGES.iter().filter(|page| page.starts_with("docs/")).map(|&page| page.into()).collect();
    assert_eq!(there, told);
    let contents = read("docs/README.md");
    for page in told.iter().filter_map(|page| page.strip_prefix("docs/")).filter(|&page| page != "README.md") {
        assert!(contents.contains(&format!("]({page})")), "docs/README.md does not lead to {page}");
    }
}

/// What cannot be run stays little, and each has its reason.
#[test]
fn few_examples_are_not_run() {
    let mut run = 0;
    let mut not_run = Vec::new();
    for page in PAGES {
        for Block { line, marks, language, .. } in blocks::of(&read(page)) {
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
