//! Our own files: the same every time, readable word for word, bounded.

use documents::{DocumentError, FileKind, images, render, text};
use proptest::prelude::*;
use serde_json::json;

use crate::{document, missing, referral};

#[test]
fn a_referral_can_be_read_again() {
    let document = document(referral());
    let rendered = render(&document).unwrap();
    assert_eq!((rendered.pages, rendered.content_type), (1, "application/pdf"));
    assert_eq!(rendered.text.as_deref(), Some(document.text().as_str()));
    let read = text(&rendered.bytes).unwrap();
    assert_eq!((read.kind, read.pages.len(), read.needs_ocr()), (FileKind::Pdf, 1, false));
    assert_eq!(missing(&document.text(), &read.joined()), None, "{}", read.joined());
    for line in ["Patient:\tĐặng Thị Hồng", "Metoprolol\t25 mg", "Page 1 of 1", "Seen by Dr. Núñez and Dr. Müller."]
    {
        assert!(read.joined().contains(line), "{line} in {}", read.joined());
    }
}

#[test]
fn the_same_specification_gives_the_same_bytes() {
    for change in [
        json!({}),
        json!({"signature": "scanned"}),
        json!({"text_layer": false}),
        json!({"look": "scanned"}),
        json!({"text_layer": false, "look": "clean"}),
        json!({"format": "tiff"}),
    ] {
        let mut specification = referral();
        specification.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let document = document(specification.clone());
        let first = render(&document).unwrap();
        assert_eq!(first, render(&document).unwrap());
        specification["header"]["MRN"] = json!(482_914);
        assert_ne!(first.bytes, render(&crate::document(specification)).unwrap().bytes, "{change}");
    }
}

#[test]
fn a_picture_has_no_words_and_a_scan_may_have_them() {
    for (change, is_read, kind) in [
        (json!({"text_layer": false}), false, FileKind::Pdf),
        (json!({"text_layer": false, "look": "clean"}), false, FileKind::Pdf),
        (json!({"look": "scanned"}), true, FileKind::Pdf),
        (json!({"format": "tiff"}), false, FileKind::Tiff),
        (json!({"format": "tiff", "look": "clean"}), false, FileKind::Tiff),
    ] {
        let mut specification = referral();
        specification.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let document = document(specification);
        let rendered = render(&document).unwrap();
        assert_eq!(rendered.text.is_some(), is_read);
        let read = text(&rendered.bytes).unwrap();
        assert_eq!((read.kind, read.pages.len(), read.needs_ocr()), (kind, 1, !is_read), "{change}");
        if is_read {
            assert_eq!(missing(&document.text(), &read.joined()), None, "{}", read.joined());
        }
        let pictures = images(&rendered.bytes).unwrap();
        assert_eq!(pictures.len(), 1, "{change}");
        assert_eq!((pictures[0].page, pictures[0].content_type), (1, "image/png"));
        assert_eq!(pictures[0].dots_per_inch, Some(if kind == FileKind::Tiff { 204 } else { 300 }));
        let width = u32::from_be_bytes(pictures[0].bytes[16..20].try_into().unwrap());
        assert_eq!(width, if kind == FileKind::Tiff { 1728 } else { 2550 });
    }
    let refused = document(json!({"title": "x", "format": "tiff", "text_layer": true}));
    assert_eq!(render(&refused), Err(DocumentError::TextInTiff));
}

#[test]
fn the_signature_is_there_or_not() {
    let ink = |signature: &str| {
        let mut specification = referral();
        specification["signature"] = json!(signature);
        let rendered = render(&document(specification)).unwrap();
        let text = text(&rendered.bytes).unwrap().joined();
        (text.contains("/s/ Maria Lee"), rendered.bytes.windows(14).any(|window| window == b"/Subtype /Imag"))
    };
    assert_eq!(ink("present"), (true, false));
    assert_eq!(ink("missing"), (false, false));
    assert_eq!(ink("scanned"), (false, true));
}

