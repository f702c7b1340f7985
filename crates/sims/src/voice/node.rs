//! The nodes of a phone line's graph, each a struct of its own.

use std::collections::BTreeMap;

use model::FieldErrors;
use model::reading::{shortened, split_tag};
use serde::Deserialize;
use serde_json::Value;

use crate::authored::{self, Authored, optional_text, text};
use crate::contact;

/// One node, told by its `type`.
#[derive(Clone, Debug)]
pub enum Node {
    Say(Say),
    Menu(Menu),
    Collect(Collect),
    Lookup(Lookup),
    Hold(Hold),
    Representative(Representative),
    Voicemail(Voicemail),
    Transfer(Transfer),
    Hangup(Hangup),
}

/// Speaks and goes on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Say {
    pub prompt: String,
    pub next: String,
}

/// Lets the caller choose by key or by word.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Menu {
    pub prompt: String,
    pub options: Vec<Choice>,
    /// Where a caller goes who has not chosen; the line hangs up without it.
    pub otherwise: Option<String>,
    pub retries: Option<i64>,
    pub timeout_seconds: Option<i64>,
    pub barge_in: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub dtmf: Option<String>,
    #[serde(default)]
    pub phrases: Vec<String>,
    pub next: String,
}

/// Asks the caller for a named field.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collect {
    pub prompt: String,
    pub field: String,
    pub kind: CollectKind,
    pub min_length: Option<i64>,
    pub max_length: Option<i64>,
    pub next: String,
    /// Where a caller goes who has not given it; the line hangs up without it.
    pub otherwise: Option<String>,
    pub retries: Option<i64>,
    pub timeout_seconds: Option<i64>,
    pub barge_in: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollectKind {
    Digits,
    Date,
    Name,
    Free,
}

/// Finds the record that later prompts speak of.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    pub source: LookupSource,
    /// A FHIR resource type, or the name of rows.
    pub resource: String,
    /// FHIR search parameter or row field, and the value wanted; fields of the call as `{{field.…}}`.
    pub r#match: BTreeMap<String, String>,
    pub found: String,
    pub not_found: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LookupSource {
    Fhir,
    Rows,
}

/// Lets the caller wait.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    pub prompt: String,
    pub seconds: i64,
    pub next: String,
}

/// Somebody who answers by script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Representative {
    pub prompt: String,
    pub beats: Vec<Beat>,
    /// What is said when no beat fits.
    pub fallback: Option<String>,
    /// Where the call goes when the caller has nothing more; without it the representative stays on the line.
    pub next: Option<String>,
}

/// Fits when the caller says one of the phrases, or has given all of the fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beat {
    #[serde(default)]
    pub phrases: Vec<String>,
    #[serde(default)]
    pub fields: Vec<String>,
    pub answer: String,
}

/// Takes a message; the call ends after it without `next`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voicemail {
    pub prompt: String,
    pub max_seconds: Option<i64>,
    pub next: Option<String>,
}

/// Passes the call on, to a number outside or to another node.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    pub prompt: String,
    pub number: Option<String>,
    pub next: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hangup {
    pub prompt: Option<String>,
}

impl Node {
    pub fn read(authored: &Value) -> Result<Self, FieldErrors> {
        let (kind, members) = split_tag(authored, "type")?;
        match kind.as_str() {
            "say" => authored::read(&members).map(Self::Say),
            "menu" => authored::read(&members).map(Self::Menu),
            "collect" => authored::read(&members).map(Self::Collect),
            "lookup" => authored::read(&members).map(Self::Lookup),
            "hold" => authored::read(&members).map(Self::Hold),
            "representative" => authored::read(&members).map(Self::Representative),
            "voicemail" => authored::read(&members).map(Self::Voicemail),
            "transfer" => authored::read(&members).map(Self::Transfer),
            "hangup" => authored::read(&members).map(Self::Hangup),
            _ => Err(FieldErrors::one(
                "type",
                "must be one of say, menu, collect, lookup, hold, representative, voicemail, transfer, hangup",
            )),
        }
    }

