//! Writes a page as PNG (RFC 2083), in gray or black and white.

use miniz_oxide::DataFormat;
use miniz_oxide::deflate::core::{CompressorOxide, TDEFLFlush, compress_to_output};

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
        let mut row: Vec<u8> = Vec::new();
        let mut packed = Deflated::new(6);
        for black in picture.rows() {
            row.clear();
            row.extend(black.iter().map(|byte| !byte));
            packed.row(&row);
        }
        Self::new(picture.width, picture.height, Colour::BlackAndWhite, packed)
    }

    /// One byte for each pixel, 0 black, 255 white.
    pub(crate) fn of_grey(width: u32, height: u32, pixels: &[u8]) -> Self {
        // For pictures with many shades, a higher level takes five times as long and saves little.
        let mut packed = Deflated::new(1);
        pixels.chunks(width.max(1) as usize).take(height as usize).for_each(|row| packed.row(row));
        Self::new(width, height, Colour::Grey, packed)
    }

    fn new(width: u32, height: u32, colour: Colour, rows: Deflated) -> Self {
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
        header.extend([colour as u8, 0, 0, 0, 0]);
        chunk(&mut file, *b"IHDR", &header);
        chunk(&mut file, *b"IDAT", &rows.finish());
        chunk(&mut file, *b"IEND", &[]);
        Self(file)
    }
}

/// Compresses row by row, so that the rows are never in memory as a whole.
struct Deflated {
    machine: Box<CompressorOxide>,
    packed: Vec<u8>,
}

impl Deflated {
    fn new(level: u8) -> Self {
        let mut machine = Box::<CompressorOxide>::default();
        machine.set_format_and_level(DataFormat::Zlib, level);
        Self { machine, packed: Vec::new() }
    }

    /// No filter.
    fn row(&mut self, bytes: &[u8]) {
        self.push(&[0], TDEFLFlush::None);
        self.push(bytes, TDEFLFlush::None);
    }

    fn push(&mut self, bytes: &[u8], flush: TDEFLFlush) {
        let Self { machine, packed } = self;
        compress_to_output(machine, bytes, flush, |part| {
            packed.extend_from_slice(part);
            true
        });
    }

    fn finish(mut self) -> Vec<u8> {
        self.push(&[], TDEFLFlush::Finish);
        self.packed
    }
}

fn chunk(file: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    file.extend(length.to_be_bytes());
    file.extend(name);
    file.extend_from_slice(content);
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&name);
    checksum.update(content);
    file.extend(checksum.finalize().to_be_bytes());
}
