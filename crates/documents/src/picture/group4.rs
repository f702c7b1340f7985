//! Encodes and decodes ITU-T T.6, the compression of Group 4 fax.

use fax::decoder::{DecodeStatus, Group3Decoder, Group4Decoder};
use fax::encoder::Encoder;
use fax::{Color, VecWriter};

use super::bitmap::{Bitmap, is_black};
use crate::error::DocumentError;

const BROKEN: DocumentError = DocumentError::Damaged("a picture in fax compression breaks off");

pub(crate) fn encode(picture: &Bitmap) -> Vec<u8> {
    let mut encoder = Encoder::new(VecWriter::new());
    for row in picture.rows() {
        let pixels = (0..picture.width).map(|x| if is_black(row, x) { Color::Black } else { Color::White });
        // Writing into memory cannot fail.
        let _ = encoder.encode_line(pixels, picture.width);
    }
    encoder.finish().map(VecWriter::finish).unwrap_or_default()
}

/// Decodes a picture. Truncated data is white from there.
pub(crate) fn decode_group4(bytes: &[u8], width: u32, height: u32) -> Result<Bitmap, DocumentError> {
    let input = bytes.iter().map(|byte| Ok::<u8, std::convert::Infallible>(*byte));
    let mut decoder = Group4Decoder::new(input, width).map_err(|_| BROKEN)?;
    let mut picture = Bitmap::white(width, height);
    for y in 0..height {
        match decoder.advance() {
            Ok(DecodeStatus::Incomplete) => draw_row(&mut picture, y, decoder.transition()),
            Ok(DecodeStatus::End) => break,
            Err(_) if y == 0 => return Err(BROKEN),
            Err(_) => break,
        }
    }
    Ok(picture)
}

/// Modified Huffman, one line after another.
pub(crate) fn decode_group3(bytes: &[u8], width: u32, height: u32) -> Result<Bitmap, DocumentError> {
    let input = bytes.iter().map(|byte| Ok::<u8, std::convert::Infallible>(*byte));
    let mut decoder = Group3Decoder::new(input).map_err(|_| BROKEN)?;
    let mut picture = Bitmap::white(width, height);
    for y in 0..height {
        // The last line may lack an end mark.
        let status = decoder.advance();
        if status.is_err() && y == 0 && decoder.transitions().is_empty() {
            return Err(BROKEN);
        }
        draw_row(&mut picture, y, decoder.transitions());
        if !matches!(status, Ok(DecodeStatus::Incomplete)) {
            break;
        }
    }
    Ok(picture)
}

/// The transitions alternate, beginning with the first black pixel.
fn draw_row(picture: &mut Bitmap, y: u32, transitions: &[u32]) {
    for run in transitions.chunks(2) {
        let start = run.first().copied().unwrap_or(0);
        let end = run.get(1).copied().unwrap_or(picture.width).min(picture.width);
        for x in start..end {
            picture.blacken(x, y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pictures_come_back(width in 1..200_u32, height in 1..20_u32, dots in prop::collection::vec((0..200_u32, 0..20_u32), 0..400)) {
            let mut picture = Bitmap::white(width, height);
            for (x, y) in dots {
                picture.blacken(x, y);
            }
            prop_assert_eq!(decode_group4(&encode(&picture), width, height).unwrap(), picture);
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), width in 0..500_u32) {
            let _ = decode_group4(&bytes, width, 50);
            let _ = decode_group3(&bytes, width, 50);
        }
    }
}