    /// Where each edge stands inside the node, and the node that it leads to.
    pub(crate) fn edges(&self) -> Vec<(String, &str)> {
        const NONE: (&str, Option<&String>) = ("", None);
        let named = match self {
            Self::Say(say) => [("next", Some(&say.next)), NONE],
            Self::Menu(menu) => [("otherwise", menu.otherwise.as_ref()), NONE],
            Self::Collect(collect) => [("next", Some(&collect.next)), ("otherwise", collect.otherwise.as_ref())],
            Self::Lookup(lookup) => [("found", Some(&lookup.found)), ("not_found", Some(&lookup.not_found))],
            Self::Hold(hold) => [("next", Some(&hold.next)), NONE],
            Self::Representative(representative) => [("next", representative.next.as_ref()), NONE],
            Self::Voicemail(voicemail) => [("next", voicemail.next.as_ref()), NONE],
            Self::Transfer(transfer) => [("next", transfer.next.as_ref()), NONE],
            Self::Hangup(_) => [NONE, NONE],
        };
        let named = named.into_iter().filter_map(|(place, target)| Some((place.to_owned(), target?.as_str())));
        let options = match self {
            Self::Menu(menu) => menu.options.as_slice(),
            _ => &[],
        };
        let chosen = options.iter().enumerate().map(|(index, option)| (format!("options.{index}.next"), &*option.next));
        named.chain(chosen).collect()
    }

