//! Who answers a message, and what.

use super::config::{MessageConfig, Persona};

/// An answer that a persona gives, and after how many seconds.
#[derive(Debug, PartialEq)]
pub(super) struct Answer<'a> {
    pub(super) persona: &'a str,
    pub(super) body: &'a str,
    pub(super) delay_seconds: i64,
}

/// The patient's own persona, else the one for everybody; its first reply of which a phrase stands in the message.
pub(super) fn answer<'a>(config: &'a MessageConfig, patient: Option<&str>, message: &str) -> Option<Answer<'a>> {
    let persona = persona_of(config, patient)?;
    let message = message.to_lowercase();
    let stands = |phrase: &String| message.contains(phrase.to_lowercase().trim());
    let reply = persona.replies.iter().find(|reply| reply.phrases.iter().any(stands));
    let (body, delay_seconds) = match reply {
        Some(reply) => (reply.reply.as_str(), reply.delay_seconds.unwrap_or(0)),
        None => (persona.default_reply.as_deref()?, 0),
    };
    Some(Answer { persona: &persona.name, body, delay_seconds })
}

fn persona_of<'a>(config: &'a MessageConfig, patient: Option<&str>) -> Option<&'a Persona> {
    let own =
        config.personas.iter().find(|persona| persona.patient_id.is_some() && persona.patient_id.as_deref() == patient);
    own.or_else(|| config.personas.iter().find(|persona| persona.patient_id.is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_reply_that_fits_is_given() {
        let config = json!({"personas": [
            {"name": "Ada", "patient_id": "ada", "default_reply": "Who is this?", "replies": [
                {"phrases": ["Tuesday", "10:30"], "reply": "Tuesday works.", "delay_seconds": 45},
                {"phrases": ["potassium"], "reply": "Is that dangerous?"}]},
            {"name": "Anyone", "replies": [{"phrases": ["hello"], "reply": "Hi"}]},
        ]});
        let config: MessageConfig = crate::authored::read(&config).unwrap();
        let says =
            |patient, message| answer(&config, patient, message).map(|answer| (answer.body, answer.delay_seconds));
        assert_eq!(says(Some("ada"), "See you on tuesday about your potassium"), Some(("Tuesday works.", 45)));
        assert_eq!(says(Some("ada"), "Your Potassium is low"), Some(("Is that dangerous?", 0)));
        assert_eq!(says(Some("ada"), "x"), Some(("Who is this?", 0)));
        assert_eq!(says(Some("bo"), "Hello"), Some(("Hi", 0)));
        assert_eq!(says(None, "x"), None);
    }
}
