//! Values in the form of their parameter's type (<https://hl7.org/fhir/R4/search.html#ptypes>).

use super::escape::{split, split_once, unescape};
use crate::definitions::{SearchParameter, SearchType};
use crate::excerpt::Excerpt;
use crate::search::moment::span;
use crate::search::number::{decimal, written_range};
use crate::search::{Modifier, Prefix, Target, Wanted};
use crate::{OwnAddresses, ResourceType, is_id};

/// Where a value stands.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) resource_type: ResourceType,
    /// The server's own addresses.
    pub(super) own: OwnAddresses<'a>,
}

impl Context<'_> {
    /// Reads one value; else says what would be right.
    pub(super) fn wanted(
        self,
        parameter: &SearchParameter,
        modifier: Option<&Modifier>,
        text: &str,
    ) -> Result<Wanted, String> {
        match (parameter.search_type(), modifier) {
            (_, Some(Modifier::Missing)) => missing(text),
            (SearchType::Token, Some(Modifier::OfType)) => of_type(text),
            (SearchType::Token, Some(Modifier::Text)) | (SearchType::String, _) => Ok(Wanted::String(unescape(text))),
            (SearchType::Token, _) if parameter.ignores_case() => token(&text.to_ascii_lowercase()),
            (SearchType::Token, _) | (SearchType::Reference, Some(Modifier::Identifier)) => token(text),
            (SearchType::Reference, Some(Modifier::Type(wanted))) => self.reference(Some(*wanted), text),
            (SearchType::Reference, _) => self.reference(None, text),
            (SearchType::Date, _) => date(text),
            (SearchType::Number, _) => number(text),
            (SearchType::Quantity, _) => quantity(text),
            (SearchType::Uri, _) => Ok(Wanted::Uri(unescape(text))),
            (SearchType::Composite, _) => self.composite(parameter, text),
            (SearchType::Special, _) => Err("is not supported".to_owned()),
        }
    }

    fn reference(self, wanted: Option<ResourceType>, text: &str) -> Result<Wanted, String> {
        let text = unescape(text);
        if let Target::Local { resource_type, id, version } = Target::of(self.own.relative(&text).unwrap_or(&text)) {
            if wanted.is_some_and(|wanted| wanted != resource_type) {
                return Err(format!("the modifier and the value {} name different types", Excerpt::of(&text)));
            }
            let version = version.map(String::from);
            return Ok(Wanted::Reference { resource_type: Some(resource_type), id: id.into(), version });
        }
        if text.contains(':') || text.starts_with('#') {
            return Ok(Wanted::Address(text));
        }
        if is_id(&text) {
            return Ok(Wanted::Reference { resource_type: wanted, id: text, version: None });
        }
        let meant = text.split_once('/').and_then(|(name, _)| name.parse::<ResourceType>().err());
        let reason = meant.map_or_else(String::new, |unknown| format!("; {unknown}"));
        Err(format!("{} is no reference: write an id, Type/id or an absolute address{reason}", Excerpt::of(&text)))
    }

    fn composite(self, parameter: &SearchParameter, text: &str) -> Result<Wanted, String> {
        let components = parameter.components();
        let parts: Vec<_> = split(text, '$').take(components.len() + 1).collect();
        if parts.len() != components.len() || parts.contains(&"") {
            let codes: Vec<_> = components.iter().map(|component| component.code).collect();
            return Err(format!("{} is no composite: write {}", Excerpt::of(text), codes.join("$")));
        }
        let wanted = |(component, part): (&crate::definitions::Component, &str)| {
            let parameter = SearchParameter::find(self.resource_type, component.code);
            self.wanted(parameter.ok_or("is not supported")?, None, part)
        };
        components.iter().zip(parts).map(wanted).collect::<Result<_, _>>().map(Wanted::Composite)
    }
}

fn missing(text: &str) -> Result<Wanted, String> {
    match text {
        "true" => Ok(Wanted::Missing(true)),
        "false" => Ok(Wanted::Missing(false)),
        _ => Err(format!("missing is true or false, not {}", Excerpt::of(text))),
    }
}

fn token(text: &str) -> Result<Wanted, String> {
    let Some((system, code)) = split_once(text, '|') else {
        return Ok(Wanted::Token { system: None, code: Some(unescape(text)) });
    };
    if system.is_empty() && code.is_empty() {
        return Err("a token is written code, system|code, |code or system|".to_owned());
    }
    Ok(Wanted::Token { system: Some(unescape(system)), code: (!code.is_empty()).then(|| unescape(code)) })
}

fn of_type(text: &str) -> Result<Wanted, String> {
    let parts: Vec<_> = split(text, '|').take(4).map(unescape).collect();
    match <[String; 3]>::try_from(parts) {
        Ok([system, code, value]) if ![&system, &code, &value].iter().any(|part| part.is_empty()) => {
            Ok(Wanted::OfType { system, code, value })
        }
        _ => Err("of-type is written system|code|value: the identifier's type, then its value".to_owned()),
    }
}

fn date(text: &str) -> Result<Wanted, String> {
    let (prefix, date) = prefix(text);
    let span = span(date).ok_or_else(|| {
        format!(
            "{} is no date: write 2024, 2024-02, 2024-02-29 or 2024-02-29T12:00:00Z, perhaps after {PREFIXES}",
            Excerpt::of(text)
        )
    })?;
    Ok(Wanted::Date { prefix, span })
}

fn number(text: &str) -> Result<Wanted, String> {
    let (prefix, digits) = prefix(text);
    let value = decimal(digits).ok_or_else(|| {
        format!("{} is no number: write 100, 1.50 or 1e2, perhaps after {PREFIXES}", Excerpt::of(text))
    })?;
    Ok(Wanted::Number { prefix, value, range: written_range(digits, value) })
}

fn quantity(text: &str) -> Result<Wanted, String> {
    let (prefix, amount) = prefix(text);
    let mut parts = split(amount, '|');
    let digits = parts.next().unwrap_or_default();
    let mut part = || parts.next().filter(|part| !part.is_empty()).map(unescape);
    let (system, code) = (part(), part());
    match decimal(digits).filter(|_| parts.next().is_none()) {
        Some(value) => Ok(Wanted::Quantity { prefix, value, range: written_range(digits, value), system, code }),
        None => Err(format!(
            "{} is no quantity: write 5.4, 5.4||mg or 5.4|http://unitsofmeasure.org|mg, perhaps after {PREFIXES}",
            Excerpt::of(text)
        )),
    }
}

const PREFIXES: &str = "eq, ne, gt, lt, ge, le, sa, eb or ap";

fn prefix(text: &str) -> (Prefix, &str) {
    let prefix = match text.get(..2) {
        Some("eq") => Prefix::Equal,
        Some("ne") => Prefix::NotEqual,
        Some("gt") => Prefix::Greater,
        Some("lt") => Prefix::Less,
        Some("ge") => Prefix::GreaterOrEqual,
        Some("le") => Prefix::LessOrEqual,
        Some("sa") => Prefix::StartsAfter,
        Some("eb") => Prefix::EndsBefore,
        Some("ap") => Prefix::Approximately,
        _ => return (Prefix::Equal, text),
    };
    (prefix, &text[2..])
}
