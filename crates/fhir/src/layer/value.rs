//! A found value as key and context, from which it can be made again.
//!
//! The keys of every type sort and begin as its look-ups need it:
//!
//! | type | key | context |
//! |---|---|---|
//! | token | code | system, text, kinds |
//! | string | folded | what the fold took away |
//! | uri | all of it | |
//! | reference | 0 and the document, 1 and the id, 2 and the address, or 3 | type, version, identifier |
//! | date | first and last | |
//! | number, quantity | least and greatest, roughly, then exactly | system, code, unit |
//! | composite | the component's number and its code, for components of type token | as of token |

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::fields::{Fields, put};
use super::keys::Keys;
use super::{DocId, case};
use crate::ResourceType;
use crate::definitions::SearchType;
use crate::search::{Concept, IndexedValue, Range, Span, Target};

/// A document of the layer, without version or identifier.
pub(super) const WITHIN: u8 = 0;
/// Some other resource, or one whose reference says more.
pub(super) const BY_ID: u8 = 1;
pub(super) const BY_ADDRESS: u8 = 2;
pub(super) const BY_IDENTIFIER: u8 = 3;

#[derive(Debug, Default)]
pub(super) struct Value {
    pub(super) key: Vec<u8>,
    pub(super) context: Vec<u8>,
}

impl Value {
    /// Whether the value is of the type; its parts then replace those of before.
    pub(super) fn set(&mut self, search_type: SearchType, found: &IndexedValue, keys: &Keys) -> bool {
        self.key.clear();
        self.context.clear();
        match (search_type, found) {
            (SearchType::Token, IndexedValue::Token(concept)) => self.token(concept),
            (SearchType::String, IndexedValue::String(text)) => case::put(text, &mut self.key, &mut self.context),
            (SearchType::Uri, IndexedValue::Uri(uri)) => self.key.extend_from_slice(uri.as_bytes()),
            (SearchType::Reference, IndexedValue::Reference { target, identifier }) => {
                self.reference(target, identifier.as_ref(), keys);
            }
            (SearchType::Date, IndexedValue::Date(span)) => {
                self.key.extend([span.first, span.last].map(moment_bits).as_flattened());
            }
            (SearchType::Number, IndexedValue::Number(range)) => self.range(range),
            (SearchType::Quantity, IndexedValue::Quantity { range, system, code, unit }) => {
                self.range(range);
                [system, code, unit].into_iter().for_each(|text| put(text.as_deref(), &mut self.context));
            }
            _ => return false,
        }
        true
    }

    /// Sets a part of a composite, which must be a token.
    pub(super) fn set_component(&mut self, number: u8, concept: &Concept) {
        self.key.clear();
        self.context.clear();
        self.key.push(number);
        self.token(concept);
    }

    fn token(&mut self, concept: &Concept) {
        self.key.extend_from_slice(concept.code.as_deref().unwrap_or_default().as_bytes());
        self.context.push(u8::from(concept.code.is_some()));
        put_rest(concept, &mut self.context);
    }

    fn reference(&mut self, target: &Target, identifier: Option<&Concept>, keys: &Keys) {
        match target {
            Target::Local { resource_type, id, version } => {
                let doc = keys.get(*resource_type, id).filter(|_| version.is_none() && identifier.is_none());
                if let Some(doc) = doc {
                    return self.key.extend(within(doc));
                }
                self.key.push(BY_ID);
                self.key.extend_from_slice(id.as_bytes());
                put(Some(resource_type.as_str()), &mut self.context);
                put(version.as_deref(), &mut self.context);
            }
            Target::Other(address) => {
                self.key.push(BY_ADDRESS);
                self.key.extend_from_slice(address.as_bytes());
            }
            Target::None => self.key.push(BY_IDENTIFIER),
        }
        if let Some(concept) = identifier {
            put(concept.code.as_deref(), &mut self.context);
            put_rest(concept, &mut self.context);
        }
    }

