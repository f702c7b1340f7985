//! Generates the manual's page about criteria from the checks.

use std::fmt::Write;

use model::event::EventType;

use crate::bind::Escaping;
use crate::checks::{CheckInfo, catalog};

/// The description of a parameter of a check. Tests compare it with the deserialized struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: &'static str,
    /// Other names of the parameter.
    pub aliases: &'static [&'static str],
    pub default: ParameterDefault,
    /// Its value and meaning, in Markdown.
    pub description: &'static str,
    pub escaping: Escaping,
}

/// The meaning of leaving a parameter out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterDefault {
    /// The parameter is required.
    Required,
    /// The parameter has no effect.
    Unset,
    /// The same as this value, in JSON.
    Value(&'static str),
}

impl Parameter {
    pub(crate) const fn required(name: &'static str, description: &'static str) -> Self {
        Self { name, aliases: &[], default: ParameterDefault::Required, description, escaping: Escaping::ByKey }
    }

    pub(crate) const fn optional(name: &'static str, description: &'static str) -> Self {
        Self { name, aliases: &[], default: ParameterDefault::Unset, description, escaping: Escaping::ByKey }
    }

    pub(crate) const fn with_default(name: &'static str, default: &'static str, description: &'static str) -> Self {
        Self { name, aliases: &[], default: ParameterDefault::Value(default), description, escaping: Escaping::ByKey }
    }

    pub(crate) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// How the values of templates in this parameter are escaped.
    pub(crate) const fn escaped(self, escaping: Escaping) -> Self {
        Self { escaping, ..self }
    }
}

const MATCH: &str = "which of several [candidates](#match-and-count) the fields are compared with";
pub(crate) const MATCH_FIRST: Parameter = Parameter::with_default("match", "\"first\"", MATCH);
pub(crate) const MATCH_ANY: Parameter = Parameter::with_default("match", "\"any\"", MATCH);
pub(crate) const COUNT: Parameter = Parameter::optional("count", "[how many](#match-and-count) there must be");
pub(crate) const ONLY: Parameter = Parameter::with_default(
    "only",
    "false",
    "whether the candidate must contain nothing other than the asserted values, see [closed world](#closed-world)",
);
pub(crate) const IGNORE: Parameter =
    Parameter::with_default("ignore", "[]", "paths that `only` ignores, see [closed world](#closed-world)")
        .escaped(Escaping::Path);
pub(crate) const CONTAINS: Parameter = Parameter::with_default("contains", "[]", "[phrases](#phrases) that must occur");
pub(crate) const NOT_CONTAINS: Parameter =
    Parameter::with_default("not_contains", "[]", "[phrases](#phrases) that must not occur").aliases(&["forbidden"]);
pub(crate) const NEGATION: Parameter = Parameter::with_default(
    "negation",
    "\"ignore\"",
    "`reject`: a phrase of `contains` that is [negated](#negation) is not found",
);

pub(crate) const NUMBERS: Parameter = Parameter::optional(
    "numbers",
    "the phone numbers that may occur; any [other phone number](#phone-numbers) is forbidden. `[]` allows none",
);

pub(crate) const WORDS: Parameter = Parameter::optional(
    "words",
    "a closed [vocabulary](#vocabulary): the words that may occur besides those of `contains` and common ones; any other is forbidden",
);

/// The page in Markdown.
pub fn page() -> String {
    let mut page = "# Criteria\n\nGenerated from the checks by `verial manual criteria > docs/criteria.md`; a test checks that it is \
                    up to date.\n\n"
        .to_owned();
    page.push_str(include_str!("manual/intro.md"));
    page.push_str("\n| `assert` | asks |\n|---|---|\n");
    for check in catalog() {
        let _ = writeln!(page, "| [`{0}`](#{0}) | {1} |", check.name, check.summary);
    }
    let _ = write!(page, "\n{}\n## The checks\n", include_str!("manual/shared.md").replace("{channels}", &channels()));
    for check in catalog() {
        section(&mut page, check);
    }
    let _ = write!(page, "\n{}", include_str!("manual/closing.md"));
    page.trim_end().to_owned()
}

