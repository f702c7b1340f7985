//! Choosing a menu option, by speech or keys.

use spoken::SpokenText;

use super::{AgentInput, IvrSession, RetryPolicy};
use crate::voice::node::{Menu, MenuOption};

impl IvrSession<'_> {
    pub(super) fn choose(&mut self, menu: &Menu, input: &AgentInput) {
        let policy = RetryPolicy {
            prompt: &menu.prompt,
            otherwise: menu.otherwise.as_deref(),
            retries: menu.retries,
            timeout_seconds: menu.timeout_seconds,
        };
        let Some(option) = chosen_option(&menu.options, input) else { return self.ask_again(&policy, input) };
        self.go_to(&option.next);
        if let AgentInput::Keys(keys) = input {
            self.hear_further_keys(keys);
        }
    }

    /// Passes the keys after the first to the next node, if it allows interruption.
    fn hear_further_keys(&mut self, keys: &str) {
        let rest: String = keys.chars().skip(1).collect();
        if !rest.is_empty() && self.ending.is_none() && self.allows_interruption() {
            self.hear(&AgentInput::Keys(rest));
        }
    }
}

fn chosen_option<'m>(options: &'m [MenuOption], input: &AgentInput) -> Option<&'m MenuOption> {
    match input {
        AgentInput::Silence => None,
        AgentInput::Keys(keys) => {
            let key = keys.chars().next()?.to_string();
            options.iter().find(|option| option.dtmf.as_deref() == Some(&key))
        }
        AgentInput::Speech(text) => {
            let speech = SpokenText::new(text);
            let names = |option: &&MenuOption| option.phrases.iter().any(|phrase| speech.has(phrase));
            options.iter().find(names).or_else(|| options.iter().find(|option| says_key(option, &speech)))
        }
    }
}

/// Whether the agent says only `one`, `press one`, `option one` or `number one`. Numbers in other sentences do not count.
fn says_key(option: &MenuOption, speech: &SpokenText) -> bool {
    let Some(key) = option.dtmf.as_deref().filter(|key| key.chars().all(|c| c.is_ascii_digit())) else { return false };
    ["", "press ", "option ", "number "].iter().any(|before| speech.is(&format!("{before}{key}")))
}
