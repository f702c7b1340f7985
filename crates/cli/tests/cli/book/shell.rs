//! The one shell of a page: its blocks as one script, and what each of them said.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::blocks::{Block, Mark};
use super::{root, shown};
use crate::process::verial;

/// Stands alone on a line of either output before what a block says.
const MARKER: &str = "@@block";
/// Stands before the status of each call.
const CALL: &str = "@@call";

pub(super) struct Shell<'a> {
    pub(super) page: &'a str,
    pub(super) folder: &'a Path,
    pub(super) programs: &'a Path,
    pub(super) base_url: &'a str,
    pub(super) key: &'a str,
}

/// What the blocks said, by their place in the page.
pub(super) struct Said {
    output: String,
    errors: String,
}

impl Shell<'_> {
    /// Runs the blocks, which all must succeed.
    pub(super) fn run(&self, blocks: &[Block]) -> Said {
        let mut command = Command::new("bash");
        command.arg("-c").arg(self.script(blocks)).current_dir(self.folder).stdin(Stdio::null());
        for (name, _) in verial(&[]).get_envs() {
            command.env_remove(name);
        }
        command.env("HOME", self.folder).env("PATH", path(self.programs)).env("COLUMNS", "100");
        let ended = command.output().unwrap_or_else(|error| panic!("bash: {error}"));
        let said = Said { output: text(&ended.stdout), errors: text(&ended.stderr) };
        let place = said.output.lines().filter_map(|line| line.strip_prefix(MARKER)).next_back().unwrap_or_default();
        let told = || format!("{}:{}\n{}\n{}", self.page, place.trim(), tail(&said.output), tail(&said.errors));
        assert!(ended.status.success(), "{}: {}", ended.status, told());
        said
    }

    fn script(&self, blocks: &[Block]) -> String {
        let mut script = "set -euo pipefail\n".to_owned();
        for block in blocks {
            let _ = writeln!(script, "printf '\\n{MARKER} {0}\\n'; printf '\\n{MARKER} {0}\\n' >&2", block.line);
            for mark in &block.marks {
                if let Mark::File(name) = mark {
                    let kept = self.folder.join(format!(".block-{}", block.line));
                    std::fs::write(&kept, &block.text).unwrap();
                    let _ = writeln!(script, "mkdir -p \"$(dirname '{name}')\"; cp '{}' '{name}'", kept.display());
                }
            }
            if block.is_command() {
                let code =
                    block.marks.iter().find_map(|mark| if let Mark::EndsWith(code) = mark { Some(code) } else { None });
                let text = self.pasted(block);
                let _ = match code {
                    Some(code) => writeln!(script, "set +e\n{text}\n[[ $? == {code} ]] || exit 99\nset -e"),
                    None => writeln!(script, "{text}"),
                };
            }
        }
        script
    }

    /// As a reader pastes it: with the address and the key of the server at hand, and nothing else left to fill in.
    fn pasted(&self, block: &Block) -> String {
        let text = block.text.replace("http://127.0.0.1:8080", self.base_url).replace("vk_…", self.key);
        for line in text.lines() {
            let code = line.split(" #").next().unwrap_or_default();
            assert!(code.starts_with('#') || !code.contains('…'), "{}:{}: to fill in: {line}", self.page, block.line);
        }
        text
    }
}

/// The programs of a reader: `verial` as it was built, and `curl`, which also tells the status of each answer.
pub(super) fn programs(folder: &Path) -> PathBuf {
    let bin = folder.join(".bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(verial(&[]).get_program(), bin.join("verial")).unwrap();
    let told = format!("%{{stderr}}\\n{CALL} %{{http_code}} %{{method}} %{{url_effective}}\\n");
    let shim = format!("#!/bin/sh\nPATH=${{PATH#*:}}\nexec curl --write-out '{told}' \"$@\"\n");
    std::fs::write(bin.join("curl"), shim).unwrap();
    std::fs::set_permissions(bin.join("curl"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    bin
}

impl Said {
    fn of<'a>(text: &'a str, block: &Block) -> impl Iterator<Item = &'a str> {
        let own = format!("{MARKER} {}", block.line);
        let after = text.lines().skip_while(move |line| *line != own).skip(1);
        after.take_while(|line| !line.starts_with(MARKER))
    }

    /// All calls of a block were answered well, but for those that it says are refused.
    pub(super) fn check_calls(&self, page: &str, block: &Block) {
        let mut refused: Vec<u16> = Vec::new();
        for call in Self::of(&self.errors, block).filter_map(|line| line.strip_prefix(CALL)) {
            let status: u16 = call.split_whitespace().next().and_then(|status| status.parse().ok()).unwrap_or(0);
            if status >= 400 {
                assert!(block.marks.contains(&Mark::Refused(status)), "{page}:{}:{call}\n{}", block.line, self.output);
                refused.push(status);
            }
        }
        for mark in &block.marks {
            let Mark::Refused(status) = mark else { continue };
            assert!(refused.contains(status), "{page}:{}: nothing was refused with {status}", block.line);
        }
    }

    /// What the last of the blocks above said is what the page shows.
    pub(super) fn check_shown(&self, page: &str, above: Option<&Block>, block: &Block) {
        let above = above.unwrap_or_else(|| panic!("{page}:{}: nothing ran before this", block.line));
        let output: Vec<&str> = Self::of(&self.output, above).collect();
        let errors = Self::of(&self.errors, above).filter(|line| !line.starts_with(CALL));
        let whole = output.iter().copied().chain(errors).collect::<Vec<_>>().join("\n");
        let is_true = shown::is_true(&block.text, &output.join("\n")) || shown::is_true(&block.text, &whole);
        assert!(is_true, "{page}:{}: the page shows\n{}\nand this was said:\n{whole}", block.line, block.text);
    }
}

/// What a page needs and this machine may not have: a program, or a module of Python.
pub(super) fn has(needed: &str) -> bool {
    let found = |script: String| {
        let mut command = Command::new("bash");
        command
            .arg("-c")
            .arg(script)
            .env("PATH", path(Path::new("/nowhere")))
            .stderr(Stdio::null())
            .stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    found(format!("command -v {needed} || python3 -c 'import {needed}'"))
}

/// First the page's own programs, then what `./test` installs for Python, then the user's.
#[expect(clippy::disallowed_methods, reason = "a test finds the programs of its caller")]
fn path(bin: &Path) -> String {
    let venv = root().join(".test/venv/bin");
    format!("{}:{}:{}", bin.display(), venv.display(), std::env::var("PATH").unwrap_or_default())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn tail(text: &str) -> &str {
    let start = text.len().saturating_sub(3_000);
    let start = (start..text.len()).find(|&place| text.is_char_boundary(place)).unwrap_or(0);
    &text[start..]
}
