//! Codecs against what others use for the same work, in the same run: parse each message and look one value up.

pub mod hl7;
pub mod x12;

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// How fast one way of doing it is.
#[derive(Clone, Debug)]
pub struct Figure {
    pub name: String,
    pub messages_per_second: f64,
    pub megabytes_per_second: f64,
}

/// Messages as a file has them, and how long one way takes for all of them.
pub(crate) struct Corpus {
    pub(crate) messages: Vec<String>,
}

impl Corpus {
    fn bytes(&self) -> usize {
        self.messages.iter().map(String::len).sum()
    }

    /// The best of several rounds: neighbours on the machine only ever make it slower.
    pub(crate) fn measure(&self, name: &str, mut work: impl FnMut(&str) -> usize) -> Figure {
        let mut best = Duration::MAX;
        let mut found = 0;
        for _ in 0..ROUNDS {
            let began = Instant::now();
            found += self.messages.iter().map(|message| work(message)).sum::<usize>();
            best = best.min(began.elapsed());
        }
        // What is not used would not be computed.
        std::hint::black_box(found);
        self.figure(name, best.as_secs_f64())
    }

    /// Runs a Python program that reads the messages from a file, one a line of hexadecimal digits, and prints seconds.
    pub(crate) fn measure_python(&self, name: &str, python: &Path, program: &str) -> io::Result<Figure> {
        let file = std::env::temp_dir().join(format!("verial-codecs-{}.txt", std::process::id()));
        let lines: String = self.messages.iter().map(|message| format!("{}\n", hexadecimal(message))).collect();
        std::fs::write(&file, lines)?;
        let ran = Command::new(python).arg("-c").arg(program).arg(&file).output();
        std::fs::remove_file(&file)?;
        let ran = ran?;
        let seconds = String::from_utf8_lossy(&ran.stdout).trim().parse();
        let seconds = seconds.map_err(|_| io::Error::other(String::from_utf8_lossy(&ran.stderr).into_owned()))?;
        Ok(self.figure(name, seconds))
    }

    fn figure(&self, name: &str, seconds: f64) -> Figure {
        Figure {
            name: name.to_owned(),
            messages_per_second: self.messages.len() as f64 / seconds,
            megabytes_per_second: self.bytes() as f64 / 1e6 / seconds,
        }
    }
}

const ROUNDS: usize = 7;

fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// What every Python program does around its own two lines: `setup`, and `work` with the message as `m`.
pub(crate) fn python_program(setup: &str, work: &str) -> String {
    format!(
        "import sys, time\n{setup}\nall = [bytes.fromhex(line).decode() for line in open(sys.argv[1])]\nbest = 1e9\n\
         for _ in range(3):\n    began = time.perf_counter()\n    for m in all:\n        {work}\n    \
         best = min(best, time.perf_counter() - began)\nprint(best)\n"
    )
}
