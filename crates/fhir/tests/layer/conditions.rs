//! Questions of every kind, with the values that the resources have.

use fhir::ResourceType;
use fhir::definitions::{SearchParameter, SearchType};
use fhir::search::{Condition, Modifier, Prefix, Range, SearchValue, Span};
use rust_decimal::Decimal;
use verial_fhir as fhir;

use crate::dice::Dice;
use crate::resources::{ADDRESSES, CODES, NUMBERS, SYSTEMS, TEXTS, UNITS};

pub(crate) fn condition(dice: &mut Dice, resource_type: ResourceType) -> Condition {
    let all: Vec<_> = SearchParameter::of(resource_type).collect();
    let parameter = all[dice.below(all.len())];
    let search_type = parameter.search_type();
    if dice.once_in(8) {
        let alternatives = vec![SearchValue::Missing(dice.once_in(2))];
        return Condition { parameter: parameter.into(), modifier: Some(Modifier::Missing), alternatives };
    }
    let modifier = modifier(dice, search_type);
    let count = 1 + dice.below(3) / 2;
    let alternatives = (0..count).map(|_| wanted(dice, resource_type, parameter, modifier.as_ref())).collect();
    Condition { parameter: parameter.into(), modifier, alternatives }
}

fn modifier(dice: &mut Dice, search_type: SearchType) -> Option<Modifier> {
    if dice.once_in(2) {
        return None;
    }
    match (search_type, dice.below(4)) {
        (SearchType::String, 0) => Some(Modifier::Exact),
        (SearchType::String, 1) => Some(Modifier::Contains),
        (SearchType::Token, 0) => Some(Modifier::Text),
        (SearchType::Token, 1) => Some(Modifier::OfType),
        (SearchType::Uri, 0) => Some(Modifier::Above),
        (SearchType::Uri, 1) => Some(Modifier::Below),
        (SearchType::Reference, 0) => Some(Modifier::Identifier),
        (_, 2) => Some(Modifier::Not),
        _ => None,
    }
}

fn wanted(
    dice: &mut Dice,
    resource_type: ResourceType,
    parameter: &SearchParameter,
    modifier: Option<&Modifier>,
) -> SearchValue {
    match (parameter.search_type(), modifier) {
        (SearchType::Token, Some(Modifier::Text)) => SearchValue::String(text(dice)),
        (SearchType::Token, Some(Modifier::OfType)) => SearchValue::OfType {
            system: dice.one(&SYSTEMS).to_owned(),
            code: dice.one(&CODES).to_owned(),
            value: dice.one(&CODES).to_owned(),
        },
        (SearchType::Token, _) if parameter.code() == "_id" => {
            SearchValue::Token { system: None, code: Some(dice.below(50).to_string()) }
        }
        (SearchType::Token, _) | (SearchType::Reference, Some(Modifier::Identifier)) => token(dice),
        (SearchType::String | SearchType::Special, _) => SearchValue::String(text(dice)),
        (SearchType::Reference, _) if dice.once_in(5) => SearchValue::Address(dice.one(&ADDRESSES).to_owned()),
        (SearchType::Reference, _) => reference(dice),
        (SearchType::Date, _) => SearchValue::Date { prefix: prefix(dice), span: span(dice) },
        (SearchType::Uri, _) => SearchValue::Uri(dice.one(&ADDRESSES).to_owned()),
        (SearchType::Number, _) => {
            let (value, range) = number(dice);
            SearchValue::Number { prefix: prefix(dice), value, range }
        }
        (SearchType::Quantity, _) => {
            let (value, range) = number(dice);
            let system = dice.once_in(2).then(|| "http://unitsofmeasure.org".to_owned());
            let code = dice.once_in(2).then(|| dice.one(&UNITS).to_owned());
            SearchValue::Quantity { prefix: prefix(dice), value, range, system, code }
        }
        (SearchType::Composite, _) => {
            let part =
                |code: &str| wanted(dice, resource_type, SearchParameter::find(resource_type, code).unwrap(), None);
            SearchValue::Composite(parameter.components().iter().map(|it| it.code).map(part).collect())
        }
    }
}

/// Mostly a beginning of one that there is.
fn text(dice: &mut Dice) -> String {
    let text: Vec<char> = dice.one(&TEXTS).chars().collect();
    let length = if dice.once_in(2) { text.len() } else { dice.below(text.len() + 1) };
    let text: String = text[..length].iter().collect();
    if dice.once_in(2) { text.to_uppercase() } else { text }
}

fn token(dice: &mut Dice) -> SearchValue {
    let system = match dice.below(3) {
        0 => None,
        1 => Some(String::new()),
        _ => Some(dice.one(&SYSTEMS).to_owned()),
    };
    let code = (system.is_none() || !dice.once_in(4)).then(|| dice.one(&CODES).to_owned());
    SearchValue::Token { system, code }
}

fn reference(dice: &mut Dice) -> SearchValue {
    let types = ["Patient", "Encounter", "Practitioner", "Observation"];
    SearchValue::Reference {
        resource_type: (!dice.once_in(3)).then(|| dice.one(&types).parse().unwrap()),
        id: dice.below(50).to_string(),
        version: dice.once_in(4).then(|| dice.below(3).to_string()),
    }
}

fn prefix(dice: &mut Dice) -> Prefix {
    const ALL: [Prefix; 9] = [
        Prefix::Equal,
        Prefix::NotEqual,
        Prefix::Greater,
        Prefix::Less,
        Prefix::GreaterOrEqual,
        Prefix::LessOrEqual,
        Prefix::StartsAfter,
        Prefix::EndsBefore,
        Prefix::Approximately,
    ];
    ALL[dice.below(ALL.len())]
}

/// A day, month or year about when the resources are.
fn span(dice: &mut Dice) -> Span {
    const DAY: i64 = 86_400_000;
    let first = 18_262 * DAY + (dice.below(40) as i64 - 6) * 30 * DAY + dice.below(3) as i64 * DAY;
    let days = [1, 29, 366][dice.below(3)];
    Span { first, last: first + days * DAY - 1 }
}

fn number(dice: &mut Dice) -> (Decimal, Range) {
    let value = Decimal::from_scientific(dice.one(&NUMBERS)).or_else(|_| dice.one(&NUMBERS[..7]).parse()).unwrap();
    let half: Decimal = dice.one(&["0", "0.05", "0.5"]).parse().unwrap();
    (value, Range { low: Some(value - half), high: Some(value + half) })
}
