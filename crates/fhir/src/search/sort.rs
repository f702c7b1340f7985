//! Sorts results (<https://hl7.org/fhir/R4/search.html#sort>).

use rust_decimal::Decimal;

use super::text_folding::fold;
use super::{Concept, IndexedValue, Range, Sort, Target};

/// The key by which a resource is sorted. Equal keys are ordered by type and id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    /// A range that is open below.
    OpenBelow,
    /// Milliseconds since 1970.
    Time(i64),
    /// Ignores units.
    Number(Decimal),
    /// Compares the folded text first, then the original.
    Text { folded: String, written: String },
    /// A range that is open above.
    OpenAbove,
}

impl Sort {
    /// The lowest value (the highest, if descending). Resources without a value come last in both orders.
    pub fn key(&self, values: &[IndexedValue]) -> Option<SortKey> {
        let keys = values.iter().filter_map(|value| self.key_of(value));
        if self.descending { keys.max() } else { keys.min() }
    }

    fn key_of(&self, value: &IndexedValue) -> Option<SortKey> {
        match value {
            IndexedValue::Token(concept) => token(concept),
            IndexedValue::String(written) | IndexedValue::Uri(written) => Some(text(written)),
            IndexedValue::Reference { target, identifier } => match target {
                Target::Local { resource_type, id, .. } => Some(text(&format!("{resource_type}/{id}"))),
                Target::Other(address) => Some(text(address)),
                Target::None => identifier.as_ref().and_then(token),
            },
            IndexedValue::Date(span) => Some(match if self.descending { span.last } else { span.first } {
                i64::MIN => SortKey::OpenBelow,
                i64::MAX => SortKey::OpenAbove,
                time => SortKey::Time(time),
            }),
            IndexedValue::Number(range) | IndexedValue::Quantity { range, .. } => Some(self.range_key(*range)),
            IndexedValue::Composite(_) => None,
        }
    }

    fn range_key(&self, range: Range) -> SortKey {
        if self.descending {
            range.high.map_or(SortKey::OpenAbove, SortKey::Number)
        } else {
            range.low.map_or(SortKey::OpenBelow, SortKey::Number)
        }
    }
}

fn token(concept: &Concept) -> Option<SortKey> {
    concept.code.as_deref().or(concept.text.as_deref()).or(concept.system.as_deref()).map(text)
}

fn text(written: &str) -> SortKey {
    SortKey::Text { folded: fold(written), written: written.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::SearchParameter;
    use crate::search::Span;

    fn key(descending: bool, values: &[IndexedValue]) -> Option<SortKey> {
        let parameter = SearchParameter::find("Patient".parse().unwrap(), "_id").unwrap();
        Sort { parameter: parameter.into(), descending }.key(values)
    }

    fn string(written: &str) -> IndexedValue {
        IndexedValue::String(written.into())
    }

    #[test]
    fn ascending_uses_the_lowest_and_descending_the_highest_value() {
        let names = [string("Émile"), string("adam"), string("Zoe")];
        assert_eq!(key(false, &names), Some(text("adam")));
        assert_eq!(key(true, &names), Some(text("Zoe")));
        assert_eq!(key(true, &[]), None);
        assert!(text("Émile") < text("Emma") && text("Adam") != text("adam"));
    }

    #[test]
    fn open_ranges_sort_outside() {
        let open = [IndexedValue::Date(Span { first: 5, last: i64::MAX })];
        assert_eq!((key(false, &open), key(true, &open)), (Some(SortKey::Time(5)), Some(SortKey::OpenAbove)));
        let number = IndexedValue::Number(Range { low: None, high: Some(Decimal::TEN) });
        assert_eq!(key(false, std::slice::from_ref(&number)), Some(SortKey::OpenBelow));
        assert_eq!(key(true, &[number]), Some(SortKey::Number(Decimal::TEN)));
        assert!(SortKey::Number(Decimal::ONE) < SortKey::Number(Decimal::TEN));
    }

    #[test]
    fn tokens_and_references_are_ordered_by_code_and_address() {
        let concept = Concept { system: Some("s".into()), code: Some("c".into()), ..Concept::default() };
        assert_eq!(key(false, &[IndexedValue::Token(concept.clone())]), Some(text("c")));
        let local = Target::Local { resource_type: "Patient".parse().unwrap(), id: "1".into(), version: None };
        let reference = |target| IndexedValue::Reference { target, identifier: Some(concept.clone()) };
        assert_eq!(key(false, &[reference(local)]), Some(text("Patient/1")));
        assert_eq!(key(false, &[reference(Target::None)]), Some(text("c")));
        assert_eq!(key(false, &[IndexedValue::Composite(Vec::new())]), None);
    }
}
