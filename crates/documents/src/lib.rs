//! Paper: documents rendered from a specification to PDF and TIFF, and the text and pictures read from files of others.
//!
//! Pure: the same specification gives the same bytes, and the same file the same text. Whatever is read may be hostile:
//! every reader counts what it does and stops at its limits, and none of them runs a program or trusts a length.

mod fault;
mod font;
mod ink;
mod layout;
mod picture;
mod read;
mod render;
mod specification;
mod write;

pub use fault::Fault;
pub use picture::Png;
pub use read::{
    Kind, PageImage, Text, Visit, beside_text_and_cost, images, kind, look_alike_and_cost, page, scans, text,
    text_and_cost, visible_text, visible_text_and_cost,
};
pub use render::{MOST_PAGES, Rendered, picture, render};
pub use specification::{Document, Format, Letterhead, Look, Section, Signature, Table, plain};
