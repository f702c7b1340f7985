//! PNG (RFC 2083) of one page, in grey or black and white.

use miniz_oxide::deflate::compress_to_vec_zlib;

use super::bitmap::Bitmap;

/// The bytes of a whole PNG file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Png(pub Vec<u8>);

#[derive(Clone, Copy)]
enum Colour {
    BlackAndWhite = 1,
    Grey = 8,
}

impl Png {
    pub(crate) fn of_bitmap(picture: &Bitmap) -> Self {
        let mut rows = Vec::with_capacity((picture.stride() + 1) * picture.height as usize);
        for row in picture.rows() {
            rows.push(0);
            rows.extend(row.iter().map(|byte| !byte));
        }
        Self::new(picture.width, picture.height, Colour::BlackAndWhite, &rows)
    }

    /// One byte for each pixel, 0 black, 255 white.
    pub(crate) fn of_grey(width: u32, height: u32, pixels: &[u8]) -> Self {
        let mut rows = Vec::with_capacity(pixels.len() + height as usize);
        for row in pixels.chunks(width.max(1) as usize).take(height as usize) {
            rows.push(0);
            rows.extend_from_slice(row);
        }
        Self::new(width, height, Colour::Grey, &rows)
    }

    fn new(width: u32, height: u32, colour: Colour, rows: &[u8]) -> Self {
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
        header.extend([colour as u8, 0, 0, 0, 0]);
        chunk(&mut file, *b"IHDR", &header);
        chunk(&mut file, *b"IDAT", &compress_to_vec_zlib(rows, 6));
        chunk(&mut file, *b"IEND", &[]);
        Self(file)
    }
}

fn chunk(file: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    file.extend(length.to_be_bytes());
    file.extend(name);
    file.extend_from_slice(content);
    file.extend(crc32([&name, content]).to_be_bytes());
}

/// By the bit: a page compresses to little.
fn crc32(parts: [&[u8]; 2]) -> u32 {
    let bits = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    let bytes = parts.into_iter().flatten();
    !bytes.fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_of_a_chunk_is_that_of_the_standard() {
        assert_eq!(crc32([b"IEND", b""]), 0xae42_6082);
        assert_eq!(crc32([b"1234", b"56789"]), 0xcbf4_3926);
    }
}
