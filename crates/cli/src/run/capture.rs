//! Writes the agent's output to a log of limited size: its beginning, its end, and how much is missing in between.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;

/// How many bytes are kept at the beginning, and at the end.
pub(crate) const KEPT_BYTES: usize = 2 * 1024 * 1024;
const READ_BYTES: usize = 64 * 1024;

/// The log for both output streams of one agent.
#[derive(Clone)]
pub(crate) struct Capture(Arc<Mutex<CaptureState>>);

struct CaptureState {
    file: std::fs::File,
    remaining: usize,
    end: VecDeque<Vec<u8>>,
    end_bytes: usize,
    total: u64,
    omitted: u64,
}

impl Capture {
    /// Opens the log for appending: a restarted task keeps its earlier output.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let file = std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        let inner =
            CaptureState { file, remaining: KEPT_BYTES, end: VecDeque::new(), end_bytes: 0, total: 0, omitted: 0 };
        Ok(Self(Arc::new(Mutex::new(inner))))
    }

    /// Reads a stream to its end. Blocking.
    pub(crate) fn drain(&self, mut stream: impl Read) {
        let mut buffer = vec![0; READ_BYTES];
        while let Ok(length) = stream.read(&mut buffer) {
            match buffer.get(..length) {
                Some(chunk) if !chunk.is_empty() => self.lock().append(chunk),
                _ => break,
            }
        }
    }

    /// Writes the end, and returns the total and the omitted number of bytes.
    pub(crate) fn finish(&self) -> (u64, u64) {
        let mut inner = self.lock();
        let omitted = inner.omitted;
        if omitted > 0 {
            let _ = write!(inner.file, "\n… {omitted} bytes left out …\n");
        }
        for chunk in std::mem::take(&mut inner.end) {
            let _ = inner.file.write_all(&chunk);
        }
        (inner.total, omitted)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, CaptureState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CaptureState {
    fn append(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let (first, rest) = chunk.split_at(chunk.len().min(self.remaining));
        self.remaining -= first.len();
        // Ignore errors: a full disk must not stop the agent.
        let _ = self.file.write_all(first);
        if rest.is_empty() {
            return;
        }
        self.end_bytes += rest.len();
        self.end.push_back(rest.to_vec());
        while let Some(oldest) = self.end.front().map(Vec::len).filter(|length| self.end_bytes - length >= KEPT_BYTES) {
            self.end_bytes -= oldest;
            self.omitted += oldest as u64;
            self.end.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let capture = Capture::open(&path).unwrap();
        let text: Vec<u8> =
            (0..5 * KEPT_BYTES).map(|index| if index == 0 { b'<' } else { b'x' }).chain(*b">").collect();
        capture.drain(&text[..]);
        let (total, omitted) = capture.finish();
        assert_eq!(total, 5 * KEPT_BYTES as u64 + 1);
        assert!(omitted > 2 * KEPT_BYTES as u64 && omitted <= 3 * KEPT_BYTES as u64 + 1, "{omitted}");
        let log = std::fs::read_to_string(&path).unwrap();
        assert!(log.starts_with("<x") && log.ends_with("x>") && log.contains("bytes left out"));
        assert!(log.len() < 2 * KEPT_BYTES + READ_BYTES + 100);
    }
}
