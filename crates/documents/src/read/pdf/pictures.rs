//! Extracts the picture of a scanned page as a file.

use super::content::PagePicture;
use super::file::File;
use super::object::{Dictionary, Object};
use super::stream::{Unpacked, unpacked};
use crate::error::DocumentError;
use crate::picture::{Bitmap, Png, group4};
use crate::read::PageImage;
use crate::read::budget::LARGEST_STREAM;
use crate::read::dimensions::are_bounded;

const MOST_PIXELS: usize = 64 << 20;
/// The pixels of a picture. Each takes a byte of memory.
const MOST_GREY_PIXELS: usize = 26 << 20;
/// The minimum area of a page picture, in square points. A letter page has 485,000. A logo is smaller.
const SMALLEST_AREA: f32 = 100_000.0;

/// None for a page without a large picture, or with an unsupported encoding (JPEG 2000, JBIG2).
pub(super) fn largest(
    file: &File<'_>,
    page: usize,
    pictures: &[PagePicture],
) -> Result<Option<PageImage>, DocumentError> {
    let large = pictures.iter().filter(|picture| picture.area >= SMALLEST_AREA);
    let Some(picture) = large.max_by(|left, right| left.area.total_cmp(&right.area)) else { return Ok(None) };
    let dictionary = &picture.stream.dictionary;
    let content = unpacked(file, dictionary, file.packed(&picture.stream)?, LARGEST_STREAM)?;
    let number = |name: &str, short: &str| Ok(file.resolve(dictionary.either(name, short))?.whole().unwrap_or(0));
    let (width, height) = (number("Width", "W")?, number("Height", "H")?);
    if width == 0 || height == 0 || width.saturating_mul(height) > MOST_PIXELS {
        return Ok(None);
    }
    let dots_per_inch = Some((width as f32 / picture.width.max(1.0) * 72.0).round() as u32);
    match &content.picture {
        Some((name, _)) if name == "DCTDecode" && are_bounded(&content.bytes) => {
            Ok(Some(PageImage { page, content_type: "image/jpeg", bytes: content.bytes, dots_per_inch }))
        }
        Some((name, parameters)) if name == "CCITTFaxDecode" => {
            file.budget.unpack(width * height / 8)?;
            Ok(fax(file, &content.bytes, parameters, width as u32, height as u32)?
                .map(|png| PageImage::png(page, png, dots_per_inch)))
        }
        Some(_) => Ok(None),
        None => {
            Ok(samples(file, dictionary, &content, width, height)?.map(|png| PageImage::png(page, png, dots_per_inch)))
        }
    }
}

fn fax(
    file: &File<'_>,
    bytes: &[u8],
    parameters: &Dictionary,
    width: u32,
    height: u32,
) -> Result<Option<Png>, DocumentError> {
    let kind = file.resolve(parameters.get("K"))?.number().unwrap_or(0.0);
    file.budget.spend(bytes.len() * 8 + width as usize * height as usize / 8)?;
    let picture: Result<Bitmap, DocumentError> = match kind {
        kind if kind < 0.0 => group4::decode_group4(bytes, width, height),
        0.0 => group4::decode_group3(bytes, width, height),
        _ => return Ok(None),
    };
    Ok(picture.ok().map(|picture| Png::of_bitmap(&picture)))
}

/// A decoded picture in gray, color, or black and white.
fn samples(
    file: &File<'_>,
    dictionary: &Dictionary,
    content: &Unpacked,
    width: usize,
    height: usize,
) -> Result<Option<Png>, DocumentError> {
    let bits = file.resolve(dictionary.either("BitsPerComponent", "BPC"))?.whole().unwrap_or(1);
    let Some(components) = components(file, dictionary.either("ColorSpace", "CS"))? else { return Ok(None) };
    let row = (width * components * bits).div_ceil(8).max(1);
    file.budget.spend(width * height)?;
    let lines = content.bytes.chunks(row).take(height);
    if (bits, components) == (1, 1) {
        file.budget.unpack(row * height)?;
        let mut picture = Bitmap::white(width as u32, height as u32);
        // Here a set bit is white.
        lines.enumerate().for_each(|(y, line)| picture.set_row(y, line.iter().map(|byte| !byte)));
        return Ok(Some(Png::of_bitmap(&picture)));
    }
    if width * height > MOST_GREY_PIXELS {
        return Ok(None);
    }
    file.budget.unpack(width * height)?;
    let mut grey = Vec::with_capacity(width * height);
    for line in lines {
        let sample = |index: usize| if bits == 8 { line.get(index).copied().unwrap_or(255) } else { 255 };
        grey.extend((0..width).map(|x| match components {
            3 => {
                let [red, green, blue] = [0, 1, 2].map(|component| u32::from(sample(x * 3 + component)));
                ((red * 299 + green * 587 + blue * 114) / 1000) as u8
            }
            _ => sample(x),
        }));
    }
    grey.resize(width * height, 255);
    Ok(Some(Png::of_grey(width as u32, height as u32, &grey)))
}

/// The number of components of a pixel: gray, or red, green and blue.
fn components(file: &File<'_>, space: &Object) -> Result<Option<usize>, DocumentError> {
    let space = file.resolve(space)?;
    let name = space.name().or_else(|| space.array().first().and_then(Object::name));
    Ok(match name {
        Some("DeviceGray" | "CalGray" | "G") => Some(1),
        Some("DeviceRGB" | "CalRGB" | "RGB") => Some(3),
        Some("ICCBased") => {
            let profile = match space.array().get(1) {
                Some(profile) => file.resolve(profile)?.into_owned(),
                None => Object::Null,
            };
            let count = profile.dictionary().and_then(|profile| profile.get("N").whole());
            count.filter(|count| matches!(count, 1 | 3))
        }
        _ => None,
    })
}
