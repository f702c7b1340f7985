//! Decoders for the compression of PDF and TIFF, with limits on their output. Truncated data is decoded as far as possible.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use crate::error::DocumentError;

const TOO_MUCH: DocumentError = DocumentError::TooLarge("its streams unpack to too much");

/// Decodes zlib. Tolerates a missing header and a wrong checksum, which some writers produce.
pub(crate) fn flate(bytes: &[u8], max: usize) -> Result<Vec<u8>, DocumentError> {
    let content = inflated(bytes, inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER, max)?;
    if !content.is_empty() {
        return Ok(content);
    }
    inflated(bytes, 0, max)
}

/// Empty if the data is not deflated.
fn inflated(bytes: &[u8], flags: u32, max: usize) -> Result<Vec<u8>, DocumentError> {
    let flags =
        flags | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF | inflate_flags::TINFL_FLAG_IGNORE_ADLER32;
    let mut machine = Box::<DecompressorOxide>::default();
    let mut output = vec![0; bytes.len().saturating_mul(4).clamp(256, max.max(256))];
    let (mut taken, mut length) = (0, 0);
    loop {
        let rest = bytes.get(taken..).unwrap_or_default();
        let (status, read, written) = decompress(&mut machine, rest, &mut output, length, flags);
        taken += read;
        length += written;
        if status != TINFLStatus::HasMoreOutput {
            break;
        }
        if output.len() >= max {
            return Err(TOO_MUCH);
        }
        output.resize(output.len().saturating_mul(2).min(max), 0);
    }
    output.truncate(length);
    Ok(output)
}

/// Decodes variable-length LZW, highest bit first, as in PDF and TIFF 6.0. With `early`, codes grow one code earlier.
pub(crate) fn lzw(bytes: &[u8], early: bool, max: usize) -> Result<Vec<u8>, DocumentError> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    let mut output: Vec<u8> = Vec::new();
    // The start and length of the text of each code from 258 in the output.
    let mut table: Vec<(usize, usize)> = Vec::new();
    let (mut buffer, mut bits, mut width) = (0_u32, 0_u32, 9_u32);
    let mut previous: Option<(usize, usize)> = None;
    for byte in bytes {
        buffer = (buffer << 8) | u32::from(*byte);
        bits += 8;
        if bits < width {
            continue;
        }
        bits -= width;
        let code = ((buffer >> bits) & ((1 << width) - 1)) as usize;
        buffer &= (1 << bits) - 1;
        match code {
            CLEAR => {
                table.clear();
                (width, previous) = (9, None);
                continue;
            }
            END => break,
            _ => {}
        }
        let start = output.len();
        let known = if code < CLEAR { None } else { table.get(code - 258).copied() };
        match (code, known, previous) {
            (..CLEAR, _, _) => output.push(code as u8),
            (_, Some((from, length)), _) => copy(&mut output, from, length),
            // This step itself defines the code: the previous text and its first byte.
            (_, None, Some((from, length))) if code - 258 == table.len() => copy(&mut output, from, length + 1),
            _ => break,
        }
        if output.len() > max {
            return Err(TOO_MUCH);
        }
        if let Some((from, length)) = previous.filter(|_| table.len() < 4096 - 258) {
            table.push((from, length + 1));
        }
        previous = Some((start, output.len() - start));
        let next = table.len() + 258 + usize::from(early) + 1;
        width = match next {
            ..=512 => 9,
            513..=1024 => 10,
            1025..=2048 => 11,
            _ => 12,
        };
    }
    Ok(output)
}

/// Copies byte by byte, because the ranges may overlap.
fn copy(output: &mut Vec<u8>, from: usize, length: usize) {
    for index in from..from + length {
        let byte = output.get(index).copied().unwrap_or_default();
        output.push(byte);
    }
}

/// Decodes PackBits of TIFF, which is RunLength of PDF.
pub(crate) fn run_length(bytes: &[u8], max: usize) -> Result<Vec<u8>, DocumentError> {
    let mut output = Vec::new();
    let mut rest = bytes;
    while let [length, after @ ..] = rest {
        let length = usize::from(*length);
        match (length, after) {
            (128, _) => break,
            (..128, _) => {
                let (literal, after) = after.split_at(after.len().min(length + 1));
                output.extend_from_slice(literal);
                rest = after;
            }
            (_, [byte, after @ ..]) => {
                output.resize(output.len() + 257 - length, *byte);
                rest = after;
            }
            (_, []) => break,
        }
        if output.len() > max {
            return Err(TOO_MUCH);
        }
    }
    Ok(output)
}

pub(crate) fn ascii_hex(bytes: &[u8]) -> Vec<u8> {
    let digits = bytes.iter().take_while(|byte| **byte != b'>').filter_map(|byte| char::from(*byte).to_digit(16));
    let digits: Vec<u8> = digits.map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair.first().unwrap_or(&0) << 4 | pair.get(1).unwrap_or(&0)).collect()
}

