//! Paper: files of any kind, and any specification.

use documents::{Document, images, kind, page, render, text};

/// What is read twice is the same twice, and a kind that is known is read or refused.
pub(crate) fn document_file(bytes: &[u8]) {
    let read = text(bytes);
    assert_eq!(read, text(bytes));
    if let Ok(read) = read {
        assert_eq!(Some(read.kind), kind(bytes));
        assert!(!read.pages.is_empty());
    }
    let _ = images(bytes);
    if let Ok(Some(page)) = page(bytes, 1) {
        assert!(page.pixels() > 0, "a page without a size");
    }
}

/// What can be rendered is read again, with the same number of pages, and no letter of it is lost.
pub(crate) fn document_specification(bytes: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Document>(bytes) else { return };
    let Ok(rendered) = render(&document) else { return };
    let read = text(&rendered.bytes);
    assert!(read.is_ok(), "what was rendered cannot be read: {read:?}");
    let Ok(read) = read else { return };
    assert_eq!(read.pages.len(), rendered.pages);
    assert!(rendered.text.is_some() || read.needs_ocr());
    assert!(read.needs_ocr() || read.joined().contains("Page 1 of"), "{}", read.joined());
}
