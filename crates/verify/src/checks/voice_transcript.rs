//! Passes when the phrases were said on the telephone, and the forbidden ones were not.
//!
//! Reads the turns of the sandbox's calls. `not_contains` is also written `forbidden`; with `in_order` the phrases must
//! come one after the other. The example: [`EXAMPLE`]. Evidence: `phraseResults[{phrase,found,turn}]`.

use std::collections::BTreeSet;

use model::FieldErrors;
use model::event::{Event, EventType};
use model::phone::{PhoneNumber, same};
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;

use crate::authored::Authored;
use crate::checks::{Check, CheckInfo};
use crate::evidence::{Case, Evaluated, text};
use crate::judge::{Sheet, judge};
use crate::manual::{self, Member};
use crate::matching::Match;
use crate::phrase::{Negation, Phrase, PhraseRules, Transcript, check_numbers, check_phrases, check_words_of};

pub const EXAMPLE: &str = r#"{
  "assert": "voice-transcript",
  "speaker": "agent",
  "contains": ["{{entity.member_id}}", ["date of birth", "birth date"]],
  "not_contains": ["social security number"],
  "in_order": true
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VoiceTranscript {
    #[serde(default)]
    pub speaker: Speaker,
    /// Only calls that the agent placed to this number.
    #[serde(default)]
    pub to: Option<Authored<PhoneNumber>>,
    #[serde(default)]
    pub contains: Vec<Phrase>,
    #[serde(default, alias = "forbidden")]
    pub not_contains: Vec<Phrase>,
    #[serde(default)]
    pub in_order: bool,
    #[serde(default)]
    pub negation: Negation,
    /// The phone numbers that may occur.
    #[serde(default)]
    pub numbers: Option<Vec<Authored<PhoneNumber>>>,
    /// The words that may occur besides those of `contains`.
    #[serde(default)]
    pub words: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    Agent,
    Caller,
    #[default]
    Any,
}

impl Check for VoiceTranscript {
    const INFO: CheckInfo = CheckInfo {
        name: "voice-transcript",
        summary: "The phrases were said on the telephone, and the forbidden ones were not.",
        example: EXAMPLE,
        members: &[
            Member::new(
                "speaker",
                "\"any\"",
                "`agent`, `caller` (whoever is at the other end: the line, a representative, somebody who calls) or `any`",
            ),
            Member::optional("to", "only calls that the agent placed to this phone number, however it is written"),
            manual::CONTAINS,
            manual::NOT_CONTAINS,
            Member::new("in_order", "false", "whether the phrases of `contains` must come in their order"),
            manual::NEGATION,
            manual::NUMBERS,
            manual::WORDS,
        ],
        told: "Reads the turns of all [calls](voice.md). One of `contains`, `not_contains`, `numbers` and `words` is needed.",
        evidence: "`phraseResults[{phrase,found,turn}]`",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_phrases("contains", &self.contains, errors);
        check_phrases("not_contains", &self.not_contains, errors);
        check_numbers(self.numbers.as_ref(), errors);
        check_words_of(self.words.as_deref(), errors);
        if self.contains.is_empty() && self.not_contains.is_empty() && self.numbers.is_none() && self.words.is_none() {
            errors.add("", "says nothing: give `contains`, `not_contains`, `numbers` or `words`");
        }
    }

    fn is_guard(&self) -> bool {
        self.contains.is_empty()
    }

    fn evaluate(&self, case: &Case<'_>) -> Evaluated {
        let events = case.events(SimulatorType::Voice, &[EventType::VoiceTurn])?;
        let calls = self.calls(&events)?;
        let is_of_call = |turn: &Value| {
            let call = text(turn, "call_id");
            calls.as_ref().is_none_or(|calls| call.is_some_and(|call| calls.contains(call)))
        };
        let turns = events.iter().map(|event| &event.payload).filter(|turn| self.is_meant(turn) && is_of_call(turn));
        let texts = turns.flat_map(|turn| {
            let index = turn.get("index").filter(|index| index.is_u64()).cloned().unwrap_or_default();
            let texts = [text(turn, "text"), text(turn, "dtmf")].into_iter().flatten();
            texts.filter(|text| !text.is_empty()).map(move |text| (index.clone(), text))
        });
        let texts: Vec<(Value, &str)> = texts.collect();
        let mut sheets = Vec::new();
        if !texts.is_empty() {
            let transcript = Transcript::new(texts, &case.budget)?;
            let phrases = transcript.hold(self.rules(), &case.budget)?;
            sheets.push(Sheet { phrases, ..Sheet::default() });
        }
        let judgement = judge("transcript", sheets.len(), sheets, Match::First, None);
        let results = judgement.phrase_results();
        judgement.outcome([("phraseResults", results)])
    }
}

