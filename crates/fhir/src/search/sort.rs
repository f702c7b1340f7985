//! The order of results (<https://hl7.org/fhir/R4/search.html#sort>).

use rust_decimal::Decimal;

use super::fold::fold;
use super::{Concept, Found, Range, Sort, Target};

/// What a resource is ordered by; equal keys are told apart by type and id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    /// An open lower end.
    Least,
    /// Milliseconds since 1970.
    Moment(i64),
    /// Units are not looked at.
    Number(Decimal),
    /// Without case and accents first, then as it is.
    Text { folded: String, written: String },
    /// An open upper end.
    Greatest,
}

impl Sort {
    /// The least (or, descending, the greatest) of what was found; resources without a value come last either way.
    pub fn key(&self, found: &[Found]) -> Option<SortKey> {
        let keys = found.iter().filter_map(|found| self.key_of(found));
        if self.descending { keys.max() } else { keys.min() }
    }

    fn key_of(&self, found: &Found) -> Option<SortKey> {
        match found {
            Found::Token(concept) => token(concept),
            Found::String(written) | Found::Uri(written) => Some(text(written)),
            Found::Reference { target, identifier } => match target {
                Target::Local { resource_type, id, .. } => Some(text(&format!("{resource_type}/{id}"))),
                Target::Other(address) => Some(text(address)),
                Target::None => identifier.as_ref().and_then(token),
            },
            Found::Date(span) => Some(match if self.descending { span.last } else { span.first } {
                i64::MIN => SortKey::Least,
                i64::MAX => SortKey::Greatest,
                moment => SortKey::Moment(moment),
            }),
            Found::Number(range) | Found::Quantity { range, .. } => Some(self.end(*range)),
            Found::Composite(_) => None,
        }
    }

    fn end(&self, range: Range) -> SortKey {
        if self.descending {
            range.high.map_or(SortKey::Greatest, SortKey::Number)
        } else {
            range.low.map_or(SortKey::Least, SortKey::Number)
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

    fn key(descending: bool, found: &[Found]) -> Option<SortKey> {
        let parameter = SearchParameter::find("Patient".parse().unwrap(), "_id").unwrap();
        Sort { parameter: parameter.into(), descending }.key(found)
    }

    fn string(written: &str) -> Found {
        Found::String(written.into())
    }

    #[test]
    fn ascending_takes_the_least_and_descending_the_greatest() {
        let names = [string("Émile"), string("adam"), string("Zoe")];
        assert_eq!(key(false, &names), Some(text("adam")));
        assert_eq!(key(true, &names), Some(text("Zoe")));
        assert_eq!(key(true, &[]), None);
        assert!(text("Émile") < text("Emma") && text("Adam") != text("adam"));
    }

    #[test]
    fn open_ends_lie_outside() {
        let open = [Found::Date(Span { first: 5, last: i64::MAX })];
        assert_eq!((key(false, &open), key(true, &open)), (Some(SortKey::Moment(5)), Some(SortKey::Greatest)));
        let number = Found::Number(Range { low: None, high: Some(Decimal::TEN) });
        assert_eq!(key(false, std::slice::from_ref(&number)), Some(SortKey::Least));
        assert_eq!(key(true, &[number]), Some(SortKey::Number(Decimal::TEN)));
        assert!(SortKey::Number(Decimal::ONE) < SortKey::Number(Decimal::TEN));
    }

    #[test]
    fn tokens_and_references_are_ordered_by_code_and_address() {
        let concept = Concept { system: Some("s".into()), code: Some("c".into()), ..Concept::default() };
        assert_eq!(key(false, &[Found::Token(concept.clone())]), Some(text("c")));
        let local = Target::Local { resource_type: "Patient".parse().unwrap(), id: "1".into(), version: None };
        let reference = |target| Found::Reference { target, identifier: Some(concept.clone()) };
        assert_eq!(key(false, &[reference(local)]), Some(text("Patient/1")));
        assert_eq!(key(false, &[reference(Target::None)]), Some(text("c")));
        assert_eq!(key(false, &[Found::Composite(Vec::new())]), None);
    }
}
