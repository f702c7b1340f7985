//! The native protocol: the JSON objects of the REST API, one in each frame.
//!
//! The line sends `{"type": "call" | "turn" | "ended" | "error", …}`. The agent sends turns like in the REST API,
//! `{"answer": true}` or `{"hangup": true}`.

use model::voice::NewTurn;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ClientAction;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    say: Option<String>,
    dtmf: Option<String>,
    silence: Option<bool>,
    interrupts: Option<bool>,
    answer: Option<bool>,
    hangup: Option<bool>,
}

/// Reads a message of the agent.
pub fn read(text: &str) -> Result<ClientAction, String> {
    let message: Message = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Message { say, dtmf, silence, interrupts, answer, hangup } = message;
    match (answer, hangup) {
        (Some(true), None) => Ok(ClientAction::Answer),
        (None, Some(true)) => Ok(ClientAction::HangUp),
        (None, None) => Ok(ClientAction::Turn(NewTurn { say, dtmf, silence, interrupts })),
        _ => Err("`answer` and `hangup` must be true and cannot be combined with other members".to_owned()),
    }
}

pub fn begun(call: &Value) -> Value {
    json!({"type": "call", "call": call})
}

pub fn turn(turn: &Value) -> Vec<Value> {
    vec![json!({"type": "turn", "turn": turn})]
}

pub fn ended(call: &Value) -> Option<Value> {
    Some(json!({"type": "ended", "call": call}))
}

pub fn error(code: &Value, message: &str) -> Value {
    json!({"type": "error", "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read() {
        assert!(matches!(read(r#"{"hangup": true}"#), Ok(ClientAction::HangUp)));
        assert!(matches!(read(r#"{"answer": true}"#), Ok(ClientAction::Answer)));
        assert!(matches!(read(r#"{"say": "Hello"}"#), Ok(ClientAction::Turn(NewTurn { say: Some(_), .. }))));
        for bad in [
            "",
            "[]",
            "1",
            r#"{"say": 1}"#,
            r#"{"hangup": false}"#,
            r#"{"speak": "x"}"#,
            r#"{"answer":true,"hangup":true}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
