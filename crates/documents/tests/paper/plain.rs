//! Documents that show nothing but text, and documents that show the same.

use documents::{non_text_content_and_cost, same_appearance_and_cost};
use serde_json::json;

use crate::visible::{Page, WHITE_IMAGE, phrase, stream};
use crate::{document, referral};

fn beside_text(bytes: &[u8]) -> Option<String> {
    non_text_content_and_cost(bytes).0.unwrap()
}

const ACTION: &str = "an action that runs when it is opened";

#[test]
fn text_with_rules_is_plain() {
    let words = phrase("");
    for (name, content) in [
        ("black", words.clone()),
        ("dark gray", phrase("0.4 g")),
        ("white page", format!("1 g 0 0 612 792 re f 0 g {words}")),
        ("rule", format!("{words} 72 680 400 0.8 re f 72 670 m 540 670 l 0.5 w S")),
        ("light band", format!("0.92 g 72 690 468 24 re f 0 g {words}")),
        ("table", format!("{words} 0.5 w 72 720 468 -40 re S 300 720 m 300 680 l S")),
        ("off the page", format!("{words} BT /F 12 Tf 100 -700 Td (elsewhere) Tj ET")),
        ("invisible", format!("{words} BT 3 Tr /F 12 Tf 100 500 Td (elsewhere) Tj ET")),
    ] {
        assert_eq!(beside_text(&Page::showing(&content).bytes()), None, "{name}");
    }
    let own = documents::render(&document(referral())).unwrap().bytes;
    assert_eq!(beside_text(&own), None);
}

#[test]
fn what_is_not_text_is_found() {
    let words = phrase("");
    let letters = "100 500 m 100 540 l 100 520 m 120 520 l 120 500 m 120 540 l 2 w S";
    for (expected, content) in [
        ("a drawing on page 1", format!("{words} {letters}")),
        ("a drawing on page 1", format!("{words} 100 500 m 300 600 l S")),
        ("a drawing on page 1", format!("{words} 100 500 200 60 re f")),
        ("a drawing on page 1", format!("{words} 0.93 g 100 500 60 60 re f")),
        ("a drawing on page 1", format!("{words} 1 g 98 698 90 4 re f")),
        ("a drawing on page 1", format!("{words} 200 500 m 250 600 300 400 350 500 c f")),
        ("a drawing on page 1", format!("{words} 0.5 w 300 720 m 300 480 l S")),
        ("a line through text on page 1", format!("{words} 90 704 m 400 704 l S")),
        ("text over other text on page 1", format!("{words} BT /F 12 Tf 100 700 Td (/////////////////) Tj ET")),
        (
            "text that is faint, small or partly hidden on page 1",
            format!("{words} BT 0.8 g /F 12 Tf 100 500 Td (faint) Tj ET"),
        ),
        (
            "text that is faint, small or partly hidden on page 1",
            format!("{words} BT 0.94 g /F 12 Tf 100 500 Td (faint) Tj ET"),
        ),
        (
            "text that is faint, small or partly hidden on page 1",
            format!("{words} BT /F 3 Tf 100 500 Td (small) Tj ET"),
        ),
        ("a picture on page 1", format!("{words} q 90 0 0 90 100 500 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q")),
    ] {
        assert_eq!(beside_text(&Page::showing(&content).bytes()).as_deref(), Some(expected), "{content}");
    }
    let image = Page::showing(&format!("{words} q 90 0 0 90 100 500 cm /I Do Q"))
        .with("/XObject <</I 6 0 R>>", &[stream(WHITE_IMAGE, &[0, 0, 0, 0])]);
    assert_eq!(beside_text(&image.bytes()).as_deref(), Some("a picture on page 1"));
    let note = Page::showing(&words).entries("/Annots [<</Type /Annot /Subtype /Text /Rect [10 10 50 50]>>]");
    assert_eq!(beside_text(&note.bytes()).as_deref(), Some("an annotation or a form field on page 1"));
    for (catalog, expected) in [
        ("/Names <</EmbeddedFiles <</Names []>>>>", "an attached file"),
        ("/AcroForm <</Fields [6 0 R]>>", "a form"),
        ("/OCProperties <</OCGs []>>", "layers"),
        ("/OpenAction <</S /JavaScript /JS (app.alert\\(1\\))>>", ACTION),
        ("/OpenAction <</S /Launch /F (a.exe)>>", ACTION),
        ("/OpenAction <</S /GoTo /D [3 0 R /Fit] /Next <</S /URI /URI (http://x)>>>>", ACTION),
        ("/Names <</JavaScript <</Names []>>>>", ACTION),
        ("/AA <</WP <</S /JavaScript /JS (1)>>>>", ACTION),
        ("/OpenAction [3 0 R /Fit]", ""),
        ("/OpenAction <</S /GoTo /D [3 0 R /Fit]>>", ""),
    ] {
        let mut page = Page::showing(&words);
        page.catalog = catalog.to_owned();
        assert_eq!(beside_text(&page.bytes()).unwrap_or_default(), expected, "{catalog}");
        let is_same = same_appearance_and_cost(&Page::showing(&words).bytes(), &page.bytes()).0.unwrap();
        assert_eq!(is_same, expected.is_empty(), "{catalog}");
    }
    let opened = Page::showing(&words).entries("/AA <</O <</S /JavaScript /JS (1)>>>>");
    assert_eq!(beside_text(&opened.bytes()), Some(format!("{ACTION} on page 1")));
    assert!(!same_appearance_and_cost(&Page::showing(&words).bytes(), &opened.bytes()).0.unwrap());
    for change in [json!({"format": "tiff"}), json!({"look": "scanned"}), json!({"signature": "scanned"})] {
        let mut scanned = referral();
        scanned.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let bytes = documents::render(&document(scanned)).unwrap().bytes;
        assert!(beside_text(&bytes).unwrap().contains("a picture"), "{change}");
    }
}

