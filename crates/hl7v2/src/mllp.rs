//! Minimal Lower Layer Protocol framing (HL7 transport specification: MLLP, release 1): `<VT> message <FS><CR>`.
//!
//! Sans I/O: push bytes as they arrive, take frames when they are complete.

const START: u8 = 0x0b;
const END: u8 = 0x1c;
const LAST: u8 = b'\r';

/// Wraps a message in an MLLP frame.
pub fn frame(message: &[u8]) -> Vec<u8> {
    [&[START], message, &[END, LAST]].concat()
}

/// Splits a byte stream into frames. Bytes between frames are dropped. A frame that is cut off by a new start block is
/// returned as [`Frame::Broken`], so that it does not swallow the next frame.
#[derive(Debug)]
pub struct Deframer {
    buffer: Vec<u8>,
    /// The length of the buffer's prefix that contains no end of a frame.
    searched: usize,
    max_bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    Message(Vec<u8>),
    /// A frame that was cut off by the start of the next one.
    Broken(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame has more than {max_bytes} bytes")]
pub struct FrameTooLong {
    pub max_bytes: usize,
}

impl Deframer {
    pub fn new(max_bytes: usize) -> Self {
        Self { buffer: Vec::new(), searched: 0, max_bytes }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next frame, if it is complete. After an error the stream cannot be used any more.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameTooLong> {
        let start = memchr::memchr(START, &self.buffer);
        if start != Some(0) {
            self.buffer.drain(..start.unwrap_or(self.buffer.len()));
            self.searched = 0;
        }
        let mut from = self.searched.max(1);
        while let Some(found) = self.buffer.get(from..).and_then(|rest| memchr::memchr2(START, END, rest)) {
            let at = from + found;
            match (self.buffer[at], self.buffer.get(at + 1)) {
                (START, _) => return Ok(Some(Frame::Broken(self.cut(at, at)))),
                (_, Some(&LAST)) => {
                    let message = self.cut(at, at + 2);
                    return if message.len() > self.max_bytes {
                        Err(self.too_long())
                    } else {
                        Ok(Some(Frame::Message(message)))
                    };
                }
                (_, Some(_)) => from = at + 1,
                (_, None) => {
                    self.searched = at;
                    return Ok(None);
                }
            }
        }
        self.searched = self.buffer.len();
        if self.buffer.len() > self.max_bytes + 1 { Err(self.too_long()) } else { Ok(None) }
    }

    /// Whether a frame has started but is not complete.
    pub fn is_inside(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// The number of buffered bytes of an incomplete frame.
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// Takes the bytes between the start block and `end`, and drops everything up to `next`.
    fn cut(&mut self, end: usize, next: usize) -> Vec<u8> {
        let inside = self.buffer[1..end].to_vec();
        self.buffer.drain(..next);
        self.searched = 0;
        inside
    }

    fn too_long(&self) -> FrameTooLong {
        FrameTooLong { max_bytes: self.max_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(deframer: &mut Deframer) -> Vec<Frame> {
        std::iter::from_fn(|| deframer.next_frame().unwrap()).collect()
    }

    fn message(text: &str) -> Frame {
        Frame::Message(text.as_bytes().to_vec())
    }

    #[test]
    fn frames_are_found_in_chunks_of_any_size() {
        let stream = [frame(b"MSH|1\r"), b"noise".to_vec(), frame(b"MSH|2\x1c|\r"), frame(b"")].concat();
        let expected = [message("MSH|1\r"), message("MSH|2\x1c|\r"), message("")];
        for step in 1..=stream.len() {
            let mut deframer = Deframer::new(100);
            let mut read = Vec::new();
            for chunk in stream.chunks(step) {
                deframer.push(chunk);
                read.extend(frames(&mut deframer));
            }
            assert_eq!(read, expected, "in steps of {step}");
            assert!(!deframer.is_inside());
        }
    }

    #[test]
    fn a_broken_frame_does_not_swallow_the_next() {
        let mut deframer = Deframer::new(100);
        deframer.push(b"\x0bMSH|lost");
        assert_eq!(frames(&mut deframer), []);
        assert!(deframer.is_inside());
        deframer.push(&frame(b"MSH|kept"));
        assert_eq!(frames(&mut deframer), [Frame::Broken(b"MSH|lost".to_vec()), message("MSH|kept")]);
    }

    #[test]
    fn a_frame_that_is_too_long_is_rejected() {
        let mut deframer = Deframer::new(10);
        deframer.push(b"\x0b0123456789");
        assert_eq!(deframer.next_frame(), Ok(None));
        deframer.push(b"x");
        assert_eq!(deframer.next_frame(), Err(FrameTooLong { max_bytes: 10 }));
        let mut deframer = Deframer::new(10);
        deframer.push(&frame(b"0123456789x"));
        assert!(deframer.next_frame().is_err());
        let mut deframer = Deframer::new(10);
        deframer.push(&vec![b'x'; 1000]);
        assert_eq!(deframer.next_frame(), Ok(None), "bytes between frames are dropped");
        assert!(!deframer.is_inside());
    }
}
