//! Recording a voicemail.

use super::{AgentInput, IvrSession};
use crate::voice::node::Voicemail;

/// The assumed speed of speech.
const WORDS_IN_TWO_SECONDS: i64 = 5;

impl IvrSession<'_> {
    pub(super) fn record(&mut self, voicemail: &Voicemail, input: &AgentInput) {
        match input {
            AgentInput::Speech(text) => {
                let recorded = truncated(text, voicemail.max_seconds);
                self.was_cut_off = recorded.len() < text.trim_end().len();
                self.voicemail = Some(recorded);
            }
            // Only `#` ends the recording. Other keys are ignored.
            AgentInput::Keys(keys) if !keys.contains('#') => return,
            AgentInput::Keys(_) => {}
            AgentInput::Silence => self.add_silence(None),
        }
        self.go_to_or_end(voicemail.next.as_deref());
    }
}

/// The words that fit into the maximum duration.
fn truncated(text: &str, max_seconds: Option<i64>) -> String {
    let Some(max_words) = max_seconds.and_then(|seconds| usize::try_from(seconds * WORDS_IN_TWO_SECONDS / 2).ok())
    else {
        return text.to_owned();
    };
    if text.split_whitespace().count() <= max_words {
        return text.to_owned();
    }
    text.split_whitespace().take(max_words).collect::<Vec<_>>().join(" ")
}