impl VoiceTranscript {
    /// The calls that were placed to `to`; none when any call is meant.
    fn calls<'e>(&self, events: &[&'e Event]) -> Result<Option<BTreeSet<&'e str>>, String> {
        let Some(number) = self.to.as_ref().map(Authored::ready).transpose()? else { return Ok(None) };
        let number = same(&number.dialled);
        let dialed = events.iter().map(|event| &event.payload).filter(|payload| {
            text(payload, "action") == Some("dial") && text(payload, "to_number").map(same).as_ref() == Some(&number)
        });
        Ok(Some(dialed.filter_map(|payload| text(payload, "call_id")).collect()))
    }

    fn rules(&self) -> PhraseRules<'_> {
        let Self { contains, not_contains, in_order, negation, numbers, words, .. } = self;
        PhraseRules {
            contains,
            not_contains,
            in_order: *in_order,
            negation: *negation,
            numbers: numbers.as_deref(),
            words: words.as_deref(),
        }
    }

    fn is_meant(&self, turn: &Value) -> bool {
        match (self.speaker, text(turn, "speaker")) {
            (_, None) => false,
            (Speaker::Any, Some(_)) => true,
            (Speaker::Agent, Some(speaker)) => speaker == "agent",
            (Speaker::Caller, Some(speaker)) => speaker == "caller",
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Playground, says, scores};
    use model::event::EventType;
    use model::simulator::SimulatorType;
    use serde_json::{Value, json};

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("voice-transcript", specification, faults);
    }

    #[test]
    fn sound_specifications() {
        check(json!({"contains": ["four five six"]}), &[]);
        check(json!({"speaker": "any", "forbidden": [["yes", "yeah"]]}), &[]);
        check(json!({"speaker": "caller", "contains": ["hello", "bye"], "in_order": true}), &[]);
    }

    #[test]
    fn faulty_specifications() {
        check(json!({}), &[("", "says nothing")]);
        check(json!({"contains": [], "in_order": true}), &[("", "says nothing")]);
        check(json!({"contain": ["x"]}), &[("contain", "not a known field")]);
        check(json!({"contains": "hello"}), &[("contains", "a list")]);
        check(json!({"forbidden": ["x"], "not_contains": ["y"]}), &[("not_contains", "twice")]);
        check(
            json!({"speaker": "nobody", "contains": ["?"], "in_order": "yes"}),
            &[("speaker", "one of `agent`"), ("contains.0", "letter"), ("in_order", "true or false")],
        );
    }

    fn call() -> Playground {
        let turns = [
            ("caller", "Thank you for calling. What is the member's number?"),
            ("agent", "It is alpha bravo, four fifty-six."),
            ("caller", "And the date of birth?"),
            ("agent", "March first 1980. My social security number is secret."),
        ];
        call_of(&turns)
    }

    fn call_of(turns: &[(&str, &str)]) -> Playground {
        turns.iter().enumerate().fold(Playground::new(&[]), |playground, (index, (speaker, text))| {
            let turn = json!({"call_id": "c1", "index": index, "speaker": speaker, "text": text});
            playground.event(SimulatorType::Voice, EventType::VoiceTurn, turn)
        })
    }

    fn assertion(specification: Value) -> Value {
        let mut assertion = specification;
        assertion["assert"] = json!("voice-transcript");
        assertion
    }

    #[test]
    fn phrases_are_found_by_speaker_and_in_order() {
        scores(
            &call(),
            &assertion(
                json!({"speaker": "agent", "contains": ["AB456", ["DOB", "march"]], "forbidden": ["social security"]}),
            ),
            "0/1",
            &json!({"phraseResults": [
                {"phrase": "AB456", "found": true, "turn": 1},
                {"phrase": ["DOB", "march"], "found": true, "turn": 3},
                {"phrase": "social security", "found": true, "turn": 3, "forbidden": true},
            ]}),
        );
        for (specification, score) in [
            (json!({"speaker": "caller", "contains": ["AB456"]}), "0/1"),
            (json!({"contains": ["thank you", "AB456"], "in_order": true}), "1/1"),
            (json!({"contains": ["AB456", "thank you"], "in_order": true}), "1/2"),
            (json!({"contains": ["AB456", "thank you"]}), "1/1"),
            (json!({"contains": ["alpha", "bravo", "four fifty six"], "in_order": true}), "1/1"),
            (json!({"contains": ["bravo", "alpha"], "in_order": true}), "1/2"),
            (json!({"speaker": "caller", "forbidden": ["social security"]}), "1/1"),
            // A forbidden phrase only takes the score away.
            (
                json!({"contains": ["transfer me"], "forbidden": ["one a", "one b", "one c", "one d", "one e", "one f"]}),
                "0/1",
            ),
            (json!({"contains": ["AB456", "transfer me"], "forbidden": ["credit card"]}), "1/2"),
            (json!({"contains": ["AB456", "transfer me"], "forbidden": ["social security"]}), "0/1"),
            (json!({"contains": ["AB456"], "forbidden": ["credit card", "social security"]}), "0/1"),
            (json!({"contains": ["AB456"], "forbidden": ["credit card"]}), "1/1"),
            (json!({"forbidden": ["credit card", "social security"]}), "0/1"),
        ] {
            says(&call(), &assertion(specification), score, "");
        }
    }

    /// Pairs of what was said and a phrase, from the habits of real calls, as data.
    #[test]
    fn the_table_of_phrases_holds() {
        let lines = include_str!("../../tests/phrases.jsonl").lines();
        let (mut pairs, mut wrong) = (0, Vec::new());
        for line in lines.map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let mut hold = |turns: &[(&str, &str)], specification: Value, score: &str| {
                pairs += 1;
                let found = call_of(turns).evaluate(&assertion(specification.clone())).score.to_string();
                if found != score {
                    wrong.push(format!("{turns:?} {specification}: {found}, not {score}"));
                }
            };
            if let Some(said) = line["said"].as_str() {
                for (member, score) in [("matches", "1/1"), ("not", "0/1")] {
                    for phrase in line[member].as_array().unwrap() {
                        hold(&[("agent", said)], json!({"contains": [phrase]}), score);
                    }
                }
                continue;
            }
            let turns = line["call"].as_array().unwrap().iter();
            let turns: Vec<(&str, &str)> =
                turns.map(|turn| (turn[0].as_str().unwrap(), turn[1].as_str().unwrap())).collect();
            hold(&turns, line["assert"].clone(), line["score"].as_str().unwrap());
        }
        assert!(wrong.is_empty(), "{} of {pairs}:\n{}", wrong.len(), wrong.join("\n"));
        assert!(pairs >= 250, "{pairs} pairs");
    }

    #[test]
    fn only_calls_to_the_number_are_meant() {
        let dialed = |playground: Playground, call: &str, number: &str, said: &str| {
            let dial = json!({"call_id": call, "action": "dial", "to_number": number});
            let turn = json!({"call_id": call, "index": 0, "speaker": "agent", "text": said});
            let playground = playground.event(SimulatorType::Voice, EventType::VoiceTurn, dial);
            playground.event(SimulatorType::Voice, EventType::VoiceTurn, turn)
        };
        let calls = dialed(Playground::new(&[]), "c1", "+15550100199", "hello");
        let calls = dialed(calls, "c2", "+15550109999", "goodbye");
        for (to, phrase, score) in [
            ("(555) 010-0199", "hello", "1/1"),
            ("(555) 010-0199", "goodbye", "0/1"),
            ("555-010-9999", "goodbye", "1/1"),
            ("911", "hello", "0/1"),
        ] {
            says(&calls, &assertion(json!({"to": to, "contains": [phrase]})), score, "");
        }
    }

    #[test]
    fn silence_says_nothing() {
        let forbidden = assertion(json!({"forbidden": ["x"]}));
        says(&Playground::empty(), &forbidden, "0/1", "no Voice sandbox");
        says(&Playground::new(&[]), &forbidden, "0/1", "no transcript");
        for turn in [
            json!(null),
            json!({}),
            json!({"speaker": "agent"}),
            json!({"speaker": 1, "text": "hello"}),
            json!({"speaker": "agent", "text": ["hello"]}),
            json!({"speaker": "agent", "text": ""}),
        ] {
            let odd = Playground::new(&[]).event(SimulatorType::Voice, EventType::VoiceTurn, turn);
            says(&odd, &forbidden, "0/1", "no transcript");
        }
    }
}
