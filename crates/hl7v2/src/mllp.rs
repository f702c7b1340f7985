//! The minimal lower layer protocol (HL7 transport specification: MLLP, release 1): `<VT> message <FS><CR>`.
//!
//! Sans I/O: bytes go in as they arrive, frames come out as they are complete.

const START: u8 = 0x0b;
const END: u8 = 0x1c;
const LAST: u8 = b'\r';

/// A message as it goes over the wire.
pub fn frame(message: &[u8]) -> Vec<u8> {
    [&[START], message, &[END, LAST]].concat()
}

/// Cuts a stream into frames. Bytes between frames are noise and dropped; a frame that starts anew before its end is
/// dropped too, so that one broken sender does not swallow what follows.
#[derive(Debug)]
pub struct Deframer {
    buffer: Vec<u8>,
    /// How much of the buffer is known to hold no end.
    searched: usize,
    most_bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    Message(Vec<u8>),
    /// A frame that was cut off by the start of another.
    Broken(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame has more than {most_bytes} bytes")]
pub struct FrameTooLong {
    pub most_bytes: usize,
}

impl Deframer {
    pub fn new(most_bytes: usize) -> Self {
        Self { buffer: Vec::new(), searched: 0, most_bytes }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame, if it has arrived. After an error the stream is of no use.
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
                    return if message.len() > self.most_bytes {
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
        if self.buffer.len() > self.most_bytes + 1 { Err(self.too_long()) } else { Ok(None) }
    }

    /// Whether a frame has begun and not ended.
    pub fn is_inside(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// How many bytes are held of a frame that has not ended.
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// Takes what is between the start block and `end`, and drops all up to `next`.
    fn cut(&mut self, end: usize, next: usize) -> Vec<u8> {
        let inside = self.buffer[1..end].to_vec();
        self.buffer.drain(..next);
        self.searched = 0;
        inside
    }

    fn too_long(&self) -> FrameTooLong {
        FrameTooLong { most_bytes: self.most_bytes }
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
    fn frames_come_out_however_they_arrive() {
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
    fn a_frame_without_end_is_refused() {
        let mut deframer = Deframer::new(10);
        deframer.push(b"\x0b0123456789");
        assert_eq!(deframer.next_frame(), Ok(None));
        deframer.push(b"x");
        assert_eq!(deframer.next_frame(), Err(FrameTooLong { most_bytes: 10 }));
        let mut deframer = Deframer::new(10);
        deframer.push(&frame(b"0123456789x"));
        assert!(deframer.next_frame().is_err());
        let mut deframer = Deframer::new(10);
        deframer.push(&vec![b'x'; 1000]);
        assert_eq!(deframer.next_frame(), Ok(None), "noise is not kept");
        assert!(!deframer.is_inside());
    }
}
