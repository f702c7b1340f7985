//! Parses search values by the type of their parameter (<https://hl7.org/fhir/R4/search.html#ptypes>).

use super::escape::{split, split_once, unescape};
use crate::definitions::{SearchParameter, SearchType};
use crate::excerpt::Excerpt;
use crate::search::date_span::date_span;
use crate::search::number::{decimal, written_range};
use crate::search::{Modifier, Prefix, SearchValue, Target};
use crate::{OwnAddresses, ResourceType, is_id};

/// The context of a value.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) resource_type: ResourceType,
    /// The server's base URLs.
    pub(super) addresses: OwnAddresses<'a>,
}

impl Context<'_> {
    /// Parses one value. The error says what is expected.
    pub(super) fn parse_value(
        self,
        parameter: &SearchParameter,
        modifier: Option<&Modifier>,
        text: &str,
    ) -> Result<SearchValue, String> {
        match (parameter.search_type(), modifier) {
            (_, Some(Modifier::Missing)) => missing(text),
            (SearchType::Token, Some(Modifier::OfType)) => of_type(text),
            (SearchType::Token, Some(Modifier::Text)) | (SearchType::String, _) => {
                Ok(SearchValue::String(unescape(text)))
            }
            (SearchType::Token, _) if parameter.ignores_case() => token(&text.to_ascii_lowercase()),
            (SearchType::Token, _) | (SearchType::Reference, Some(Modifier::Identifier)) => token(text),
            (SearchType::Reference, Some(Modifier::Type(resource_type))) => self.reference(Some(*resource_type), text),
            (SearchType::Reference, _) => self.reference(None, text),
            (SearchType::Date, _) => date(text),
            (SearchType::Number, _) => number(text),
            (SearchType::Quantity, _) => quantity(text),
            (SearchType::Uri, _) => Ok(SearchValue::Uri(unescape(text))),
            (SearchType::Composite, _) => self.composite(parameter, text),
            (SearchType::Special, _) => Err("is not supported".to_owned()),
        }
    }

    fn reference(self, expected_type: Option<ResourceType>, text: &str) -> Result<SearchValue, String> {
        let text = unescape(text);
        if let Target::Local { resource_type, id, version } =
            Target::of(self.addresses.relative(&text).unwrap_or(&text))
        {
            if expected_type.is_some_and(|expected| expected != resource_type) {
                return Err(format!("the modifier and the value {} name different resource types", Excerpt::of(&text)));
            }
            let version = version.map(String::from);
            return Ok(SearchValue::Reference { resource_type: Some(resource_type), id: id.into(), version });
        }
        if text.contains(':') || text.starts_with('#') {
            return Ok(SearchValue::Address(text));
        }
        if is_id(&text) {
            return Ok(SearchValue::Reference { resource_type: expected_type, id: text, version: None });
        }
        let unescaped = text.split_once('/').and_then(|(name, _)| name.parse::<ResourceType>().err());
        let reason = unescaped.map_or_else(String::new, |unknown| format!("; {unknown}"));
        Err(format!(
            "{} is not a valid reference: expected an id, Type/id or an absolute URL{reason}",
            Excerpt::of(&text)
        ))
    }

    fn composite(self, parameter: &SearchParameter, text: &str) -> Result<SearchValue, String> {
        let components = parameter.components();
        let parts: Vec<_> = split(text, '$').take(components.len() + 1).collect();
        if parts.len() != components.len() || parts.contains(&"") {
            let codes: Vec<_> = components.iter().map(|component| component.code).collect();
            return Err(format!("{} is not a valid composite value: expected {}", Excerpt::of(text), codes.join("$")));
        }
        let parse_value = |(component, part): (&crate::definitions::Component, &str)| {
            let parameter = SearchParameter::find(self.resource_type, component.code);
            self.parse_value(parameter.ok_or("is not supported")?, None, part)
        };
        components.iter().zip(parts).map(parse_value).collect::<Result<_, _>>().map(SearchValue::Composite)
    }
}

fn missing(text: &str) -> Result<SearchValue, String> {
    match text {
        "true" => Ok(SearchValue::Missing(true)),
        "false" => Ok(SearchValue::Missing(false)),
        _ => Err(format!("expected true or false, got {}", Excerpt::of(text))),
    }
}

fn token(text: &str) -> Result<SearchValue, String> {
    let Some((system, code)) = split_once(text, '|') else {
        return Ok(SearchValue::Token { system: None, code: Some(unescape(text)) });
    };
    if system.is_empty() && code.is_empty() {
        return Err("expected code, system|code, |code or system|".to_owned());
    }
    Ok(SearchValue::Token { system: Some(unescape(system)), code: (!code.is_empty()).then(|| unescape(code)) })
}

fn of_type(text: &str) -> Result<SearchValue, String> {
    let parts: Vec<_> = split(text, '|').take(4).map(unescape).collect();
    match <[String; 3]>::try_from(parts) {
        Ok([system, code, value]) if ![&system, &code, &value].iter().any(|part| part.is_empty()) => {
            Ok(SearchValue::OfType { system, code, value })
        }
        _ => Err("expected system|code|value: the type of the identifier, then its value".to_owned()),
    }
}

fn date(text: &str) -> Result<SearchValue, String> {
    let (prefix, date) = prefix(text);
    let span = date_span(date).ok_or_else(|| {
        format!(
            "{} is not a valid date: expected a date such as 2024, 2024-02, 2024-02-29 or 2024-02-29T12:00:00Z, optionally after a prefix ({PREFIXES})",
            Excerpt::of(text)
        )
    })?;
    Ok(SearchValue::Date { prefix, span })
}

fn number(text: &str) -> Result<SearchValue, String> {
    let (prefix, digits) = prefix(text);
    let value = decimal(digits).ok_or_else(|| {
        format!("{} is not a valid number: expected a number such as 100, 1.50 or 1e2, optionally after a prefix ({PREFIXES})", Excerpt::of(text))
    })?;
    Ok(SearchValue::Number { prefix, value, range: written_range(digits, value) })
}

fn quantity(text: &str) -> Result<SearchValue, String> {
    let (prefix, amount) = prefix(text);
    let mut parts = split(amount, '|');
    let digits = parts.next().unwrap_or_default();
    let mut part = || parts.next().filter(|part| !part.is_empty()).map(unescape);
    let (system, code) = (part(), part());
    match decimal(digits).filter(|_| parts.next().is_none()) {
        Some(value) => Ok(SearchValue::Quantity { prefix, value, range: written_range(digits, value), system, code }),
        None => Err(format!(
            "{} is not a valid quantity: expected 5.4, 5.4||mg or 5.4|http://unitsofmeasure.org|mg, optionally after a prefix ({PREFIXES})",
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
