//! Preconditions of requests: `If-Match` and `If-None-Match` (RFC 9110 section 13.1).

use super::error::FilesError;

/// The values of the headers. The entity tag of a file is the quoted SHA-256 of its bytes.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    pub if_match: Option<String>,
    pub if_none_match: Option<String>,
}

impl Condition {
    /// The file must not exist.
    pub fn absent() -> Self {
        Self { if_match: None, if_none_match: Some("*".to_owned()) }
    }

    /// Checks the condition against the current hash of the file, or None if the file does not exist.
    pub(crate) fn check(&self, sha256: Option<&str>) -> Result<(), FilesError> {
        let if_match = self.if_match.as_deref().is_none_or(|header| etag_list_matches(header, sha256, false));
        let if_none_match = self.if_none_match.as_deref().is_none_or(|header| !etag_list_matches(header, sha256, true));
        if if_match && if_none_match { Ok(()) } else { Err(FilesError::Precondition) }
    }
}

/// Whether a list of entity tags contains the hash. `*` matches every file. Weak tags match only if `weak` is set.
pub fn etag_list_matches(header: &str, sha256: Option<&str>, weak: bool) -> bool {
    let Some(sha256) = sha256 else { return false };
    let matches = |tag: &str| {
        let tag = if weak { tag.strip_prefix("W/").unwrap_or(tag) } else { tag };
        tag == "*" || tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) == Some(sha256)
    };
    header.split(',').map(str::trim).any(matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_tags_are_compared_by_the_standard() {
        for (header, sha256, weak, listed) in [
            ("\"a\"", Some("a"), false, true),
            ("\"b\", \"a\"", Some("a"), false, true),
            ("a", Some("a"), false, false),
            ("W/\"a\"", Some("a"), false, false),
            ("W/\"a\"", Some("a"), true, true),
            ("*", Some("a"), false, true),
            ("*", None, false, false),
            ("", Some("a"), false, false),
        ] {
            assert_eq!(etag_list_matches(header, sha256, weak), listed, "{header}");
        }
        let absent = Condition::absent();
        assert!(absent.check(None).is_ok() && absent.check(Some("a")).is_err());
    }
}
