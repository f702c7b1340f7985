//! A picture of black and white pixels, eight to a byte.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bitmap {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Rows from the top, each padded to a whole byte. A set bit is black.
    rows: Vec<u8>,
}

impl Bitmap {
    pub(crate) fn white(width: u32, height: u32) -> Self {
        let rows = vec![0; stride(width) * height as usize];
        Self { width, height, rows }
    }

    pub(crate) fn stride(&self) -> usize {
        stride(self.width)
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.rows.chunks(self.stride().max(1))
    }

    pub(crate) fn into_rows(self) -> Vec<u8> {
        self.rows
    }

    /// Sets a row. A set bit is black. Pixels beyond the given bytes are not changed.
    pub(crate) fn set_row(&mut self, y: usize, bytes: impl Iterator<Item = u8>) {
        let (stride, spare) = (self.stride(), (8 - self.width % 8) % 8);
        let row = self.rows.chunks_mut(stride.max(1)).nth(y).unwrap_or_default();
        for (place, byte) in row.iter_mut().zip(bytes) {
            *place = byte;
        }
        // Pixels beyond the edge are not black.
        if let Some(last) = row.last_mut() {
            *last &= 0xff << spare;
        }
    }

    /// Ignores positions outside of the picture.
    pub(crate) fn blacken(&mut self, x: u32, y: u32) {
        if x < self.width && y < self.height {
            let place = y as usize * self.stride() + (x / 8) as usize;
            if let Some(byte) = self.rows.get_mut(place) {
                *byte |= 0x80 >> (x % 8);
            }
        }
    }
}

fn stride(width: u32) -> usize {
    width.div_ceil(8) as usize
}

pub(crate) fn is_black(row: &[u8], x: u32) -> bool {
    row.get((x / 8) as usize).is_some_and(|byte| byte & (0x80 >> (x % 8)) != 0)
}
