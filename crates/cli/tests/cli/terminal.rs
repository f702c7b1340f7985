//! Output on terminals of two widths, with and without colors, and in a pipe.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::fixture::{RunFixture, expect_exit};
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
    // The reader sees the end when all writers are closed.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut bytes = Vec::new();
    let _ = File::from(master).read_to_end(&mut bytes);
    (String::from_utf8(bytes).unwrap(), child.wait().unwrap().code())
}

/// The lines as shown on the screen; a redrawn progress bar starts a new line.
fn lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => {
                let is_end = |character: &char| character.is_ascii_alphabetic();
                if rest.find(is_end) != Some('m') {
                    lines.push(String::new());
                }
            }
            '\n' | '\r' => lines.push(String::new()),
            character => lines.last_mut().unwrap().push(character),
        }
    }
    lines
}

/// Whether an escape sequence sets a color, as opposed to moving the cursor.
fn is_colored(text: &str) -> bool {
    let ends = text.split('\u{1b}').skip(1).filter_map(|rest| rest.chars().find(char::is_ascii_alphabetic));
    ends.into_iter().any(|end| end == 'm')
}

/// Checks that every line fits, and that there are no colors if they are disabled.
#[track_caller]
fn fits(command: impl Fn() -> Command, columns: u16, code: i32) -> String {
    let (colored, exit_code) = on_terminal(command(), columns);
    assert_eq!(exit_code, Some(code), "{colored}");
    let mut plain = command();
    plain.env("NO_COLOR", "1");
    let (plain, _) = on_terminal(plain, columns);
    assert!(!is_colored(&plain), "{plain:?}");
    for line in lines(&colored).iter().chain(&lines(&plain)) {
        let wide: usize = line.chars().map(|character| if character > '\u{2e80}' { 2 } else { 1 }).sum();
        assert!(wide <= usize::from(columns), "{wide} columns: {line}\n{plain}");
    }
    assert!(!plain.ends_with("\r\n\r\n"), "{plain:?}");
    lines(&plain).join("\n")
}

/// Checks that neither stream contains terminal escapes.
#[track_caller]
fn piped(command: &mut Command, code: i32) -> (String, String) {
    let (out, output_text) = expect_exit(command.env_remove("COLUMNS"), code);
    for text in [&out, &output_text] {
        assert!(!text.contains(['\u{1b}', '\r']), "{text:?}");
    }
    (out, output_text)
}

#[test]
fn help_fits_the_terminal() {
    for arguments in [
        &["--help"][..],
        &["run", "--help"],
        &["serve", "--help"],
        &["benchmarks", "--help"],
        &["benchmarks", "audit", "--help"],
        &["datasets", "put-file", "--help"],
        &["runs", "list", "--help"],
    ] {
        for columns in [80, 200] {
            let shown = fits(|| verial(arguments), columns, 0);
            assert!(shown.contains("Usage: verial"), "{shown}");
        }
        piped(&mut verial(arguments), 0);
    }
}

#[test]
fn tables_fit_the_terminal_and_are_complete_in_a_pipe() {
    let shell = Shell::open();
    let long = "A clinic whose name is so long that no table of eighty columns has room for all of it, 診療所";
    let environment = shell.id(&["environments", "create", "--name", long, "--description", long]);
    expect_exit(&mut shell.command(&["benchmarks", "init", "chest-x-rays-of-the-whole-town"]), 0);
    expect_exit(&mut shell.command(&["benchmarks", "push", "chest-x-rays-of-the-whole-town"]), 0);
    for arguments in [
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
            fits(|| shell.command(arguments), columns, 0);
        }
        let (whole, _) = piped(&mut shell.command(arguments), 0);
        assert!(!whole.contains('…'), "{whole}");
    }
    let (whole, _) = piped(&mut shell.command(&["environments", "list"]), 0);
    assert!(whole.contains(long), "{whole}");
    let narrow = fits(|| shell.command(&["benchmarks", "list"]), 80, 0);
    assert!(narrow.contains("chest-x-rays-of-the-whole-town"), "slugs are not truncated: {narrow}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_and_errors_are_readable_on_terminals_and_in_pipes() {
    let fixture = RunFixture::open().await;
    let run = || fixture.run("exit 3", &["--min-score", "0.5", "--parallel", "2"]);
    for columns in [80, 200] {
        let shown = fits(run, columns, 1);
        for word in ["✗ ", "fail", "NOT MET", "error: gate not met"] {
            assert!(shown.contains(word), "{word}: {shown}");
        }
    }
    let (card, text) = piped(&mut run(), 1);
    assert!(card.contains("✗ ") && card.contains("NOT MET"), "{card}");
    assert!(text.contains("error: gate not met") && text.contains("fail"), "{text}");
    let unknown = || fixture.verial(&["environments", "get", "env_01K9Z3T5Q8W7N4M2R6V0XBHCDE"]);
    let shown = fits(unknown, 80, 3);
    assert!(shown.contains("error: no such environment") && shown.contains("  next: "), "{shown}");
    let (out, text) = piped(&mut unknown(), 3);
    assert!(out.is_empty() && text.lines().count() == 2, "one line per message: {text}");
}