#[test]
fn long_documents_go_over_pages() {
    let rows: Vec<_> = (0..300).map(|row| json!([row, format!("value{row}"), "long text ".repeat(12)])).collect();
    let document = document(json!({
        "title": "Laboratory report",
        "sections": [
            {"heading": "Results", "table": {"columns": ["Number", "Result", "Comment"], "rows": rows}},
            {"table": {"columns": ["One"], "rows": [["paragraph ".repeat(900)]]}},
            {"text": format!("before {} after", "x".repeat(400))},
        ],
    }));
    let rendered = render(&document).unwrap();
    assert!(rendered.pages > 10, "{}", rendered.pages);
    let read = text(&rendered.bytes).unwrap();
    assert_eq!(read.pages.len(), rendered.pages);
    for (index, page) in read.pages.iter().enumerate() {
        assert!(page.contains(&format!("Page {} of {}", index + 1, rendered.pages)));
    }
    // The headings of a table stand on every page that it is on.
    assert!(read.pages[1].contains("Number Result\tComment"), "{}", read.pages[1]);
    let letters = |text: &str| text.matches('x').count();
    assert_eq!(letters(&read.joined()), 400 + letters(&document.text()) - 400);
    assert_eq!(read.joined().matches("paragraph").count(), 900);
}

#[test]
fn there_is_an_end_to_pages() {
    let sections = vec![json!({"text": "word ".repeat(20_000)}); 200];
    for format in ["pdf", "tiff"] {
        let endless = document(json!({"title": "x", "sections": sections, "format": format}));
        assert!(matches!(render(&endless), Err(DocumentError::TooManyPages { .. })));
    }
}

/// Letters that somebody might write, some that the font does not have, and signs that mean something in PDF.
fn word() -> impl Strategy<Value = String> {
    "[A-Za-z0-9ÀÿĐđặồłŻşğΩжñ≥µ€山()<>\\\\/%\\[\\]'\".,;:-]{1,14}"
}

/// As a fax machine prints it, and with a signature that one can see.
#[test]
fn a_page_of_a_document_can_be_seen() {
    let shown = |signature: &str| {
        let mut referral = crate::referral();
        referral["signature"] = json!(signature);
        documents::picture(&document(referral), 1).unwrap().unwrap()
    };
    let (scanned, missing) = (shown("scanned"), shown("missing"));
    assert_eq!((scanned.pixels(), missing.pixels()), (1728 * 2156, 1728 * 2156));
    assert_ne!(scanned.bytes, missing.bytes);
    assert_eq!(documents::picture(&document(crate::referral()), 9), Ok(None));
}

fn words(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(word(), 1..most).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_word_of_any_document_is_found_in_order(
        title in words(8), labels in prop::collection::vec((word(), words(12)), 0..8), paragraphs in prop::collection::vec(words(60), 0..6),
        cells in prop::collection::vec((word(), words(10), word()), 0..40), signer in words(4), is_scanned in any::<bool>(),
    ) {
        let header: serde_json::Map<_, _> = labels.into_iter().map(|(label, value)| (label, json!(value))).collect();
        let rows: Vec<_> = cells.into_iter().map(|(one, two, three)| json!([one, two, three])).collect();
        let document = document(json!({
            "title": title, "header": header, "signer": signer, "footer": "the footer",
            "sections": [
                {"heading": "Text", "text": paragraphs.join("\n")},
                {"table": {"columns": ["One", "Two", "Three"], "rows": rows}},
            ],
            "look": if is_scanned { "scanned" } else { "clean" },
        }));
        let rendered = render(&document).unwrap();
        let read = text(&rendered.bytes).unwrap();
        prop_assert_eq!(read.pages.len(), rendered.pages);
        let said = document.text();
        prop_assert_eq!(missing(&said, &read.joined()), None, "{}", read.joined());
    }
}
