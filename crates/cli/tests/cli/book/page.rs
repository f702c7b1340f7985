//! One page, gone through from top to bottom.

use testkit::{Caller, Database};

use super::blocks::{self, Block, Mark};
use super::shell::{self, Said, Shell};
use super::{read, root, shown, things};
use crate::process::Site;

/// What is prose or a picture, not an example.
const PLAIN: [&str; 2] = ["", "text"];

/// Goes through the pages one after the other, as one reader would.
pub(super) async fn run(pages: &[&'static str]) {
    let read: Vec<(&str, Vec<Block>)> = pages.iter().map(|page| (*page, to_be_run(page))).collect();
    if read.iter().flat_map(|(_, blocks)| blocks).all(|block| block.marks.is_empty() && !block.is_command()) {
        return;
    }
    if !shell::has("curl") {
        println!("{pages:?}: not run: curl is not installed");
        return;
    }
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let author = serving.first_caller();
    let folder = tempfile::tempdir().unwrap();
    for beside in ["examples", "benchmarks"] {
        std::os::unix::fs::symlink(root().canonicalize().unwrap().join(beside), folder.path().join(beside)).unwrap();
    }
    let key = serving.first_key.as_deref().unwrap();
    let programs = shell::programs(folder.path());
    for (page, blocks) in &read {
        let shell = Shell { page, folder: folder.path(), programs: &programs, base_url: &serving.base_url, key };
        let said = shell.run(blocks);
        for (place, block) in blocks.iter().enumerate() {
            said.check_calls(page, block);
            let above = blocks[..place].iter().rfind(|block| block.is_command());
            check_marks(page, block, above, &said, &serving.started, &author).await;
        }
    }
}

/// What the block shows is true, and what it is can be read as that.
async fn check_marks(page: &str, block: &Block, above: Option<&Block>, said: &Said, started: &str, author: &Caller) {
    for mark in &block.marks {
        match mark {
            Mark::ShownOutput => said.check_shown(page, above, block),
            Mark::ShownStart => assert!(shown::is_true(&block.text, started), "{page}:{}: {started}", block.line),
            Mark::Is(thing) => things::check(page, block, thing, author).await,
            _ => {}
        }
    }
}

fn to_be_run(page: &str) -> Vec<Block> {
    blocks::of(&read(page)).into_iter().filter(|block| is_to_be_run(page, block)).collect()
}

/// What is no prose is run, read as what it is, or says why not.
fn is_to_be_run(page: &str, block: &Block) -> bool {
    let lacks = block.marks.iter().find_map(|mark| match mark {
        Mark::NotRun(reason) => Some(reason.clone()),
        Mark::Needs(needed) if !shell::has(needed) => Some(format!("{needed} is not installed")),
        _ => None,
    });
    if let Some(reason) = lacks {
        println!("{page}:{}: not run: {reason}", block.line);
        return false;
    }
    let is_example = !PLAIN.contains(&block.language.as_str()) && block.language != "sh";
    assert!(!is_example || !block.marks.is_empty(), "{page}:{}: what is to be done with this?", block.line);
    true
}
