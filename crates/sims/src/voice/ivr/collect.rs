//! Collecting a field, by speech or keys.

use super::confirm::read_back;
use super::{AgentInput, IvrSession, RetryPolicy};
use crate::voice::node::{Collect, CollectKind};

impl IvrSession<'_> {
    pub(super) fn collect(&mut self, collect: &Collect, input: &AgentInput) {
        let policy = retry_policy(collect);
        if let Some(value) = self.state.confirming.clone() {
            return self.confirm(collect, value, input);
        }
        let value = match input {
            AgentInput::Speech(text) => parse_value(collect, text),
            AgentInput::Keys(keys) => match self.add_keys(collect, keys) {
                KeyEntry::Incomplete => return,
                KeyEntry::Complete(keys) => parse_value(collect, &keys),
            },
            // Silence completes keys that were entered before.
            AgentInput::Silence => {
                let keys = std::mem::take(&mut self.state.keys);
                if keys.is_empty() { None } else { parse_value(collect, &keys) }
            }
        };
        match value {
            None => self.ask_again(&policy, input),
            Some(value) if collect.confirm == Some(true) => {
                self.utter(read_back(collect.kind, &value));
                self.state.confirming = Some(value);
            }
            Some(value) => self.accept(collect, value),
        }
    }

    pub(super) fn accept(&mut self, collect: &Collect, value: String) {
        self.state.fields.insert(collect.field.clone(), value);
        self.go_to(&collect.next);
    }

    /// Adds keys to the entry. It is complete with `#`, at the maximum length, or after several keys at once that reach the
    /// minimum length. After a single key, more may follow.
    fn add_keys(&mut self, collect: &Collect, pressed: &str) -> KeyEntry {
        let max = max_length(collect);
        for key in pressed.chars() {
            if key == '#' {
                return KeyEntry::Complete(std::mem::take(&mut self.state.keys));
            }
            self.state.keys.push(key);
            if self.state.keys.len() >= max {
                return KeyEntry::Complete(std::mem::take(&mut self.state.keys));
            }
        }
        let is_enough = self.state.keys.len() >= min_length(collect);
        if pressed.len() > 1 && is_enough {
            KeyEntry::Complete(std::mem::take(&mut self.state.keys))
        } else {
            KeyEntry::Incomplete
        }
    }
}

enum KeyEntry {
    /// More keys may come.
    Incomplete,
    Complete(String),
}

pub(super) fn retry_policy(collect: &Collect) -> RetryPolicy<'_> {
    RetryPolicy {
        prompt: &collect.prompt,
        otherwise: collect.otherwise.as_deref(),
        retries: collect.retries,
        timeout_seconds: collect.timeout_seconds,
    }
}

const MAX_FIELD_LENGTH: usize = 1000;

fn max_length(collect: &Collect) -> usize {
    let max = if collect.kind == CollectKind::Date { Some(8) } else { collect.max_length };
    max.and_then(|max| usize::try_from(max).ok()).unwrap_or(MAX_FIELD_LENGTH).min(MAX_FIELD_LENGTH)
}

fn min_length(collect: &Collect) -> usize {
    let min = if collect.kind == CollectKind::Date { Some(8) } else { collect.min_length };
    min.and_then(|min| usize::try_from(min).ok()).unwrap_or(1)
}

/// The value that was given, if it is one of the kind.
fn parse_value(collect: &Collect, text: &str) -> Option<String> {
    let value = match collect.kind {
        CollectKind::Digits => spoken::digits(text)?,
        CollectKind::Date => return spoken::date(text).map(|date| date.iso()),
        CollectKind::Name => spoken::name(text).filter(|name| name.chars().count() <= 200)?,
        CollectKind::Free => text.trim().to_owned(),
    };
    let length = value.chars().count();
    (length >= min_length(collect) && length <= max_length(collect)).then_some(value)
}
