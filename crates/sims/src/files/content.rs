//! The rows of files with authored content.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::canonical::sha256_hex;
use serde_json::{Map, Value};

use crate::scenario::DatasetFile;
use crate::scenario::step::object;

pub(super) fn of_text(path: &str, text: &str) -> Map<String, Value> {
    let mut row = metadata(path, text.as_bytes(), true);
    row.insert("text".to_owned(), text.into());
    row
}

/// Text is stored as text, so that checks and people can read it.
pub(super) fn of_base64(path: &str, base64: &str) -> Result<Map<String, Value>, String> {
    let compact: String = base64.split_ascii_whitespace().collect();
    let bytes = STANDARD.decode(&compact).map_err(|_| "must be base64 (RFC 4648, with padding)".to_owned())?;
    match str::from_utf8(&bytes) {
        Ok(text) if !text.contains('\0') => Ok(of_text(path, text)),
        _ => {
            let mut row = metadata(path, &bytes, false);
            row.insert("base64".to_owned(), compact.into());
            Ok(row)
        }
    }
}

pub(super) fn of_dataset(file: &DatasetFile) -> Map<String, Value> {
    let mut row = object([
        ("sha256", file.sha256.as_str().into()),
        ("size", file.size.into()),
        ("content_type", file.content_type.as_str().into()),
    ]);
    if let Some(text) = &file.text {
        row.insert("text".to_owned(), text.as_str().into());
    }
    row
}

fn metadata(path: &str, bytes: &[u8], is_text: bool) -> Map<String, Value> {
    object([
        ("sha256", sha256_hex(bytes).into()),
        ("size", bytes.len().into()),
        ("content_type", content_type(path, is_text).into()),
    ])
}

/// The media type by file extension, or else by whether the bytes are text.
pub(super) fn content_type(path: &str, is_text: bool) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref().unwrap_or_default() {
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "md" => "text/markdown",
        "json" => "application/json",
        "ndjson" => "application/x-ndjson",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "hl7" => "x-application/hl7-v2+er7",
        "x12" | "edi" => "application/edi-x12",
        "dcm" => "application/dicom",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "tif" | "tiff" => "image/tiff",
        _ if is_text => "text/plain",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_has_the_hash_and_size_of_the_bytes() {
        let row = Value::Object(of_text("a.CSV", "é"));
        assert_eq!(row["size"], 2);
        assert_eq!(row["sha256"], sha256_hex("é".as_bytes()));
        assert_eq!(row["content_type"], "text/csv");
        assert_eq!(row["text"], "é");
        assert_eq!(Value::Object(of_base64("a.csv", "w6\n k=").unwrap()), row, "text stays text");
        let row = Value::Object(of_base64("scan.d/x", "/9 j/").unwrap());
        assert_eq!(
            row,
            json!({"sha256": sha256_hex(&[0xff, 0xd8, 0xff]), "size": 3,
            "content_type": "application/octet-stream", "base64": "/9j/"})
        );
        assert_eq!(of_base64("a", "AA==").unwrap()["base64"], "AA==", "bytes with NUL are not text");
        assert!(of_base64("a", "A").is_err());
    }
}
