//! The nodes of an IVR graph: one file for each type.

mod collect;
mod hangup;
mod hold;
mod lookup;
mod menu;
mod representative;
mod rules;
mod say;
mod transfer;
mod voicemail;

use model::FieldErrors;
use model::reading::split_tag;
use serde_json::Value;

pub use self::collect::{Collect, CollectKind};
pub use self::hangup::Hangup;
pub use self::hold::Hold;
pub use self::lookup::{Lookup, LookupSource};
pub use self::menu::{Menu, MenuOption};
pub use self::representative::{Beat, Representative};
pub(crate) use self::rules::{NAME_RULE, check_retry_policy, is_name};
pub use self::say::Say;
pub use self::transfer::Transfer;
pub use self::voicemail::Voicemail;
use crate::authored;

/// A node. Its `type` member selects the variant.
#[derive(Clone, Debug)]
pub enum IvrNode {
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

impl IvrNode {
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

    /// The edges, as the field that names the target and the target.
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
        let named = named.into_iter().filter_map(|(field, target)| Some((field.to_owned(), target?.as_str())));
        let options = match self {
            Self::Menu(menu) => menu.options.as_slice(),
            _ => &[],
        };
        let option_edges =
            options.iter().enumerate().map(|(index, option)| (format!("options.{index}.next"), &*option.next));
        named.chain(option_edges).collect()
    }

    /// The texts that may contain templates, with their fields.
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
                prompts.extend(r#match.iter().map(|(name, expected)| (format!("match.{name}"), expected.as_str())));
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

#[cfg(test)]
mod tests;
