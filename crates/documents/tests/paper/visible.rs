//! Text counts only if a person would see it.

use documents::{ExtractedText, text, visible_text};

use crate::reading::{sample, words};
use crate::{document, referral};

/// A page under construction: its content, entries of its dictionary and resources, and further objects from 6 on.
#[derive(Clone, Default)]
pub(crate) struct Page {
    content: String,
    entries: String,
    resources: String,
    pub(crate) catalog: String,
    objects: Vec<Vec<u8>>,
}

impl Page {
    pub(crate) fn showing(content: &str) -> Self {
        Self { content: content.to_owned(), ..Self::default() }
    }

    pub(crate) fn with(mut self, resources: &str, objects: &[Vec<u8>]) -> Self {
        self.resources = resources.to_owned();
        self.objects = objects.to_vec();
        self
    }

    pub(crate) fn entries(mut self, entries: &str) -> Self {
        self.entries = entries.to_owned();
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let media = if self.entries.contains("MediaBox") { "" } else { "/MediaBox [0 0 612 792]" };
        let mut objects = vec![
            format!("<</Type /Catalog /Pages 2 0 R {}>>", self.catalog).into_bytes(),
            b"<</Type /Pages /Kids [3 0 R] /Count 1>>".to_vec(),
            format!(
                "<</Type /Page /Contents 4 0 R {media} {} /Resources <</Font <</F 5 0 R /H 5 0 R>> {}>>>>",
                self.entries, self.resources
            )
            .into_bytes(),
            stream("", self.content.as_bytes()),
            b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>".to_vec(),
        ];
        objects.extend(self.objects.iter().cloned());
        let mut bytes = b"%PDF-1.7\n".to_vec();
        for (index, object) in objects.iter().enumerate() {
            bytes.extend(format!("{} 0 obj\n", index + 1).into_bytes());
            bytes.extend(object);
            bytes.extend(b"\nendobj\n");
        }
        bytes.extend(b"trailer\n<</Root 1 0 R>>\n");
        bytes
    }

    fn visible(&self) -> String {
        visible_text(&self.bytes()).unwrap().joined()
    }
}

pub(crate) fn stream(entries: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = format!("<<{entries} /Length {}>>\nstream\n", content.len()).into_bytes();
    bytes.extend(content);
    bytes.extend(b"\nendstream");
    bytes
}

pub(crate) fn form(entries: &str, content: &str) -> Vec<u8> {
    stream(&format!("/Type /XObject /Subtype /Form {entries} /Resources <</Font <</F 5 0 R>>>>"), content.as_bytes())
}

/// The phrase at a place, with operators before it.
pub(crate) fn phrase(before: &str) -> String {
    format!("BT {before} /F 12 Tf 100 700 Td (Secret words) Tj ET")
}

#[track_caller]
fn hides(name: &str, page: &Page) {
    let whole = text(&page.bytes()).unwrap().joined();
    assert!(whole.contains("Secret words"), "{name}: the text layer has it: {whole:?}");
    let seen = page.visible();
    let letters: String = seen.chars().filter(|letter| letter.is_alphanumeric()).collect();
    assert_eq!(letters, "", "{name}");
}

#[track_caller]
fn shows(name: &str, page: &Page) {
    let seen = page.visible();
    assert!(seen.contains("Secret words"), "{name}: {seen:?}");
}

pub(crate) const WHITE_IMAGE: &str =
    "/Type /XObject /Subtype /Image /Width 2 /Height 2 /BitsPerComponent 8 /ColorSpace /DeviceGray";

