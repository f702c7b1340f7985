//! The specification of a paper document: a referral, an order, a laboratory report, a letter.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fault::Fault;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub title: String,
    /// Whose paper it is, at the top of the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letterhead: Option<Letterhead>,
    /// As it is to be printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The lines of the address that the letter goes to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recipient: Vec<String>,
    /// Label and value, such as `"Patient": "Ada Stone"`, in the order of the author.
    #[serde(default)]
    pub header: Map<String, Value>,
    #[serde(default)]
    pub sections: Vec<Section>,
    #[serde(default)]
    pub signature: Signature,
    /// The name below the signature line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// The date beside the signature, as it is to be printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_on: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footer: Option<String>,
    #[serde(default, skip_serializing_if = "Format::is_pdf")]
    pub format: Format,
    /// Whether programs can read the words without OCR. What is not said is: yes in a PDF, no in a TIFF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_layer: Option<bool>,
    /// What is not said is: clean with a text layer, scanned without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<Look>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Letterhead {
    pub name: String,
    /// Address, telephone, fax and the like, one a line.
    #[serde(default)]
    pub lines: Vec<String>,
}

/// What is given of it is printed in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Paragraphs end with a line break.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Label and value, as in the header.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
    /// Items with a bullet each.
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

/// `missing` leaves the line empty; `scanned` prints the signature as a picture, without text.
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
    /// As a fax machine keeps it: black and white, 204 by 196 dots an inch, compressed as in Group 4.
    Tiff,
}

/// `scanned` is a little askew and has specks and ragged edges, always the same ones for the same document.
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

    /// The ends of names of such files, in lower case.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Pdf => &[".pdf"],
            Self::Tiff => &[".tif", ".tiff"],
        }
    }
}

impl Document {
    /// The specification again, without what it leaves out.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    pub fn has_text_layer(&self) -> Result<bool, Fault> {
        match (self.format, self.text_layer) {
            (Format::Tiff, Some(true)) => Err(Fault::TextInTiff),
            (Format::Tiff, _) => Ok(false),
            (Format::Pdf, wish) => Ok(wish.unwrap_or(true)),
        }
    }

    pub(crate) fn is_scanned(&self) -> bool {
        let usual = if self.has_text_layer() == Ok(true) { Look::Clean } else { Look::Scanned };
        self.look.unwrap_or(usual) == Look::Scanned
    }

    /// What the document says to someone who can read its text but not see its pictures. The signature of a `present` one
    /// is text; one that is `scanned` is a picture, and where it is `missing` the line is empty.
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

/// A cell as it is printed; numbers as they are written.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