pub(crate) fn ascii_85(bytes: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    let mut group: Vec<u32> = Vec::with_capacity(5);
    let bytes = bytes.strip_prefix(b"<~").unwrap_or(bytes);
    for byte in bytes.iter().take_while(|byte| **byte != b'~') {
        match byte {
            b'z' if group.is_empty() => output.extend([0; 4]),
            b'!'..=b'u' => group.push(u32::from(byte - b'!')),
            _ => {}
        }
        if group.len() == 5 {
            output.extend(word_85(&group).to_be_bytes());
            group.clear();
        }
    }
    if group.len() > 1 {
        let kept = group.len() - 1;
        group.resize(5, 84);
        output.extend(word_85(&group).to_be_bytes().into_iter().take(kept));
    }
    output
}

fn word_85(group: &[u32]) -> u32 {
    group.iter().fold(0_u32, |word, digit| word.wrapping_mul(85).wrapping_add(*digit))
}

/// Reverses the filters of PNG (PDF's predictors from 10) or of TIFF (2).
pub(crate) fn unpredicted(bytes: Vec<u8>, predictor: i64, columns: usize, pixel_bits: usize) -> Vec<u8> {
    let row_bytes = (columns.saturating_mul(pixel_bits)).div_ceil(8);
    let pixel = pixel_bits.div_ceil(8).max(1);
    if row_bytes == 0 || row_bytes > 1 << 24 {
        return bytes;
    }
    match predictor {
        10.. => png_rows(&bytes, row_bytes, pixel),
        2 if pixel_bits.is_multiple_of(8) => {
            let mut bytes = bytes;
            for row in bytes.chunks_mut(row_bytes) {
                for index in pixel..row.len() {
                    let left = row.get(index - pixel).copied().unwrap_or(0);
                    if let Some(byte) = row.get_mut(index) {
                        *byte = byte.wrapping_add(left);
                    }
                }
            }
            bytes
        }
        _ => bytes,
    }
}

fn png_rows(bytes: &[u8], row_bytes: usize, pixel: usize) -> Vec<u8> {
    let mut output = Vec::with_capacity(bytes.len());
    let mut above = vec![0_u8; row_bytes];
    for packed in bytes.chunks(row_bytes + 1) {
        let Some((method, packed)) = packed.split_first() else { break };
        let mut row = vec![0_u8; row_bytes];
        for (index, byte) in packed.iter().enumerate() {
            let at = |row: &[u8], back: usize| {
                index.checked_sub(back).and_then(|index| row.get(index)).copied().unwrap_or(0)
            };
            let (left, up, corner) = (at(&row, pixel), at(&above, 0), at(&above, pixel));
            let predicted = match method {
                1 => left,
                2 => up,
                3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
                4 => paeth(left, up, corner),
                _ => 0,
            };
            if let Some(place) = row.get_mut(index) {
                *place = byte.wrapping_add(predicted);
            }
        }
        output.extend(row.iter().take(packed.len()));
        above = row;
    }
    output
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(up), i16::from(corner));
    let estimate = a + b - c;
    let (far_a, far_b, far_c) = ((estimate - a).abs(), (estimate - b).abs(), (estimate - c).abs());
    if far_a <= far_b && far_a <= far_c {
        left
    } else if far_b <= far_c {
        up
    } else {
        corner
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::deflate::compress_to_vec_zlib;

    #[test]
    fn packed_bytes_come_back() {
        let text = b"-----A---B-----A---B";
        assert_eq!(flate(&compress_to_vec_zlib(text, 6), 100).unwrap(), text);
        // The example of the PDF standard, 7.4.4.2.
        let packed = [0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01];
        assert_eq!(lzw(&packed, true, 100).unwrap(), [45, 45, 45, 45, 45, 65, 45, 45, 45, 66]);
        assert_eq!(run_length(&[2, 1, 2, 3, 254, 7, 128, 9], 100).unwrap(), [1, 2, 3, 7, 7, 7]);
        assert_eq!(ascii_hex(b"48 65 6c 6C 6f7>zz"), b"Hellop");
        assert_eq!(ascii_85(b"<~87cURD]i,\"Ebo80~>"), b"Hello World!");
        assert_eq!(unpredicted(vec![2, 1, 2, 2, 1, 1], 15, 2, 8), [1, 2, 2, 3]);
        assert_eq!(unpredicted(vec![1, 1, 1, 5, 1, 1], 2, 3, 8), [1, 2, 3, 5, 6, 7]);
    }

    #[test]
    fn what_breaks_off_gives_its_beginning() {
        let packed = compress_to_vec_zlib(&(0..10_000_u32).flat_map(u32::to_be_bytes).collect::<Vec<u8>>(), 6);
        let half = flate(&packed[..packed.len() / 2], 100_000).unwrap();
        assert!(half.len() > 1000);
        assert_eq!(half[4..8], [0, 0, 0, 1]);
        assert_eq!(flate(b"", 100), Ok(Vec::new()));
    }

    #[test]
    fn bombs_do_not_go_off() {
        let bomb = compress_to_vec_zlib(&vec![0; 10 << 20], 9);
        assert!(matches!(flate(&bomb, 1 << 20), Err(DocumentError::TooLarge(_))));
        assert!(matches!(run_length(&[129, 0].repeat(100_000), 1 << 20), Err(DocumentError::TooLarge(_))));
        let mut codes = vec![0x80, 0x00, 0x20];
        codes.extend([0xff; 100]);
        let _ = lzw(&codes, true, 1 << 20);
    }
}
