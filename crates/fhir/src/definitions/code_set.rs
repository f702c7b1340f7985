//! The codes of a value set that elements are bound to.

use super::load::Malformed;

#[derive(Debug)]
pub struct CodeSet {
    name: &'static str,
    /// Sorted; nothing if the codes cannot be listed.
    codes: Option<Box<[&'static str]>>,
}

impl CodeSet {
    /// The last part of the value set's canonical address.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Sorted; nothing if the codes cannot be listed, as with mime types.
    pub fn codes(&self) -> Option<&[&'static str]> {
        self.codes.as_deref()
    }

    /// Whether the code may be used; any may if the codes cannot be listed.
    pub fn allows(&self, code: &str) -> bool {
        self.codes.as_ref().is_none_or(|codes| codes.binary_search(&code).is_ok())
    }

    /// Reads `name code code …` or `name *`.
    pub(super) fn parse(line: &'static str) -> Result<Self, Malformed> {
        let (name, codes) = line.split_once(' ').ok_or(Malformed(line))?;
        let codes: Option<Box<[_]>> = (codes != "*").then(|| codes.split(' ').collect());
        match &codes {
            Some(codes) if !codes.is_sorted_by(|left, right| left < right) => Err(Malformed(line)),
            _ => Ok(Self { name, codes }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_set_allows_its_codes_and_an_unlisted_one_all() {
        let genders = CodeSet::parse("administrative-gender female male").unwrap();
        assert!(genders.allows("male") && !genders.allows("mal") && !genders.allows(""));
        assert!(CodeSet::parse("currencies *").unwrap().allows("EUR"));
    }

    #[test]
    fn codes_must_be_sorted() {
        assert!(CodeSet::parse("genders male female").is_err());
        assert!(CodeSet::parse("genders").is_err());
    }
}
