//! The agent's output in a file of bounded size: its beginning and its end, and how much is missing between.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;

/// Bytes that are kept of the beginning, and as many of the end.
pub(crate) const KEPT_BYTES: usize = 2 * 1024 * 1024;
const READ_BYTES: usize = 64 * 1024;

/// Where both streams of one agent go.
#[derive(Clone)]
pub(crate) struct Capture(Arc<Mutex<Inner>>);

struct Inner {
    file: std::fs::File,
    room: usize,
    end: VecDeque<Vec<u8>>,
    end_bytes: usize,
    seen: u64,
    left_out: u64,
}

impl Capture {
    /// Appends: a task that is started again keeps what was said before.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let file = std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        let inner = Inner { file, room: KEPT_BYTES, end: VecDeque::new(), end_bytes: 0, seen: 0, left_out: 0 };
        Ok(Self(Arc::new(Mutex::new(inner))))
    }

    /// Reads a stream to its end, however much comes. Blocking.
    pub(crate) fn drain(&self, mut stream: impl Read) {
        let mut buffer = vec![0; READ_BYTES];
        while let Ok(length) = stream.read(&mut buffer) {
            match buffer.get(..length) {
                Some(piece) if !piece.is_empty() => self.lock().take(piece),
                _ => break,
            }
        }
    }

    /// Writes the end, and tells how much was seen and how much of it is missing.
    pub(crate) fn finish(&self) -> (u64, u64) {
        let mut inner = self.lock();
        let left_out = inner.left_out;
        if left_out > 0 {
            let _ = write!(inner.file, "\n… {left_out} bytes left out …\n");
        }
        for piece in std::mem::take(&mut inner.end) {
            let _ = inner.file.write_all(&piece);
        }
        (inner.seen, left_out)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn take(&mut self, piece: &[u8]) {
        self.seen += piece.len() as u64;
        let (first, rest) = piece.split_at(piece.len().min(self.room));
        self.room -= first.len();
        // A full disk must not stop the agent.
        let _ = self.file.write_all(first);
        if rest.is_empty() {
            return;
        }
        self.end_bytes += rest.len();
        self.end.push_back(rest.to_vec());
        while let Some(oldest) = self.end.front().map(Vec::len).filter(|length| self.end_bytes - length >= KEPT_BYTES) {
            self.end_bytes -= oldest;
            self.left_out += oldest as u64;
            self.end.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let capture = Capture::open(&path).unwrap();
        let text: Vec<u8> =
            (0..5 * KEPT_BYTES).map(|place| if place == 0 { b'<' } else { b'x' }).chain(*b">").collect();
        capture.drain(&text[..]);
        let (seen, left_out) = capture.finish();
        assert_eq!(seen, 5 * KEPT_BYTES as u64 + 1);
        assert!(left_out > 2 * KEPT_BYTES as u64 && left_out <= 3 * KEPT_BYTES as u64 + 1, "{left_out}");
        let log = std::fs::read_to_string(&path).unwrap();
        assert!(log.starts_with("<x") && log.ends_with("x>") && log.contains("bytes left out"));
        assert!(log.len() < 2 * KEPT_BYTES + READ_BYTES + 100);
    }
}