#[test]
fn ordinary_text_is_seen() {
    for (name, content) in [
        ("black", phrase("")),
        ("dark blue", phrase("0 0 0.5 rg")),
        ("red", phrase("0.8 0 0 rg")),
        ("gray", phrase("0.6 g")),
        ("cmyk", phrase("0 0 0 1 k")),
        ("white on a dark box", format!("0.1 0.1 0.3 rg 90 690 200 30 re f {}", phrase("1 g"))),
        ("black on a light box", format!("0.9 g 90 690 200 30 re f {}", phrase("0 g"))),
        ("6 point", "BT /F 6 Tf 100 700 Td (Secret words) Tj ET".to_owned()),
        ("5 point gray", "BT 0.5 g /F 5 Tf 100 700 Td (Secret words) Tj ET".to_owned()),
        ("large", "BT /F 60 Tf 30 700 Td (Secret words) Tj ET".to_owned()),
        ("scaled up", "q 12 0 0 12 100 700 cm BT /F 1 Tf (Secret words) Tj ET Q".to_owned()),
        ("turned text", "BT /F 12 Tf 0 1 -1 0 300 300 Tm (Secret words) Tj ET".to_owned()),
        ("mirrored page", "1 0 0 -1 0 792 cm BT /F 12 Tf 1 0 0 -1 100 100 Tm (Secret words) Tj ET".to_owned()),
        ("slanted", "BT /F 12 Tf 1 0 0.3 1 100 700 Tm (Secret words) Tj ET".to_owned()),
        ("narrow", "BT /F 12 Tf 70 Tz 100 700 Td (Secret words) Tj ET".to_owned()),
        ("outlined", phrase("1 Tr 0.5 w")),
        ("filled and outlined", phrase("2 Tr 0.3 w")),
        ("within a clip", format!("q 90 690 300 30 re W n {} Q", phrase(""))),
        (
            "within a round clip",
            format!("q 50 700 m 50 800 500 800 500 700 c 500 600 50 600 50 700 c W n {} Q", phrase("")),
        ),
        ("printed twice, as bold is", format!("{} {}", phrase(""), phrase("1 0 0 1 0.2 0 Tm"))),
        ("underlined", format!("{} 100 698 70 0.8 re f", phrase(""))),
        ("struck by a line", format!("{} 0.5 w 90 704 m 200 704 l S", phrase(""))),
        ("beside a later box", format!("{} 1 g 300 600 100 200 re f", phrase(""))),
        ("below an outline", format!("{} 90 690 200 30 re S", phrase(""))),
        ("over a white box", format!("0 g 0 0 612 792 re f 1 g 90 690 200 30 re f {}", phrase("0 g"))),
        ("in a marked part", format!("/P <</MCID 0>> BDC {} EMC", phrase(""))),
    ] {
        shows(name, &Page::showing(&content));
    }
    shows("on a turned page", &Page::showing(&phrase("")).entries("/Rotate 90"));
    shows("in a crop box", &Page::showing(&phrase("")).entries("/CropBox [50 600 400 792]"));
    shows(
        "on a small page",
        &Page::showing("BT /F 8 Tf 5 20 Td (Secret words) Tj ET").entries("/MediaBox [0 0 80 50]"),
    );
    shows(
        "on a page far off",
        &Page::showing("BT /F 8 Tf 1005 -480 Td (Secret words) Tj ET").entries("/MediaBox [1000 -500 1612 292]"),
    );
}

#[test]
fn ordinary_text_in_other_structures_is_seen() {
    let inner = form("/BBox [0 0 612 792]", &phrase(""));
    shows("in a form", &Page::showing("/X Do").with("/XObject <</X 6 0 R>>", std::slice::from_ref(&inner)));
    let group = form("/BBox [0 0 612 792] /Group <</S /Transparency>>", &phrase(""));
    shows(
        "in a group",
        &Page::showing("/G gs /X Do").with("/XObject <</X 6 0 R>> /ExtGState <</G <</ca 0.8>>>>", &[group]),
    );
    shows(
        "highlighted",
        &Page::showing(&format!("{} /M gs 1 1 0 rg 90 690 200 30 re f", phrase("")))
            .with("/ExtGState <</M <</BM /Multiply>>>>", &[]),
    );
    shows(
        "below a veil",
        &Page::showing(&format!("{} /M gs 1 g 90 690 200 30 re f", phrase("")))
            .with("/ExtGState <</M <</ca 0.3>>>>", &[]),
    );
    let white = stream(WHITE_IMAGE, &[255; 4]);
    let content = format!("q 612 0 0 792 0 0 cm /X Do Q {}", phrase(""));
    shows("over a picture", &Page::showing(&content).with("/XObject <</X 6 0 R>>", std::slice::from_ref(&white)));
    let clear = stream(&format!("{WHITE_IMAGE} /SMask 7 0 R"), &[255; 4]);
    let mask = stream(WHITE_IMAGE, &[0; 4]);
    let content = format!("{} q 612 0 0 792 0 0 cm /X Do Q", phrase(""));
    shows("below a transparent picture", &Page::showing(&content).with("/XObject <</X 6 0 R>>", &[clear, mask]));
    let mut layered = Page::showing(&format!("/OC /L BDC {} EMC", phrase("")));
    layered = layered.with("/Properties <</L 6 0 R>>", &[b"<</Type /OCG /Name (a)>>".to_vec()]);
    layered.catalog = "/OCProperties <</OCGs [6 0 R] /D <</ON [6 0 R]>>>>".to_owned();
    shows("in a layer that is on", &layered);
    let annotation = b"<</Type /Annot /Subtype /FreeText /Rect [0 0 612 792] /AP <</N 7 0 R>>>>".to_vec();
    shows("in an annotation", &Page::showing("").entries("/Annots [6 0 R]").with("", &[annotation, inner]));
    let tint = "/ColorSpace <</S [/Separation /Black /DeviceCMYK <</FunctionType 2 /Domain [0 1] /N 1 /C0 [0 0 0 0] /C1 [0 0 0 1]>>]>>";
    shows("in a spot color", &Page::showing(&phrase("/S cs 1 scn")).with(tint, &[]));
    let shading = "/Shading <</S <</ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 600 0] /Function <</FunctionType 2 /Domain [0 1] /N 1 /C0 [0 0 0.4] /C1 [0.1 0.2 0.5]>>>>>>";
    shows(
        "white on a shading",
        &Page::showing(&format!("q 90 690 200 30 re W n /S sh Q {}", phrase("1 g"))).with(shading, &[]),
    );
}

