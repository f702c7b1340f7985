//! The specification of a paper document: a referral, an order, a laboratory report, a letter.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::DocumentError;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub title: String,
    /// The letterhead at the top of the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letterhead: Option<Letterhead>,
    /// As it is printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The lines of the recipient's address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recipient: Vec<String>,
    /// Labels and values, such as `"Patient": "Ada Stone"`, in the given order.
    #[serde(default)]
    pub header: Map<String, Value>,
    #[serde(default)]
    pub sections: Vec<Section>,
    #[serde(default)]
    pub signature: Signature,
    /// The name below the signature line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// The date next to the signature, as it is printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_on: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footer: Option<String>,
    #[serde(default, skip_serializing_if = "Format::is_pdf")]
    pub format: Format,
    /// Whether the file has a text layer that can be read without OCR. The default is true for PDF and false for TIFF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_layer: Option<bool>,
    /// The default is `clean` with a text layer, and `scanned` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<Look>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Letterhead {
    pub name: String,
    /// Address, phone, fax and the like, one for each line.
    #[serde(default)]
    pub lines: Vec<String>,
}

/// The given members are printed in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Paragraphs end with a line break.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Labels and values, as in the header.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
    /// A bulleted list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Table>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

/// `missing` leaves the line empty. `scanned` prints the signature as a picture without text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signature {
    #[default]
    Present,
    Missing,
    Scanned,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    #[default]
    Pdf,
    /// As stored by a fax machine: black and white, 204 by 196 dots per inch, with Group 4 compression.
    Tiff,
}

/// `scanned` pages are slightly rotated, with specks and ragged edges. They are the same for the same document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    Clean,
    Scanned,
}

impl Format {
    fn is_pdf(&self) -> bool {
        *self == Self::Pdf
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Tiff => "image/tiff",
        }
    }

    /// The file name extensions, in lower case.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Pdf => &[".pdf"],
            Self::Tiff => &[".tif", ".tiff"],
        }
    }
}

impl Document {
    /// The specification as JSON, without missing members.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    pub fn has_text_layer(&self) -> Result<bool, DocumentError> {
        match (self.format, self.text_layer) {
            (Format::Tiff, Some(true)) => Err(DocumentError::TextInTiff),
            (Format::Tiff, _) => Ok(false),
            (Format::Pdf, wish) => Ok(wish.unwrap_or(true)),
        }
    }

    pub(crate) fn is_scanned(&self) -> bool {
        let usual = if self.has_text_layer() == Ok(true) { Look::Clean } else { Look::Scanned };
        self.look.unwrap_or(usual) == Look::Scanned
    }

    /// The text of the document without its pictures. A `present` signature
    /// is text, a `scanned` one is a picture, and a `missing` one leaves the line empty.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        if let Some(letterhead) = &self.letterhead {
            lines.push(letterhead.name.clone());
            lines.extend(letterhead.lines.iter().cloned());
        }
        lines.extend(self.date.iter().chain(&self.recipient).cloned());
        lines.push(self.title.clone());
        lines.extend(labelled(&self.header));
        for section in &self.sections {
            section.say(&mut lines);
        }
        lines.push(match self.signature {
            Signature::Present => format!("Signature: /s/ {}", self.signer.as_deref().unwrap_or_default()),
            Signature::Missing | Signature::Scanned => "Signature:".to_owned(),
        });
        lines.extend([&self.signer, &self.signed_on, &self.footer].into_iter().flatten().cloned());
        lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
    }
}

impl Section {
    fn say(&self, lines: &mut Vec<String>) {
        lines.extend(self.heading.iter().chain(&self.text).cloned());
        lines.extend(labelled(&self.fields));
        lines.extend(self.list.iter().cloned());
        if let Some(table) = &self.table {
            lines.push(table.columns.join("\t"));
            lines.extend(table.rows.iter().map(|row| row.iter().map(plain).collect::<Vec<_>>().join("\t")));
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn labelled(fields: &Map<String, Value>) -> impl Iterator<Item = String> {
    fields.iter().map(|(label, value)| format!("{label}: {}", plain(value)))
}

/// A cell as it is printed. Numbers keep their digits.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
