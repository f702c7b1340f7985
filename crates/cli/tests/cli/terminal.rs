//! What people see: on terminals of two widths, with and without colour, and through a pipe.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::arena::{Arena, ended};
use crate::groups::Shell;
use crate::process::verial;

/// Standard output and standard error together, as a terminal gets them, and the exit code.
fn on_terminal(mut command: Command, columns: u16) -> (String, Option<i32>) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal = File::options().read(true).write(true).open(name).unwrap();
    tcsetwinsize(&terminal, Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    command.env_remove("COLUMNS").env("TERM", "xterm").env_remove("CLICOLOR_FORCE");
    command.stdout(terminal.try_clone().unwrap()).stderr(terminal);
    let mut child = command.spawn().unwrap();
    // The reader sees the end when nobody holds the other side any more.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut bytes = Vec::new();
    let _ = File::from(master).read_to_end(&mut bytes);
    (String::from_utf8(bytes).unwrap(), child.wait().unwrap().code())
}

/// Lines as they stand on the screen one after the other: a bar that is drawn again begins anew.
fn lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '\u{1b}' => {
                let is_end = |letter: &char| letter.is_ascii_alphabetic();
                if rest.find(is_end) != Some('m') {
                    lines.push(String::new());
                }
            }
            '\n' | '\r' => lines.push(String::new()),
            letter => lines.last_mut().unwrap().push(letter),
        }
    }
    lines
}

/// Whether an escape sets a colour; those that move a bar do not.
fn is_coloured(text: &str) -> bool {
    let ends = text.split('\u{1b}').skip(1).filter_map(|rest| rest.chars().find(char::is_ascii_alphabetic));
    ends.into_iter().any(|end| end == 'm')
}

/// Every line fits, and without colour none is coloured.
#[track_caller]
fn fits(command: impl Fn() -> Command, columns: u16, code: i32) -> String {
    let (coloured, ended) = on_terminal(command(), columns);
    assert_eq!(ended, Some(code), "{coloured}");
    let mut plain = command();
    plain.env("NO_COLOR", "1");
    let (plain, _) = on_terminal(plain, columns);
    assert!(!is_coloured(&plain), "{plain:?}");
    for line in lines(&coloured).iter().chain(&lines(&plain)) {
        let wide: usize = line.chars().map(|letter| if letter > '\u{2e80}' { 2 } else { 1 }).sum();
        assert!(wide <= usize::from(columns), "{wide} columns: {line}\n{plain}");
    }
    assert!(!plain.ends_with("\r\n\r\n"), "{plain:?}");
    lines(&plain).join("\n")
}

/// Nothing that only a terminal understands, in neither stream.
#[track_caller]
fn piped(command: &mut Command, code: i32) -> (String, String) {
    let (out, told) = ended(command.env_remove("COLUMNS"), code);
    for text in [&out, &told] {
        assert!(!text.contains(['\u{1b}', '\r']), "{text:?}");
    }
    (out, told)
}

#[test]
fn help_fits_the_terminal() {
    for words in [
        &["--help"][..],
        &["run", "--help"],
        &["serve", "--help"],
        &["benchmarks", "--help"],
        &["benchmarks", "audit", "--help"],
        &["datasets", "put-file", "--help"],
        &["runs", "list", "--help"],
    ] {
        for columns in [80, 200] {
            let shown = fits(|| verial(words), columns, 0);
            assert!(shown.contains("Usage: verial"), "{shown}");
        }
        piped(&mut verial(words), 0);
    }
}

#[test]
fn tables_fit_the_terminal_and_are_whole_in_a_pipe() {
    let shell = Shell::open();
    let long = "A clinic whose name is so long that no table of eighty columns has room for all of it, 診療所";
    let environment = shell.id(&["environments", "create", "--name", long, "--description", long]);
    ended(&mut shell.command(&["benchmarks", "init", "chest-x-rays-of-the-whole-town"]), 0);
    ended(&mut shell.command(&["benchmarks", "push", "chest-x-rays-of-the-whole-town"]), 0);
    for words in [
        &["environments", "list"][..],
        &["environments", "get", &environment],
        &["benchmarks", "list"],
        &["benchmarks", "get", "chest-x-rays-of-the-whole-town@1"],
        &["benchmarks", "versions", "chest-x-rays-of-the-whole-town"],
        &["tasks", "list", "--benchmark", "chest-x-rays-of-the-whole-town", "--limit", "1"],
        &["criteria", "list"],
        &["datasets", "list"],
        &["keys", "list"],
        &["auth", "status"],
    ] {
        for columns in [80, 200] {
            fits(|| shell.command(words), columns, 0);
        }
        let (whole, _) = piped(&mut shell.command(words), 0);
        assert!(!whole.contains('…'), "{whole}");
    }
    let (whole, _) = piped(&mut shell.command(&["environments", "list"]), 0);
    assert!(whole.contains(long), "{whole}");
    let narrow = fits(|| shell.command(&["benchmarks", "list"]), 80, 0);
    assert!(narrow.contains("chest-x-rays-of-the-whole-town"), "a slug is of no use in part: {narrow}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_and_errors_can_be_read_anywhere() {
    let arena = Arena::open().await;
    let run = || arena.run("exit 3", &["--min-score", "0.5", "--parallel", "2"]);
    for columns in [80, 200] {
        let shown = fits(run, columns, 1);
        for word in ["✗ ", "fail", "NOT MET", "error: under the gate"] {
            assert!(shown.contains(word), "{word}: {shown}");
        }
    }
    let (card, told) = piped(&mut run(), 1);
    assert!(card.contains("✗ ") && card.contains("NOT MET"), "{card}");
    assert!(told.contains("error: under the gate") && told.contains("fail"), "{told}");
    let unknown = || arena.verial(&["environments", "get", "env_01K9Z3T5Q8W7N4M2R6V0XBHCDE"]);
    let shown = fits(unknown, 80, 3);
    assert!(shown.contains("error: no such environment") && shown.contains("  next: "), "{shown}");
    let (out, told) = piped(&mut unknown(), 3);
    assert!(out.is_empty() && told.lines().count() == 2, "a log has one line for each: {told}");
}
