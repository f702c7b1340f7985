//! Searches every JSON resource of a directory by every value that a parameter finds in it, says which do not answer,
//! and how fast values are found: `cargo run --release -p verial-fhir --example itself -- DIRECTORY`. With `--queries`
//! before the directory it only prints the searches, one JSON array of type, id, name and value a line, for
//! `tools/clients/official_examples.py`, which puts them to a server.
#![allow(clippy::print_stdout, reason = "run by hand, to be read")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use verial_fhir::ResourceType;
use verial_fhir::definitions::SearchParameter;
use verial_fhir::search::{Clause, Concept, IndexedValue, Range, Span, Target, escape, extract_all, parse};

const BASE: &str = "http://server.invalid/fhir";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let only_queries = arguments.next_if(|argument| argument == "--queries").is_some();
    let directory = arguments.next().ok_or("usage: itself [--queries] DIRECTORY")?;
    let files = std::fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    let mut tally = Tally::default();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let resource = serde_json::from_slice(&std::fs::read(file)?)?;
        if only_queries { print(&resource) } else { tally.search(&resource) }
    }
    if only_queries {
        return Ok(());
    }
    tally.misses.sort();
    tally.misses.iter().for_each(|miss| println!("{miss}"));
    for (kind, [answered, all]) in &tally.kinds {
        println!("{kind}: {answered} of {all} answer");
    }
    let answered = tally.searches - tally.misses.len();
    let rate = 100.0 * answered as f64 / tally.searches as f64;
    println!(
        "{answered} of {} searches find their resource ({rate:.3} %), in {} resources",
        tally.searches, tally.resources
    );
    println!("{} values have no text to search by", tally.silent);
    let each = tally.taken / u32::try_from(tally.resources.max(1))?;
    println!("all parameters of a resource: {each:?} on average, after the first of a type");
    Ok(())
}

