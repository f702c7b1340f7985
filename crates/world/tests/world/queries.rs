//! Searches as text, with the values that the resources have.

use fhir::ResourceType;
use fhir::definitions::{SearchParameter, SearchType};
use fhir::search::{Query, parse};

use crate::dice::Dice;
use crate::resources::{CODES, DATES, IDS, NUMBERS, PROFILES, SYSTEMS, TEXTS, TYPES};

const BASE: &str = "http://verial.test/fhir";

pub(crate) type Pairs = Vec<(String, String)>;

/// Reads a search in which everything must be understood.
pub(crate) fn read(resource_type: &str, pairs: &[(String, String)]) -> Query {
    let query = parse(resource_type.parse().unwrap(), BASE, pairs).unwrap();
    assert!(query.ignored.is_empty(), "{:?}", query.ignored);
    query
}

/// The same from the form in which it stands in an address.
pub(crate) fn read_text(resource_type: &str, text: &str) -> Query {
    let pairs: Pairs = text.split('&').filter_map(|pair| pair.split_once('=')).map(owned).collect();
    read(resource_type, &pairs)
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

pub(crate) fn pairs(dice: &mut Dice, resource_type: &str) -> Pairs {
    let clauses = [0, 1, 1, 1, 2, 2, 3][dice.below(7)];
    let mut pairs: Pairs = (0..clauses).map(|_| clause(dice, resource_type, 0)).collect();
    if dice.once_in(2) {
        pairs.push(("_sort".to_owned(), sort(dice, resource_type)));
    }
    if dice.once_in(2) {
        pairs.extend((0..1 + dice.below(2)).map(|_| include(dice)));
    }
    pairs
}

/// Several questions to observations, each of which many answer.
pub(crate) fn wide_pairs(dice: &mut Dice) -> Pairs {
    const WIDE: [&str; 12] = [
        "status=final,amended",
        "status:not=amended",
        "date=ge2020",
        "date:missing=false",
        "value-quantity=gt0",
        "subject:missing=false",
        "subject:Patient.gender=female,male",
        "encounter.status:not=planned",
        "_id:not=3",
        "_lastUpdated=ge2020",
        "combo-code:not=ab",
        "has-member:missing=true",
    ];
    let pair = |text: &str| text.split_once('=').map(owned).unwrap();
    (0..2 + dice.below(4)).map(|_| pair(dice.one(&WIDE))).collect()
}

fn codes(resource_type: &str) -> &'static [&'static str] {
    match resource_type {
        "Patient" => &["name", "family", "gender", "birthdate", "identifier", "active"],
        "Practitioner" => &["name", "given", "gender", "identifier", "active"],
        "Organization" => &["name", "identifier", "type"],
        "Encounter" => &["status", "class", "date"],
        _ => &["status", "code", "date", "value-quantity", "code-value-quantity", "combo-code"],
    }
}

fn references(resource_type: &str) -> &'static [&'static str] {
    match resource_type {
        "Patient" => &["organization", "general-practitioner", "link"],
        "Practitioner" => &[],
        "Organization" => &["partof"],
        "Encounter" => &["subject", "patient", "practitioner", "participant", "service-provider", "part-of"],
        _ => &["subject", "patient", "encounter", "performer", "has-member", "focus"],
    }
}

fn clause(dice: &mut Dice, resource_type: &str, depth: usize) -> (String, String) {
    match dice.below(6) {
        0 | 1 if depth < 3 && !references(resource_type).is_empty() => forward(dice, resource_type, depth),
        2 if depth < 3 => reverse(dice, resource_type, depth).unwrap_or_else(|| own(dice, resource_type)),
        _ => own(dice, resource_type),
    }
}

fn points(source: &str, code: &str, target: &str) -> bool {
    let parameter = SearchParameter::find(source.parse().unwrap(), code).unwrap();
    parameter.targets().allow(target.parse().unwrap())
}

fn forward(dice: &mut Dice, resource_type: &str, depth: usize) -> (String, String) {
    let code = dice.one(references(resource_type));
    let targets: Vec<&str> = TYPES.into_iter().filter(|target| points(resource_type, code, target)).collect();
    let target = dice.one(&targets);
    // What may point to anything leads to too many ways, unless the next step is the last.
    let is_named = code == "focus" || dice.once_in(2);
    let (rest, value) = clause(dice, target, depth + 1);
    let code = if is_named { format!("{code}:{target}") } else { code.to_owned() };
    (format!("{code}.{rest}"), value)
}

fn reverse(dice: &mut Dice, resource_type: &str, depth: usize) -> Option<(String, String)> {
    let sources = TYPES.iter().flat_map(|source| references(source).iter().map(move |code| (*source, *code)));
    let sources: Vec<_> = sources.filter(|(source, code)| points(source, code, resource_type)).collect();
    let (source, code) = *sources.get(dice.below(sources.len().max(1)))?;
    let (rest, value) = clause(dice, source, depth + 1);
    Some((format!("_has:{source}:{code}:{rest}"), value))
}

fn own(dice: &mut Dice, resource_type: &str) -> (String, String) {
    let code = match dice.below(10) {
        0 => "_id",
        1 => "_lastUpdated",
        2 => dice.one(&["_tag", "_profile"]),
        3 | 4 if !references(resource_type).is_empty() => dice.one(references(resource_type)),
        _ => dice.one(codes(resource_type)),
    };
    if dice.once_in(8) {
        return (format!("{code}:missing"), dice.one(&["true", "false"]).to_owned());
    }
    let parameter = SearchParameter::find(resource_type.parse().unwrap(), code).unwrap();
    let modifier = if dice.once_in(2) { None } else { modifier(dice, parameter, resource_type) };
    let count = 1 + dice.below(3);
    let values: Vec<String> = (0..count).map(|_| value(dice, parameter, modifier.as_deref())).collect();
    let name = modifier.map_or(code.to_owned(), |modifier| format!("{code}:{modifier}"));
    (name, values.join(","))
}

