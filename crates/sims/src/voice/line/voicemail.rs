//! A message after the tone.

use super::{Heard, Line};
use crate::voice::node::Voicemail;

/// How fast people speak.
const WORDS_IN_TWO_SECONDS: i64 = 5;

impl Line<'_> {
    pub(super) fn record(&mut self, voicemail: &Voicemail, heard: &Heard) {
        match heard {
            Heard::Speech(text) => {
                let kept = as_long_as(text, voicemail.max_seconds);
                self.was_cut_off = kept.len() < text.trim_end().len();
                self.left = Some(kept);
            }
            // Keys other than the one that ends a message are noise on the tape.
            Heard::Keys(keys) if !keys.contains('#') => return,
            Heard::Keys(_) => {}
            Heard::Silence => self.wait(None),
        }
        self.go_on(voicemail.next.as_deref());
    }
}

/// What fits on the tape.
fn as_long_as(text: &str, max_seconds: Option<i64>) -> String {
    let Some(most) = max_seconds.and_then(|seconds| usize::try_from(seconds * WORDS_IN_TWO_SECONDS / 2).ok()) else {
        return text.to_owned();
    };
    if text.split_whitespace().count() <= most {
        return text.to_owned();
    }
    text.split_whitespace().take(most).collect::<Vec<_>>().join(" ")
}
