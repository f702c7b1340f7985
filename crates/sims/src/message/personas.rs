//! Which persona replies to a message, and with which text.

use super::config::{MessageConfig, Persona};

/// The reply of a persona.
#[derive(Debug, PartialEq)]
pub(super) struct ChosenReply<'a> {
    pub(super) persona: &'a str,
    pub(super) body: &'a str,
    pub(super) delay_seconds: i64,
}

/// Chooses a reply of the patient's persona, or else of the default persona: the first reply with a phrase that the message
/// contains, or else the default reply.
pub(super) fn choose_reply<'a>(
    config: &'a MessageConfig,
    patient: Option<&str>,
    message: &str,
) -> Option<ChosenReply<'a>> {
    let persona = persona_of(config, patient)?;
    let message = message.to_lowercase();
    let contains = |phrase: &String| message.contains(phrase.to_lowercase().trim());
    let reply = persona.replies.iter().find(|reply| reply.phrases.iter().any(contains));
    let (body, delay_seconds) = match reply {
        Some(reply) => (reply.reply.as_str(), reply.delay_seconds.unwrap_or(0)),
        None => (persona.default_reply.as_deref()?, 0),
    };
    Some(ChosenReply { persona: &persona.name, body, delay_seconds })
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
    fn the_first_matching_reply_is_chosen() {
        let config = json!({"personas": [
            {"name": "Ada", "patient_id": "ada", "default_reply": "Who is this?", "replies": [
                {"phrases": ["Tuesday", "10:30"], "reply": "Tuesday works.", "delay_seconds": 45},
                {"phrases": ["potassium"], "reply": "Is that dangerous?"}]},
            {"name": "Anyone", "replies": [{"phrases": ["hello"], "reply": "Hi"}]},
        ]});
        let config: MessageConfig = crate::authored::read(&config).unwrap();
        let reply =
            |patient, message| choose_reply(&config, patient, message).map(|reply| (reply.body, reply.delay_seconds));
        assert_eq!(reply(Some("ada"), "See you on tuesday about your potassium"), Some(("Tuesday works.", 45)));
        assert_eq!(reply(Some("ada"), "Your Potassium is low"), Some(("Is that dangerous?", 0)));
        assert_eq!(reply(Some("ada"), "x"), Some(("Who is this?", 0)));
        assert_eq!(reply(Some("bo"), "Hello"), Some(("Hi", 0)));
        assert_eq!(reply(None, "x"), None);
    }
}
