//! Pages as pictures: black and white, drawn from the layout or decoded from files of others.

pub(crate) mod bitmap;
pub(crate) mod draw;
pub(crate) mod group4;
mod png;

pub(crate) use bitmap::Bitmap;
pub use png::Png;
