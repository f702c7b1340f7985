//! `If-Match` and `If-None-Match` (RFC 9110 section 13.1): the state that a request was made for.

use super::refusal::Refusal;

/// The headers as they came. The tag of a file is the hash of its bytes, in quotes.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    pub if_match: Option<String>,
    pub if_none_match: Option<String>,
}

impl Condition {
    /// Only where nothing is yet.
    pub fn absent() -> Self {
        Self { if_match: None, if_none_match: Some("*".to_owned()) }
    }

    /// Whether the file may be changed, which has this hash or is not there.
    pub(crate) fn check(&self, sha256: Option<&str>) -> Result<(), Refusal> {
        let fits = self.if_match.as_deref().is_none_or(|header| lists(header, sha256, false));
        let differs = self.if_none_match.as_deref().is_none_or(|header| !lists(header, sha256, true));
        if fits && differs { Ok(()) } else { Err(Refusal::Precondition) }
    }
}

/// Whether a list of tags names the hash; `*` names whatever is there. Weak tags count where only sameness is asked for.
pub fn lists(header: &str, sha256: Option<&str>, weak: bool) -> bool {
    let Some(sha256) = sha256 else { return false };
    let is_it = |tag: &str| {
        let tag = if weak { tag.strip_prefix("W/").unwrap_or(tag) } else { tag };
        tag == "*" || tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) == Some(sha256)
    };
    header.split(',').map(str::trim).any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_as_the_standard_says() {
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
            assert_eq!(lists(header, sha256, weak), listed, "{header}");
        }
        let absent = Condition::absent();
        assert!(absent.check(None).is_ok() && absent.check(Some("a")).is_err());
    }
}
