//! OCR of page images with the program `tesseract`, if it is installed.
//!
//! Its results differ between machines, so no check runs it: a fax is read once, when it is sent, and checks use the stored
//! text.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use documents::PageImage;

const PROGRAM: &str = "tesseract";
/// A page usually takes a second; a page of noise takes longer.
const TIMEOUT: Duration = Duration::from_secs(60);
const MAX_TEXT_BYTES: u64 = 1 << 20;
/// Maximum length of the engine's name and version.
const MAX_NAME_CHARS: usize = 100;

#[derive(Debug, thiserror::Error)]
pub enum OcrError {
    #[error("this machine has no OCR: the program `tesseract` is not installed")]
    Unavailable,
    #[error("the page took more than a minute to read")]
    TooSlow,
    #[error("the page could not be read")]
    Failed,
}

/// The name and version of the program, such as `tesseract 5.3.0`. Blocking.
pub fn engine() -> Result<String, OcrError> {
    let output = Command::new(PROGRAM).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| match error.kind() {
        ErrorKind::NotFound => OcrError::Unavailable,
        _ => OcrError::Failed,
    })?;
    // Older versions print it to standard error.
    let printed = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let printed = String::from_utf8_lossy(&printed);
    let line: String = printed.lines().next().unwrap_or(PROGRAM).trim().chars().take(MAX_NAME_CHARS).collect();
    Ok(line)
}

/// Returns the text of one page. Blocking, so call it on a blocking thread.
pub fn recognize(image: &PageImage) -> Result<String, OcrError> {
    recognize_within(image, TIMEOUT)
}

/// The same with a shorter timeout.
pub(crate) fn recognize_within(image: &PageImage, limit: Duration) -> Result<String, OcrError> {
    let mut child = start(image.dots_per_inch)?;
    let (mut input, output) = (child.stdin.take(), child.stdout.take());
    let bytes = image.bytes.clone();
    // The program may write before it has read everything, so reading and writing must not wait for each other.
    let writing = thread::spawn(move || input.as_mut().map(|input| input.write_all(&bytes)));
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let read = output.map(|output| output.take(MAX_TEXT_BYTES).read_to_end(&mut text));
        sender.send(read.map(|_| text))
    });
    let Ok(text) = receiver.recv_timeout(limit.min(TIMEOUT)) else {
        end(&mut child);
        return Err(OcrError::TooSlow);
    };
    // It may still be running if it wrote more than the maximum.
    let _ = child.kill();
    let _ = child.wait();
    let is_written = matches!(writing.join(), Ok(Some(Ok(()))));
    let text = text.filter(|_| is_written).ok_or(OcrError::Failed)?;
    Ok(String::from_utf8_lossy(&text).trim().to_owned())
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// With one thread, because several pages may be read at the same time.
fn start(dots_per_inch: Option<u32>) -> Result<Child, OcrError> {
    let mut command = Command::new(PROGRAM);
    command.args(["stdin", "stdout", "-l", "eng"]).env("OMP_THREAD_LIMIT", "1");
    // The program rejects other resolutions. Without one it makes an estimate.
    if let Some(dots) = dots_per_inch.filter(|dots| (70..=2400).contains(dots)) {
        command.args(["--dpi", &dots.to_string()]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => OcrError::Unavailable,
        _ => OcrError::Failed,
    })
}