    fn range(&mut self, range: &Range) {
        self.key.extend(number_bits(range.low.map_or(f64::NEG_INFINITY, rough)));
        self.key.extend(number_bits(range.high.map_or(f64::INFINITY, rough)));
        let is_point =
            range.low == range.high && range.low.map(|low| low.scale()) == range.high.map(|high| high.scale());
        self.key.push(u8::from(range.low.is_some()) | u8::from(range.high.is_some()) << 1 | u8::from(is_point) << 2);
        let ends = [range.low, range.high.filter(|_| !is_point)];
        ends.into_iter().flatten().for_each(|end| self.key.extend(end.serialize()));
    }
}

/// Makes the value again; `None` for parts that are not of the type, and for composites, which are not kept whole.
pub(super) fn found(search_type: SearchType, key: &[u8], context: &[u8], keys: &Keys) -> Option<IndexedValue> {
    match search_type {
        SearchType::Token => token(key, context).map(IndexedValue::Token),
        SearchType::String => case::text(key, context).map(IndexedValue::String),
        SearchType::Uri => std::str::from_utf8(key).ok().map(|uri| IndexedValue::Uri(uri.into())),
        SearchType::Reference => reference(key, context, keys),
        SearchType::Date => {
            let (first, rest) = key.split_first_chunk()?;
            let last = rest.first_chunk()?;
            Some(IndexedValue::Date(Span { first: moment(*first), last: moment(*last) }))
        }
        SearchType::Number => range(key).map(IndexedValue::Number),
        SearchType::Quantity => {
            let mut fields = Fields(context);
            let (system, code, unit) = (fields.boxed()?, fields.boxed()?, fields.boxed()?);
            Some(IndexedValue::Quantity { range: range(key)?, system, code, unit })
        }
        SearchType::Composite | SearchType::Special => None,
    }
}

/// The key of references to a document.
pub(super) fn within(doc: DocId) -> [u8; 5] {
    let [first, second, third, fourth] = doc.number().to_be_bytes();
    [WITHIN, first, second, third, fourth]
}

/// The type of a [`BY_ID`] reference.
pub(super) fn target_type(context: &[u8]) -> Option<ResourceType> {
    Fields(context).text()??.parse().ok()
}

/// Bytes that sort as the moments do.
pub(super) fn moment_bits(moment: i64) -> [u8; 8] {
    (moment as u64 ^ 1 << 63).to_be_bytes()
}

/// Bytes that sort as the numbers do.
pub(super) fn number_bits(number: f64) -> [u8; 8] {
    let bits = number.to_bits();
    (if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }).to_be_bytes()
}

pub(super) fn rough(number: Decimal) -> f64 {
    // Adding zero makes one zero of two.
    number.to_f64().unwrap_or_default() + 0.0
}

fn put_rest(concept: &Concept, into: &mut Vec<u8>) {
    put(concept.system.as_deref(), into);
    put(concept.text.as_deref(), into);
    for (system, code) in &concept.kinds {
        put(system.as_deref(), into);
        put(code.as_deref(), into);
    }
}

fn token(key: &[u8], context: &[u8]) -> Option<Concept> {
    let (has_code, rest) = context.split_first()?;
    let code = std::str::from_utf8(key).ok()?;
    concept((*has_code == 1).then(|| code.into()), Fields(rest))
}

fn concept(code: Option<Box<str>>, mut rest: Fields<'_>) -> Option<Concept> {
    let (system, text) = (rest.boxed()?, rest.boxed()?);
    let mut kinds = Vec::new();
    while !rest.is_at_end() {
        kinds.push((rest.boxed()?, rest.boxed()?));
    }
    Some(Concept { system, code, text, kinds })
}

fn reference(key: &[u8], context: &[u8], keys: &Keys) -> Option<IndexedValue> {
    let (kind, rest) = key.split_first()?;
    let text = || std::str::from_utf8(rest).ok().map(Box::<str>::from);
    let mut fields = Fields(context);
    let target = match *kind {
        WITHIN => {
            let doc = DocId::new(u32::from_be_bytes(*rest.first_chunk()?));
            let (resource_type, id) = keys.key(doc)?;
            Target::Local { resource_type, id: id.into(), version: None }
        }
        BY_ID => {
            let resource_type = fields.text()??.parse().ok()?;
            Target::Local { resource_type, id: text()?, version: fields.boxed()? }
        }
        BY_ADDRESS => Target::Other(text()?),
        _ => Target::None,
    };
    let identifier = if fields.is_at_end() { None } else { Some(concept(fields.boxed()?, fields)?) };
    Some(IndexedValue::Reference { target, identifier })
}

