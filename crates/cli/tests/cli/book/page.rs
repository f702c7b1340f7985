//! One page, gone through from top to bottom.

use testkit::Database;

use super::blocks::{self, Block, Mark};
use super::shell::{self, Shell};
use super::{read, root, shown, things};
use crate::process::Site;

/// What is prose or a picture, not an example.
const PLAIN: [&str; 2] = ["", "text"];

pub(super) async fn run(page: &'static str) {
    let blocks = blocks::of(&read(page));
    let blocks: Vec<&Block> = blocks.iter().filter(|block| is_to_be_run(page, block)).collect();
    if blocks.iter().all(|block| block.marks.is_empty() && !block.is_command()) {
        return;
    }
    if !shell::has("curl") {
        println!("{page}: not run: curl is not installed");
        return;
    }
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let folder = tempfile::tempdir().unwrap();
    for beside in ["examples", "benchmarks"] {
        std::os::unix::fs::symlink(root().canonicalize().unwrap().join(beside), folder.path().join(beside)).unwrap();
    }
    let key = serving.first_key.as_deref().unwrap();
    let said = Shell { page, folder: folder.path(), base_url: &serving.base_url, key }.run(&blocks);
    let author = serving.first_caller();
    for (place, block) in blocks.iter().enumerate() {
        said.check_calls(page, block);
        for mark in &block.marks {
            match mark {
                Mark::ShownOutput => {
                    said.check_shown(page, blocks[..place].iter().rfind(|block| block.is_command()), block);
                }
                Mark::ShownStart => {
                    assert!(
                        shown::is_true(&block.text, &serving.started),
                        "{page}:{}: {}",
                        block.line,
                        serving.started
                    );
                }
                Mark::Is(thing) => things::check(page, block, thing, &author).await,
                _ => {}
            }
        }
    }
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