fn print(resource: &Value) {
    for (parameter, found) in extract_all(resource) {
        for (modifier, text) in found.iter().flat_map(queries) {
            let name = format!("{}{modifier}", parameter.code());
            println!("{}", json!([resource["resourceType"], resource["id"], name, text]));
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) resources: usize,
    pub(crate) searches: usize,
    /// Values that cannot be asked for: a time that is open at both ends, a name of white space.
    pub(crate) silent: usize,
    pub(crate) misses: Vec<String>,
    /// By type of parameter: searches that are answered, and all.
    pub(crate) kinds: BTreeMap<&'static str, [usize; 2]>,
    pub(crate) taken: Duration,
}

impl Tally {
    pub(crate) fn search(&mut self, resource: &Value) {
        let name = resource["resourceType"].as_str().unwrap_or_default();
        let Ok(resource_type) = name.parse::<ResourceType>() else { return };
        self.resources += 1;
        extract_all(resource);
        let start = Instant::now();
        let all = extract_all(resource);
        self.taken += start.elapsed();
        for (parameter, found) in &all {
            for value in found {
                let queries = queries(value);
                self.silent += usize::from(queries.is_empty());
                for (modifier, text) in queries {
                    let query = (format!("{}{modifier}", parameter.code()), text);
                    self.ask(resource_type, parameter, found, query, &resource["id"]);
                }
            }
        }
    }

    fn ask(
        &mut self,
        resource_type: ResourceType,
        parameter: &'static SearchParameter,
        found: &[IndexedValue],
        query: (String, String),
        id: &Value,
    ) {
        let read = parse(resource_type, BASE, std::slice::from_ref(&query));
        let answers = match read.as_ref().map(|query| query.clauses.as_slice()) {
            Ok([Clause::Simple(condition)]) => condition.holds(found),
            _ => false,
        };
        self.searches += 1;
        let counts = self.kinds.entry(parameter.search_type().name()).or_default();
        *counts = [counts[0] + usize::from(answers), counts[1] + 1];
        if !answers {
            let (name, text) = query;
            let why = read.err().map_or_else(String::new, |fault| format!(" ({fault})"));
            self.misses.push(format!("{resource_type}/{} {name}={text}{why}", id.as_str().unwrap_or_default()));
        }
    }
}

/// Modifiers and texts by which the value should be found.
fn queries(found: &IndexedValue) -> Vec<(&'static str, String)> {
    match found {
        IndexedValue::Token(concept) => token(concept),
        IndexedValue::String(text) if text.trim().is_empty() => Vec::new(),
        IndexedValue::String(text) => ["", ":exact", ":contains"].map(|modifier| (modifier, escape(text))).to_vec(),
        IndexedValue::Reference { target, identifier } => {
            let identifier = identifier.iter().flat_map(token).filter(|(modifier, _)| modifier.is_empty());
            let by_identifier = identifier.map(|(_, text)| (":identifier", text));
            pointer(target).into_iter().chain(by_identifier).collect()
        }
        IndexedValue::Date(span) => date(*span).into_iter().map(|text| ("", text)).collect(),
        IndexedValue::Number(range) => number(*range, "").into_iter().map(|text| ("", text)).collect(),
        IndexedValue::Quantity { range, system, code, unit } => {
            let mut units = vec![String::new()];
            units.extend(code.iter().chain(unit).map(|text| format!("||{}", escape(text))));
            let both = system.as_ref().zip(code.as_ref());
            units.extend(both.map(|(system, code)| format!("|{}|{}", escape(system), escape(code))));
            units.iter().flat_map(|unit| number(*range, unit)).map(|text| ("", text)).collect()
        }
        IndexedValue::Uri(text) => ["", ":below", ":above"].map(|modifier| (modifier, escape(text))).to_vec(),
        IndexedValue::Composite(parts) => composite(parts).into_iter().map(|text| ("", text)).collect(),
    }
}

fn token(concept: &Concept) -> Vec<(&'static str, String)> {
    let (system, code) = (concept.system.as_deref().map(escape), concept.code.as_deref().map(escape));
    let mut queries = Vec::new();
    match (system, code) {
        (Some(system), Some(code)) => {
            queries.extend([format!("{system}|{code}"), code, format!("{system}|")].map(|text| ("", text)));
        }
        (None, Some(code)) => queries.extend([format!("|{code}"), code].map(|text| ("", text))),
        (Some(system), None) => queries.push(("", format!("{system}|"))),
        (None, None) => {}
    }
    queries.extend(concept.text.iter().filter(|text| !text.trim().is_empty()).map(|text| (":text", escape(text))));
    for (system, code) in &concept.kinds {
        if let (Some(system), Some(code), Some(value)) = (system, code, &concept.code) {
            queries.push((":of-type", [system, code, value].map(|part| escape(part)).join("|")));
        }
    }
    queries
}

fn pointer(target: &Target) -> Vec<(&'static str, String)> {
    match target {
        Target::Local { resource_type, id, version } => {
            let whole = format!("{resource_type}/{id}");
            let versioned = version.iter().map(|version| format!("{whole}/_history/{version}"));
            let texts = [id.to_string(), whole.clone(), format!("{BASE}/{whole}")].into_iter().chain(versioned);
            texts.map(|text| ("", text)).collect()
        }
        Target::Other(text) => {
            let unversioned = text.split_once('|').map(|(address, _)| address.to_owned());
            unversioned.into_iter().chain([text.to_string()]).map(|text| ("", escape(&text))).collect()
        }
        Target::None => Vec::new(),
    }
}

/// Of both ends; a time within one millisecond, second, minute or day also by that alone.
fn date(span: Span) -> Vec<String> {
    let mut texts = Vec::new();
    let (first, last) = (moment(span.first), moment(span.last));
    texts.extend(first.iter().flat_map(|first| [format!("ge{first}"), format!("ap{first}")]));
    texts.extend(last.iter().flat_map(|last| [format!("le{last}"), format!("ap{last}")]));
    if let (Some(first), Some(last)) = (first, last) {
        let whole = [(1, 24), (1_000, 20), (60_000, 17), (86_400_000, 10)];
        let exact = whole.iter().find(|(length, _)| span.last - span.first + 1 == *length);
        texts.extend(exact.map(|(length, shown)| match length {
            1_000 => format!("{}Z", &first[..19]),
            60_000 => format!("{}Z", &first[..16]),
            _ => first[..*shown].to_owned(),
        }));
        texts.extend((first[..4] == last[..4]).then(|| first[..4].to_owned()));
    }
    texts
}

/// `2024-02-29T12:00:00.000Z`, if the year has four digits.
fn moment(milliseconds: i64) -> Option<String> {
    clinical::PartialDateTime::from_unix_milliseconds(milliseconds).map(|time| time.to_string())
}

fn number(range: Range, unit: &str) -> Vec<String> {
    let mut texts = Vec::new();
    texts.extend(range.low.iter().flat_map(|low| [format!("ge{low}{unit}"), format!("ap{low}{unit}")]));
    texts.extend(range.high.iter().flat_map(|high| [format!("le{high}{unit}"), format!("ap{high}{unit}")]));
    texts.extend(range.low.filter(|_| range.low == range.high).map(|value| format!("{value}{unit}")));
    texts
}

/// Each first text of the parts' first values; a part that can only be asked with a modifier cannot be asked here.
fn composite(parts: &[Vec<IndexedValue>]) -> Option<String> {
    let text = |part: &Vec<IndexedValue>| {
        part.iter().flat_map(queries).find(|(modifier, _)| modifier.is_empty()).map(|(_, text)| text)
    };
    parts.iter().map(text).collect::<Option<Vec<_>>>().map(|texts| texts.join("$"))
}
