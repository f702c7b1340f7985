//! Decodes the pixels of pictures (ISO 32000-1, 8.9) in gray.

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace as JpegColors;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use super::color::ColorSpace;
use super::function::numbers;
use crate::error::DocumentError;
use crate::picture::bitmap::is_black;
use crate::picture::group4;
use crate::read::budget::LARGEST_STREAM;
use crate::read::pdf::file::File;
use crate::read::pdf::object::{Dictionary, Object};
use crate::read::pdf::stream::{Unpacked, unpacked};

/// Of one picture.
const MOST_PIXELS: usize = 26 << 20;

/// Samples from the upper left corner.
pub(in crate::read::pdf) struct Samples {
    width: usize,
    height: usize,
    values: Vec<u8>,
}

impl Samples {
    /// The sample at a position, given as fractions of the width and height.
    fn at(&self, across: f32, down: f32) -> u8 {
        let x = ((across * self.width as f32) as usize).min(self.width.saturating_sub(1));
        let y = ((down * self.height as f32) as usize).min(self.height.saturating_sub(1));
        self.values.get(y * self.width + x).copied().unwrap_or(0)
    }
}

pub(in crate::read::pdf) enum Picture {
    /// Lets the current color through where a sample is 255.
    Stencil(Samples),
    /// Its lightness, if it could be decoded, and its opacity.
    Image { luma: Option<Samples>, opacity: Option<Samples> },
}

impl Picture {
    /// `packed` are the encoded bytes. `left` is the remaining number of pixels that may be decoded.
    pub(in crate::read::pdf) fn read(
        file: &File<'_>,
        resources: &Dictionary,
        dictionary: &Dictionary,
        packed: &[u8],
        left: &mut usize,
    ) -> Result<Self, DocumentError> {
        let source = Source { file, dictionary, packed };
        if file.resolve(dictionary.either("ImageMask", "IM"))?.is_true() {
            return Ok(match source.samples(&ColorSpace::Gray, left)? {
                // Zeros are painted.
                Some(mut samples) => {
                    samples.values.iter_mut().for_each(|value| *value = 255 - *value);
                    Self::Stencil(samples)
                }
                None => Self::Image { luma: None, opacity: None },
            });
        }
        let space = ColorSpace::read(file, resources, dictionary.either("ColorSpace", "CS"), 0)?;
        let luma = source.samples(&space, left)?;
        let mask = |name: &str, is_inverted: bool, left: &mut usize| -> Result<Option<Samples>, DocumentError> {
            let Object::Stream(stream) = file.resolve(dictionary.get(name))?.into_owned() else { return Ok(None) };
            let source = Source { file, dictionary: &stream.dictionary, packed: file.packed(&stream)? };
            let samples = source.samples(&ColorSpace::Gray, left)?;
            Ok(samples.map(|mut samples| {
                if is_inverted {
                    samples.values.iter_mut().for_each(|value| *value = 255 - *value);
                }
                samples
            }))
        };
        let opacity = match mask("SMask", false, left)? {
            Some(opacity) => Some(opacity),
            None => mask("Mask", true, left)?,
        };
        Ok(Self::Image { luma, opacity })
    }

    /// The lightness and opacity at a position, given as fractions of the width and height. The luma of a
    /// stencil is that of the current color.
    pub(in crate::read::pdf) fn at(&self, across: f32, down: f32, current: Option<f32>) -> (Option<f32>, f32) {
        let opacity = |samples: &Samples| f32::from(samples.at(across, down)) / 255.0;
        match self {
            Self::Stencil(samples) => (current, opacity(samples)),
            Self::Image { luma, opacity: mask } => {
                (luma.as_ref().map(|luma| f32::from(luma.at(across, down))), mask.as_ref().map_or(1.0, opacity))
            }
        }
    }
}

struct Source<'a> {
    file: &'a File<'a>,
    dictionary: &'a Dictionary,
    packed: &'a [u8],
}

