//! The pages of a TIFF 6.0 file: how many there are, and each as a PNG.

use std::collections::{BTreeMap, BTreeSet};

use super::budget::Budget;
use super::filter;
use super::{PageImage, PageVisitor};
use crate::error::DocumentError;
use crate::picture::{Bitmap, Png, group4};

const MOST_PAGES: usize = 500;
const MOST_PIXELS: usize = 64 << 20;
/// The decoded size of one page. Letter paper in color at 300 dots per inch has 24 MiB.
const LARGEST_PAGE: usize = 26 << 20;
const MOST_STRIPS: usize = 20_000;

const BROKEN: DocumentError = DocumentError::Damaged("its directory of pages cannot be read");

pub(super) fn count(bytes: &[u8]) -> Result<usize, DocumentError> {
    Ok(File::new(bytes).directories()?.len())
}

/// Pages with an unsupported encoding (JPEG, tiles, palettes) have none.
pub(super) fn images(bytes: &[u8], budget: &Budget) -> Result<Vec<PageImage>, DocumentError> {
    let file = File::new(bytes);
    let mut images = Vec::new();
    for (index, directory) in file.directories()?.iter().enumerate() {
        let image = file.image(directory, budget)?;
        images.extend(image.map(|png| PageImage::png(index + 1, png, dots_per_inch(directory))));
    }
    Ok(images)
}

/// Visits some pages, from 1. Their decoded size is counted before anything is decoded.
pub(super) fn scan(
    bytes: &[u8],
    numbers: &[usize],
    budget: &Budget,
    visit: &mut PageVisitor<'_>,
) -> Result<(), DocumentError> {
    let file = File::new(bytes);
    let directories = file.directories()?;
    let directory_of = |number: &usize| number.checked_sub(1).and_then(|index| directories.get(index));
    if numbers.iter().filter_map(directory_of).map(|page| PixelFormat::of(page).bytes()).fold(0, usize::saturating_add)
        > budget.room_for_all()
    {
        return Err(DocumentError::TooLarge("its pages unpack to too much"));
    }
    for number in numbers {
        let Some(directory) = directory_of(number) else { continue };
        let image = file.image(directory, budget);
        let page = image.map(|image| image.map(|png| PageImage::png(*number, png, dots_per_inch(directory))));
        if visit(*number, page).is_break() {
            break;
        }
    }
    Ok(())
}

/// The layout of the pixels of a page.
#[derive(Clone, Copy)]
struct PixelFormat {
    width: u32,
    height: u32,
    bits: usize,
    samples: usize,
}

impl PixelFormat {
    fn of(directory: &Directory) -> Self {
        let first = |tag: u16, usual: u32| first(directory, tag).unwrap_or(usual);
        let (bits, samples) = (first(258, 1) as usize, first(277, 1) as usize);
        Self { width: first(256, 0), height: first(257, 0), bits, samples }
    }

    fn row(self) -> usize {
        (self.width as usize).saturating_mul(self.bits).saturating_mul(self.samples).div_ceil(8)
    }

    fn bytes(self) -> usize {
        self.row().saturating_mul(self.height as usize)
    }

    fn is_bounded(self) -> bool {
        let pixels = (self.width as usize).saturating_mul(self.height as usize);
        (1..=MOST_PIXELS).contains(&pixels) && self.bytes() <= LARGEST_PAGE
    }
}

fn first(directory: &Directory, tag: u16) -> Option<u32> {
    directory.get(&tag).and_then(|values| values.first()).copied()
}

struct File<'a> {
    bytes: &'a [u8],
    is_little: bool,
}

/// The values of each tag.
type Directory = BTreeMap<u16, Vec<u32>>;