#[test]
fn hidden_text_is_not_seen() {
    for (name, content) in [
        ("render mode 3", phrase("3 Tr")),
        ("render mode 7", phrase("7 Tr")),
        ("render mode 3 set outside of the text", format!("3 Tr {}", phrase(""))),
        ("white on white", phrase("1 g")),
        ("nearly white", phrase("0.95 0.95 0.97 rg")),
        ("white in another space", phrase("0 0 0 0 k")),
        ("white over white over black", format!("0 g 0 0 612 792 re f 1 g 90 690 200 30 re f {}", phrase("1 g"))),
        ("black on black", format!("0 g 90 690 200 30 re f {}", phrase("0 g"))),
        ("white strokes", phrase("1 Tr 1 G")),
        ("left of the page", "BT /F 12 Tf -500 700 Td (Secret words) Tj ET".to_owned()),
        ("above the page", "BT /F 12 Tf 100 900 Td (Secret words) Tj ET".to_owned()),
        ("across the edge", "BT /F 60 Tf 30 -40 Td (Secret words) Tj ET".to_owned()),
        ("outside of a clip", format!("q 0 0 50 50 re W n {} Q", phrase(""))),
        ("outside of a round clip", format!("q 0 0 m 0 90 90 90 90 0 c W n {} Q", phrase(""))),
        ("in an empty clip", format!("q 0 0 0 0 re W n {} Q", phrase(""))),
        ("below a rectangle", format!("{} 1 g 90 690 200 30 re f", phrase(""))),
        ("below a black rectangle", format!("{} 0 g 90 690 200 30 re f", phrase(""))),
        ("below a polygon", format!("{} 1 g 0 500 m 900 500 l 100 1900 l f", phrase(""))),
        ("below a wide line", format!("{} 1 G 30 w 90 704 m 300 704 l S", phrase(""))),
        (
            "below many lines",
            format!(
                "{} 1 G 1.2 w {}",
                phrase(""),
                (690..720).map(|y| format!("90 {y} m 300 {y} l S ")).collect::<String>()
            ),
        ),
        ("white over its own black shapes", format!("{} {}", phrase("0 g"), phrase("1 g"))),
        (
            "below white letters of another font",
            format!("{} BT 1 g /H 12 Tf 100 700 Td (Secret words) Tj ET", phrase("0 g")),
        ),
        ("half a point", "BT /F 0.5 Tf 100 700 Td (Secret words) Tj ET".to_owned()),
        ("three points", "BT /F 3 Tf 100 700 Td (Secret words) Tj ET".to_owned()),
        ("scaled down", "q 0.05 0 0 0.05 100 700 cm BT /F 12 Tf (Secret words) Tj ET Q".to_owned()),
        ("scaled down by the text matrix", "BT /F 12 Tf 0.02 0 0 0.02 100 700 Tm (Secret words) Tj ET".to_owned()),
        ("flat", "BT /F 12 Tf 1 0 0 0.01 100 700 Tm (Secret words) Tj ET".to_owned()),
        ("squeezed", "BT /F 12 Tf 2 Tz 100 700 Td (Secret words) Tj ET".to_owned()),
        ("sheared to a line", "BT /F 12 Tf 1 0 1 0.001 100 700 Tm (Secret words) Tj ET".to_owned()),
    ] {
        hides(name, &Page::showing(&content));
    }
    hides("outside of the crop box", &Page::showing(&phrase("")).entries("/CropBox [0 0 612 400]"));
    hides("on a page of ten meters", &Page::showing(&phrase("")).entries("/MediaBox [0 0 14400 14400]"));
}

