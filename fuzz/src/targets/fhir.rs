//! FHIR: ingest, layers, validation, search and references.

use std::convert::Infallible;

use fhir::definitions::{SearchParameter, SearchType};
use fhir::ingest::{Format, Ingest, IngestError, IngestFault, Limits, Summary};
use fhir::layer::{DocId, Layer};
use fhir::search::{Clause, Condition, Query, SearchValue, escape, extract, extract_all, parse};
use fhir::validate::MAX_FAULTS;
use fhir::{Reference, ResourceType, is_id, validate};
use serde_json::Value;

use crate::fixture::LAYER;
use crate::json;

const BASE: &str = "https://verial.test/fhir";

pub(crate) fn fhir_ndjson(bytes: &[u8]) {
    ingested(Format::Ndjson, bytes);
}

pub(crate) fn fhir_bundle(bytes: &[u8]) {
    ingested(Format::Bundle, bytes);
}

/// The first byte says in which pieces the rest arrives. What was taken is taken again, line by line.
fn ingested(format: Format, bytes: &[u8]) {
    let Some((size, data)) = bytes.split_first() else { return };
    let (lines, whole) = taken(format, data, data.len().max(1));
    assert_eq!(taken(format, data, usize::from(*size) + 1), (lines.clone(), whole.clone()));
    let Ok(whole) = whole else { return };
    let (again, summary) = taken(Format::Ndjson, lines.join(&b"\n"[..]).as_slice(), 1 << 20);
    assert_eq!(again, lines);
    assert_eq!(summary.map(|summary| (summary.counts, summary.resources)), Ok((whole.counts, whole.resources)));
}

fn taken(format: Format, data: &[u8], size: usize) -> (Vec<Vec<u8>>, Result<Summary, IngestFault>) {
    let mut lines = Vec::new();
    let mut sink = |resource: fhir::ingest::Resource<'_>| {
        assert!(is_id(resource.id));
        lines.push(resource.line.to_vec());
        Ok::<(), Infallible>(())
    };
    let limits = Limits { resource_bytes: 4_000, depth: 20, resources: 40 };
    let mut ingest = Ingest::new(format, limits);
    let pushed = data.chunks(size).try_for_each(|piece| ingest.push(piece, &mut sink));
    let read = pushed.and_then(|()| ingest.finish(&mut sink)).map_err(|error| match error {
        IngestError::Fault(fault) => fault,
        IngestError::Sink(never) => match never {},
    });
    (lines, read)
}

/// NDJSON that the ingest takes makes the same layer in any order, and the layer survives its own bytes.
pub(crate) fn fhir_layer(bytes: &[u8]) {
    let (mut lines, Ok(_)) = taken(Format::Ndjson, bytes, 1 << 20) else { return };
    let built = Layer::build(vec![lines.join(&b"\n"[..])], 1);
    lines.reverse();
    assert_eq!(Layer::build(lines, 2), built);
    let Ok(layer) = built else { return };
    let segments = layer.segments().map(<[u8]>::to_vec).collect();
    let decoded = Layer::decode(&layer.encode_index(), segments);
    for number in 0..layer.len() as u32 {
        let doc = DocId::new(number);
        let key = layer.key(doc);
        assert_eq!(key.and_then(|(resource_type, id)| layer.get(resource_type, id)), Some(doc));
        let text = layer.text(doc, "2026-01-01T00:00:00.000Z");
        assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    }
    for (resource_type, _) in layer.counts() {
        asked(&layer, resource_type);
    }
    assert_eq!(decoded, Ok(layer));
}

/// Some searches by every parameter of a type.
fn asked(layer: &Layer, resource_type: ResourceType) {
    for parameter in SearchParameter::of(resource_type) {
        let values = match parameter.search_type() {
            SearchType::Date => "ge2026,eq2026-02,lt2024-02-29T10:00:00Z,ne1979,sa2026-01,eb2027,ap2026",
            SearchType::Number | SearchType::Quantity => "gt5,13.2,lt0,ne1,ap0.8,sa1,eb1",
            SearchType::Token => "718-7,|x,urn:mrn|42,true,http://loinc.org|",
            SearchType::Reference => "Patient/a,a,http://example.org/x",
            SearchType::String | SearchType::Uri => "a,http://example.org/vs/1,\u{c9}",
            _ => continue,
        };
        let pair = |name: &str, value: &str| parse(resource_type, BASE, &[(name.to_owned(), value.to_owned())]);
        let (code, missing) = (parameter.code(), format!("{}:missing", parameter.code()));
        let negated = format!("{code}:not");
        let single = values.split(',').map(|value| pair(code, value));
        for query in single.chain([pair(code, values), pair(&missing, "true"), pair(&negated, values)]).flatten() {
            held(layer, resource_type, &query);
        }
    }
}

