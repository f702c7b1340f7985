//! Flags that every command takes may also stand before the command: `verial --api-key KEY sandboxes list`.

use std::ffi::OsString;

/// Flags with a value, and flags without one.
const WITH_VALUE: [&str; 4] = ["--api-key", "--url", "--base-url", "--get"];
const ALONE: [&str; 2] = ["--json", "--wide"];

/// The words of the command line, with leading flags moved behind the command, where it expects them.
pub(crate) fn moved(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let mut end = 1;
    while let Some(word) = words.get(end).and_then(|word| word.to_str()) {
        let name = word.split('=').next().unwrap_or_default();
        let takes_value = WITH_VALUE.contains(&name);
        if !takes_value && !ALONE.contains(&word) {
            break;
        }
        end += if takes_value && !word.contains('=') { 2 } else { 1 };
    }
    if end == 1 || end >= words.len() {
        return words;
    }
    let flags: Vec<OsString> = words.drain(1..end).collect();
    // Behind `--` they would be words of another program.
    let place = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.splice(place..place, flags);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_flags_are_moved_behind_the_command() {
        let check = |line: &str, expected: &str| {
            let moved = moved(line.split(' ').map(OsString::from));
            let moved: Vec<&str> = moved.iter().filter_map(|word| word.to_str()).collect();
            assert_eq!(moved.join(" "), expected);
        };
        check("verial --api-key k sandboxes list", "verial sandboxes list --api-key k");
        check("verial --json --url=http://a runs get x", "verial runs get x --json --url=http://a");
        check("verial --json confine -- sh", "verial confine --json -- sh");
        check("verial runs list --json", "verial runs list --json");
        check("verial --help", "verial --help");
        check("verial --api-key k", "verial --api-key k");
    }
}
