//! Optional texts one after the other: each its length and one more, seven bits a byte, then its bytes; 0 for none.

pub(super) fn put(text: Option<&str>, into: &mut Vec<u8>) {
    let mut length = text.map_or(0, |text| text.len() + 1);
    while length >= 0x80 {
        into.push(length as u8 | 0x80);
        length >>= 7;
    }
    into.push(length as u8);
    into.extend_from_slice(text.unwrap_or_default().as_bytes());
}

/// Reads them back; `None` at the end or where there are none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn text(&mut self) -> Option<Option<&'a str>> {
        let mut length = 0_usize;
        for shift in (0..usize::BITS).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            length |= usize::from(byte & 0x7F) << shift;
            if *byte < 0x80 {
                break;
            }
        }
        match length.checked_sub(1) {
            None => Some(None),
            Some(length) => {
                let (text, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                Some(Some(std::str::from_utf8(text).ok()?))
            }
        }
    }

    pub(super) fn boxed(&mut self) -> Option<Option<Box<str>>> {
        self.text().map(|text| text.map(Box::from))
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        let long = "ä".repeat(9000);
        let texts = [Some("a"), None, Some(""), Some(&long), Some(&long[..126]), Some(&long[..128])];
        let mut bytes = Vec::new();
        texts.iter().for_each(|text| put(*text, &mut bytes));
        let mut fields = Fields(&bytes);
        texts.iter().for_each(|text| assert_eq!(fields.text(), Some(*text)));
        assert!(fields.is_at_end() && fields.text().is_none());
        assert!((0..bytes.len()).all(|length| {
            let mut cut = Fields(&bytes[..length]);
            texts.iter().map_while(|_| cut.text()).count() < texts.len()
        }));
    }
}