pub(crate) fn fhir_validate(bytes: &[u8]) {
    let Some(resource) = json::read(bytes) else { return };
    let found = validate(&resource);
    assert_eq!(validate(&resource), found);
    if let Err(faults) = found {
        assert!(!faults.is_empty() && faults.len() <= MAX_FAULTS + 1, "{}", faults.len());
        assert!(faults.iter().all(|fault| fault.to_string().len() < 10_000));
    }
    drop(extract_all(&resource));
}

/// A resource type on the first line, then `name=value` on each.
pub(crate) fn fhir_search(bytes: &[u8]) {
    let Some((resource_type, rest)) = json::first_line(bytes) else { return };
    let Ok(resource_type) = resource_type.parse::<ResourceType>() else { return };
    let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let pairs: Vec<(String, String)> = rest.lines().filter_map(pair).collect();
    let Ok(query) = parse(resource_type, BASE, &pairs) else { return };
    held(&LAYER, resource_type, &query);
    // What a link says again is the same search.
    let again = parse(resource_type, BASE, &query.applied).map(|again| format!("{:?}", again.clauses));
    assert_eq!(again, Ok(format!("{:?}", query.clauses)));
}

/// The index finds what looking at each resource finds.
fn held(layer: &Layer, resource_type: ResourceType, query: &Query) {
    for clause in &query.clauses {
        let Clause::Simple(condition) = clause else { continue };
        let candidates = layer.candidates(resource_type, condition);
        assert!(layer.estimate(resource_type, condition) >= candidates.docs.len(), "{condition:?}");
        for doc in layer.of_type(resource_type).map(DocId::new) {
            let resource = serde_json::from_str(layer.written(doc)).unwrap_or_default();
            let found = extract(&condition.parameter, &resource);
            let (holds, is_candidate) = (condition.holds(&found), candidates.docs.contains(&doc));
            // The time of a resource that does not say its own is the baseline's.
            let is_told = condition.parameter.code() != "_lastUpdated";
            assert!(!is_told || is_candidate || !holds, "{condition:?} {resource}");
            assert!(!is_told || !candidates.exact || is_candidate == holds, "{condition:?} {resource}");
        }
    }
    for sort in &query.sort {
        for doc in layer.of_type(resource_type).map(DocId::new) {
            let resource = serde_json::from_str(layer.written(doc)).unwrap_or_default();
            drop(sort.key(&extract(&sort.parameter, &resource)));
        }
    }
}

/// One text as the value of parameters of every type.
pub(crate) fn fhir_search_value(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for (resource_type, names) in [
        ("Observation", &["date", "code", "value-quantity", "subject", "combo-code-value-quantity", "code:not"][..]),
        ("Patient", &["name", "birthdate", "identifier", "identifier:of-type", "name:contains", "active:missing"]),
        ("RiskAssessment", &["probability", "_lastUpdated", "_id"]),
        ("ValueSet", &["url", "url:below", "reference"]),
    ] {
        let Ok(resource_type) = resource_type.parse::<ResourceType>() else { continue };
        for name in names {
            let Ok(query) = parse(resource_type, BASE, &[((*name).to_owned(), text.to_owned())]) else { continue };
            held(&LAYER, resource_type, &query);
            let own = query.clauses.iter().filter_map(|clause| match clause {
                Clause::Simple(condition) => Some(condition),
                _ => None,
            });
            own.flat_map(|condition| &condition.alternatives).for_each(is_sensible);
        }
    }
    quoted(text);
}

fn is_sensible(wanted: &SearchValue) {
    match wanted {
        SearchValue::Date { span, .. } => assert!(span.first <= span.last, "{span:?}"),
        SearchValue::Number { value, range, .. } | SearchValue::Quantity { value, range, .. } => {
            let inside = range.low.is_none_or(|low| low <= *value) && range.high.is_none_or(|high| *value <= high);
            assert!(inside, "{wanted:?}");
        }
        SearchValue::Composite(parts) => parts.iter().for_each(is_sensible),
        _ => {}
    }
}

/// An escaped text means itself, whatever signs it has.
fn quoted(text: &str) {
    let Ok(patient) = "Patient".parse::<ResourceType>() else { return };
    if text.trim() != text || text.is_empty() || SearchParameter::find(patient, "family").is_none() {
        return;
    }
    let query = parse(patient, BASE, &[("family:exact".to_owned(), escape(text))]);
    let clauses = query.as_ref().map(|query| query.clauses.as_slice()).unwrap_or_default();
    let [Clause::Simple(Condition { alternatives, .. })] = clauses else { return };
    assert_eq!(alternatives.as_slice(), [SearchValue::String(text.to_owned())]);
}

pub(crate) fn fhir_reference(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Reference::Resource(reference) = Reference::parse(text) {
        assert_eq!(reference.to_string(), text);
        assert!(is_id(reference.id()));
    }
    if let Ok(resource_type) = text.parse::<ResourceType>() {
        assert_eq!(resource_type.as_str(), text);
    }
}
