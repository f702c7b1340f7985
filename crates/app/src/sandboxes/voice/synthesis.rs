//! Speech synthesis with the program `espeak-ng`, if it is installed.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const PROGRAM: &str = "espeak-ng";
const LONGEST: Duration = Duration::from_secs(60);
/// Samples per second.
pub(super) const RATE: usize = 22_050;
/// Maximum size of one turn: ten minutes.
const MAX_BYTES: u64 = 10 * 60 * RATE as u64 * 2;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum SynthesisError {
    /// The program is not installed.
    Unavailable,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    Agent,
    Line,
}

impl Voice {
    fn name(self) -> &'static str {
        match self {
            Self::Agent => "en-us+f3",
            Self::Line => "en-us+m3",
        }
    }
}

/// The samples of a text. Blocking, so call it on a blocking thread.
pub(super) fn speak(text: &str, voice: Voice) -> Result<Vec<i16>, SynthesisError> {
    let mut child = start(voice)?;
    let (mut input, output) = (child.stdin.take(), child.stdout.take());
    let words = plain(text).into_bytes();
    // The program may write before it has read everything, so reading and writing must not wait for each other.
    thread::spawn(move || input.as_mut().map(|input| input.write_all(&words)));
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut sound = Vec::new();
        let read = output.map(|output| output.take(MAX_BYTES).read_to_end(&mut sound));
        sender.send(read.map(|_| sound))
    });
    let sound = receiver.recv_timeout(LONGEST);
    let _ = child.kill();
    let _ = child.wait();
    samples(&sound.ok().flatten().ok_or(SynthesisError::Failed)?).ok_or(SynthesisError::Failed)
}

fn start(voice: Voice) -> Result<Child, SynthesisError> {
    let mut command = Command::new(PROGRAM);
    // Over standard input, so that the text cannot contain options.
    command.args(["-v", voice.name(), "-s", "170", "--stdin", "--stdout"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => SynthesisError::Unavailable,
        _ => SynthesisError::Failed,
    })
}

/// Removes characters that the program would interpret as phonemes or markup.
fn plain(text: &str) -> String {
    let is_sign = |c: char| c.is_control() || "[]<>|\\_^".contains(c);
    text.chars().map(|c| if is_sign(c) { ' ' } else { c }).collect()
}

/// The samples of a WAV file with one channel and 16 bits. The length in its header is not valid.
fn samples(wav: &[u8]) -> Option<Vec<i16>> {
    let at = wav.windows(4).take(200).position(|part| part == b"data")?;
    let pairs = wav.get(at + 8..)?.chunks_exact(2);
    Some(pairs.filter_map(|pair| Some(i16::from_le_bytes(pair.try_into().ok()?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_said_is_an_instruction() {
        assert_eq!(plain("a [[h@l'oU]] <break/> b\n"), "a   h@l'oU    break/  b ");
        assert_eq!(samples(b"RIFFxxxxWAVEfmt data\0\0\0\0\x01\x00\xff\xff\x07"), Some(vec![1, -1]));
        assert_eq!(samples(b"no sound"), None);
    }
}
