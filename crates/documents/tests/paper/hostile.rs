//! Files made to do harm. All of them end, with a fault or with less text, and none of them panics.

use documents::{DocumentError, ExtractedText, images, render, text, visible_text};

use crate::{document, referral};

/// A file of objects from 1 on; the first is the catalog.
fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    for (index, object) in objects.iter().enumerate() {
        bytes.extend(format!("{} 0 obj\n", index + 1).into_bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    bytes.extend(b"trailer\n<</Root 1 0 R>>\n");
    bytes
}

fn stream(entries: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = format!("<<{entries} /Length {}>>\nstream\n", content.len()).into_bytes();
    bytes.extend(content);
    bytes.extend(b"\nendstream");
    bytes
}

/// One page with a font `F` and a form `X`; further objects from 5 on.
fn page(content: Vec<u8>, more: &[Vec<u8>]) -> Vec<u8> {
    let mut objects = vec![
        b"<</Type /Catalog /Pages 2 0 R>>".to_vec(),
        b"<</Type /Pages /Kids [3 0 R] /Count 1>>".to_vec(),
        b"<</Type /Page /Contents 4 0 R /Resources <</Font <</F 5 0 R>> /XObject <</X 6 0 R /Y 7 0 R>>>>>>".to_vec(),
        content,
    ];
    objects.extend(more.iter().cloned());
    file(&objects)
}

const HELVETICA: &[u8] = b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>";

fn read(bytes: &[u8]) -> Result<ExtractedText, DocumentError> {
    let _ = images(bytes);
    let read = text(bytes);
    // What is visible costs more to find out, and is never more.
    if let (Ok(read), Ok(visible)) = (&read, visible_text(bytes)) {
        assert!(visible.pages.len() == read.pages.len());
    }
    read
}

fn is_too_large(bytes: &[u8]) {
    let result = read(bytes);
    assert!(matches!(result, Err(DocumentError::TooLarge(_))), "{:?}", result.map(|text| text.joined().len()));
}

/// What `miniz_oxide` makes of zeros, made by hand: a thousand to one.
fn deflated(content: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(content, 9)
}

#[test]
fn a_sound_page_is_read() {
    let content = stream("", b"BT /F 12 Tf (sound) Tj ET /X Do");
    let form =
        stream("/Type /XObject /Subtype /Form /Resources <</Font <</F 5 0 R>>>>", b"BT /F 9 Tf 0 50 Td (form) Tj ET");
    assert_eq!(read(&page(content, &[HELVETICA.to_vec(), form])).unwrap().pages, ["sound\nform"]);
}

#[test]
fn circles_end() {
    for objects in [
        vec!["<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [2 0 R 2 0 R]>>"],
        vec!["<</Type /Catalog /Pages 2 0 R>>", "3 0 R", "2 0 R"],
        vec!["1 0 R"],
        vec!["<</Type /Catalog /Pages 1 0 R /Kids [1 0 R]>>"],
        vec!["<</Type /Catalog /Pages 2 0 R>>", "<</Kids [<</Kids [<</Kids [2 0 R]>>]>>]>>"],
    ] {
        let objects: Vec<Vec<u8>> = objects.iter().map(|object| object.as_bytes().to_vec()).collect();
        assert!(read(&file(&objects)).is_err());
    }
    // Tables of offsets that name each other, and a stream whose length is itself.
    let mut table = file(&[
        b"<</Type /Catalog /Pages 2 0 R>>".to_vec(),
        b"<</Kids [3 0 R]>>".to_vec(),
        b"<</Type /Page /Contents 4 0 R>>".to_vec(),
    ]);
    table.extend(stream("/Length 4 0 R", b"x"));
    let at = table.len();
    table.extend(
        format!(
            "xref\n0 1\n0000000000 65535 f \ntrailer\n<</Root 1 0 R /Prev {at} /XRefStm {at}>>\nstartxref\n{at}\n%%EOF"
        )
        .into_bytes(),
    );
    assert!(read(&table).is_ok());
    // A form that shows itself.
    let form = stream("/Type /XObject /Subtype /Form /Resources <</XObject <</X 6 0 R>>>>", b"/X Do /X Do");
    assert!(read(&page(stream("", b"/X Do"), &[HELVETICA.to_vec(), form])).is_ok());
}

#[test]
fn laughter_multiplied_ends() {
    let show = b"/X Do ".repeat(2000);
    let form = stream("/Type /XObject /Subtype /Form /Resources <</XObject <</X 6 0 R>>>>", &show);
    is_too_large(&page(stream("", &show), &[HELVETICA.to_vec(), form]));
    let words = b"BT /F 12 Tf (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ET ".repeat(300_000);
    is_too_large(&page(stream("/Filter /FlateDecode", &deflated(&words)), &[HELVETICA.to_vec()]));
}

#[test]
fn bombs_do_not_go_off() {
    let zeros = deflated(&vec![b' '; 40 << 20]);
    is_too_large(&page(stream("/Filter /FlateDecode", &zeros), &[]));
    let nested = deflated(&zeros);
    is_too_large(&page(stream("/Filter [/FlateDecode /FlateDecode]", &nested), &[]));
    let runs = [129_u8, b' '].repeat(1 << 19);
    is_too_large(&page(stream("/Filter /RunLengthDecode", &runs), &[]));
    // Many streams of a size that is allowed.
    let piece = stream("/Filter /FlateDecode", &deflated(&vec![b' '; 10 << 20]));
    let kids = (0..20).map(|index| format!("{} 0 R", index + 4)).collect::<Vec<_>>().join(" ");
    let mut objects = vec![
        b"<</Type /Catalog /Pages 2 0 R>>".to_vec(),
        b"<</Kids [3 0 R]>>".to_vec(),
        format!("<</Type /Page /Contents [{kids}]>>").into_bytes(),
    ];
    objects.extend(vec![piece; 20]);
    is_too_large(&file(&objects));
}

#[test]
fn a_million_objects_are_too_many() {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    for number in 1..1_000_000 {
        bytes.extend(format!("{number} 0 obj 1 endobj\n").into_bytes());
    }
    is_too_large(&bytes);
    let rows = b"0000000016 00000 n \n".repeat(1_000_000);
    let table = [&b"%PDF-1.7\nxref\n0 1000000\n"[..], &rows, b"trailer <</Root 1 0 R>>\nstartxref\n9\n%%EOF"].concat();
    is_too_large(&table);
}

#[test]
fn depth_is_bounded() {
    for opening in ["[", "<</A ", "<</Kids [", "("] {
        let deep = opening.repeat(200_000).into_bytes();
        let _ = read(&page(deep.clone(), &[]));
        let _ = read(&page(stream("", &deep), &[]));
        let _ = read(&file(&[deep]));
    }
    let states = b"q ".repeat(1_000_000);
    is_too_large(&page(stream("", &states), &[]));
}

#[test]
fn sizes_that_lie_are_not_believed() {
    for (entries, content) in [
        ("/Length 99999999999", &b"BT ET"[..]),
        ("/Length -1", b"BT ET"),
        ("/Filter /FlateDecode /DecodeParms <</Predictor 15 /Columns 999999999 /Colors 999>>", b"x"),
        ("/Filter /LZWDecode", b"\xff\xff\xff\xff\xff"),
        ("/Filter [/ASCII85Decode /ASCIIHexDecode /RunLengthDecode]", b"zzzzz~>"),
        ("/Filter /Unknown", b"x"),
    ] {
        let mut bytes = format!("<<{entries}>>\nstream\n").into_bytes();
        bytes.extend(content);
        bytes.extend(b"\nendstream");
        let _ = read(&page(bytes, &[]));
    }
    let ranges = stream("", &b"1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange ".repeat(20_000));
    let font = b"<</Type /Font /Subtype /Type0 /ToUnicode 6 0 R /Encoding /Identity-H /DescendantFonts [<</W [0 99999999 500 0 99999999 500]>>]>>";
    let _ = read(&page(stream("", b"BT /F 1e38 Tf 1e38 0 0 1e38 1e38 1e38 Tm (ab) Tj ET"), &[font.to_vec(), ranges]));
    let picture =
        "/Type /XObject /Subtype /Image /Width 99999999 /Height 99999999 /BitsPerComponent 8 /ColorSpace /DeviceRGB";
    for filter in ["", "/Filter /CCITTFaxDecode /DecodeParms <</K -1>>", "/Filter /DCTDecode"] {
        let bytes = page(
            stream("", b"999 0 0 999 0 0 cm /X Do"),
            &[HELVETICA.to_vec(), stream(&format!("{picture} {filter}"), b"x")],
        );
        assert!(images(&bytes).is_ok());
    }
}

#[test]
fn pictures_that_nobody_can_unpack_are_not_handed_on() {
    let png = |width: u32, height: u32| {
        [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &width.to_be_bytes()[..], &height.to_be_bytes(), b"\x08\0\0\0\0"].concat()
    };
    assert_eq!(images(&png(1000, 1000)).map(|found| found.len()), Ok(1));
    assert!(images(&png(1 << 20, 1 << 20)).is_err());
    let jpeg = |size: [u8; 4]| [&b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08"[..], &size, b"\x03"].concat();
    assert_eq!(images(&jpeg([4, 0, 4, 0])).map(|found| found.len()), Ok(1));
    for size in [[0xff; 4], [0; 4]] {
        assert!(images(&jpeg(size)).is_err());
    }
}

#[test]
fn a_directory_of_pages_that_lies_is_not_believed() {
    let entry = |tag: u16, value: u32| [&tag.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0], &value.to_le_bytes()].concat();
    for (width, height, compression) in
        [(u32::MAX, u32::MAX, 1), (60_000, 1000, 4), (60_000, 1000, 3), (60_000, 1000, 5), (8, 8, 99)]
    {
        let mut bytes = b"II*\0\x08\0\0\0\x05\0".to_vec();
        for (tag, value) in [(256, width), (257, height), (259, compression), (273, 8), (279, u32::MAX)] {
            bytes.extend(entry(tag, value));
        }
        // The next directory is this one.
        bytes.extend([8, 0, 0, 0]);
        let read = text(&bytes).unwrap();
        assert_eq!(read.pages.len(), 1);
        let _ = images(&bytes);
    }
}

#[test]
fn files_that_break_off_anywhere_are_survived() {
    let mut scanned = referral();
    scanned["text_layer"] = serde_json::json!(false);
    let mut faxed = referral();
    faxed["format"] = serde_json::json!("tiff");
    for specification in [referral(), scanned, faxed] {
        let whole = render(&document(specification)).unwrap().bytes;
        for parts in 0..60 {
            let _ = read(&whole[..whole.len() * parts / 60]);
        }
        for turned in (0..whole.len()).step_by(whole.len() / 60) {
            let mut changed = whole.clone();
            changed[turned] ^= 0x41;
            let _ = read(&changed);
        }
    }
}
