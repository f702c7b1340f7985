//! Runs the blocks of a page as one shell script, and splits the output by block.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::blocks::{Block, Mark};
use super::{expected_output, root};
use crate::process::verial;

/// Marks the start of a block's output, on both streams.
const MARKER: &str = "@@block";
/// Precedes the status of each HTTP request on standard error.
const CALL: &str = "@@call";

pub(super) struct Shell<'a> {
    pub(super) page: &'a str,
    pub(super) folder: &'a Path,
    pub(super) programs: &'a Path,
    pub(super) base_url: &'a str,
    pub(super) key: &'a str,
}

/// The output of all blocks of a page.
pub(super) struct BlockOutput {
    output: String,
    errors: String,
}

impl Shell<'_> {
    /// Runs the blocks. All of them must succeed.
    pub(super) fn run(&self, blocks: &[Block]) -> BlockOutput {
        let mut command = Command::new("bash");
        command.arg("-c").arg(self.script(blocks)).current_dir(self.folder).stdin(Stdio::null());
        for (name, _) in verial(&[]).get_envs() {
            command.env_remove(name);
        }
        command.env("HOME", self.folder).env("PATH", path(self.programs)).env("COLUMNS", "100");
        let output = command.output().unwrap_or_else(|error| panic!("bash: {error}"));
        let result = BlockOutput { output: text(&output.stdout), errors: text(&output.stderr) };
        let last_line =
            result.output.lines().filter_map(|line| line.strip_prefix(MARKER)).next_back().unwrap_or_default();
        let context =
            || format!("{}:{}\n{}\n{}", self.page, last_line.trim(), tail(&result.output), tail(&result.errors));
        assert!(output.status.success(), "{}: {}", output.status, context());
        result
    }

    fn script(&self, blocks: &[Block]) -> String {
        let mut script = "set -euo pipefail\n".to_owned();
        for block in blocks {
            let _ = writeln!(script, "printf '\\n{MARKER} {0}\\n'; printf '\\n{MARKER} {0}\\n' >&2", block.line);
            for mark in &block.marks {
                if let Mark::File(name) = mark {
                    let saved = self.folder.join(format!(".block-{}", block.line));
                    std::fs::write(&saved, &block.text).unwrap();
                    let _ = writeln!(script, "mkdir -p \"$(dirname '{name}')\"; cp '{}' '{name}'", saved.display());
                }
            }
            if block.is_command() {
                let code =
                    block.marks.iter().find_map(|mark| if let Mark::EndsWith(code) = mark { Some(code) } else { None });
                let text = self.fill_in(block);
                let _ = match code {
                    Some(code) => writeln!(script, "set +e\n{text}\n[[ $? == {code} ]] || exit 99\nset -e"),
                    None => writeln!(script, "{text}"),
                };
            }
        }
        script
    }

    /// The block with the test server's address and key. There must be no other placeholders.
    fn fill_in(&self, block: &Block) -> String {
        let text = block.text.replace("http://127.0.0.1:8080", self.base_url).replace("vk_…", self.key);
        for line in text.lines() {
            let code = line.split(" #").next().unwrap_or_default();
            assert!(code.starts_with('#') || !code.contains('…'), "{}:{}: to fill in: {line}", self.page, block.line);
        }
        text
    }
}

/// A folder with `verial`, and a `curl` wrapper that prints the status of each response.
pub(super) fn programs(folder: &Path) -> PathBuf {
    let bin = folder.join(".bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(verial(&[]).get_program(), bin.join("verial")).unwrap();
    let context = format!("%{{stderr}}\\n{CALL} %{{http_code}} %{{method}} %{{url_effective}}\\n");
    let shim = format!("#!/bin/sh\nPATH=${{PATH#*:}}\nexec curl --write-out '{context}' \"$@\"\n");
    std::fs::write(bin.join("curl"), shim).unwrap();
    std::fs::set_permissions(bin.join("curl"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    bin
}

impl BlockOutput {
    fn of<'a>(text: &'a str, block: &Block) -> impl Iterator<Item = &'a str> {
        let own = format!("{MARKER} {}", block.line);
        let after = text.lines().skip_while(move |line| *line != own).skip(1);
        after.take_while(|line| !line.starts_with(MARKER))
    }

    /// Checks that all requests of a block succeeded, except for those marked as `error_statuses`.
    pub(super) fn check_calls(&self, page: &str, block: &Block) {
        let mut error_statuses: Vec<u16> = Vec::new();
        for call in Self::of(&self.errors, block).filter_map(|line| line.strip_prefix(CALL)) {
            let status: u16 = call.split_whitespace().next().and_then(|status| status.parse().ok()).unwrap_or(0);
            if status >= 400 {
                assert!(block.marks.contains(&Mark::Refused(status)), "{page}:{}:{call}\n{}", block.line, self.output);
                error_statuses.push(status);
            }
        }
        for mark in &block.marks {
            let Mark::Refused(status) = mark else { continue };
            assert!(error_statuses.contains(status), "{page}:{}: no request got status {status}", block.line);
        }
    }

    /// Compares the output of the previous command with what the page shows.
    pub(super) fn check_shown(&self, page: &str, previous_command: Option<&Block>, block: &Block) {
        let previous_command =
            previous_command.unwrap_or_else(|| panic!("{page}:{}: nothing ran before this", block.line));
        let output: Vec<&str> = Self::of(&self.output, previous_command).collect();
        let errors = Self::of(&self.errors, previous_command).filter(|line| !line.starts_with(CALL));
        let all_output = output.iter().copied().chain(errors).collect::<Vec<_>>().join("\n");
        let is_true = expected_output::matches(&block.text, &output.join("\n"))
            || expected_output::matches(&block.text, &all_output);
        assert!(is_true, "{page}:{}: the page shows\n{}\nbut the output was:\n{all_output}", block.line, block.text);
    }
}

/// Whether a program or Python module is installed.
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

/// `PATH` with the page's programs first, then the Python environment of `./test`, then the user's.
#[expect(clippy::disallowed_methods, reason = "tests use the programs of the user")]
fn path(bin: &Path) -> String {
    let venv = root().join(".test/venv/bin");
    format!("{}:{}:{}", bin.display(), venv.display(), std::env::var("PATH").unwrap_or_default())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn tail(text: &str) -> &str {
    let start = text.len().saturating_sub(3_000);
    let start = (start..text.len()).find(|&last_line| text.is_char_boundary(last_line)).unwrap_or(0);
    &text[start..]
}
