//! Writes laid out pages to a PDF file: with fonts and a text layer, as pictures, or as pictures with invisible text.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::embedded_font::{Codes, embed};
use super::pdf_file::{PdfFile, Reference, text_string};
use crate::font::{Fonts, Weight};
use crate::layout::Page;
use crate::layout::mark::{Mark, PAGE_HEIGHT, PAGE_WIDTH, Run, SLANT};
use crate::picture::Bitmap;
use crate::picture::draw::{Canvas, Placement, Resolution};
use crate::picture::group4;

/// The picture of a page, and the placement of the paper in it.
pub(crate) struct Scan {
    pub(crate) picture: Bitmap,
    pub(crate) placement: Placement,
}

/// `scans` are given for all pages or for none. With them, text is only written if `has_text`, and is invisible.
pub(crate) fn write(title: &str, pages: &[Page], fonts: &Fonts, visit_page_images: &[Scan], has_text: bool) -> Vec<u8> {
    let mut file = PdfFile::new();
    let mut writer = Writer {
        regular: Codes::new(&used(pages, Weight::Regular, has_text)),
        bold: Codes::new(&used(pages, Weight::Bold, has_text)),
        is_visible: visit_page_images.is_empty(),
        has_text,
    };
    let mut resources = String::new();
    for (name, face, codes) in [("R", &fonts.regular, &writer.regular), ("B", &fonts.bold, &writer.bold)] {
        if !codes.is_empty() {
            let font = embed(&mut file, face, codes);
            let _ = write!(resources, "/{name} {font} ");
        }
    }
    let tree = file.promise();
    let mut kids = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        kids.push(writer.page(&mut file, page, visit_page_images.get(index), tree, &resources).to_string());
    }
    file.put(tree, &format!("<</Type /Pages /Count {} /Kids [{}]>>", kids.len(), kids.join(" ")));
    let catalog = file.add(&format!("<</Type /Catalog /Pages {tree} /ViewerPreferences <</DisplayDocTitle true>>>>"));
    let title = text_string(title);
    let information = file.add(&format!("<</Title {title} /Producer (Verial)>>"));
    file.finish(catalog, information)
}

fn used(pages: &[Page], weight: Weight, has_text: bool) -> BTreeSet<char> {
    let runs = pages.iter().flatten().filter_map(|mark| match mark {
        Mark::Text(run) if has_text && run.style.weight == weight => Some(run),
        _ => None,
    });
    runs.flat_map(|run| run.text.chars()).collect()
}

struct Writer {
    regular: Codes,
    bold: Codes,
    is_visible: bool,
    has_text: bool,
}

impl Writer {
    fn page(
        &mut self,
        file: &mut PdfFile,
        page: &Page,
        scan: Option<&Scan>,
        tree: Reference,
        fonts: &str,
    ) -> Reference {
        let mut content = String::new();
        let mut pictures = String::new();
        if let Some(scan) = scan {
            let image = add_scan(file, &scan.picture);
            let _ = write!(pictures, "/P {image} ");
            let _ = writeln!(content, "q {PAGE_WIDTH} 0 0 {PAGE_HEIGHT} 0 0 cm /P Do Q");
        }
        let placement = scan.map_or(Placement::STRAIGHT, |scan| scan.placement);
        for (index, mark) in page.iter().enumerate() {
            match mark {
                Mark::Text(run) if self.has_text => self.text(&mut content, run, placement),
                Mark::Bar { x, y, width, height, shade } if self.is_visible => {
                    let bottom = PAGE_HEIGHT - y - height;
                    let _ = writeln!(content, "{} g {x:.2} {bottom:.2} {width:.2} {height:.2} re f", shade.level());
                }
                Mark::Ink { x, y, width, height, .. } if self.is_visible => {
                    let image = add_ink(file, mark, (*width, *height));
                    let _ = write!(pictures, "/I{index} {image} ");
                    let bottom = PAGE_HEIGHT - y - height;
                    let _ = writeln!(content, "q {width:.2} 0 0 {height:.2} {x:.2} {bottom:.2} cm /I{index} Do Q");
                }
                _ => {}
            }
        }
        let content = file.add_stream("", content.as_bytes());
        file.add(&format!(
            "<</Type /Page /Parent {tree} /MediaBox [0 0 {PAGE_WIDTH} {PAGE_HEIGHT}] /Resources <</Font <<{fonts}>> \
             /XObject <<{pictures}>>>> /Contents {content}>>"
        ))
    }

    fn text(&self, content: &mut String, run: &Run, placement: Placement) {
        let (name, codes) = match run.style.weight {
            Weight::Regular => ("R", &self.regular),
            Weight::Bold => ("B", &self.bold),
        };
        let (x, baseline) = placement.of(run.x, run.baseline);
        let (turn, bottom) = (placement.turn, PAGE_HEIGHT - baseline);
        let lean = if run.style.is_slanted { SLANT } else { 0.0 } + turn;
        // Render mode 3 is invisible, because the picture shows the text.
        let mode = if self.is_visible { 0 } else { 3 };
        let _ = writeln!(
            content,
            "BT {mode} Tr {} g /{name} {:.2} Tf 1 {:.5} {lean:.5} 1 {x:.2} {bottom:.2} Tm {} Tj ET",
            run.style.shade.level(),
            run.style.size,
            -turn,
            codes.encode(&run.text)
        );
    }
}

fn add_scan(file: &mut PdfFile, picture: &Bitmap) -> Reference {
    let (width, height) = (picture.width, picture.height);
    let entries = format!(
        "/Type /XObject /Subtype /Image /Width {width} /Height {height} /BitsPerComponent 1 /ColorSpace /DeviceGray \
         /Filter /CCITTFaxDecode /DecodeParms <</K -1 /Columns {width} /Rows {height}>>"
    );
    file.add_packed(&entries, &group4::encode(picture))
}

/// Handwriting as a small gray picture.
fn add_ink(file: &mut PdfFile, mark: &Mark, (width, height): (f32, f32)) -> Reference {
    let pixels = |points: f32| (points / 72.0 * Resolution::SCANNER.across).ceil() as u32;
    let (columns, rows) = (pixels(width), pixels(height));
    let mut canvas = Canvas::of_size(columns, rows, Resolution::SCANNER, Placement::STRAIGHT);
    canvas.ink_alone(mark);
    let grey: Vec<u8> = canvas.ink.iter().map(|ink| 255 - ink).collect();
    let entries = format!(
        "/Type /XObject /Subtype /Image /Width {columns} /Height {rows} /BitsPerComponent 8 /ColorSpace /DeviceGray"
    );
    file.add_stream(&entries, &grey)
}
