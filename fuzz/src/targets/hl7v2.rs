//! HL7 version 2: messages, batches, paths, escapes and frames.

use std::sync::LazyLock;

use hl7v2::mllp::{Deframer, Frame, frame};
use hl7v2::{AckCode, Acknowledgement, BatchFile, Delimiters, Draft, Limits, Message, Path, validate};

const WRITTEN_BACK: &str = "what was read is written back as it was";

pub(crate) fn hl7_message(bytes: &[u8]) {
    let limits = Limits::default();
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(message) = Message::parse_text(text, &limits)
    {
        assert_eq!(message.text(), text, "{WRITTEN_BACK}");
    }
    if let Ok(header) = Message::parse_header(bytes, &limits) {
        answered(&header, &Acknowledgement::new(AckCode::ApplicationReject, "20260301", "1"));
    }
    let Ok(message) = Message::parse(bytes, &limits) else { return };
    assert_eq!(message.to_bytes().as_ref(), bytes, "{WRITTEN_BACK}");
    for segment in message.segments() {
        for field in segment.fields() {
            field.parts().flat_map(|part| part.parts()).for_each(|part| drop(part.text()));
        }
    }
    let faults = validate(&message);
    answered(&message, &Acknowledgement::new(AckCode::ApplicationError, "20260301", "1").with_faults(faults));
}

/// An answer that can be made can be read.
fn answered(message: &Message, acknowledgement: &Acknowledgement) {
    if let Ok(answer) = acknowledgement.answer(message) {
        let read = Message::parse(&answer.to_bytes(), &Limits::default());
        assert_eq!(read.as_ref(), Ok(&answer));
    }
}

pub(crate) fn hl7_batch(bytes: &[u8]) {
    let limits = Limits::default();
    if let Ok(file) = BatchFile::parse(bytes, &limits) {
        assert_eq!(file.to_bytes(), bytes, "{WRITTEN_BACK}");
        file.envelopes().for_each(|envelope| envelope.segment().fields().for_each(|field| drop(field.text())));
        drop(file.miscounts());
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(file) = BatchFile::parse_text(text, &limits)
    {
        assert_eq!(file.text(), text, "{WRITTEN_BACK}");
    }
}

/// A path on the first line, a message on those after it.
pub(crate) fn hl7_path(bytes: &[u8]) {
    let Some((path, message)) = crate::json::first_line(bytes) else { return };
    let Ok(path) = path.parse::<Path>() else { return };
    assert_eq!(path.to_string().parse::<Path>().as_ref(), Ok(&path));
    if let Ok(message) = Message::parse_text(message, &Limits::default()) {
        let first = message.find(&path).next().map(|found| found.text().into_owned());
        assert_eq!(message.value(&path), first);
    }
}

/// The encoding characters on the first line, the field separator before them; then a text.
pub(crate) fn hl7_escape(bytes: &[u8]) {
    static PLACE: LazyLock<Option<Path>> = LazyLock::new(|| "ZZ1.1[1].1.1".parse().ok());
    let (Some((encoding, text)), Some(place)) = (crate::json::first_line(bytes), PLACE.as_ref()) else { return };
    let mut encoding = encoding.chars();
    let Some(Ok(delimiters)) = encoding.next().map(|field| Delimiters::new(field, encoding.as_str())) else { return };
    let mut draft = Draft::new(delimiters);
    draft.segment("ZZ1").value(1, 1, 1, 1, text);
    let Ok(message) = draft.build() else { return };
    assert_eq!(message.value(place).unwrap_or_default(), text, "what was written is read");
    // As it stands, so that the escapes in it are read.
    let raw = format!("MSH{}{}\rZZ1{0}{text}", delimiters.field_separator(), delimiters.encoding_characters());
    if let Ok(message) = Message::parse_text(&raw, &Limits::default()) {
        drop(message.value(place));
    }
}

/// The first byte says in which pieces the rest arrives.
pub(crate) fn mllp(bytes: &[u8]) {
    let Some((size, stream)) = bytes.split_first() else { return };
    let whole = deframed(stream, stream.len().max(1), usize::MAX >> 1);
    assert_eq!(deframed(stream, usize::from(*size).max(1), usize::MAX >> 1), whole);
    let short = deframed(stream, usize::from(*size).max(1), 8);
    assert!(short.iter().all(|frame| !matches!(frame, Frame::Message(message) if message.len() > 8)));
    if !stream.contains(&0x0b) && !stream.contains(&0x1c) {
        assert_eq!(deframed(&frame(stream), 1, usize::MAX >> 1), [Frame::Message(stream.to_vec())]);
    }
}

fn deframed(stream: &[u8], size: usize, most_bytes: usize) -> Vec<Frame> {
    let mut deframer = Deframer::new(most_bytes);
    let mut frames = Vec::new();
    for piece in stream.chunks(size) {
        deframer.push(piece);
        loop {
            match deframer.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(_) => return frames,
            }
        }
    }
    frames
}
