//! Passes if the required phrases were said on the phone, and the forbidden ones were not.
//!
//! Reads the turns of the sandbox's calls. `forbidden` is an alias of `not_contains`. With `in_order`, the phrases must
//! occur in their order. The example: [`EXAMPLE`]. Evidence: `phraseResults[{phrase,found,turn}]`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use clinical::{PhoneNumber, normalized_phone_number};
use model::FieldErrors;
use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;

use crate::authored::Authored;
use crate::bounds::short;
use crate::candidates::{self, Candidate, unmet_phrases};
use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::evidence::{EvaluationContext, EvaluationResult, text};
use crate::manual::{self, Parameter};
use crate::matching::Match;
use crate::phrase::{
    Negation, Phrase, PhraseRules, Transcript, TurnLabel, check_numbers, check_phrases, check_words_of,
};
use crate::scoring::{CandidateResult, score_candidates};

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
    /// The words that may occur in addition to those of `contains`.
    #[serde(default)]
    pub words: Option<Vec<String>>,
    /// The lines that each turn must consist of.
    #[serde(default)]
    pub script: Option<Vec<Phrase>>,
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
        summary: "The phrases were said on the phone, and the forbidden ones were not.",
        example: EXAMPLE,
        reads: ReadSimulators::Type(SimulatorType::Voice),
        is_limit: false,
        parameters: &[
            Parameter::with_default(
                "speaker",
                "\"any\"",
                "`agent`, `caller` (the other party: the phone line, a representative, or a person who calls) or `any`",
            ),
            Parameter::optional("to", "only calls that the agent placed to this phone number, in any spelling"),
            manual::CONTAINS,
            manual::NOT_CONTAINS,
            Parameter::with_default("in_order", "false", "whether the phrases of `contains` must occur in this order"),
            manual::NEGATION,
            manual::NUMBERS,
            manual::WORDS,
            Parameter::optional(
                "script",
                "[fixed wording](#fixed-wording): a list of lines, each a text or a list of alternatives; each turn of the speaker must be one of them, or a sequence of them. Pressed keys are turns too; keys that are pressed in a row, without speech in between, are one turn",
            ),
        ],
        description: "Reads the turns of all [calls](voice.md). At least one of `contains`, `not_contains`, `numbers`, `words` and `script` is required.",
        evidence: "`phraseResults[{phrase,found,turn}]`, with `call_id` if the phone line had several calls; [`candidates[]`](#evidence)",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_phrases("contains", &self.contains, errors);
        check_phrases("not_contains", &self.not_contains, errors);
        check_numbers(self.numbers.as_ref(), errors);
        check_words_of(self.words.as_deref(), errors);
        check_phrases("script", self.script.as_deref().unwrap_or_default(), errors);
        if self.script.as_ref().is_some_and(Vec::is_empty) {
            errors.add("script", "must have at least one line");
        }
        let has_rules = self.numbers.is_some() || self.words.is_some() || self.script.is_some();
        if self.contains.is_empty() && self.not_contains.is_empty() && !has_rules {
            errors.add("", "asserts nothing: give `contains`, `not_contains`, `numbers`, `words` or `script`");
        }
    }

    fn is_guard(&self) -> bool {
        self.contains.is_empty()
    }

    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let events = context.events(SimulatorType::Voice, &[EventType::VoiceTurn])?;
        let calls = self.calls(&events)?;
        let is_in_call = |turn: &Value| {
            let call = text(turn, "call_id");
            calls.as_ref().is_none_or(|calls| call.is_some_and(|call| calls.contains(call)))
        };
        let turns = with_joined_keys(events.iter().map(|event| &event.payload).filter(|turn| is_in_call(turn)));
        let turns = turns.iter().filter(|turn| self.is_by_speaker(turn));
        let ids: BTreeSet<&str> = events.iter().filter_map(|event| text(&event.payload, "call_id")).collect();
        let texts = turns.flat_map(|turn| {
            let index = turn.get("index").filter(|index| index.is_u64()).cloned().unwrap_or_default();
            // Turns are numbered within their call.
            let call_id = text(turn, "call_id").filter(|_| ids.len() > 1).map(short);
            let label = TurnLabel { turn: index, call_id };
            let texts = [text(turn, "text"), text(turn, "dtmf")].into_iter().flatten();
            texts.filter(|text| !text.is_empty()).map(move |text| (label.clone(), text))
        });
        let texts: Vec<(TurnLabel, &str)> = texts.collect();
        let mut candidate_results = Vec::new();
        if !texts.is_empty() {
            let transcript = Transcript::new(texts, &context.budget)?;
            let phrases = transcript.evaluate(self.rules(), &context.budget)?;
            candidate_results.push(CandidateResult { phrases, ..CandidateResult::default() });
        }
        let scored = score_candidates("transcript", candidate_results.len(), candidate_results, Match::First, None);
        let results = scored.phrase_results();
        scored.outcome(self, context, [("phraseResults", results)])
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        vec![("phraseResults", unmet_phrases(self.rules(), None))]
    }

    fn candidates(&self, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
        candidates::voice::of(self, context)
    }
}

