//! A scripted caller.

use serde::Deserialize;
use spoken::SpokenText;
use world::Sandbox;

use super::ivr::{AgentInput, CLOSINGS};
use super::steps::{CALL_SCRIPTS, CallerAnswer};

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct CallerScript {
    pub(super) opening: String,
    #[serde(default)]
    answers: Vec<CallerAnswer>,
    #[serde(default)]
    fallback: Option<String>,
}

/// The caller's reaction to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallerReply<'s> {
    Says(&'s str),
    SaysAndHangsUp(&'s str),
    Nothing,
}

impl CallerScript {
    pub(super) fn of(sandbox: &Sandbox, call: &str) -> Self {
        let script = sandbox.records.get(CALL_SCRIPTS, call).live();
        script.and_then(|record| Self::deserialize(&*record.json()).ok()).unwrap_or_default()
    }

    /// The first answer with a phrase that the agent said, or else goodbye if the agent says goodbye, or else the fallback.
    pub(super) fn reply(&self, input: &AgentInput) -> CallerReply<'_> {
        let fallback = || self.fallback.as_deref().map_or(CallerReply::Nothing, CallerReply::Says);
        let text = match input {
            AgentInput::Speech(text) => text,
            AgentInput::Silence => return CallerReply::Says("Hello? Are you still there?"),
            AgentInput::Keys(_) => return fallback(),
        };
        let speech = SpokenText::new(text);
        let matches = |answer: &&CallerAnswer| answer.phrases.iter().any(|phrase| speech.has(phrase));
        if let Some(answer) = self.answers.iter().find(matches) {
            return CallerReply::Says(&answer.answer);
        }
        if CLOSINGS.iter().any(|closing| speech.has(closing)) {
            return CallerReply::SaysAndHangsUp("Goodbye.");
        }
        fallback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn callers_answer_by_script() {
        let script = json!({"opening": "Hello", "fallback": "Pardon?", "answers": [
            {"phrases": ["date of birth", "born"], "answer": "March first 1980"},
            {"phrases": ["4 5 6"], "answer": "That is me"}]});
        let script = CallerScript::deserialize(script).unwrap();
        let reply = |text: &str| script.reply(&AgentInput::Speech(text.to_owned()));
        assert_eq!(reply("What is your Date-of-Birth?"), CallerReply::Says("March first 1980"));
        assert_eq!(reply("Is it four fifty-six?"), CallerReply::Says("That is me"));
        assert_eq!(reply("{{opening}} .*"), CallerReply::Says("Pardon?"));
        assert_eq!(reply("Thank you, goodbye"), CallerReply::SaysAndHangsUp("Goodbye."));
        assert_eq!(CallerScript::default().reply(&AgentInput::Keys("1".to_owned())), CallerReply::Nothing);
    }
}