/// A letter of lines, which a form can show.
const LETTER: &str = "100 500 m 100 540 l 100 520 m 120 520 l 120 500 m 120 540 l 2 w S";

#[test]
fn content_that_other_readers_show_is_found() {
    let words = phrase("");
    let shows = |content: &str, subtype: &str| {
        let objects = [form_of(subtype, LETTER), b"/Form".to_vec(), b"<</ca 0.02>>".to_vec()];
        let resources = "/XObject <</X 6 0 R>> /ExtGState <</G 8 0 R>>";
        beside_text(&Page::showing(&format!("{words} {content}")).with(resources, &objects).bytes())
    };
    let (drawing, other) = ("a drawing on page 1", "an operator that is not understood on page 1");
    for (content, subtype, expected) in [
        ("/Y /X Do", "/Form", drawing),
        ("/X Do", "7 0 R", drawing),
        ("/X Do", "/PS", other),
        ("/Z Do", "/Form", other),
        ("1 /G gs 72 500 468 20 re f", "/Form", drawing),
        ("/None gs", "/Form", other),
        ("0 /None sh", "/Form", "a gradient on page 1"),
        ("100 500 xx", "/Form", other),
        ("8 Tr", "/Form", other),
        ("(0) 1 0 0 1 0 0 cm 5 w", "/Form", ""),
    ] {
        assert_eq!(shows(content, subtype).unwrap_or_default(), expected, "{content}");
    }
    let clips = "100 400 m 500 400 l 300 700 l h W n ".repeat(33);
    for content in [format!("{clips} {words}"), format!("{} {words}", "q ".repeat(201))] {
        let bytes = Page::showing(&content).bytes();
        assert!(non_text_content_and_cost(&bytes).0.is_err() && documents::visible_text(&bytes).is_err());
        assert!(same_appearance_and_cost(&Page::showing(&words).bytes(), &bytes).0.is_err());
    }
}

fn form_of(subtype: &str, content: &str) -> Vec<u8> {
    stream(&format!("/Type /XObject /Subtype {subtype} /BBox [0 0 612 792]"), content.as_bytes())
}