#[test]
fn text_hidden_by_other_structures_is_not_seen() {
    let state = |entries: &str| format!("/ExtGState <</G <<{entries}>>>>");
    hides("alpha 0", &Page::showing(&phrase("/G gs")).with(&state("/ca 0"), &[]));
    hides("alpha of 5 percent", &Page::showing(&phrase("/G gs")).with(&state("/ca 0.05"), &[]));
    hides(
        "multiplied white",
        &Page::showing(&format!("0 g 90 690 200 30 re f {}", phrase("/G gs 1 g"))).with(&state("/BM /Multiply"), &[]),
    );
    let group = form("/BBox [0 0 612 792] /Group <</S /Transparency>>", &phrase(""));
    hides(
        "in a group of alpha 0",
        &Page::showing("/G gs /X Do").with(&format!("{} /XObject <</X 6 0 R>>", state("/ca 0")), &[group]),
    );
    let masked = state("/SMask <</S /Luminosity /G 6 0 R>>");
    hides("below a soft mask", &Page::showing(&phrase("/G gs")).with(&masked, &[form("/BBox [0 0 1 1]", "")]));
    let cover = |entries: &str, pixel: u8| stream(&format!("{WHITE_IMAGE} {entries}"), &[pixel; 4]);
    let covered = format!("{} q 612 0 0 792 0 0 cm /X Do Q", phrase(""));
    hides("below a picture", &Page::showing(&covered).with("/XObject <</X 6 0 R>>", &[cover("", 255)]));
    hides(
        "below an opaque mask",
        &Page::showing(&covered).with("/XObject <</X 6 0 R>>", &[cover("/SMask 7 0 R", 255), cover("", 255)]),
    );
    hides(
        "below a picture that cannot be decoded",
        &Page::showing(&covered).with("/XObject <</X 6 0 R>>", &[cover("/Filter /JPXDecode", 0)]),
    );
    let inline = format!("{} q 612 0 0 792 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \u{7f} EI Q", phrase(""));
    hides("below a picture in the content", &Page::showing(&inline));
    let over = format!("q 612 0 0 792 0 0 cm /X Do Q {}", phrase("1 g"));
    hides("white on a white picture", &Page::showing(&over).with("/XObject <</X 6 0 R>>", &[cover("", 255)]));
    hides(
        "on a picture that cannot be decoded",
        &Page::showing(&over).with("/XObject <</X 6 0 R>>", &[cover("/Filter /JPXDecode", 0)]),
    );
    hides(
        "in a form with a small box",
        &Page::showing("/X Do").with("/XObject <</X 6 0 R>>", &[form("/BBox [0 0 9 9]", &phrase(""))]),
    );
    let inherited = form("/BBox [0 0 612 792]", &phrase(""));
    hides(
        "in a form that inherits render mode 3",
        &Page::showing("3 Tr /X Do").with("/XObject <</X 6 0 R>>", std::slice::from_ref(&inherited)),
    );
    hides(
        "in a form that inherits white",
        &Page::showing("1 g /X Do").with("/XObject <</X 6 0 R>>", std::slice::from_ref(&inherited)),
    );
    hides(
        "in a pattern",
        &Page::showing(&phrase("/Pattern cs /P scn")).with("/Pattern <</P 6 0 R>>", &[stream("/PatternType 1", b"")]),
    );
    let white =
        "/ColorSpace <</S [/Separation /Black /DeviceGray <</FunctionType 2 /Domain [0 1] /N 1 /C0 [1] /C1 [1]>>]>>";
    hides("in a spot color that is white", &Page::showing(&phrase("/S cs 1 scn")).with(white, &[]));
    for (name, flags) in [("hidden", 2), ("not viewed", 32), ("invisible", 1)] {
        let annotation = format!("<</Type /Annot /Subtype /FreeText /F {flags} /Rect [0 0 612 792] /AP <</N 7 0 R>>>>");
        let page = Page::showing("").entries("/Annots [6 0 R]").with("", &[annotation.into_bytes(), inherited.clone()]);
        hides(&format!("in an annotation that is {name}"), &page);
    }
    let patch = form("/BBox [0 0 200 30]", "1 g 0 0 200 30 re f");
    let annotation = b"<</Type /Annot /Subtype /Square /Rect [90 690 290 720] /AP <</N 7 0 R>>>>".to_vec();
    hides("below an annotation", &Page::showing(&phrase("")).entries("/Annots [6 0 R]").with("", &[annotation, patch]));
}

