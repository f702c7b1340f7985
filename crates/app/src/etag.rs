//! Entity tags: a hash of the response to a read, with which an update names the state that it is based on.

use model::canonical;
use serde::Serialize;

use crate::AppError;

/// The quoted tag of a value.
pub fn of<T: Serialize>(value: &T) -> String {
    let text = serde_json::to_vec(value).unwrap_or_default();
    format!("\"{}\"", &canonical::sha256_hex(&text)[..32])
}

/// The value of the `If-Match` header, if it was sent.
#[derive(Clone, Debug, Default)]
pub struct IfMatch(pub Option<String>);

impl IfMatch {
    /// Fails if the header does not match the current value.
    pub fn check<T: Serialize>(&self, current: &T) -> Result<(), AppError> {
        if self.0.is_none() { Ok(()) } else { self.check_tag(Some(&of(current))) }
    }

    /// The same for a known tag; `None` for a value that does not exist, which no header matches.
    pub fn check_tag(&self, current: Option<&str>) -> Result<(), AppError> {
        match (&self.0, current) {
            (None, _) => Ok(()),
            (Some(header), Some(tag)) if lists(header, tag) => Ok(()),
            (Some(_), _) => Err(AppError::PreconditionFailed),
        }
    }
}

/// Whether a header with a list of tags contains this tag. `*` matches every tag.
pub fn lists(header: &str, tag: &str) -> bool {
    header.split(',').map(str::trim).any(|one| one == "*" || one == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_follow_the_content() {
        let tag = of(&"a");
        assert_ne!(tag, of(&"b"));
        for (header, allowed) in [
            (tag.clone(), true),
            ("*".into(), true),
            (format!("\"x\", {tag}"), true),
            ("\"x\"".into(), false),
            (String::new(), false),
        ] {
            assert_eq!(IfMatch(Some(header.clone())).check(&"a").is_ok(), allowed, "{header}");
        }
        assert!(IfMatch(None).check(&"a").is_ok());
        assert!(IfMatch(Some("*".into())).check_tag(None).is_err());
    }
}
