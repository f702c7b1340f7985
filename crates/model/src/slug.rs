//! Slugs and `slug@version` references.

use std::fmt;
use std::str::FromStr;

pub const SLUG_RULE: &str =
    "must be 1 to 64 lower-case letters, digits and single hyphens, starting and ending with a letter or digit";

pub fn is_slug(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&text.len())
        && text.bytes().all(allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
}

/// Derives a slug from a name; `None` if the name has no usable characters.
pub fn from_name(name: &str) -> Option<String> {
    let words = name.to_lowercase();
    let words = words.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-");
    let slug = joined.get(..64).unwrap_or(&joined).trim_end_matches('-').to_owned();
    is_slug(&slug).then_some(slug)
}

/// A reference to a published version, such as `fax-referral@1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VersionRef {
    pub slug: String,
    pub version: i64,
}

impl FromStr for VersionRef {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (slug, version) = text.split_once('@').ok_or(())?;
        let is_canonical =
            version.len() <= 9 && version.bytes().all(|byte| byte.is_ascii_digit()) && !version.starts_with('0');
        match version.parse() {
            Ok(version) if is_canonical && is_slug(slug) => Ok(Self { slug: slug.to_owned(), version }),
            _ => Err(()),
        }
    }
}

impl fmt::Display for VersionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.slug, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_validated_and_derived_from_names() {
        for good in ["a", "fax-referral", "x12-270-271", &"a".repeat(64)] {
            assert!(is_slug(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a--b", "A", "ä", "a b", "a@1", &"a".repeat(65)] {
            assert!(!is_slug(bad), "{bad}");
        }
        assert_eq!(from_name("  Fax Referral (Intake) "), Some("fax-referral-intake".into()));
        assert_eq!(from_name("转诊"), None);
        assert!(is_slug(&from_name(&"long name ".repeat(40)).unwrap()));
    }

    #[test]
    fn version_references_parse() {
        assert_eq!("fax-referral@12".parse(), Ok(VersionRef { slug: "fax-referral".into(), version: 12 }));
        for bad in [
            "fax-referral",
            "fax-referral@",
            "fax-referral@0",
            "fax-referral@01",
            "fax-referral@-1",
            "@1",
            "a@1@2",
            "a@99999999999",
        ] {
            assert!(bad.parse::<VersionRef>().is_err(), "{bad}");
        }
    }
}
