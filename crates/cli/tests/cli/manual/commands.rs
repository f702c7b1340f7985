//! Checks that commands and flags in the text exist on the command line page.

use std::collections::BTreeSet;

use super::{PAGES, read};

/// `verial benchmarks init` and all others, and the flags of all of them together.
fn known() -> (BTreeSet<String>, BTreeSet<String>) {
    let page = read("docs/command-line.md");
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let commands = headings.filter_map(|line| line.split('`').nth(1)).map(str::to_owned).collect();
    let flags = page
        .split(|character: char| !character.is_ascii_alphanumeric() && character != '-')
        .filter(|word| word.starts_with("--"));
    // All commands have these, so the page does not list them.
    (commands, flags.chain(["--version", "--help", "--get"]).map(str::to_owned).collect())
}

/// Inline code outside of blocks.
fn inline(page: &str) -> Vec<String> {
    let mut is_block = false;
    let mut found = Vec::new();
    for line in page.lines() {
        is_block ^= line.starts_with("```");
        if !is_block {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

#[test]
fn commands_and_flags_in_the_text_exist() {
    let (commands, flags) = known();
    let mut seen = 0;
    for page in PAGES.iter().filter(|page| **page != "docs/command-line.md") {
        for code in inline(&read(page)).into_iter().filter(|code| code.starts_with("verial ")) {
            let mut command = "verial".to_owned();
            for word in code.split_whitespace().skip(1) {
                if let Some(flag) = word.split('=').next().filter(|word| word.starts_with("--")) {
                    assert!(flags.contains(flag), "{page}: `{code}`: no command has the flag {flag}");
                }
                let next = format!("{command} {word}");
                if commands.contains(&next) {
                    command = next;
                }
            }
            let is_placeholder = code.contains("COMMAND") || code.starts_with("verial manual");
            assert!(
                command != "verial" || is_placeholder || code.contains("--version"),
                "{page}: `{code}` is not a command"
            );
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} commands were checked");
}