impl<'a> File<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, is_little: bytes.starts_with(b"II") }
    }

    fn number(&self, at: usize, length: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at.checked_add(length)?)?;
        let join = |number: u32, byte: &u8| (number << 8) | u32::from(*byte);
        Some(if self.is_little { bytes.iter().rev().fold(0, join) } else { bytes.iter().fold(0, join) })
    }

    fn directories(&self) -> Result<Vec<Directory>, DocumentError> {
        let mut directories = Vec::new();
        let mut seen = BTreeSet::new();
        let mut at = self.number(4, 4).ok_or(BROKEN)? as usize;
        while at != 0 && seen.insert(at) {
            if directories.len() >= MOST_PAGES {
                return Err(DocumentError::TooLarge("it has more than 500 pages"));
            }
            let Some((directory, next)) = self.directory(at) else { break };
            directories.push(directory);
            at = next;
        }
        if directories.is_empty() { Err(BROKEN) } else { Ok(directories) }
    }

    fn directory(&self, at: usize) -> Option<(Directory, usize)> {
        let count = self.number(at, 2)? as usize;
        let mut directory = Directory::new();
        for index in 0..count {
            let entry = at + 2 + index * 12;
            let tag = self.number(entry, 2)? as u16;
            let length = match self.number(entry + 2, 2)? {
                3 => 2,
                4 => 4,
                5 => {
                    directory.extend(self.fraction(entry).map(|value| (tag, vec![value])));
                    continue;
                }
                _ => continue,
            };
            let values = (self.number(entry + 4, 4)? as usize).min(MOST_STRIPS);
            let place = if values * length <= 4 { entry + 8 } else { self.number(entry + 8, 4)? as usize };
            let read = (0..values).map_while(|index| self.number(place.checked_add(index * length)?, length));
            directory.insert(tag, read.collect());
        }
        let next = self.number(at + 2 + count * 12, 4).unwrap_or(0);
        Some((directory, next as usize))
    }

    /// Rounded down.
    fn fraction(&self, entry: usize) -> Option<u32> {
        let place = self.number(entry + 8, 4)? as usize;
        self.number(place, 4)?.checked_div(self.number(place.checked_add(4)?, 4)?)
    }

    fn image(&self, directory: &Directory, budget: &Budget) -> Result<Option<Png>, DocumentError> {
        let first = |tag: u16, usual: u32| first(directory, tag).unwrap_or(usual);
        let form @ PixelFormat { width, height, bits, samples } = PixelFormat::of(directory);
        let is_plain = matches!((bits, samples), (1 | 8, 1) | (8, 3 | 4)) && first(284, 1) == 1 && first(262, 0) <= 2;
        if !form.is_bounded() || !is_plain || !directory.contains_key(&273) {
            return Ok(None);
        }
        budget.unpack(form.bytes())?;
        budget.spend(form.bytes())?;
        let white = if first(262, 0) == 0 { 0_u8 } else { 255 };
        let row = form.row();
        let rows_per_strip = (first(278, height) as usize).clamp(1, height as usize);
        let mut page = Page::new(width, height, bits);
        for (index, strip) in self.strips(directory).enumerate() {
            let done = index * rows_per_strip;
            let rows = rows_per_strip.min((height as usize).saturating_sub(done));
            if rows == 0 {
                break;
            }
            let Some(content) = unpack(strip, directory, (width, rows as u32), row * rows, budget)? else {
                return Ok(None);
            };
            let line = |y: usize| {
                content.get((y * row).min(content.len())..((y + 1) * row).min(content.len())).unwrap_or_default()
            };
            for y in 0..rows {
                page.row(done + y, line(y), samples, white);
            }
        }
        Ok(Some(page.png()))
    }

    fn strips(&self, directory: &'a Directory) -> impl Iterator<Item = &'a [u8]> {
        let list = |tag: u16| directory.get(&tag).map(Vec::as_slice).unwrap_or_default();
        let bytes = self.bytes;
        let lengths = list(279).iter().copied().chain(std::iter::repeat(u32::MAX));
        list(273).iter().zip(lengths).map(move |(at, length)| {
            let rest = bytes.get(*at as usize..).unwrap_or_default();
            rest.get(..rest.len().min(length as usize)).unwrap_or_default()
        })
    }
}

/// Unless the file gives only a ratio.
fn dots_per_inch(directory: &Directory) -> Option<u32> {
    match first(directory, 296).unwrap_or(2) {
        2 => first(directory, 282),
        3 => first(directory, 282)?.checked_mul(254).map(|dots| dots / 100),
        _ => None,
    }
}

/// A page that is decoded row by row.
enum Page {
    BlackAndWhite(Bitmap),
    Grey { width: u32, height: u32, pixels: Vec<u8> },
}

impl Page {
    fn new(width: u32, height: u32, bits: usize) -> Self {
        match bits {
            1 => Self::BlackAndWhite(Bitmap::white(width, height)),
            _ => Self::Grey { width, height, pixels: Vec::with_capacity(width as usize * height as usize) },
        }
    }

    /// Rows come in order.
    fn row(&mut self, y: usize, line: &[u8], samples: usize, white: u8) {
        match self {
            Self::BlackAndWhite(picture) => picture.set_row(y, line.iter().map(|byte| byte ^ white)),
            Self::Grey { width, pixels, .. } => {
                pixels.extend((0..*width as usize).map(|x| level(line, x, samples, white)))
            }
        }
    }

    fn png(self) -> Png {
        match self {
            Self::BlackAndWhite(picture) => Png::of_bitmap(&picture),
            Self::Grey { width, height, mut pixels } => {
                pixels.resize(width as usize * height as usize, 255);
                Png::of_grey(width, height, &pixels)
            }
        }
    }
}

/// The gray value of one pixel. 255 is white.
fn level(line: &[u8], x: usize, samples: usize, white: u8) -> u8 {
    let byte = |index: usize| line.get(x * samples + index).copied();
    if samples == 1 {
        return byte(0).map_or(255, |level| if white == 0 { 255 - level } else { level });
    }
    let (Some(red), Some(green), Some(blue)) = (byte(0), byte(1), byte(2)) else { return 255 };
    ((u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114) / 1000) as u8
}

/// None for an unknown compression. Black runs of fax compression are set bits, regardless of how the file interprets
/// them.
fn unpack(
    strip: &[u8],
    directory: &Directory,
    (width, rows): (u32, u32),
    expected: usize,
    budget: &Budget,
) -> Result<Option<Vec<u8>>, DocumentError> {
    let first = |tag: u16, usual: u32| first(directory, tag).unwrap_or(usual);
    budget.spend(strip.len().min(expected.saturating_mul(4)) + expected)?;
    let reversed: Vec<u8>;
    let strip = if first(266, 1) == 2 {
        reversed = strip.iter().map(|byte| byte.reverse_bits()).collect();
        reversed.as_slice()
    } else {
        strip
    };
    // Rows may be padded.
    let max = expected + 4096;
    let content = match first(259, 1) {
        1 => strip.get(..strip.len().min(expected)).unwrap_or_default().to_vec(),
        3 if first(292, 0) & 1 == 0 => group4::decode_group3(strip, width, rows)?.into_rows(),
        4 => group4::decode_group4(strip, width, rows)?.into_rows(),
        5 => filter::lzw(strip, true, max)?,
        8 | 32946 => filter::flate(strip, max)?,
        32773 => filter::run_length(strip, max)?,
        _ => return Ok(None),
    };
    let pixel = first(258, 1) as usize * first(277, 1) as usize;
    Ok(Some(filter::unpredicted(content, if first(317, 1) == 2 { 2 } else { 1 }, width as usize, pixel)))
}
