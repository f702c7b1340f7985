//! Runs the blocks of pages from top to bottom.

use testkit::{Caller, Database};

use super::blocks::{self, Block, Mark};
use super::shell::{self, BlockOutput, Shell};
use super::{expected_output, read, root, snippets};
use crate::process::ServerData;

/// Languages of blocks that are not examples.
const PLAIN: [&str; 2] = ["", "text"];

/// Runs the pages in order, with one server and one folder.
pub(super) async fn run(pages: &[&'static str]) {
    let read: Vec<(&str, Vec<Block>)> = pages.iter().map(|page| (*page, tested_blocks(page))).collect();
    if read.iter().flat_map(|(_, blocks)| blocks).all(|block| block.marks.is_empty() && !block.is_command()) {
        return;
    }
    if !shell::has("curl") {
        println!("{pages:?}: not run: curl is not installed");
        return;
    }
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let author = server.first_caller();
    let folder = tempfile::tempdir().unwrap();
    for linked in ["examples", "benchmarks"] {
        std::os::unix::fs::symlink(root().canonicalize().unwrap().join(linked), folder.path().join(linked)).unwrap();
    }
    let key = server.first_key.as_deref().unwrap();
    let programs = shell::programs(folder.path());
    for (page, blocks) in &read {
        let shell = Shell { page, folder: folder.path(), programs: &programs, base_url: &server.base_url, key };
        let output = shell.run(blocks);
        for (index, block) in blocks.iter().enumerate() {
            output.check_calls(page, block);
            let previous_command = blocks[..index].iter().rfind(|block| block.is_command());
            check_marks(page, block, previous_command, &output, &server.started, &author).await;
        }
    }
}

/// Checks the marks of a block: shown output, and the format of an example.
async fn check_marks(
    page: &str,
    block: &Block,
    previous_command: Option<&Block>,
    output: &BlockOutput,
    started: &str,
    author: &Caller,
) {
    for mark in &block.marks {
        match mark {
            Mark::ShownOutput => output.check_shown(page, previous_command, block),
            Mark::ShownStart => {
                assert!(expected_output::matches(&block.text, started), "{page}:{}: {started}", block.line)
            }
            Mark::Is(thing) => snippets::check(page, block, thing, author).await,
            _ => {}
        }
    }
}

fn tested_blocks(page: &str) -> Vec<Block> {
    blocks::parse(&read(page)).into_iter().filter(|block| is_tested(page, block)).collect()
}

/// Whether a block is tested. Every example must have a mark.
fn is_tested(page: &str, block: &Block) -> bool {
    let skip_reason = block.marks.iter().find_map(|mark| match mark {
        Mark::NotRun(reason) => Some(reason.clone()),
        Mark::Needs(needed) if !shell::has(needed) => Some(format!("{needed} is not installed")),
        _ => None,
    });
    if let Some(reason) = skip_reason {
        println!("{page}:{}: not run: {reason}", block.line);
        return false;
    }
    let is_example = !PLAIN.contains(&block.language.as_str()) && block.language != "sh";
    assert!(!is_example || !block.marks.is_empty(), "{page}:{}: an example without a mark", block.line);
    true
}
