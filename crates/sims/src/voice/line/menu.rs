//! A choice by key or by word.

use spoken::SpokenText;

use super::{Asked, Heard, Line};
use crate::voice::node::{Choice, Menu};

impl Line<'_> {
    pub(super) fn choose(&mut self, menu: &Menu, heard: &Heard) {
        let asked = Asked {
            prompt: &menu.prompt,
            otherwise: menu.otherwise.as_deref(),
            retries: menu.retries,
            timeout_seconds: menu.timeout_seconds,
        };
        let Some(choice) = chosen(&menu.options, heard) else { return self.ask_again(&asked, heard) };
        self.go_to(&choice.next);
        if let Heard::Keys(keys) = heard {
            self.hear_typed_ahead(keys);
        }
    }

    /// Keys after the one that chose are for what comes next, where that may be interrupted.
    fn hear_typed_ahead(&mut self, keys: &str) {
        let rest: String = keys.chars().skip(1).collect();
        if !rest.is_empty() && self.ending.is_none() && self.allows_interruption() {
            self.hear(&Heard::Keys(rest));
        }
    }
}

fn chosen<'m>(options: &'m [Choice], heard: &Heard) -> Option<&'m Choice> {
    match heard {
        Heard::Silence => None,
        Heard::Keys(keys) => {
            let key = keys.chars().next()?.to_string();
            options.iter().find(|option| option.dtmf.as_deref() == Some(&key))
        }
        Heard::Speech(text) => {
            let said = SpokenText::new(text);
            let names = |option: &&Choice| option.phrases.iter().any(|phrase| said.has(phrase));
            options.iter().find(names).or_else(|| options.iter().find(|option| says_key(option, &said)))
        }
    }
}

/// `one`, `press one`, `option one`: and nothing else, because numbers are said for many reasons.
fn says_key(option: &Choice, said: &SpokenText) -> bool {
    let Some(key) = option.dtmf.as_deref().filter(|key| key.chars().all(|c| c.is_ascii_digit())) else { return false };
    ["", "press ", "option ", "number "].iter().any(|before| said.is(&format!("{before}{key}")))
}