impl Source<'_> {
    /// None if the picture is too large, damaged, or its encoding is not supported.
    fn samples(&self, space: &ColorSpace, left: &mut usize) -> Result<Option<Samples>, DocumentError> {
        let file = self.file;
        let number = |name: &str, short: &str| -> Result<usize, DocumentError> {
            Ok(file.resolve(self.dictionary.either(name, short))?.whole().unwrap_or(0))
        };
        let (width, height) = (number("Width", "W")?, number("Height", "H")?);
        let pixels = width.saturating_mul(height);
        if pixels == 0 || pixels > MOST_PIXELS || pixels > *left {
            return Ok(None);
        }
        *left -= pixels;
        file.budget.spend(pixels / 4)?;
        let content = match unpacked(file, self.dictionary, self.packed, LARGEST_STREAM) {
            Ok(content) => content,
            Err(DocumentError::Damaged(_) | DocumentError::TooLarge(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let values = match &content.picture {
            Some((name, _)) if matches!(name.as_str(), "DCTDecode" | "DCT") => jpeg(&content.bytes, width, height),
            Some((name, parameters)) if matches!(name.as_str(), "CCITTFaxDecode" | "CCF") => {
                self.fax(&content.bytes, parameters, width, height)?
            }
            Some(_) => None,
            None => self.raw(&content, space, width, height)?,
        };
        let mut values = values;
        let decode = numbers(file, self.dictionary.either("Decode", "D"), 8)?;
        let is_inverted = matches!(decode.as_slice(), [low, high] if low > high);
        if let Some(values) = values.as_mut().filter(|_| is_inverted && space.components() == 1) {
            values.iter_mut().for_each(|value| *value = 255 - *value);
        }
        Ok(values.map(|values| Samples { width, height, values }))
    }

    fn fax(
        &self,
        bytes: &[u8],
        parameters: &Dictionary,
        width: usize,
        height: usize,
    ) -> Result<Option<Vec<u8>>, DocumentError> {
        let kind = self.file.resolve(parameters.get("K"))?.number().unwrap_or(0.0);
        let (columns, rows) = (width as u32, height as u32);
        self.file.budget.spend(bytes.len())?;
        let bitmap = match kind {
            kind if kind < 0.0 => group4::decode_group4(bytes, columns, rows),
            0.0 => group4::decode_group3(bytes, columns, rows),
            _ => return Ok(None),
        };
        let is_black_one = self.file.resolve(parameters.get("BlackIs1"))?.is_true();
        Ok(bitmap.ok().map(|bitmap| {
            let row = |row: &[u8]| -> Vec<u8> {
                (0..columns).map(|x| if is_black(row, x) == is_black_one { 255 } else { 0 }).collect()
            };
            bitmap.rows().take(height).flat_map(row).collect()
        }))
    }

    fn raw(
        &self,
        content: &Unpacked,
        space: &ColorSpace,
        width: usize,
        height: usize,
    ) -> Result<Option<Vec<u8>>, DocumentError> {
        let is_stencil = self.file.resolve(self.dictionary.either("ImageMask", "IM"))?.is_true();
        let bits = if is_stencil {
            1
        } else {
            self.file.resolve(self.dictionary.either("BitsPerComponent", "BPC"))?.whole().unwrap_or(8)
        };
        let components = space.components();
        if !matches!(bits, 1 | 2 | 4 | 8 | 16) || components == 0 {
            return Ok(None);
        }
        self.file.budget.spend(width * height / 2)?;
        let shades = Shades::new(space, bits);
        let stride = (width * components * bits).div_ceil(8);
        let mut values = Vec::with_capacity(width * height);
        for row in content.bytes.chunks(stride.max(1)).take(height) {
            for x in 0..width {
                let Some(luma) = shades.luma(row, x) else { return Ok(None) };
                values.push(luma);
            }
        }
        // Missing data is unknown. Most readers display zeros.
        values.resize(width * height, 0);
        Ok(Some(values))
    }
}

/// Shades of samples; those of one component are computed once.
struct Shades<'a> {
    space: &'a ColorSpace,
    bits: usize,
    table: Option<Vec<Option<u8>>>,
}

impl<'a> Shades<'a> {
    fn new(space: &'a ColorSpace, bits: usize) -> Self {
        let levels = (1_usize << bits.min(8)) - 1;
        let shade = |sample: usize| {
            let is_index = matches!(space, ColorSpace::Indexed { .. });
            let value = if is_index { sample as f32 } else { sample as f32 / levels as f32 };
            space.luma(&[value]).map(|luma| luma as u8)
        };
        let table = (space.components() == 1).then(|| (0..=levels).map(shade).collect());
        Self { space, bits, table }
    }

    fn luma(&self, row: &[u8], x: usize) -> Option<u8> {
        if let Some(table) = &self.table {
            return table.get(sample(row, x, self.bits)).copied().flatten();
        }
        let count = self.space.components();
        let max = if self.bits >= 8 { 255.0 } else { ((1_usize << self.bits) - 1) as f32 };
        let mut color = [0.0_f32; 4];
        for (index, part) in color.iter_mut().enumerate().take(count) {
            *part = sample(row, x * count + index, self.bits) as f32 / max;
        }
        let luma = match self.space {
            ColorSpace::Lab => Some(color[0] * 255.0),
            space => space.luma(color.get(..count)?),
        };
        luma.map(|luma| luma as u8)
    }
}

/// Of 16 bits the upper 8.
fn sample(row: &[u8], index: usize, bits: usize) -> usize {
    let byte = |at: usize| usize::from(row.get(at).copied().unwrap_or(0));
    match bits {
        16 => byte(index * 2),
        8 => byte(index),
        _ => {
            let at = index * bits;
            (byte(at / 8) >> (8 - bits - at % 8)) & ((1 << bits) - 1)
        }
    }
}

/// None if it is damaged, or does not have the declared size.
fn jpeg(bytes: &[u8], width: usize, height: usize) -> Option<Vec<u8>> {
    let options =
        DecoderOptions::default().set_max_width(width).set_max_height(height).jpeg_set_out_colorspace(JpegColors::Luma);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let decoded = decoder.decode().ok()?;
    (decoded.len() == width * height).then_some(decoded)
}