#[test]
fn hidden_layers_are_not_seen() {
    let group = b"<</Type /OCG /Name (a)>>".to_vec();
    let usage = b"<</Type /OCG /Name (a) /Usage <</View <</ViewState /OFF>>>>>>".to_vec();
    let membership = b"<</Type /OCMD /OCGs [6 0 R] /P /AllOn>>".to_vec();
    let negated = b"<</Type /OCMD /VE [/Not 6 0 R]>>".to_vec();
    let content = format!("/OC /L BDC {} EMC", phrase(""));
    for (name, layer, objects, configuration) in [
        ("off", "6 0 R", vec![group.clone()], "/OFF [6 0 R]"),
        ("off by default", "6 0 R", vec![group.clone()], "/BaseState /OFF"),
        ("off by its usage", "6 0 R", vec![usage], ""),
        ("off by its membership", "7 0 R", vec![group.clone(), membership], "/OFF [6 0 R]"),
        ("off by an expression", "7 0 R", vec![group.clone(), negated], ""),
    ] {
        let mut page = Page::showing(&content).with(&format!("/Properties <</L {layer}>>"), &objects);
        page.catalog = format!("/OCProperties <</OCGs [6 0 R] /D <<{configuration}>>>>");
        hides(name, &page);
    }
    let hidden_form = form("/BBox [0 0 612 792] /OC 7 0 R", &phrase(""));
    let mut page = Page::showing("/X Do").with("/XObject <</X 6 0 R>>", &[hidden_form, group]);
    page.catalog = "/OCProperties <</OCGs [7 0 R] /D <</OFF [7 0 R]>>>>".to_owned();
    hides("in a form that is off", &page);
}

/// A font whose glyphs are drawn by content streams, all of them the same one.
fn drawn_font(glyph: &str) -> Page {
    let letters = "Secretwods";
    let procedures: String = letters.chars().map(|letter| format!("/{letter} 7 0 R ")).collect();
    let names: String = letters.chars().map(|letter| format!("{} /{letter} ", letter as u32)).collect();
    let widths = "600 ".repeat(95);
    let font = format!(
        "<</Type /Font /Subtype /Type3 /FontBBox [0 0 600 700] /FontMatrix [0.001 0 0 0.001 0 0] /CharProcs <<{procedures} /space 8 0 R>> \
         /Encoding <</Differences [32 /space {names}]>> /FirstChar 32 /LastChar 126 /Widths [{widths}]>>"
    );
    let objects = [font.into_bytes(), stream("", glyph.as_bytes()), stream("", b"600 0 0 0 0 0 d1")];
    Page::showing("BT /T 12 Tf 100 700 Td (Secret words) Tj ET").with("/Font <</F 5 0 R /T 6 0 R>>", &objects)
}

#[test]
fn drawn_fonts_are_seen_if_they_draw() {
    shows("boxes", &drawn_font("600 0 0 0 600 700 d1 100 0 400 600 re f"));
    shows(
        "pictures",
        &drawn_font("600 0 0 0 600 700 d1 q 400 0 0 600 100 0 cm BI /W 8 /H 2 /IM true /BPC 1 ID \u{1}\u{1} EI Q"),
    );
    hides("empty", &drawn_font("600 0 0 0 600 700 d1"));
    hides("tiny dots", &drawn_font("600 0 0 0 600 700 d1 0 0 10 10 re f"));
    hides("white", &drawn_font("600 0 d0 1 g 100 0 400 600 re f"));
}

#[test]
fn fonts_that_are_not_embedded_say_what_is_shown() {
    // The map says one thing, the encoding another; readers show the encoding.
    let map = stream("", b"1 begincodespacerange <00> <FF> endcodespacerange 3 beginbfchar <41> <0059> <42> <0065> <43> <0073> endbfchar");
    let font =
        b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 7 0 R>>".to_vec();
    let page = Page::showing("BT /T 12 Tf 100 700 Td (ABC) Tj ET").with("/Font <</F 5 0 R /T 6 0 R>>", &[font, map]);
    assert_eq!(text(&page.bytes()).unwrap().joined(), "Yes");
    assert_eq!(page.visible(), "ABC");
    let symbols = b"<</Type /Font /Subtype /Type1 /BaseFont /Symbol>>".to_vec();
    let page =
        Page::showing("BT /T 12 Tf 100 700 Td (Secret words) Tj ET").with("/Font <</F 5 0 R /T 6 0 R>>", &[symbols]);
    hides("Greek letters", &page);
}

