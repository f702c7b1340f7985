//! What the agent does in a turn: it says something, presses keys, or says nothing.

use model::FieldErrors;
use model::voice::NewTurn;

use super::line::Heard;
use super::rows::Turn;
use crate::authored;

const LONGEST_SPEECH: usize = 10_000;
const MOST_KEYS: usize = 64;

/// What the agent does, if it does one thing.
pub(super) fn heard(new: &NewTurn) -> Result<Heard, FieldErrors> {
    let mut errors = FieldErrors::new();
    let heard = match (&new.say, &new.dtmf, new.silence.unwrap_or(false)) {
        (Some(text), None, false) => {
            authored::text(&mut errors, "say", text, LONGEST_SPEECH);
            Heard::Speech(text.clone())
        }
        (None, Some(keys), false) => {
            let pressed: String = keys.chars().filter(|key| !matches!(key, 'w' | 'W')).collect();
            let are_keys = pressed.chars().all(|key| key.is_ascii_digit() || matches!(key, '*' | '#'));
            if pressed.is_empty() || keys.len() > MOST_KEYS || !are_keys {
                errors.add("dtmf", format!("must be 1 to {MOST_KEYS} keys: 0 to 9, * and #"));
            }
            Heard::Keys(pressed)
        }
        (None, None, true) => Heard::Silence,
        _ => {
            errors.add("say", "must be given, or `dtmf`, or `silence`; one of them");
            Heard::Silence
        }
    };
    errors.into_result().map(|()| heard)
}

/// It as a turn of the call.
pub(super) fn of_agent(heard: &Heard, interrupts: bool) -> Turn {
    let turn = Turn { speaker: "agent", note: interrupts.then_some("interrupts"), ..Turn::default() };
    match heard {
        Heard::Speech(text) => Turn { text: text.clone(), ..turn },
        Heard::Keys(keys) => Turn { dtmf: Some(keys.clone()), ..turn },
        Heard::Silence => Turn { note: Some("silence"), ..turn },
    }
}
