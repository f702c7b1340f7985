//! The stream's own messages: what REST takes and gives, one JSON object in each frame.
//!
//! From the line `{"type": "call" | "turn" | "ended" | "error", …}`, from the agent a turn as REST takes it, or
//! `{"answer": true}` or `{"hangup": true}`.

use model::voice::NewTurn;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Act;

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

/// What an agent wants.
pub fn read(text: &str) -> Result<Act, String> {
    let message: Message = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Message { say, dtmf, silence, interrupts, answer, hangup } = message;
    match (answer, hangup) {
        (Some(true), None) => Ok(Act::Answer),
        (None, Some(true)) => Ok(Act::HangUp),
        (None, None) => Ok(Act::Turn(NewTurn { say, dtmf, silence, interrupts })),
        _ => Err("`answer` and `hangup` stand alone and are true".to_owned()),
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
        assert!(matches!(read(r#"{"hangup": true}"#), Ok(Act::HangUp)));
        assert!(matches!(read(r#"{"answer": true}"#), Ok(Act::Answer)));
        assert!(matches!(read(r#"{"say": "Hello"}"#), Ok(Act::Turn(NewTurn { say: Some(_), .. }))));
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