fn modifier(dice: &mut Dice, parameter: &SearchParameter, resource_type: &str) -> Option<String> {
    let modifier = match parameter.search_type() {
        SearchType::String => dice.one(&["exact", "contains"]),
        SearchType::Token => dice.one(&["not", "text"]),
        SearchType::Uri => dice.one(&["above", "below"]),
        SearchType::Reference if dice.once_in(2) => "identifier",
        SearchType::Reference => {
            let is_target = |target: &&str| points(resource_type, parameter.code(), target);
            TYPES.into_iter().find(is_target)?
        }
        _ => return None,
    };
    Some(modifier.to_owned())
}

fn value(dice: &mut Dice, parameter: &SearchParameter, modifier: Option<&str>) -> String {
    match (parameter.search_type(), modifier) {
        (SearchType::Token, Some("text")) | (SearchType::String, _) => text(dice),
        (SearchType::Token, _) if parameter.code() == "_id" => dice.below(IDS + 5).to_string(),
        (SearchType::Token, _) | (SearchType::Reference, Some("identifier")) => token(dice, parameter.code()),
        (SearchType::Reference, Some(_)) => dice.below(IDS).to_string(),
        (SearchType::Reference, None) => reference(dice),
        (SearchType::Date, _) => date(dice, parameter.code()),
        (SearchType::Quantity, _) => quantity(dice),
        (SearchType::Composite, _) => format!("{}${}", dice.one(&CODES), quantity(dice)),
        (SearchType::Uri, _) => dice.one(&PROFILES).to_owned(),
        (search_type, _) => panic!("no values of {search_type:?}"),
    }
}

fn text(dice: &mut Dice) -> String {
    let text: Vec<char> = dice.one(&TEXTS).chars().collect();
    let length = if dice.once_in(2) { text.len() } else { 1 + dice.below(text.len()) };
    text[..length].iter().collect()
}

fn token(dice: &mut Dice, code: &str) -> String {
    match code {
        "gender" => dice.one(&["female", "male"]).to_owned(),
        "active" => dice.one(&["true", "false"]).to_owned(),
        "status" => dice.one(&["final", "amended", "planned", "finished"]).to_owned(),
        _ => match dice.below(4) {
            0 => format!("{}|", dice.one(&SYSTEMS)),
            1 => format!("|{}", dice.one(&CODES)),
            2 => format!("{}|{}", dice.one(&SYSTEMS), dice.one(&CODES)),
            _ => dice.one(&CODES).to_owned(),
        },
    }
}

fn reference(dice: &mut Dice) -> String {
    let target = format!("{}/{}", dice.one(&TYPES), dice.below(IDS + 2));
    match dice.below(6) {
        0 => dice.below(IDS).to_string(),
        1 => format!("{BASE}/{target}"),
        2 => format!("{target}/_history/{}", dice.below(3)),
        3 => "http://elsewhere.org/Patient/1".to_owned(),
        _ => target,
    }
}

fn date(dice: &mut Dice, code: &str) -> String {
    let prefix = dice.one(&["", "eq", "ne", "gt", "lt", "ge", "le", "sa", "eb", "ap"]);
    if code != "_lastUpdated" {
        return format!("{prefix}{}", dice.one(&DATES));
    }
    match dice.below(4) {
        0 => format!("{prefix}2023"),
        1 => format!("{prefix}2024-01-01"),
        _ => format!("{prefix}2024-01-01T00:00:{:02}Z", dice.below(20)),
    }
}

fn quantity(dice: &mut Dice) -> String {
    let prefix = dice.one(&["", "ne", "gt", "le", "ap"]);
    let unit = dice.one(&["", "||mg", "|http://unitsofmeasure.org|%"]);
    format!("{prefix}{}{unit}", dice.one(&NUMBERS))
}

fn sort(dice: &mut Dice, resource_type: &str) -> String {
    let own = codes(resource_type).iter().filter(|code| **code != "code-value-quantity");
    let codes: Vec<&str> = own.chain(references(resource_type)).chain(&["_id", "_lastUpdated"]).copied().collect();
    let part = |dice: &mut Dice| format!("{}{}", dice.one(&["", "-"]), dice.one(&codes));
    (0..1 + dice.below(3)).map(|_| part(dice)).collect::<Vec<_>>().join(",")
}

fn include(dice: &mut Dice) -> (String, String) {
    let name = format!("{}{}", dice.one(&["_include", "_revinclude"]), dice.one(&["", ":iterate"]));
    let source = dice.one(&["Encounter", "Observation", "Organization", "Patient"]);
    let code = dice.one(references(source));
    let targets: Vec<&str> = TYPES.into_iter().filter(|target| points(source, code, target)).collect();
    let value = match dice.below(8) {
        0 => "*".to_owned(),
        1 => format!("{source}:*"),
        2 => format!("{source}:{code}:{}", dice.one(&targets)),
        _ => format!("{source}:{code}"),
    };
    (name, value)
}

pub(crate) fn some_type(dice: &mut Dice) -> ResourceType {
    dice.one(&TYPES).parse().unwrap()
}
