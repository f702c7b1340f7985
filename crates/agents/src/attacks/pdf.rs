//! PDF files whose visible text differs from their extracted text.

/// How text is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hiding {
    /// Rendering mode 3: neither filled nor stroked.
    Invisible,
    WhiteOnWhite,
    OffThePage,
    Tiny,
}

impl Hiding {
    pub(super) const ALL: [(Self, &'static str); 4] = [
        (Self::Invisible, "invisible (rendering mode 3)"),
        (Self::WhiteOnWhite, "white on white"),
        (Self::OffThePage, "off the page"),
        (Self::Tiny, "too small to read"),
    ];
}

const LINES_PER_PAGE: usize = 50;

/// A document with these visible lines.
pub(super) fn visible(lines: &[String]) -> Vec<u8> {
    let pages = lines.chunks(LINES_PER_PAGE).map(|lines| text_object(lines, "0 Tr 0 g", 11, 60, 740));
    write(&pages.collect::<Vec<_>>())
}

/// One page that shows `visible_lines` and hides `hidden_lines`.
pub(super) fn hiding(hidden_lines: &[String], visible_lines: &[String], how: Hiding) -> Vec<u8> {
    let hidden = match how {
        Hiding::Invisible => text_object(hidden_lines, "3 Tr 0 g", 11, 60, 740),
        Hiding::WhiteOnWhite => text_object(hidden_lines, "0 Tr 1 g", 11, 60, 740),
        Hiding::OffThePage => text_object(hidden_lines, "0 Tr 0 g", 11, 60, 4_000),
        Hiding::Tiny => text_object(hidden_lines, "0 Tr 0 g", 0, 60, 740),
    };
    write(&[format!("{hidden}{}", text_object(visible_lines, "0 Tr 0 g", 11, 60, 740))])
}

/// A text object. Size zero means a tenth of a point.
fn text_object(lines: &[String], state: &str, size: usize, x: usize, y: usize) -> String {
    let size = if size == 0 { "0.1".to_owned() } else { size.to_string() };
    let mut content = format!("BT {state} /F1 {size} Tf 13 TL {x} {y} Td\n");
    for line in lines {
        content.push_str(&format!("({}) Tj T*\n", escaped(line)));
    }
    content.push_str("ET\n");
    content
}

/// A literal string in the font's encoding. Characters that it lacks become question marks.
fn escaped(line: &str) -> String {
    let mut text = String::new();
    for c in line.chars() {
        match c {
            '(' | ')' | '\\' => {
                text.push('\\');
                text.push(c);
            }
            ' '..='~' => text.push(c),
            '\u{a0}'..='\u{ff}' => text.push_str(&format!("\\{:03o}", u32::from(c))),
            _ => text.push('?'),
        }
    }
    text
}

fn write(pages: &[String]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (number, content) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * number
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}endstream", content.len()));
    }
    let mut file = "%PDF-1.4\n".to_owned();
    let mut offsets = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let table = file.len();
    file.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for offset in offsets {
        file.push_str(&format!("{offset:010} 00000 n \n"));
    }
    file.push_str(&format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1));
    file.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_documents_can_be_read() {
        let lines = ["Visit note (1)".to_owned(), "MRN 10048213".to_owned()];
        let text = documents::text(&visible(&lines)).unwrap().joined();
        assert!(text.contains("Visit note (1)") && text.contains("MRN 10048213"), "{text}");
        for (how, name) in Hiding::ALL {
            let pdf = hiding(&lines, &["Nothing on file.".to_owned()], how);
            assert!(documents::kind(&pdf).is_some(), "{name}");
            assert!(String::from_utf8_lossy(&pdf).contains("MRN 10048213"));
            assert!(documents::text(&pdf).unwrap().joined().contains("Nothing on file."), "{name}");
        }
    }
}