    /// Where each text with templates stands inside the node, and the text.
    pub(crate) fn prompts(&self) -> Vec<(String, &str)> {
        let prompt = match self {
            Self::Say(Say { prompt, .. })
            | Self::Menu(Menu { prompt, .. })
            | Self::Collect(Collect { prompt, .. })
            | Self::Hold(Hold { prompt, .. })
            | Self::Representative(Representative { prompt, .. })
            | Self::Voicemail(Voicemail { prompt, .. })
            | Self::Transfer(Transfer { prompt, .. }) => Some(prompt),
            Self::Hangup(hangup) => hangup.prompt.as_ref(),
            Self::Lookup(_) => None,
        };
        let mut prompts: Vec<(String, &str)> =
            prompt.map(|prompt| ("prompt".to_owned(), prompt.as_str())).into_iter().collect();
        match self {
            Self::Lookup(Lookup { r#match, .. }) => {
                prompts.extend(r#match.iter().map(|(name, wanted)| (format!("match.{name}"), wanted.as_str())));
            }
            Self::Representative(Representative { beats, fallback, .. }) => {
                let answers = beats.iter().enumerate();
                prompts.extend(answers.map(|(index, beat)| (format!("beats.{index}.answer"), beat.answer.as_str())));
                prompts.extend(fallback.iter().map(|fallback| ("fallback".to_owned(), fallback.as_str())));
            }
            _ => {}
        }
        prompts
    }

    pub(crate) fn collected_fields(&self) -> Vec<&str> {
        match self {
            Self::Collect(collect) => vec![&collect.field],
            Self::Representative(representative) => {
                representative.beats.iter().flat_map(|beat| &beat.fields).map(String::as_str).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the node waits for the caller to say something.
    pub(crate) fn listens(&self) -> bool {
        matches!(self, Self::Menu(_) | Self::Collect(_) | Self::Representative(_) | Self::Voicemail(_))
    }

    pub(crate) fn can_end_the_call(&self) -> bool {
        match self {
            Self::Hangup(_) => true,
            Self::Representative(representative) => representative.next.is_none(),
            Self::Voicemail(voicemail) => voicemail.next.is_none(),
            Self::Transfer(transfer) => transfer.next.is_none(),
            _ => false,
        }
    }
}

const LONGEST_PROMPT: usize = 4000;

pub(crate) const NAME_RULE: &str = "must be a name of 1 to 64 letters, digits, `_` or `-`";

/// The names of nodes and fields.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// How long and how often the line asks.
pub(crate) fn check_patience(errors: &mut FieldErrors, retries: Option<i64>, timeout_seconds: Option<i64>) {
    if let Some(retries) = retries {
        errors.range("retries", retries, 0..=10);
    }
    if let Some(seconds) = timeout_seconds {
        errors.range("timeout_seconds", seconds, 1..=300);
    }
}

impl Authored for Say {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
    }
}

impl Authored for Menu {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
        check_patience(errors, self.retries, self.timeout_seconds);
        if self.options.is_empty() {
            errors.add("options", "must not be empty");
        }
        errors.each("options", &self.options, 20, |option, errors| {
            option.validate(errors);
        });
        if errors.is_empty() {
            self.check_that_choices_differ(errors);
        }
    }
}

impl Menu {
    fn check_that_choices_differ(&self, errors: &mut FieldErrors) {
        let mut taken = BTreeMap::new();
        for (index, option) in self.options.iter().enumerate() {
            let phrases = option.phrases.iter().map(|phrase| phrase.trim().to_lowercase());
            for choice in phrases.chain(option.dtmf.clone()) {
                match taken.insert(choice.clone(), index) {
                    Some(earlier) if earlier != index => {
                        let message = format!("`{}` also chooses options.{earlier}", shortened(&choice, 60));
                        errors.add(format!("options.{index}"), message);
                    }
                    _ => {}
                }
            }
        }
    }
}

impl Choice {
    fn validate(&self, errors: &mut FieldErrors) {
        if self.dtmf.is_none() && self.phrases.is_empty() {
            errors.add("", "must have `dtmf` or `phrases`");
        }
        if self.dtmf.as_deref().is_some_and(|key| key.len() != 1 || !key.contains(|c: char| "0123456789*#".contains(c)))
        {
            errors.add("dtmf", "must be one key: 0 to 9, * or #");
        }
        check_phrases(errors, &self.phrases);
    }
}

fn check_phrases(errors: &mut FieldErrors, phrases: &[String]) {
    errors.each("phrases", phrases, 50, |phrase, errors| {
        text(errors, "", phrase, 200);
    });
}

impl Authored for Collect {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
        check_patience(errors, self.retries, self.timeout_seconds);
        if !is_name(&self.field) {
            errors.add("field", NAME_RULE);
        }
        for (field, length) in [("min_length", self.min_length), ("max_length", self.max_length)] {
            let Some(length) = length else { continue };
            errors.range(field, length, 1..=1000);
            if matches!(self.kind, CollectKind::Date | CollectKind::Name) {
                errors.add(field, "only `digits` and `free` have a length");
            }
        }
        if self.min_length.unwrap_or(1) > self.max_length.unwrap_or(1000) {
            errors.add("max_length", "must not be less than min_length");
        }
    }
}

impl Authored for Lookup {
    fn validate(&self, errors: &mut FieldErrors) {
        if !is_name(&self.resource) {
            errors.add("resource", NAME_RULE);
        }
        if self.r#match.is_empty() || self.r#match.len() > 20 {
            errors.add("match", format!("must have 1 to 20 conditions, has {}", self.r#match.len()));
        }
        for (name, wanted) in self.r#match.iter().take(20) {
            let place = format!("match.{}", shortened(name, 80));
            errors.length(&place, name, 1..=100);
            text(errors, &place, wanted, 200);
        }
    }
}

impl Authored for Hold {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
        errors.range("seconds", self.seconds, 0..=3600);
    }
}

impl Authored for Representative {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
        optional_text(errors, "fallback", self.fallback.as_ref(), LONGEST_PROMPT);
        if self.beats.is_empty() {
            errors.add("beats", "must not be empty");
        }
        errors.each("beats", &self.beats, 200, |beat, errors| {
            if beat.phrases.is_empty() && beat.fields.is_empty() {
                errors.add("", "must have `phrases` or `fields`");
            }
            check_phrases(errors, &beat.phrases);
            errors.each("fields", &beat.fields, 20, |field, errors| {
                if !is_name(field) {
                    errors.add("", NAME_RULE);
                }
            });
            text(errors, "answer", &beat.answer, LONGEST_PROMPT);
        });
    }
}

impl Authored for Voicemail {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
        if let Some(seconds) = self.max_seconds {
            errors.range("max_seconds", seconds, 1..=3600);
        }
    }
}

impl Authored for Transfer {
    fn validate(&self, errors: &mut FieldErrors) {
        text(errors, "prompt", &self.prompt, LONGEST_PROMPT);
        if let Some(number) = &self.number {
            contact::check_phone_number(errors, "number", number);
            if self.next.is_some() {
                errors.add("next", "a call that goes to a `number` does not come back");
            }
        }
    }
}

