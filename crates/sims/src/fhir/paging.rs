//! Pages that survive writes (<https://hl7.org/fhir/R4/http.html#paging>): a link says which point of the log it
//! looks at.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use world::Seq;

use super::address;
use super::call::Call;
use super::outcome::{Refusal, excerpt};

/// The parameter that carries a [`Cursor`].
pub(crate) const PAGE: &str = "_page";
pub(crate) const DEFAULT_COUNT: usize = 20;
pub(crate) const MOST_COUNT: usize = 1000;

/// Where a page starts, in the results as they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) as_of: Seq,
    pub(crate) offset: usize,
    /// How many of the page's included resources were shown before.
    pub(crate) included: usize,
}

impl Cursor {
    /// Of the call's own parameter; the first page of what there is now when it has none.
    pub(crate) fn of(call: &Call<'_>) -> Result<Self, Refusal> {
        let Some(text) = call.parameter(PAGE) else {
            return Ok(Self { as_of: call.seq(), offset: 0, included: 0 });
        };
        let cursor = Self::parse(text).ok_or_else(|| {
            Refusal::bad("value", format!("{PAGE} is taken from a link, it is not made up: `{}`", excerpt(text)))
        })?;
        if !(call.world.oldest..=call.seq()).contains(&cursor.as_of) {
            return Err(Refusal::new(410, "expired", "the page is of a time before a reset; search again"));
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

/// FNV-1a: against slips, not against forgers, who could only see what they may see anyway.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// `_count` of interactions that are no searches.
pub(crate) fn count(call: &Call<'_>, default: usize) -> Result<usize, Refusal> {
    match call.parameter("_count") {
        None => Ok(default),
        Some(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(text.parse().unwrap_or(MOST_COUNT).min(MOST_COUNT))
        }
        Some(text) => Err(Refusal::bad("value", format!("_count is a whole number, not `{}`", excerpt(text)))),
    }
}

/// The links of a page: `self`, and where there are more pages `first`, `previous`, `next` and `last`. If the page has
/// more included resources than it shows, `next` leads to those after `more_included`.
pub(crate) fn links(
    call: &Call<'_>,
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
        format!("{}/{path}{mark}{query}", call.base_url)
    };
    let given = call.parameter(PAGE).map(|_| (cursor.offset, cursor.included));
    let mut links = vec![("self", address(given))];
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
    fn a_cursor_survives_its_text_and_nothing_else_is_one() {
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
