//! Reads the dimensions of a picture from its header, before it is decoded.

const MOST_PIXELS: u64 = 64 << 20;

/// Whether a PNG or JPEG file is small enough to be decoded, according to its header.
pub(crate) fn are_bounded(bytes: &[u8]) -> bool {
    of(bytes).is_some_and(|(width, height)| width > 0 && height > 0 && width * height <= MOST_PIXELS)
}

/// Width and height of a PNG or JPEG file.
pub(crate) fn of(bytes: &[u8]) -> Option<(u64, u64)> {
    // Other data would be decoded as another format.
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => png(bytes),
        [0xff, 0xd8, 0xff, ..] => jpeg(bytes),
        _ => None,
    }
}

fn png(bytes: &[u8]) -> Option<(u64, u64)> {
    bytes.get(12..16).filter(|name| *name == b"IHDR")?;
    Some((number(bytes, 16, 4)?, number(bytes, 20, 4)?))
}

/// The dimensions in the first frame header.
fn jpeg(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut at = 2;
    loop {
        let [0xff, marker] = *bytes.get(at..at + 2)? else { return None };
        match marker {
            // Padding, and markers without content.
            0xff => at += 1,
            0x01 | 0xd0..=0xd8 => at += 2,
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((number(bytes, at + 7, 2)?, number(bytes, at + 5, 2)?));
            }
            0xd9 | 0xda => return None,
            _ => at += 2 + usize::try_from(number(bytes, at + 2, 2)?).ok()?,
        }
    }
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
}