fn moment(bits: [u8; 8]) -> i64 {
    (u64::from_be_bytes(bits) ^ 1 << 63) as i64
}

fn range(key: &[u8]) -> Option<Range> {
    let (flags, mut rest) = key.get(16..)?.split_first()?;
    let mut decimal = || {
        let (bytes, after) = rest.split_first_chunk()?;
        rest = after;
        Some(Decimal::deserialize(*bytes))
    };
    let low = if flags & 1 == 0 { None } else { Some(decimal()?) };
    let high = match flags & 6 {
        2 => Some(decimal()?),
        0 => None,
        _ => low,
    };
    Some(Range { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(search_type: SearchType, value: &IndexedValue) {
        let keys = Keys::build([("Patient".parse().unwrap(), "1")].into_iter()).unwrap();
        let mut parts = Value::default();
        assert!(parts.set(search_type, value, &keys));
        assert_eq!(found(search_type, &parts.key, &parts.context, &keys).as_ref(), Some(value));
        assert!(!parts.set(SearchType::Special, value, &keys));
    }

    fn concept() -> Concept {
        let kinds = vec![(None, Some("MR".into())), (Some("urn:k".into()), None)];
        Concept { system: Some("urn:s".into()), code: Some("c\0".into()), text: Some("é".into()), kinds }
    }

    #[test]
    fn tokens_strings_and_addresses_come_back() {
        check(SearchType::Token, &IndexedValue::Token(concept()));
        check(SearchType::Token, &IndexedValue::Token(Concept::default()));
        check(SearchType::Token, &IndexedValue::Token(Concept { code: Some("".into()), ..Concept::default() }));
        for text in ["", "Smith", "smith", "Mac Donald", "MacDonald", "ÉMILE zola", "Émile Zola", "ǅ", "Straße"] {
            check(SearchType::String, &IndexedValue::String(text.into()));
        }
        check(SearchType::Uri, &IndexedValue::Uri("urn:a".into()));
    }

    #[test]
    fn references_come_back() {
        let resource_type = "Patient".parse().unwrap();
        for (id, version) in [("1", None), ("2", None), ("1", Some("3".into()))] {
            let target = Target::Local { resource_type, id: id.into(), version };
            for identifier in [None, Some(concept()), Some(Concept::default())] {
                check(SearchType::Reference, &IndexedValue::Reference { target: target.clone(), identifier });
            }
        }
        for target in [Target::Other("http://a|1".into()), Target::None] {
            check(SearchType::Reference, &IndexedValue::Reference { target, identifier: Some(concept()) });
        }
    }

    #[test]
    fn dates_and_numbers_come_back() {
        check(SearchType::Date, &IndexedValue::Date(Span { first: i64::MIN, last: -1 }));
        check(SearchType::Date, &IndexedValue::Date(Span { first: 0, last: i64::MAX }));
        let decimal = |text: &str| Some(text.parse().unwrap());
        for low in [None, decimal("7.20"), decimal("-0.001")] {
            for high in [None, decimal("7.20"), decimal("7.2"), decimal("79228162514264337593543950335")] {
                let range = Range { low, high };
                check(SearchType::Number, &IndexedValue::Number(range));
                let unit = || Some("mg".into());
                check(
                    SearchType::Quantity,
                    &IndexedValue::Quantity { range, system: None, code: unit(), unit: unit() },
                );
            }
        }
    }

    #[test]
    fn bits_sort_as_what_they_stand_for() {
        assert!([i64::MIN, -5, 0, 5, i64::MAX].map(moment_bits).is_sorted());
        assert!([f64::NEG_INFINITY, -2.5, -0.1, 0.0, 0.1, 2.5, f64::INFINITY].map(number_bits).is_sorted());
    }
}
