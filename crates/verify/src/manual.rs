//! The manual's page of criteria, made from the checks themselves.

use std::fmt::Write;

use model::event::EventType;

use crate::bind::Escaping;
use crate::checks::{CheckInfo, catalogue};

/// A parameter of a check, as the manual tells it. Tests hold it against what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: &'static str,
    /// Its other names.
    pub also: &'static [&'static str],
    pub without: Without,
    /// What it takes, in Markdown.
    pub about: &'static str,
    pub templates: Escaping,
}

/// What leaving a parameter out means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    Fault,
    /// It says nothing then.
    Nothing,
    /// The same as this, in JSON.
    Value(&'static str),
}

impl Member {
    pub(crate) const fn required(name: &'static str, about: &'static str) -> Self {
        Self { name, also: &[], without: Without::Fault, about, templates: Escaping::ByKey }
    }

    pub(crate) const fn optional(name: &'static str, about: &'static str) -> Self {
        Self { name, also: &[], without: Without::Nothing, about, templates: Escaping::ByKey }
    }

    pub(crate) const fn new(name: &'static str, default: &'static str, about: &'static str) -> Self {
        Self { name, also: &[], without: Without::Value(default), about, templates: Escaping::ByKey }
    }

    pub(crate) const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    /// How the values of templates in this parameter are escaped.
    pub(crate) const fn escaped(self, templates: Escaping) -> Self {
        Self { templates, ..self }
    }
}

const MATCH: &str = "which of several [candidates](#match-and-count) the fields are held against";
pub(crate) const MATCH_FIRST: Member = Member::new("match", "\"first\"", MATCH);
pub(crate) const MATCH_ANY: Member = Member::new("match", "\"any\"", MATCH);
pub(crate) const COUNT: Member = Member::optional("count", "[how many](#match-and-count) there must be");
pub(crate) const ONLY: Member = Member::new(
    "only",
    "false",
    "whether there must be nothing beyond what the assertion looks at, see [closed world](#closed-world)",
);
pub(crate) const IGNORE: Member =
    Member::new("ignore", "[]", "paths that `only` does not look at, see [closed world](#closed-world)")
        .escaped(Escaping::Path);
pub(crate) const CONTAINS: Member = Member::new("contains", "[]", "[phrases](#phrases) that must be there");
pub(crate) const NOT_CONTAINS: Member =
    Member::new("not_contains", "[]", "[phrases](#phrases) that must not").also(&["forbidden"]);
pub(crate) const NEGATION: Member =
    Member::new("negation", "\"ignore\"", "`reject`: a phrase of `contains` that is [negated](#negation) is not found");

pub(crate) const NUMBERS: Member = Member::optional(
    "numbers",
    "the phone numbers that may occur; any [other phone number](#phone-numbers) is forbidden. `[]` allows none",
);

pub(crate) const WORDS: Member = Member::optional(
    "words",
    "a closed [vocabulary](#vocabulary): the words that may occur besides those of `contains` and common ones; any other is forbidden",
);

/// The page as it stands in the manual.
pub fn page() -> String {
    let mut page = "# Criteria\n\nMade by `verial manual criteria > docs/criteria.md` from the checks themselves; a test holds it \
                    true.\n\n"
        .to_owned();
    page.push_str(include_str!("manual/intro.md"));
    page.push_str("\n| `assert` | asks |\n|---|---|\n");
    for check in catalogue() {
        let _ = writeln!(page, "| [`{0}`](#{0}) | {1} |", check.name, check.summary);
    }
    let _ = write!(page, "\n{}\n## The checks\n", include_str!("manual/shared.md").replace("{channels}", &channels()));
    for check in catalogue() {
        section(&mut page, check);
    }
    let _ = write!(page, "\n{}", include_str!("manual/closing.md"));
    page.trim_end().to_owned()
}

fn section(page: &mut String, check: &CheckInfo) {
    let _ = write!(page, "\n### {}\n\n{} {}\n\n", check.name, check.summary, filled(check.description));
    page.push_str("| member | value | without it |\n|---|---|---|\n");
    for member in check.members {
        let also: String = member.also.iter().map(|name| format!(", also `{name}`")).collect();
        let without = match member.without {
            Without::Fault => "required".to_owned(),
            Without::Nothing => "–".to_owned(),
            Without::Value(value) => format!("`{value}`"),
        };
        let _ = writeln!(page, "| `{}`{also} | {} | {without} |", member.name, filled(member.about));
    }
    let _ =
        write!(page, "\n<!-- is: assertion -->\n```json\n{}\n```\n\nEvidence: {}.\n", check.example, check.evidence);
}

/// The rows of the table of channels and their effects.
fn channels() -> String {
    let row = |info: &sims::SimulatorInfo| {
        let examples: Vec<String> = info.effects.examples.iter().map(|example| format!("`{example}`")).collect();
        format!("| `{}` | {} | {} |", info.effects.channel, info.kind.name(), examples.join(", "))
    };
    sims::catalog().iter().map(row).collect::<Vec<_>>().join("\n")
}

/// Lists that only the code knows.
fn filled(text: &str) -> String {
    let types: Vec<String> = EventType::ALL.iter().map(|kind| format!("`{}`", kind.name())).collect();
    text.replace("{event_types}", &types.join(", "))
}

/// What serde says it would have taken.
#[cfg(test)]
pub(crate) fn names_read_by<T: serde::de::DeserializeOwned>() -> Vec<String> {
    let fault = serde_json::from_value::<T>(serde_json::json!({"\u{1}": 1})).err().map(|error| error.to_string());
    let fault = fault.unwrap_or_default();
    let (_, expected) = fault.split_once("expected").unwrap_or_default();
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::read_names;
    use crate::comparison::Op;
    use crate::{Parsed, parse};
    use serde_json::Value;

    #[test]
    fn every_member_is_told_and_none_that_is_not_read() {
        for (check, mut read) in read_names() {
            let mut told: Vec<String> = check
                .members
                .iter()
                .flat_map(|member| std::iter::once(&member.name).chain(member.also).map(|&name| name.to_owned()))
                .collect();
            read.sort();
            told.sort();
            assert_eq!(told, read, "{}", check.name);
        }
    }

    #[test]
    fn leaving_a_member_out_means_what_the_manual_says() {
        for check in catalogue() {
            let example: Value = serde_json::from_str(check.example).expect(check.name);
            for member in check.members {
                let mut without = example.clone();
                without.as_object_mut().expect(check.name).remove(member.name);
                let parsed = parse(&without);
                match member.without {
                    Without::Fault => assert!(parsed.is_err(), "{}.{}", check.name, member.name),
                    Without::Nothing => assert!(parsed.is_ok(), "{}.{}: {parsed:?}", check.name, member.name),
                    Without::Value(value) => {
                        let mut with = without.clone();
                        with[member.name] = serde_json::from_str(value).expect(value);
                        assert!(matches!(parsed, Ok(Parsed::Known(_))), "{}.{}: {parsed:?}", check.name, member.name);
                        assert_eq!(parse(&with), parsed, "{}.{}", check.name, member.name);
                    }
                }
            }
        }
    }

    #[test]
    fn every_operator_is_in_the_manual() {
        let fault = serde_json::from_value::<Op>(serde_json::json!("?")).expect_err("no operator").to_string();
        let (_, expected) = fault.split_once("expected").expect("what is expected");
        let operators: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        assert_eq!(operators.len(), 16);
        for operator in operators {
            assert!(include_str!("manual/shared.md").contains(&format!("`{operator}`")), "{operator}");
        }
    }
}
