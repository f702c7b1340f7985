//! The messages of ConversationRelay, a protocol for phone calls as text that existing voice agents use
//! (<https://www.twilio.com/docs/voice/conversationrelay/websocket-messages>).
//!
//! The line sends `setup`, `prompt`, `dtmf`, `interrupt` and `error`. The agent sends `text`, whose tokens become one turn with
//! the last token, `sendDigits`, `end`, and `language`, which is ignored.

use model::voice::NewTurn;
use serde_json::{Value, json};

use super::ClientAction;

/// Reads messages of the agent, and collects the tokens of a turn.
#[derive(Debug, Default)]
pub struct RelayReader {
    tokens: String,
}

/// The maximum length of a turn in bytes: 10,000 characters of up to four bytes.
const MAX_BYTES: usize = 40_000;
/// The assumed duration of a word.
const WORD_MILLISECONDS: usize = 400;

impl RelayReader {
    pub fn read(&mut self, text: &str) -> Result<ClientAction, String> {
        let message: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        let member = |name: &str| message.get(name).and_then(Value::as_str);
        match member("type") {
            Some("text") => {
                let token = member("token").ok_or("a text message has a `token`")?;
                self.speak(token, message.get("last").is_some_and(|last| *last == Value::Bool(true)))
            }
            Some("sendDigits") => {
                let digits = member("digits").ok_or("a sendDigits message has `digits`")?.to_owned();
                Ok(ClientAction::Turn(NewTurn { dtmf: Some(digits), ..NewTurn::default() }))
            }
            Some("end") => Ok(ClientAction::HangUp),
            Some("language") => Ok(ClientAction::Nothing),
            Some("play") => Err("this line cannot play media; send text".to_owned()),
            _ => Err("the type must be text, sendDigits, language or end".to_owned()),
        }
    }

    /// An empty turn is silence.
    fn speak(&mut self, token: &str, is_last: bool) -> Result<ClientAction, String> {
        if self.tokens.len() + token.len() > MAX_BYTES {
            self.tokens.clear();
            return Err("too much text without a last token; it was discarded".to_owned());
        }
        self.tokens.push_str(token);
        if !is_last {
            return Ok(ClientAction::Nothing);
        }
        let text = std::mem::take(&mut self.tokens);
        let turn = match text.trim() {
            "" => NewTurn { silence: Some(true), ..NewTurn::default() },
            text => NewTurn { say: Some(text.to_owned()), ..NewTurn::default() },
        };
        Ok(ClientAction::Turn(turn))
    }
}

pub fn setup(call: &Value, sandbox: &str, number: &str) -> Value {
    let text = |member: &str| call[member].as_str().unwrap_or_default();
    let is_inbound = text("direction") == "inbound";
    let (from, to) = if is_inbound { (text("from_number"), number) } else { (number, text("to_number")) };
    json!({"type": "setup", "sessionId": format!("{}-relay", text("id")), "accountSid": sandbox, "parentCallSid": "",
        "callSid": text("id"), "from": from, "to": to, "forwardedFrom": "", "callType": "PSTN",
        "callerName": text("caller_name"), "direction": text("direction"),
        "callStatus": if text("status") == "ringing" { "RINGING" } else { "IN-PROGRESS" }, "customParameters": {}})
}

/// The messages to the agent about a turn. Of the agent's own turns, only cut-off ones are reported.
pub fn turn(turn: &Value) -> Vec<Value> {
    let text = |member: &str| turn[member].as_str().unwrap_or_default();
    if text("speaker") == "agent" {
        let cut_off = (text("note") == "cut_off").then(|| {
            json!({"type": "interrupt", "utteranceUntilInterrupt": text("text"),
                "durationUntilInterruptMs": text("text").split_whitespace().count() * WORD_MILLISECONDS})
        });
        return cut_off.into_iter().collect();
    }
    let keys = text("dtmf").chars().map(|key| json!({"type": "dtmf", "digit": key.to_string()}));
    let prompt = (!text("text").is_empty())
        .then(|| json!({"type": "prompt", "voicePrompt": text("text"), "lang": "en-US", "last": true}));
    keys.chain(prompt).collect()
}

pub fn error(message: &str) -> Value {
    json!({"type": "error", "description": message})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_become_turns() {
        let mut relay = RelayReader::default();
        assert!(matches!(relay.read(r#"{"type":"text","token":"Hel","last":false}"#), Ok(ClientAction::Nothing)));
        let turn = relay.read(r#"{"type":"text","token":"lo","last":true,"lang":"en-US","interruptible":true}"#);
        assert!(matches!(turn, Ok(ClientAction::Turn(NewTurn { say: Some(said), .. })) if said == "Hello"));
        let silence = relay.read(r#"{"type":"text","token":"","last":true}"#);
        assert!(matches!(silence, Ok(ClientAction::Turn(NewTurn { silence: Some(true), .. }))));
        let long = json!({"type": "text", "token": "x".repeat(39_000)}).to_string();
        assert!(matches!(relay.read(&long), Ok(ClientAction::Nothing)));
        assert!(relay.read(&long).is_err() && relay.tokens.is_empty());
        for bad in
            ["", "{}", r#"{"type":"play","source":"x"}"#, r#"{"type":"text"}"#, r#"{"type":"sendDigits","digits":1}"#]
        {
            assert!(relay.read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn turns_become_messages() {
        let said = json!({"speaker": "caller", "text": "Hello", "dtmf": "1#"});
        let kinds: Vec<Value> = turn(&said).into_iter().map(|message| message["type"].clone()).collect();
        assert_eq!(kinds, ["dtmf", "dtmf", "prompt"]);
        assert!(turn(&json!({"speaker": "agent", "text": "Hello"})).is_empty());
        let cut = turn(&json!({"speaker": "agent", "text": "one two", "note": "cut_off"}));
        assert_eq!(cut[0]["durationUntilInterruptMs"], 800);
    }
}
