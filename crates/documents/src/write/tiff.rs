//! Writes pages to a TIFF 6.0 file of class F: one strip each, Group 4, 204 by 196 dots per inch.

use crate::picture::Bitmap;
use crate::picture::group4;

const SHORT: u16 = 3;
const LONG: u16 = 4;
const RATIONAL: u16 = 5;

pub(crate) fn write(pages: impl Iterator<Item = Bitmap>, count: usize) -> Vec<u8> {
    // Little-endian; the offset of the first directory is filled in below.
    let mut file = vec![b'I', b'I', 42, 0, 0, 0, 0, 0];
    let mut link = 4;
    for (index, picture) in pages.enumerate() {
        let strip = group4::encode(&picture);
        let strip_at = long(file.len());
        file.extend_from_slice(&strip);
        file.resize(file.len().next_multiple_of(2), 0);
        let resolutions_at = long(file.len());
        file.extend([204_u32, 1, 196, 1].into_iter().flat_map(u32::to_le_bytes));
        let directory_at = long(file.len());
        point(&mut file, link, directory_at);
        let (index, count) = (index as u32, count as u32);
        let entries: [(u16, u16, u32, u32); 16] = [
            (254, LONG, 1, 2), // one page of several
            (256, LONG, 1, picture.width),
            (257, LONG, 1, picture.height),
            (258, SHORT, 1, 1),
            (259, SHORT, 1, 4), // T.6
            (262, SHORT, 1, 0), // zero is white
            (266, SHORT, 1, 1), // the highest bit comes first
            (273, LONG, 1, strip_at),
            (274, SHORT, 1, 1),
            (277, SHORT, 1, 1),
            (278, LONG, 1, picture.height),
            (279, LONG, 1, long(strip.len())),
            (282, RATIONAL, 1, resolutions_at),
            (283, RATIONAL, 1, resolutions_at + 8),
            (296, SHORT, 1, 2),                                // inches
            (297, SHORT, 2, (index & 0xffff) | (count << 16)), // page number and count
        ];
        file.extend((entries.len() as u16).to_le_bytes());
        for (tag, kind, count, value) in entries {
            file.extend(tag.to_le_bytes());
            file.extend(kind.to_le_bytes());
            file.extend(count.to_le_bytes());
            file.extend(value.to_le_bytes());
        }
        link = file.len();
        file.extend([0; 4]);
    }
    file
}

fn long(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn point(file: &mut [u8], link: usize, target: u32) {
    if let Some(place) = file.get_mut(link..link + 4) {
        place.copy_from_slice(&target.to_le_bytes());
    }
}
