//! Files that other programs made, as `samples/` has them.

use std::ops::ControlFlow;

use documents::{DocumentError, FileKind, PageImage, images, kind, page, text, visit_page_images};

const LETTER: &str = "Prior Authorization Denial Letter Dear Dr. Núñez, the request for CPT 72148";

pub(crate) fn sample(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/paper/samples/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The picture that one page is made of.
fn scan(bytes: &[u8], number: usize) -> Result<Option<PageImage>, DocumentError> {
    let mut found = Ok(None);
    let mut keep = |_, picture| {
        found = picture;
        ControlFlow::Continue(())
    };
    visit_page_images(bytes, &[number], &mut keep)?;
    found
}

pub(crate) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn letters_of_many_programs_are_read() {
    for (name, pages, more) in [
        ("reportlab.pdf", 2, "“office visits” efficient — file appeal within 180 days. second page words here"),
        ("reportlab-objstm.pdf", 2, "second page words here"),
        ("reportlab-lin.pdf", 2, "second page words here"),
        ("platypus.pdf", 1, "Member: Müller, Jürgen Member ID: W-2231-88"),
        ("fpdf2.pdf", 1, "\"office visits\" efficient - file appeal"),
        ("fpdf2-ttf.pdf", 1, "“office visits” efficient — file appeal within 180 days. Đặng Thị Hồng"),
        ("weasy.pdf", 1, "Đặng Thị Hồng Test Result TSH 0.21"),
        ("chromium.pdf", 1, "Đặng Thị Hồng Test Result TSH 0.21"),
        ("pdfkit.pdf", 2, "efficient office - file appeal Đặng Thị Hồng office page two"),
        ("pdf-lib.pdf", 1, "efficient office - file appeal"),
        ("jspdf.pdf", 1, "efficient office - file appeal"),
    ] {
        let read = text(&sample(name)).unwrap();
        let said = words(&read.joined());
        assert_eq!((read.pages.len(), read.needs_ocr()), (pages, false), "{name}");
        assert!(said.starts_with(LETTER), "{name}: {said}");
        assert!(said.contains(more), "{name}: {said}");
    }
}

#[test]
fn junk_before_and_after_does_no_harm() {
    let sound = sample("reportlab.pdf");
    for damaged in [
        [b"junk\n".repeat(100), sound.clone()].concat(),
        [sound.clone(), b"junk\n".repeat(2000)].concat(),
        sound[..sound.len() - 300].to_vec(),
        String::from_utf8_lossy(&sound).replace("startxref", "startxxxx").into_bytes(),
        String::from_utf8_lossy(&sound).replace("/Length ", "/Lenght ").into_bytes(),
    ] {
        let said = text(&damaged).unwrap().joined();
        assert!(said.contains("Núñez") || said.contains("N\u{fffd}"), "{said}");
    }
}

/// As a payer's form is, with its fields filled in; `samples/form.pdf` is reportlab's form, filled in by pypdf.
#[test]
fn the_fields_of_a_form_are_read() {
    let said = words(&text(&sample("form.pdf")).unwrap().joined());
    assert!(said.starts_with("Prior authorization form Patient CPT Jo Mueller 72148"), "{said}");
}

#[test]
fn tables_that_point_elsewhere_are_not_followed() {
    let mut moved = sample("reportlab.pdf");
    let table = moved.windows(5).rposition(|window| window == b"xref\n").unwrap();
    for byte in &mut moved[table..] {
        if *byte == b'1' {
            *byte = b'2';
        }
    }
    assert!(text(&moved).unwrap().joined().contains("second page words here"));
}

#[test]
fn what_cannot_be_read_is_said() {
    assert_eq!(text(&sample("reportlab-enc.pdf")), Err(DocumentError::Encrypted));
    for (bytes, fault) in [
        (&b""[..], DocumentError::UnknownKind),
        (b"hello", DocumentError::UnknownKind),
        (b"%PDF-1.7\n", DocumentError::Damaged("it has no pages")),
        (b"II*\0\x08\0\0\0", DocumentError::Damaged("its directory of pages cannot be read")),
    ] {
        assert_eq!(text(bytes), Err(fault));
    }
    assert!(matches!(text(&vec![b' '; (64 << 20) + 1]), Err(DocumentError::TooLarge(_))));
}

#[test]
fn kinds_are_told_by_their_first_bytes() {
    for (name, expected, pages) in [
        ("scan.pdf", FileKind::Pdf, 1),
        ("g4.tif", FileKind::Tiff, 1),
        ("three-pages.tif", FileKind::Tiff, 3),
        ("picture.png", FileKind::Png, 1),
        ("picture.jpg", FileKind::Jpeg, 1),
    ] {
        let bytes = sample(name);
        assert_eq!(kind(&bytes), Some(expected));
        let read = text(&bytes).unwrap();
        assert_eq!((read.pages.len(), read.needs_ocr()), (pages, true), "{name}");
    }
}

/// All show a black box on white: the same pixels, however they are packed.
#[test]
fn pages_become_pictures() {
    for (name, content_type) in [
        ("g4.tif", "image/png"),
        ("g3.tif", "image/png"),
        ("packbits.tif", "image/png"),
        ("grey-lzw.tif", "image/png"),
        ("rgb-deflate.tif", "image/png"),
        ("raw.tif", "image/png"),
        ("scan-bw.pdf", "image/png"),
        ("scan.pdf", "image/jpeg"),
        ("picture.png", "image/png"),
        ("picture.jpg", "image/jpeg"),
    ] {
        let found = images(&sample(name)).unwrap();
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(found[0].content_type, content_type, "{name}");
    }
    assert_eq!(images(&sample("three-pages.tif")).unwrap().len(), 3);
    // Pictures that we do not unpack, and pages that are drawn.
    for name in ["jpeg.tif", "reportlab.pdf"] {
        assert_eq!(images(&sample(name)), Ok(Vec::new()), "{name}");
    }
    let same: Vec<Vec<u8>> = ["g4.tif", "g3.tif", "packbits.tif"]
        .iter()
        .map(|name| images(&sample(name)).unwrap().remove(0).bytes)
        .collect();
    assert!(same.iter().all(|picture| *picture == same[0]));
    let grey: Vec<Vec<u8>> = ["grey-lzw.tif", "raw.tif", "rgb-deflate.tif"]
        .iter()
        .map(|name| images(&sample(name)).unwrap().remove(0).bytes)
        .collect();
    assert!(grey.iter().all(|picture| *picture == grey[0]));
}

/// What no picture is becomes one: its words, where they stand, on the paper of a fax.
#[test]
fn drawn_pages_are_printed_anew() {
    for name in
        ["reportlab.pdf", "platypus.pdf", "fpdf2-ttf.pdf", "weasy.pdf", "chromium.pdf", "pdf-lib.pdf", "jspdf.pdf"]
    {
        let bytes = sample(name);
        assert_eq!(scan(&bytes, 1), Ok(None), "{name}");
        let printed = page(&bytes, 1).unwrap().unwrap();
        assert_eq!((printed.content_type, printed.pixels(), printed.page), ("image/png", 1728 * 2156, 1), "{name}");
        // White paper packs to less than a kilobyte.
        assert!(printed.bytes.len() > 3000, "{name}: {} bytes", printed.bytes.len());
    }
    for (name, number) in [("reportlab.pdf", 0), ("reportlab.pdf", 3), ("three-pages.tif", 4), ("picture.png", 2)] {
        assert_eq!(page(&sample(name), number), Ok(None), "{name} {number}");
    }
    let third = page(&sample("three-pages.tif"), 3).unwrap().unwrap();
    assert_eq!(images(&sample("three-pages.tif")).unwrap().pop(), Some(third));
    assert_eq!(scan(&sample("scan.pdf"), 1), page(&sample("scan.pdf"), 1));
}