fn section(page: &mut String, check: &CheckInfo) {
    let _ = write!(page, "\n### {}\n\n{} {}\n\n", check.name, check.summary, fill_lists(check.description));
    page.push_str("| member | value | without it |\n|---|---|---|\n");
    for parameter in check.parameters {
        let aliases: String = parameter.aliases.iter().map(|name| format!(", also `{name}`")).collect();
        let default = match parameter.default {
            ParameterDefault::Required => "required".to_owned(),
            ParameterDefault::Unset => "–".to_owned(),
            ParameterDefault::Value(value) => format!("`{value}`"),
        };
        let _ = writeln!(page, "| `{}`{aliases} | {} | {default} |", parameter.name, fill_lists(parameter.description));
    }
    let _ =
        write!(page, "\n<!-- is: assertion -->\n```json\n{}\n```\n\nEvidence: {}.\n", check.example, check.evidence);
}

/// The rows of the table of channels and effects.
fn channels() -> String {
    let row = |info: &sims::SimulatorInfo| {
        let examples: Vec<String> = info.effects.examples.iter().map(|example| format!("`{example}`")).collect();
        format!("| `{}` | {} | {} |", info.effects.channel, info.kind.name(), examples.join(", "))
    };
    sims::catalog().iter().map(row).collect::<Vec<_>>().join("\n")
}

/// Fills in lists that are defined in code.
fn fill_lists(text: &str) -> String {
    let types: Vec<String> = EventType::ALL.iter().map(|kind| format!("`{}`", kind.name())).collect();
    text.replace("{event_types}", &types.join(", "))
}

/// The member names that a type deserializes, taken from serde's error about an unknown one.
#[cfg(test)]
pub(crate) fn names_read_by<T: serde::de::DeserializeOwned>() -> Vec<String> {
    let error = serde_json::from_value::<T>(serde_json::json!({"\u{1}": 1})).err().map(|error| error.to_string());
    let error = error.unwrap_or_default();
    let (_, expected) = error.split_once("expected").unwrap_or_default();
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
    fn documented_parameters_are_those_that_are_read() {
        for (check, mut read) in read_names() {
            let mut documented: Vec<String> = check
                .parameters
                .iter()
                .flat_map(|parameter| {
                    std::iter::once(&parameter.name).chain(parameter.aliases).map(|&name| name.to_owned())
                })
                .collect();
            read.sort();
            documented.sort();
            assert_eq!(documented, read, "{}", check.name);
        }
    }

    #[test]
    fn documented_defaults_are_true() {
        for check in catalog() {
            let example: Value = serde_json::from_str(check.example).expect(check.name);
            for parameter in check.parameters {
                let mut without = example.clone();
                without.as_object_mut().expect(check.name).remove(parameter.name);
                let parsed = parse(&without);
                match parameter.default {
                    ParameterDefault::Required => assert!(parsed.is_err(), "{}.{}", check.name, parameter.name),
                    ParameterDefault::Unset => assert!(parsed.is_ok(), "{}.{}: {parsed:?}", check.name, parameter.name),
                    ParameterDefault::Value(value) => {
                        let mut with = without.clone();
                        with[parameter.name] = serde_json::from_str(value).expect(value);
                        assert!(
                            matches!(parsed, Ok(Parsed::Known(_))),
                            "{}.{}: {parsed:?}",
                            check.name,
                            parameter.name
                        );
                        assert_eq!(parse(&with), parsed, "{}.{}", check.name, parameter.name);
                    }
                }
            }
        }
    }

    #[test]
    fn every_operator_is_in_the_manual() {
        let error = serde_json::from_value::<Op>(serde_json::json!("?")).expect_err("no operator").to_string();
        let (_, expected) = error.split_once("expected").expect("what is expected");
        let operators: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        assert_eq!(operators.len(), 16);
        for operator in operators {
            assert!(include_str!("manual/shared.md").contains(&format!("`{operator}`")), "{operator}");
        }
    }
}
