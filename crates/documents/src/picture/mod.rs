//! Pages as black and white pictures, drawn from the layout or decoded from files.

pub(crate) mod bitmap;
pub(crate) mod draw;
pub(crate) mod group4;
mod png;

pub(crate) use bitmap::Bitmap;
pub use png::Png;
