//! The agent's input in a turn: speech, keys, or silence.

use model::FieldErrors;
use model::voice::NewTurn;

use super::ivr::AgentInput;
use super::rows::CallTurn;
use crate::authored;

const MAX_SPEECH_LENGTH: usize = 10_000;
const MAX_KEYS: usize = 64;

/// Reads the input of a turn, which must be exactly one of speech, keys and silence.
pub(super) fn read_input(new: &NewTurn) -> Result<AgentInput, FieldErrors> {
    let mut errors = FieldErrors::new();
    let input = match (&new.say, &new.dtmf, new.silence.unwrap_or(false)) {
        (Some(text), None, false) => {
            authored::text(&mut errors, "say", text, MAX_SPEECH_LENGTH);
            AgentInput::Speech(text.clone())
        }
        (None, Some(keys), false) => {
            let pressed: String = keys.chars().filter(|key| !matches!(key, 'w' | 'W')).collect();
            let is_valid = pressed.chars().all(|key| key.is_ascii_digit() || matches!(key, '*' | '#'));
            if pressed.is_empty() || keys.len() > MAX_KEYS || !is_valid {
                errors.add("dtmf", format!("must be 1 to {MAX_KEYS} keys: 0 to 9, * and #"));
            }
            AgentInput::Keys(pressed)
        }
        (None, None, true) => AgentInput::Silence,
        _ => {
            errors.add("say", "exactly one of `say`, `dtmf` and `silence` is required");
            AgentInput::Silence
        }
    };
    errors.into_result().map(|()| input)
}

/// The agent's turn.
pub(super) fn agent_turn(input: &AgentInput, interrupts: bool) -> CallTurn {
    let turn = CallTurn { speaker: "agent", note: interrupts.then_some("interrupts"), ..CallTurn::default() };
    match input {
        AgentInput::Speech(text) => CallTurn { text: text.clone(), ..turn },
        AgentInput::Keys(keys) => CallTurn { dtmf: Some(keys.clone()), ..turn },
        AgentInput::Silence => CallTurn { note: Some("silence"), ..turn },
    }
}
