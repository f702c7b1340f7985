//! Writes the objects and the cross-reference table of a PDF 1.7 file (ISO 32000-1, 7.5).

use miniz_oxide::deflate::compress_to_vec_zlib;

/// The number of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference(usize);

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} 0 R", self.0)
    }
}

pub(super) struct PdfFile {
    bytes: Vec<u8>,
    /// The offset of each object. None for a reserved object that is not written yet.
    offsets: Vec<Option<usize>>,
}

impl PdfFile {
    pub(super) fn new() -> Self {
        // A comment with high bytes marks the file as binary.
        Self { bytes: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec(), offsets: Vec::new() }
    }

    /// Reserves a number for an object that is written later.
    pub(super) fn promise(&mut self) -> Reference {
        self.offsets.push(None);
        Reference(self.offsets.len())
    }

    pub(super) fn put(&mut self, reference: Reference, object: &str) {
        self.begin(reference);
        self.bytes.extend_from_slice(object.as_bytes());
        self.bytes.extend_from_slice(b"\nendobj\n");
    }

    pub(super) fn add(&mut self, object: &str) -> Reference {
        let reference = self.promise();
        self.put(reference, object);
        reference
    }

    /// `entries` are the dictionary's other members.
    pub(super) fn add_stream(&mut self, entries: &str, content: &[u8]) -> Reference {
        let packed = compress_to_vec_zlib(content, 9);
        self.add_packed(&format!("{entries} /Filter /FlateDecode"), &packed)
    }

    /// As above, for compressed content. The entries name its filter.
    pub(super) fn add_packed(&mut self, entries: &str, content: &[u8]) -> Reference {
        let reference = self.promise();
        self.begin(reference);
        let length = content.len();
        self.bytes.extend_from_slice(format!("<<{entries} /Length {length}>>\nstream\n").as_bytes());
        self.bytes.extend_from_slice(content);
        self.bytes.extend_from_slice(b"\nendstream\nendobj\n");
        reference
    }

    fn begin(&mut self, reference: Reference) {
        let offset = self.bytes.len();
        if let Some(slot) = self.offsets.get_mut(reference.0 - 1) {
            *slot = Some(offset);
        }
        self.bytes.extend_from_slice(format!("{} 0 obj\n", reference.0).as_bytes());
    }

    pub(super) fn finish(mut self, catalog: Reference, information: Reference) -> Vec<u8> {
        let start = self.bytes.len();
        let count = self.offsets.len() + 1;
        let mut table = format!("xref\n0 {count}\n0000000000 65535 f \n");
        for offset in &self.offsets {
            table.push_str(&format!("{:010} 00000 n \n", offset.unwrap_or_default()));
        }
        let id = fingerprint(&self.bytes);
        table.push_str(&format!(
            "trailer\n<</Size {count} /Root {catalog} /Info {information} /ID [<{id}> <{id}>]>>\nstartxref\n{start}\n%%EOF\n"
        ));
        self.bytes.extend_from_slice(table.as_bytes());
        self.bytes
    }
}

/// A text string in UTF-16, which all readers decode alike.
pub(super) fn text_string(text: &str) -> String {
    let digits: String = text.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
    format!("<FEFF{digits}>")
}

/// A file identifier of 32 hexadecimal digits.
fn fingerprint(bytes: &[u8]) -> String {
    let hash =
        |seed: u64| bytes.iter().fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{:016X}{:016X}", hash(0xcbf2_9ce4_8422_2325), hash(0x6c62_272e_07bb_0142))
}
