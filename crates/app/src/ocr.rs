//! Reads what a picture of a page says, with the `tesseract` program where the machine has it.
//!
//! What it finds differs from machine to machine. No check runs it: a fax is read once, when it is sent, and checks read what
//! was kept of it.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use documents::PageImage;

const PROGRAM: &str = "tesseract";
/// A page takes a second; a page of noise takes more.
const LONGEST: Duration = Duration::from_secs(60);
const LONGEST_TEXT: u64 = 1 << 20;
/// Of the engine's name and version.
const LONGEST_NAME: usize = 100;

#[derive(Debug, thiserror::Error)]
pub enum OcrFault {
    #[error("this machine has no OCR: the program `tesseract` is not installed")]
    Unavailable,
    #[error("the page took more than a minute to read")]
    TooSlow,
    #[error("the page could not be read")]
    Failed,
}

/// The name and the version of the program, such as `tesseract 5.3.0`. Blocks until the program has answered.
pub fn engine() -> Result<String, OcrFault> {
    let output = Command::new(PROGRAM).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| match error.kind() {
        ErrorKind::NotFound => OcrFault::Unavailable,
        _ => OcrFault::Failed,
    })?;
    // Older versions say it on the standard error.
    let said = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let said = String::from_utf8_lossy(&said);
    let line: String = said.lines().next().unwrap_or(PROGRAM).trim().chars().take(LONGEST_NAME).collect();
    Ok(line)
}

/// The words of one page. Blocks until they are read: call it off the threads that serve others.
pub fn recognise(image: &PageImage) -> Result<String, OcrFault> {
    recognise_within(image, LONGEST)
}

/// The same for whoever has less time.
pub(crate) fn recognise_within(image: &PageImage, limit: Duration) -> Result<String, OcrFault> {
    let mut child = start(image.dots_per_inch)?;
    let (mut input, output) = (child.stdin.take(), child.stdout.take());
    let bytes = image.bytes.clone();
    // The program may answer before it has read all, so nobody may wait for the other.
    let writing = thread::spawn(move || input.as_mut().map(|input| input.write_all(&bytes)));
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let read = output.map(|output| output.take(LONGEST_TEXT).read_to_end(&mut text));
        sender.send(read.map(|_| text))
    });
    let Ok(text) = receiver.recv_timeout(limit.min(LONGEST)) else {
        end(&mut child);
        return Err(OcrFault::TooSlow);
    };
    // Beyond the longest text it may still be talking.
    let _ = child.kill();
    let _ = child.wait();
    let was_given = matches!(writing.join(), Ok(Some(Ok(()))));
    let text = text.filter(|_| was_given).ok_or(OcrFault::Failed)?;
    Ok(String::from_utf8_lossy(&text).trim().to_owned())
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// One thread: pages are read side by side, if at all.
fn start(dots_per_inch: Option<u32>) -> Result<Child, OcrFault> {
    let mut command = Command::new(PROGRAM);
    command.args(["stdin", "stdout", "-l", "eng"]).env("OMP_THREAD_LIMIT", "1");
    // What it refuses to believe it had better guess.
    if let Some(dots) = dots_per_inch.filter(|dots| (70..=2400).contains(dots)) {
        command.args(["--dpi", &dots.to_string()]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => OcrFault::Unavailable,
        _ => OcrFault::Failed,
    })
}
