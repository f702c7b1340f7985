//! Pagination that is stable under writes (<https://hl7.org/fhir/R4/http.html#paging>): a link contains the sequence number
//! of the log at which the search is evaluated.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use world::Seq;

use super::address;
use super::interaction_context::InteractionContext;
use super::outcome::{FhirError, excerpt};

/// The parameter that carries a [`Cursor`].
pub(crate) const PAGE: &str = "_page";
pub(crate) const DEFAULT_COUNT: usize = 20;
pub(crate) const MAX_COUNT: usize = 1000;

/// The start of a page in the results as of a sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) as_of: Seq,
    pub(crate) offset: usize,
    /// How many of the page's included resources were returned before.
    pub(crate) included: usize,
}

impl Cursor {
    /// Reads the cursor of the request, or starts at the first page of the current state.
    pub(crate) fn of(context: &InteractionContext<'_>) -> Result<Self, FhirError> {
        let Some(text) = context.parameter(PAGE) else {
            return Ok(Self { as_of: context.seq(), offset: 0, included: 0 });
        };
        let cursor = Self::parse(text).ok_or_else(|| {
            FhirError::bad("value", format!("{PAGE} must be copied from a link of a page, got `{}`", excerpt(text)))
        })?;
        if !(context.world.oldest..=context.seq()).contains(&cursor.as_of) {
            return Err(FhirError::new(410, "expired", "the page is from before a reset; search again"));
        }
        Ok(cursor)
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 28] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let (numbers, check) = bytes.split_at(24);
        if checksum(numbers).to_be_bytes() != check {
            return None;
        }
        let number = |at: usize| Some(u64::from_be_bytes(numbers[at..at + 8].try_into().ok()?));
        let as_of = Seq::try_from(number(0)?).ok()?;
        let (offset, included) = (usize::try_from(number(8)?).ok()?, usize::try_from(number(16)?).ok()?);
        Some(Self { as_of, offset, included })
    }

    fn text(self) -> String {
        let mut bytes = self.as_of.to_be_bytes().to_vec();
        bytes.extend((self.offset as u64).to_be_bytes());
        bytes.extend((self.included as u64).to_be_bytes());
        bytes.extend(checksum(&bytes).to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }
}

/// FNV-1a. Detects mistakes, not forgery: a forged cursor reveals nothing that the client may not see.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// `_count` of interactions other than searches.
pub(crate) fn count(context: &InteractionContext<'_>, default: usize) -> Result<usize, FhirError> {
    match context.parameter("_count") {
        None => Ok(default),
        Some(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(text.parse().unwrap_or(MAX_COUNT).min(MAX_COUNT))
        }
        Some(text) => Err(FhirError::bad("value", format!("_count must be a whole number, got `{}`", excerpt(text)))),
    }
}

/// The links of a page: `self`, and if there are more pages `first`, `previous`, `next` and `last`. If the page has more
/// included resources, `next` continues after `more_included`.
pub(crate) fn links(
    context: &InteractionContext<'_>,
    path: &str,
    parameters: &[(String, String)],
    cursor: Cursor,
    (count, total): (usize, usize),
    more_included: Option<usize>,
) -> Vec<(&'static str, String)> {
    let address = |page: Option<(usize, usize)>| {
        let mut pairs: Vec<_> = parameters.iter().filter(|(name, _)| name != PAGE).cloned().collect();
        if let Some((offset, included)) = page {
            pairs.push((PAGE.to_owned(), Cursor { offset, included, ..cursor }.text()));
        }
        let query = address::query(&pairs);
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}/{path}{mark}{query}", context.base_url)
    };
    let current = context.parameter(PAGE).map(|_| (cursor.offset, cursor.included));
    let mut links = vec![("self", address(current))];
    let is_only_page = total <= count && cursor.offset == 0 && cursor.included == 0;
    if count == 0 || (is_only_page && more_included.is_none()) {
        return links;
    }
    links.push(("first", address(Some((0, 0)))));
    if cursor.included > 0 {
        links.push(("previous", address(Some((cursor.offset, 0)))));
    } else if cursor.offset > 0 {
        links.push(("previous", address(Some((cursor.offset.saturating_sub(count), 0)))));
    }
    match more_included {
        Some(included) => links.push(("next", address(Some((cursor.offset, included))))),
        None if cursor.offset.saturating_add(count) < total => {
            links.push(("next", address(Some((cursor.offset + count, 0)))));
        }
        None => {}
    }
    links.push(("last", address(Some((total.saturating_sub(1) / count * count, 0)))));
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_round_trip_and_invalid_ones_are_rejected() {
        for cursor in
            [Cursor { as_of: 0, offset: 0, included: 0 }, Cursor { as_of: Seq::MAX, offset: 1 << 40, included: 7 }]
        {
            let text = cursor.text();
            assert_eq!(Cursor::parse(&text), Some(cursor));
            assert_eq!(Cursor::parse(&text[1..]), None);
            let other = if text.starts_with('A') { "B" } else { "A" };
            assert_eq!(Cursor::parse(&format!("{other}{}", &text[1..])), None);
        }
        assert_eq!(Cursor::parse(""), None);
        assert_eq!(Cursor::parse("ä=?"), None);
    }
}
