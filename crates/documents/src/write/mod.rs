//! Writers of PDF and TIFF files.

pub(crate) mod embedded_font;
mod pdf_file;
pub(crate) mod pdf_pages;
pub(crate) mod tiff;
