//! Renders documents from a specification to PDF and TIFF, and extracts text and pictures from documents.
//!
//! Pure: the same specification gives the same bytes, and the same file gives the same text. Input files may be hostile:
//! every reader has limits on its work, and none of them runs a program or trusts a length.

mod error;
mod font;
mod handwriting;
mod layout;
mod picture;
mod read;
mod render;
mod specification;
mod write;

pub use error::DocumentError;
pub use picture::Png;
pub use read::{
    ExtractedText, FileKind, PageImage, PageVisitor, images, kind, non_text_content_and_cost, page,
    same_appearance_and_cost, text, text_and_cost, visible_text, visible_text_and_cost, visit_page_images,
};
pub use render::{MOST_PAGES, Rendered, picture, render};
pub use specification::{Document, Format, Letterhead, Look, Section, Signature, Table, plain};
