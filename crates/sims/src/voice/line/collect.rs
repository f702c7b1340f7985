//! A named field, by voice or by keys.

use super::confirm::read_back;
use super::{Asked, Heard, Line};
use crate::voice::node::{Collect, CollectKind};

impl Line<'_> {
    pub(super) fn collect(&mut self, collect: &Collect, heard: &Heard) {
        let asked = asked(collect);
        if let Some(value) = self.state.confirming.clone() {
            return self.confirm(collect, value, heard);
        }
        let value = match heard {
            Heard::Speech(text) => understood(collect, text),
            Heard::Keys(keys) => match self.keyed(collect, keys) {
                Entry::Open => return,
                Entry::Whole(keys) => understood(collect, &keys),
            },
            // Whoever stops after some keys has entered them.
            Heard::Silence => {
                let keys = std::mem::take(&mut self.state.keys);
                if keys.is_empty() { None } else { understood(collect, &keys) }
            }
        };
        match value {
            None => self.ask_again(&asked, heard),
            Some(value) if collect.confirm == Some(true) => {
                self.utter(read_back(collect.kind, &value));
                self.state.confirming = Some(value);
            }
            Some(value) => self.take(collect, value),
        }
    }

    pub(super) fn take(&mut self, collect: &Collect, value: String) {
        self.state.fields.insert(collect.field.clone(), value);
        self.go_to(&collect.next);
    }

    /// Keys until `#`, until there can be no more, or until the end of several that came at once. One key alone may be
    /// followed by others.
    fn keyed(&mut self, collect: &Collect, pressed: &str) -> Entry {
        let most = longest(collect);
        for key in pressed.chars() {
            if key == '#' {
                return Entry::Whole(std::mem::take(&mut self.state.keys));
            }
            self.state.keys.push(key);
            if self.state.keys.len() >= most {
                return Entry::Whole(std::mem::take(&mut self.state.keys));
            }
        }
        let is_enough = self.state.keys.len() >= shortest(collect);
        if pressed.len() > 1 && is_enough { Entry::Whole(std::mem::take(&mut self.state.keys)) } else { Entry::Open }
    }
}

enum Entry {
    /// More keys may come.
    Open,
    Whole(String),
}

pub(super) fn asked(collect: &Collect) -> Asked<'_> {
    Asked {
        prompt: &collect.prompt,
        otherwise: collect.otherwise.as_deref(),
        retries: collect.retries,
        timeout_seconds: collect.timeout_seconds,
    }
}

const LONGEST_FIELD: usize = 1000;

fn longest(collect: &Collect) -> usize {
    let most = if collect.kind == CollectKind::Date { Some(8) } else { collect.max_length };
    most.and_then(|most| usize::try_from(most).ok()).unwrap_or(LONGEST_FIELD).min(LONGEST_FIELD)
}

fn shortest(collect: &Collect) -> usize {
    let least = if collect.kind == CollectKind::Date { Some(8) } else { collect.min_length };
    least.and_then(|least| usize::try_from(least).ok()).unwrap_or(1)
}

/// The value that was given, if it is one of the kind.
fn understood(collect: &Collect, text: &str) -> Option<String> {
    let value = match collect.kind {
        CollectKind::Digits => spoken::digits(text)?,
        CollectKind::Date => return spoken::date(text).map(|date| date.iso()),
        CollectKind::Name => spoken::name(text).filter(|name| name.chars().count() <= 200)?,
        CollectKind::Free => text.trim().to_owned(),
    };
    let length = value.chars().count();
    (length >= shortest(collect) && length <= longest(collect)).then_some(value)
}