#[test]
fn rules_cannot_be_put_together_to_drawings() {
    let words = phrase("");
    let stripes: String = (0..20).map(|row| format!("72 {} 468 1 re f ", 400 + row * 8)).collect();
    let table: String = (0..4).map(|row| format!("72 {} 468 1 re f ", 400 + row * 20)).collect();
    for (name, content) in [
        ("stripes in a letter", format!("100 400 m 200 600 l 300 400 l h W n {stripes}")),
        ("stripes cut to squares", format!("100 400 50 200 re W n {stripes}")),
        ("dashes", "[3 5] 0 d 72 500 m 540 500 l S".to_owned()),
        ("stacked rules", "72 500 200 2 re f 90 502 200 2 re f".to_owned()),
        ("a rule that goes on off the page", "-200 500 230 2 re f".to_owned()),
        ("a rule that is covered", format!("{table} 1 g 300 400 2 61 re f")),
        ("dots", "1 J 9 w 100 500 m 100 500 l S".to_owned()),
        ("faint areas that add up", "0.99 g 100 500 60 60 re f ".repeat(50)),
        ("hairlines", "100 500 m 150 560 l 150.0001 560 l f".to_owned()),
        ("a thin rectangle", "100 500 0 40 re f".to_owned()),
    ] {
        assert!(beside_text(&Page::showing(&format!("{words} {content}")).bytes()).is_some(), "{name}");
    }
    for (name, content) in [
        ("table", format!("{table} 300 400 1 61 re f 200 400 1 61 re f")),
        ("cells", "72 500 468 20 re S 72 520 468 20 re S 300 500 m 300 540 l S".to_owned()),
        ("a line in parts", "72 500 200 1 re f 272 500 200 1 re f".to_owned()),
        ("a double line", "72 500 468 1 re f 72 502 468 0.5 re f".to_owned()),
        ("white over white", "1 1 1 rg 100 400 50 50 re f".to_owned()),
    ] {
        assert_eq!(beside_text(&Page::showing(&format!("{words} {content}")).bytes()), None, "{name}");
    }
}

#[test]
fn text_that_is_struck_out_from_below_is_found() {
    for strike in ["/F 12 Tf 100 700 Td (/////////////////) Tj", "/F 12 Tf 3000 Tz 98 700 Td (-) Tj"] {
        let content = format!("BT {strike} ET {}", phrase("100 Tz"));
        let found = beside_text(&Page::showing(&content).bytes());
        assert_eq!(found.as_deref(), Some("text over other text on page 1"), "{strike}");
    }
}

#[test]
fn many_shapes_are_counted() {
    let many = "0.95 g ".to_owned() + &"72 100 468 600 re ".repeat(50_000) + "f";
    let (found, cost) = non_text_content_and_cost(&Page::showing(&format!("{} {many}", phrase(""))).bytes());
    assert!(found != Ok(None) && cost < 500_000_000);
}

#[test]
fn copies_have_no_damage_and_no_other_annotations() {
    let words = phrase("");
    let original = Page::showing(&words);
    let note = |rect: &str| original.clone().entries(&format!("/Annots [<</Subtype /Text /Rect [{rect}]>>]")).bytes();
    let compared = |one: &[u8], two: &[u8]| same_appearance_and_cost(one, two).0;
    assert_eq!(compared(&original.bytes(), &note("10 10 50 50")), Ok(false));
    assert_eq!(compared(&note("10 10 50 50"), &note("10 10 60 50")), Ok(false));
    assert_eq!(compared(&note("10 10 50 50"), &original.bytes()), Ok(true));
    for content in ["/X Do", "[3] 0 d 72 500 m 72 500 l S", "8 Tr", "BT /None 12 Tf (more) Tj ET"] {
        let copy = Page::showing(&format!("{words} {content}"));
        assert_eq!(compared(&original.bytes(), &copy.bytes()), Ok(false), "{content}");
    }
}

#[test]
fn documents_look_alike_by_what_they_show() {
    let page = |content: &str| Page::showing(content).bytes();
    let words = phrase("");
    for (content, is_same) in [
        (format!("{words} "), true),
        (format!("q {words} Q"), true),
        (format!("1 g 0 0 612 792 re f 0 g {words}"), true),
        (phrase("0.3 g"), false),
        (format!("{words} 100 500 20 20 re f"), false),
        (format!("{words} 98 698 90 4 re f"), false),
        (format!("{words} BT /F 12 Tf 100 500 Td (more) Tj ET"), false),
    ] {
        assert_eq!(same_appearance_and_cost(&page(&words), &page(&content)).0, Ok(is_same), "{content}");
    }
    let render = |change: &str| {
        let mut specification = referral();
        specification["format"] = json!("tiff");
        specification["date"] = json!(change);
        documents::render(&document(specification)).unwrap().bytes
    };
    assert_eq!(same_appearance_and_cost(&render("April 1"), &render("April 1")).0, Ok(true));
    assert_eq!(same_appearance_and_cost(&render("April 1"), &render("April 2")).0, Ok(false));
    assert_eq!(same_appearance_and_cost(&render("April 1"), &page(&words)).0, Ok(false));
}