/// The turns, with keys that a speaker pressed in a row joined into the first of these turns. Any other turn of the call,
/// such as a prompt for the next entry, ends the row.
fn with_joined_keys<'e>(turns: impl Iterator<Item = &'e Value>) -> Vec<Cow<'e, Value>> {
    let mut joined: Vec<Cow<'e, Value>> = Vec::new();
    let mut last_of_call: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let keys = |turn: &Value| text(turn, "dtmf").filter(|_| text(turn, "text").is_none_or(str::is_empty)).map(str::len);
    for turn in turns {
        let call = text(turn, "call_id");
        let last = last_of_call.get(&call).copied().and_then(|at| joined.get_mut(at));
        let is_row = |last: &Cow<'e, Value>| {
            keys(last).is_some() && keys(turn).is_some() && text(last, "speaker") == text(turn, "speaker")
        };
        match last.filter(|last| is_row(last)) {
            Some(last) => {
                let pressed = [last.as_ref(), turn].map(|turn| text(turn, "dtmf").unwrap_or_default()).concat();
                last.to_mut()["dtmf"] = pressed.into();
            }
            None => {
                last_of_call.insert(call, joined.len());
                joined.push(Cow::Borrowed(turn));
            }
        }
    }
    joined
}

impl VoiceTranscript {
    /// The calls to the number `to`. None if `to` is not given.
    fn calls<'e>(&self, events: &[&'e Event]) -> Result<Option<BTreeSet<&'e str>>, String> {
        let Some(number) = self.to.as_ref().map(Authored::ready).transpose()? else { return Ok(None) };
        let number = number.normalized();
        let dialed = events.iter().map(|event| &event.payload).filter(|payload| {
            text(payload, "action") == Some("dial")
                && text(payload, "to_number").map(normalized_phone_number).as_ref() == Some(&number)
        });
        Ok(Some(dialed.filter_map(|payload| text(payload, "call_id")).collect()))
    }

    fn rules(&self) -> PhraseRules<'_> {
        let Self { contains, not_contains, in_order, negation, numbers, words, script, .. } = self;
        PhraseRules {
            contains,
            not_contains,
            in_order: *in_order,
            negation: *negation,
            numbers: numbers.as_deref(),
            words: words.as_deref(),
            script: script.as_deref(),
            ..PhraseRules::default()
        }
    }

    fn is_by_speaker(&self, turn: &Value) -> bool {
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

    fn check(specification: Value, expected_errors: &[(&str, &str)]) {
        crate::testing::check("voice-transcript", specification, expected_errors);
    }

    #[test]
    fn valid_specifications() {
        check(json!({"contains": ["four five six"]}), &[]);
        check(json!({"speaker": "any", "forbidden": [["yes", "yeah"]]}), &[]);
        check(json!({"speaker": "caller", "contains": ["hello", "bye"], "in_order": true}), &[]);
    }

    #[test]
    fn invalid_specifications() {
        check(json!({}), &[("", "asserts nothing")]);
        check(json!({"contains": [], "in_order": true}), &[("", "asserts nothing")]);
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
            // The absence of a forbidden phrase earns no points.
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

    /// A data file with pairs of spoken text and phrase, based on real calls.
    #[test]
    fn phrases_of_the_table() {
        let lines = include_str!("../../tests/phrases.jsonl").lines();
        let (mut pairs, mut wrong) = (0, Vec::new());
        for line in lines.map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let mut check_score = |turns: &[(&str, &str)], specification: Value, score: &str| {
                pairs += 1;
                let found = call_of(turns).evaluate(&assertion(specification.clone())).score.to_string();
                if found != score {
                    wrong.push(format!("{turns:?} {specification}: {found}, not {score}"));
                }
            };
            if let Some(expected_text) = line["said"].as_str() {
                for (member, score) in [("matches", "1/1"), ("not", "0/1")] {
                    for phrase in line[member].as_array().unwrap() {
                        check_score(&[("agent", expected_text)], json!({"contains": [phrase]}), score);
                    }
                }
                continue;
            }
            let turns = line["call"].as_array().unwrap().iter();
            let turns: Vec<(&str, &str)> =
                turns.map(|turn| (turn[0].as_str().unwrap(), turn[1].as_str().unwrap())).collect();
            check_score(&turns, line["assert"].clone(), line["score"].as_str().unwrap());
        }
        assert!(wrong.is_empty(), "{} of {pairs}:\n{}", wrong.len(), wrong.join("\n"));
        assert!(pairs >= 250, "{pairs} pairs");
    }

    #[test]
    fn only_calls_to_the_number_are_read() {
        let dialed = |playground: Playground, call: &str, number: &str, expected_text: &str| {
            let dial = json!({"call_id": call, "action": "dial", "to_number": number});
            let turn = json!({"call_id": call, "index": 0, "speaker": "agent", "text": expected_text});
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
    fn a_script_allows_nothing_else() {
        let wanted = json!({"speaker": "agent", "contains": ["visit"],
            "script": [["Hello", "Good morning"], "I am calling about the visit of {{entity.name}}", "1", "Goodbye"]});
        for (turns, score) in [
            (
                &[("agent", "Hello, I am calling about the visit of Ann."), ("caller", "Who?"), ("agent", "Goodbye")][..],
                "1/1",
            ),
            (&[("agent", "I am calling about the visit of Bob.")], "0/1"),
            (&[("agent", "Hello, I am calling about the visit of Ann."), ("agent", "She has HIV.")], "0/1"),
            (&[("agent", "Hello. Goodbye.")], "0/1"),
        ] {
            let call = call_of(turns).with_entity(json!({"name": "Ann", "data": {}}));
            says(&call, &assertion(wanted.clone()), score, "");
        }
        check(json!({"script": []}), &[("script", "at least one line")]);
    }

    #[test]
    fn keys_pressed_in_a_row_are_one_turn() {
        let pressed = |keys: &[(&str, &str, &str)]| {
            keys.iter().enumerate().fold(
                Playground::new(&[]),
                |playground, (index, (speaker, member, expected_text))| {
                    let mut turn = json!({"call_id": "c1", "index": index, "speaker": speaker});
                    turn[*member] = json!(expected_text);
                    playground.event(SimulatorType::Voice, EventType::VoiceTurn, turn)
                },
            )
        };
        let key = |key: &'static str| ("agent", "dtmf", key);
        let prompt = ("caller", "text", "Enter the six digits.");
        let wanted = assertion(json!({"speaker": "agent", "contains": ["410233"], "script": ["1", "410233"]}));
        let one_by_one = [key("1"), prompt, key("4"), key("1"), key("0"), key("2"), key("3"), key("3")];
        scores(
            &pressed(&one_by_one),
            &wanted,
            "1/1",
            &json!({"phraseResults": [
                {"phrase": "410233", "found": true, "turn": 2},
                {"phrase": "another text", "found": false, "turn": null, "forbidden": true},
            ]}),
        );
        says(&pressed(&[key("1"), prompt, key("410"), key("233")]), &wanted, "1/1", "");
        says(&pressed(&[key("1"), prompt, key("410233"), key("9")]), &wanted, "0/1", "");
        says(&pressed(&[key("410"), ("agent", "text", "wait"), key("233")]), &wanted, "0/1", "");
    }

    #[test]
    fn a_call_without_turns_fails() {
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
