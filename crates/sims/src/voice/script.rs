//! Somebody who calls the agent and speaks by script.

use serde::Deserialize;
use spoken::SpokenText;
use world::Sandbox;

use super::line::{CLOSINGS, Heard};
use super::steps::{CALL_SCRIPTS, CallerAnswer};

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Script {
    pub(super) opening: String,
    #[serde(default)]
    answers: Vec<CallerAnswer>,
    #[serde(default)]
    fallback: Option<String>,
}

/// What the caller does after the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply<'s> {
    Says(&'s str),
    /// Says it and hangs up.
    Leaves(&'s str),
    Nothing,
}

impl Script {
    pub(super) fn of(sandbox: &Sandbox, call: &str) -> Self {
        let script = sandbox.records.get(CALL_SCRIPTS, call).live();
        script.and_then(|record| Self::deserialize(&*record.json()).ok()).unwrap_or_default()
    }

    /// The first answer of which a phrase is heard; else goodbye to a goodbye; else the fallback.
    pub(super) fn reply(&self, heard: &Heard) -> Reply<'_> {
        let fallback = || self.fallback.as_deref().map_or(Reply::Nothing, Reply::Says);
        let text = match heard {
            Heard::Speech(text) => text,
            Heard::Silence => return Reply::Says("Hello? Are you still there?"),
            Heard::Keys(_) => return fallback(),
        };
        let said = SpokenText::new(text);
        let fits = |answer: &&CallerAnswer| answer.phrases.iter().any(|phrase| said.has(phrase));
        if let Some(answer) = self.answers.iter().find(fits) {
            return Reply::Says(&answer.answer);
        }
        if CLOSINGS.iter().any(|closing| said.has(closing)) {
            return Reply::Leaves("Goodbye.");
        }
        fallback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn callers_answer_what_they_are_asked() {
        let script = json!({"opening": "Hello", "fallback": "Pardon?", "answers": [
            {"phrases": ["date of birth", "born"], "answer": "March first 1980"},
            {"phrases": ["4 5 6"], "answer": "That is me"}]});
        let script = Script::deserialize(script).unwrap();
        let says = |text: &str| script.reply(&Heard::Speech(text.to_owned()));
        assert_eq!(says("What is your Date-of-Birth?"), Reply::Says("March first 1980"));
        assert_eq!(says("Is it four fifty-six?"), Reply::Says("That is me"));
        assert_eq!(says("{{opening}} .*"), Reply::Says("Pardon?"));
        assert_eq!(says("Thank you, goodbye"), Reply::Leaves("Goodbye."));
        assert_eq!(Script::default().reply(&Heard::Keys("1".to_owned())), Reply::Nothing);
    }
}