#[test]
fn only_what_is_hidden_is_left_out() {
    let content = "BT /F 12 Tf 100 700 Td (The order is ) Tj 1 g (not ) Tj 0 g (signed.) Tj ET";
    let seen = Page::showing(content).visible();
    assert_eq!(words(&seen), "The order is signed.");
    let page = format!("{} BT /F 12 Tf 100 600 Td (Shown) Tj ET 1 g 90 690 200 30 re f", phrase(""));
    assert_eq!(Page::showing(&page).visible(), "Shown");
}

/// What other programs make is read completely, as far as it is text.
#[test]
fn files_of_other_programs_are_seen_completely() {
    for name in [
        "reportlab.pdf",
        "reportlab-objstm.pdf",
        "reportlab-lin.pdf",
        "platypus.pdf",
        "fpdf2.pdf",
        "fpdf2-ttf.pdf",
        "weasy.pdf",
        "chromium.pdf",
        "pdfkit.pdf",
        "pdf-lib.pdf",
        "jspdf.pdf",
        "form.pdf",
    ] {
        let bytes = sample(name);
        let pages = |text: ExtractedText| text.pages.iter().map(|page| words(page)).collect::<Vec<_>>();
        assert_eq!(pages(visible_text(&bytes).unwrap()), pages(text(&bytes).unwrap()), "{name}");
    }
}

#[test]
fn our_own_documents_are_seen_completely() {
    let bytes = documents::render(&document(referral())).unwrap().bytes;
    assert_eq!(visible_text(&bytes), text(&bytes));
    // The words behind a scan are not seen: the picture is, and that needs OCR.
    let mut scanned = referral();
    scanned["look"] = serde_json::json!("scanned");
    let bytes = documents::render(&document(scanned)).unwrap().bytes;
    assert!(!text(&bytes).unwrap().needs_ocr());
    assert!(visible_text(&bytes).unwrap().needs_ocr());
}

fn operator() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let number = || (-900_i32..900).prop_map(|tenths| format!("{:.1}", f64::from(tenths) / 10.0));
    prop_oneof![
        Just("BT".to_owned()),
        Just("ET".to_owned()),
        Just("q".to_owned()),
        Just("Q".to_owned()),
        Just("f".to_owned()),
        Just("W* n".to_owned()),
        Just("S".to_owned()),
        Just("h b*".to_owned()),
        Just("(Secret words) Tj".to_owned()),
        Just("[(Secret) -900 (words)] TJ".to_owned()),
        (0..9_u8).prop_map(|mode| format!("{mode} Tr")),
        (0..11_u8).prop_map(|tenths| format!("0.{tenths} g 0.{tenths} G")),
        number().prop_map(|size| format!("/F {size} Tf")),
        (number(), number()).prop_map(|(x, y)| format!("{x} {y} Td")),
        (number(), number()).prop_map(|(x, y)| format!("{x} {y} m {y} {x} l")),
        (number(), number(), number()).prop_map(|(x, y, z)| format!("{x} {y} {z} {z} re")),
        (number(), number(), number()).prop_map(|(x, y, z)| format!("{x} {y} {z} {x} {y} {z} c")),
        (number(), number(), number()).prop_map(|(x, y, z)| format!("{x} {y} {z} {x} {y} {z} cm")),
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, ..Default::default() })]

    /// Whatever a page does: it can be read, the same way each time, and nothing is seen that the text layer does not have.
    #[test]
    fn nothing_is_seen_that_is_not_there(operators in proptest::collection::vec(operator(), 0..60)) {
        let bytes = Page::showing(&format!("BT /F 12 Tf 50 50 Td {}", operators.join(" "))).bytes();
        let seen = visible_text(&bytes).unwrap().joined();
        assert_eq!(visible_text(&bytes).unwrap().joined(), seen);
        let whole = text(&bytes).unwrap().joined();
        for letter in "Secretwods".chars() {
            assert!(seen.matches(letter).count() <= whole.matches(letter).count(), "{letter}: {seen:?} in {whole:?}");
        }
    }
}