impl Authored for Hangup {
    fn validate(&self, errors: &mut FieldErrors) {
        optional_text(errors, "prompt", self.prompt.as_ref(), LONGEST_PROMPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The first places at which a node is refused.
    fn check(cases: &[(Value, &str)]) {
        for (node, places) in cases {
            let errors = Node::read(node).expect_err(&node.to_string());
            let found: Vec<&str> = errors.iter().map(|(place, _)| place).collect();
            assert!(found.join(" ").starts_with(places), "{node}: {errors}");
        }
    }

    #[test]
    fn nodes_that_speak() {
        check(&[
            (json!({"type": "shout", "prompt": "x"}), "type"),
            (json!({"type": "Say", "prompt": "x", "next": "a"}), "type"),
            (json!({"type": "say", "next": "a"}), "prompt"),
            (json!({"type": "say", "prompt": " ", "next": "a"}), "prompt"),
            (json!({"type": "say", "prompt": "x"}), "next"),
            (json!({"type": "say", "prompt": "x", "next": "a", "dtmf": "1", "retries": 1}), "dtmf retries"),
            (json!({"type": "hold", "prompt": "x", "seconds": 3601, "next": "a"}), "seconds"),
            (json!({"type": "voicemail", "prompt": "x", "max_seconds": 0}), "max_seconds"),
            (json!({"type": "transfer", "prompt": "x", "number": "x", "next": "a"}), "next number"),
            (json!({"type": "hangup", "prompt": ""}), "prompt"),
            (json!({"type": "hangup", "next": "a"}), "next"),
        ]);
    }

    #[test]
    fn menus() {
        let menu = |options: Value| json!({"type": "menu", "prompt": "x", "options": options});
        let one = json!({"dtmf": "1", "next": "a"});
        let yes = json!([{"phrases": ["Yes", "yes"], "next": "a"}, {"phrases": ["YES "], "next": "b"}]);
        let impatient = json!({"type": "menu", "prompt": "x", "options": [one], "retries": -1, "timeout_seconds": 0});
        check(&[
            (menu(json!([])), "options"),
            (menu(json!([{"next": "a"}])), "options.0"),
            (menu(json!([{"dtmf": "12", "next": "a"}])), "options.0.dtmf"),
            (menu(json!([{"dtmf": "A", "next": "a"}])), "options.0.dtmf"),
            (menu(json!([{"phrases": [""], "next": "a"}])), "options.0.phrases.0"),
            (menu(json!([one, one])), "options.1"),
            (menu(yes), "options.1"),
            (menu(json!(vec![one; 21])), "options"),
            (impatient, "retries timeout_seconds"),
        ]);
    }

    #[test]
    fn nodes_that_ask_and_look_up() {
        let with = |mut node: Value, key: &str, value: Value| {
            node[key] = value;
            node
        };
        let collect = json!({"type": "collect", "prompt": "x", "field": "a", "kind": "digits", "next": "a"});
        let lookup = json!({"type": "lookup", "source": "fhir", "resource": "Patient", "match": {"a": "b"},
            "found": "a", "not_found": "b"});
        let desk = json!({"type": "representative", "prompt": "x", "beats": [{"phrases": ["y"], "answer": "z"}]});
        for good in [&collect, &lookup, &desk] {
            assert!(Node::read(good).is_ok(), "{good}");
        }
        let short = with(collect.clone(), "max_length", json!(4));
        check(&[
            (with(collect.clone(), "field", json!("a b")), "field"),
            (with(collect, "kind", json!("number")), "kind"),
            (with(short.clone(), "kind", json!("date")), "max_length"),
            (with(short, "min_length", json!(5)), "max_length"),
            (with(lookup.clone(), "match", json!({})), "match"),
            (with(lookup.clone(), "match", json!({"a": ""})), "match.a"),
            (with(lookup, "source", json!("sql")), "source"),
            (with(desk.clone(), "beats", json!([])), "beats"),
            (with(desk.clone(), "beats", json!([{"answer": "y"}])), "beats.0"),
            (with(desk, "beats", json!([{"fields": ["a b"], "answer": ""}])), "beats.0.answer beats.0.fields.0"),
        ]);
    }
}
