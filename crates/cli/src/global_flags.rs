//! Allows flags of every command to precede the command: `verial --api-key KEY sandboxes list`.

use std::ffi::OsString;

/// Flags that take a value, and flags that do not.
const WITH_VALUE: [&str; 4] = ["--api-key", "--url", "--base-url", "--get"];
const WITHOUT_VALUE: [&str; 2] = ["--json", "--wide"];

/// Moves leading flags behind the command, where clap expects them.
pub(crate) fn move_behind_command(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let mut end = 1;
    while let Some(argument) = arguments.get(end).and_then(|argument| argument.to_str()) {
        let name = argument.split('=').next().unwrap_or_default();
        let takes_value = WITH_VALUE.contains(&name);
        if !takes_value && !WITHOUT_VALUE.contains(&argument) {
            break;
        }
        end += if takes_value && !argument.contains('=') { 2 } else { 1 };
    }
    if end == 1 || end >= arguments.len() {
        return arguments;
    }
    let flags: Vec<OsString> = arguments.drain(1..end).collect();
    // After `--` they would be arguments of another program.
    let position = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    arguments.splice(position..position, flags);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_flags_are_moved_behind_the_command() {
        let check = |line: &str, expected: &str| {
            let moved = move_behind_command(line.split(' ').map(OsString::from));
            let moved: Vec<&str> = moved.iter().filter_map(|argument| argument.to_str()).collect();
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
