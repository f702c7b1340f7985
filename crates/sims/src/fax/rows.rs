//! Faxes as they are kept and shown. Their ids follow time.

use model::SandboxId;
use model::reading::Hints;
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::{Map, Value};
use world::{Record, Sandbox, World};

use super::steps::FAXES;
use crate::document::Document;
use crate::files::{Content, content};

pub(super) fn text<'v>(row: &'v Value, member: &str) -> Option<&'v str> {
    row.get(member).and_then(Value::as_str)
}

/// Which way a fax goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Inbound,
    Outbound,
}

impl Direction {
    pub fn name(self) -> &'static str {
        match self {
            Self::Inbound => "inbound",
            Self::Outbound => "outbound",
        }
    }
}

/// What a fax says, page by page, and how that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub pages: Vec<PageWords>,
    pub ocr_status: OcrStatus,
    /// The program that read the pictures, with its version: `tesseract 5.3.0`.
    pub ocr_engine: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageWords {
    pub text: String,
    pub source: TextSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSource {
    TextLayer,
    Ocr,
    /// Nothing stands there, or nobody could read it.
    None,
}

impl TextSource {
    fn name(self) -> &'static str {
        match self {
            Self::TextLayer => "text_layer",
            Self::Ocr => "ocr",
            Self::None => "none",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OcrStatus {
    /// Every page that is a picture has a text layer.
    #[default]
    NotNeeded,
    Done,
    /// The machine has no OCR.
    Unavailable,
    Failed,
}

impl OcrStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::NotNeeded => "not_needed",
            Self::Done => "done",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
        }
    }
}

/// Between the pages of a text.
const PAGE_END: char = '\u{c}';

impl Words {
    /// As a row keeps it; no text if there is none.
    pub(super) fn members(&self) -> Map<String, Value> {
        let texts: Vec<String> = self.pages.iter().map(|page| page.text.replace([PAGE_END, '\0'], " ")).collect();
        let joined = texts.join(&PAGE_END.to_string());
        let sources: Vec<&str> = self.pages.iter().map(|page| page.source.name()).collect();
        let mut members = Map::new();
        members.insert("ocr_status".to_owned(), self.ocr_status.name().into());
        if let Some(engine) = &self.ocr_engine {
            members.insert("ocr_engine".to_owned(), engine.as_str().into());
        }
        members.insert("text_sources".to_owned(), sources.into());
        if !joined.trim().is_empty() {
            members.insert("text".to_owned(), joined.into());
        }
        members
    }
}

/// A fax with all that is known of it.
#[derive(Clone, Debug)]
pub struct Kept(pub(super) Value);

impl Kept {
    /// As lists show it.
    pub fn shown(&self) -> Value {
        shown(&self.0)
    }

    /// As lists show it, with what it says.
    pub fn shown_with_text(&self) -> Value {
        let mut shown = self.shown();
        shown["text"] = text(&self.0, "text").into();
        shown
    }

    pub fn pages(&self) -> usize {
        self.0.get("pages").and_then(Value::as_u64).and_then(|pages| usize::try_from(pages).ok()).unwrap_or(0)
    }

    pub fn member(&self, name: &str) -> &str {
        text(&self.0, name).unwrap_or_default()
    }

    /// Where its bytes are.
    pub fn content(&self) -> Option<Content> {
        contents(&self.0)
    }

    /// What it was rendered from, if it was.
    pub fn document(&self) -> Option<Document> {
        let document = self.0.get("document")?;
        model::reading::read(document, Hints::default()).into_result().ok()
    }

    /// Whether nobody has tried yet to find out what it says, or the server had no OCR then.
    pub fn is_unread(&self) -> bool {
        let status = text(&self.0, "ocr_status");
        let is_unavailable = status == Some(OcrStatus::Unavailable.name());
        is_unavailable || (status.is_none() && self.0.get("text").is_none())
    }

    /// What it says, page by page.
    pub fn said(&self) -> Value {
        let whole = text(&self.0, "text");
        let sources = self.0.get("text_sources").and_then(Value::as_array);
        let mut texts = whole.unwrap_or_default().split(PAGE_END);
        let pages = (1..=self.pages()).map(|number| {
            let said = texts.next().unwrap_or_default();
            let known = sources.and_then(|sources| sources.get(number - 1)).cloned();
            let source = known.unwrap_or_else(|| if whole.is_some() { "text_layer" } else { "none" }.into());
            serde_json::json!({"page": number, "source": source, "text": said})
        });
        let pages: Vec<Value> = pages.collect();
        let mut said = serde_json::json!({"id": self.0.get("id"), "ocr_status": ocr_status(&self.0)});
        if let Some(engine) = self.0.get("ocr_engine") {
            said["ocr_engine"] = engine.clone();
        }
        said["text"] = whole.into();
        said["pages"] = pages.into();
        said
    }
}

/// A fax of the agent whose pictures nobody could read when it was sent, because the server had no OCR.
#[derive(Clone, Debug)]
pub struct Unread {
    pub sandbox: SandboxId,
    pub id: String,
    pub kept: Kept,
}

/// All such faxes of a playground.
pub fn unread(world: &World) -> Vec<Unread> {
    let lines = world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Fax);
    let faxes = lines.flat_map(|sandbox| all(sandbox).map(|record| (sandbox.id.clone(), record)));
    let unread = faxes.filter_map(|(sandbox, record)| {
        let row = Value::clone(&record.json());
        let is_unread = text(&row, "direction") == Some(Direction::Outbound.name())
            && text(&row, "ocr_status") == Some(OcrStatus::Unavailable.name());
        is_unread.then(|| Unread { sandbox, id: record.key.to_owned(), kept: Kept(row) })
    });
    unread.collect()
}

/// Where the bytes of a fax are: in the row, or in the blob of their hash.
pub fn contents(row: &Value) -> Option<Content> {
    match text(row, "base64") {
        Some(_) => content(row),
        None => Some(Content::Blobs(vec![text(row, "sha256")?.to_owned()])),
    }
}

fn ocr_status(row: &Value) -> Value {
    let known = row.get("ocr_status").cloned();
    // What a scenario brings was rendered, and its pictures are read when somebody asks what they say.
    known.unwrap_or_else(|| if row.get("text").is_some() { "not_needed" } else { "on_request" }.into())
}

/// The row without what has an address of its own.
pub(super) fn shown(row: &Value) -> Value {
    let mut shown = row.clone();
    let status = ocr_status(row);
    if let Some(members) = shown.as_object_mut() {
        members.retain(|name, _| !["base64", "document", "text", "text_sources"].contains(&name.as_str()));
        members.insert("ocr_status".to_owned(), status);
    }
    shown
}

pub(super) fn find(sandbox: &Sandbox, direction: Direction, id: &str) -> Option<Value> {
    let row = Value::clone(&sandbox.records.get(FAXES, id).live()?.json());
    (text(&row, "direction") == Some(direction.name())).then_some(row)
}

/// All of them, oldest first.
pub(super) fn all(sandbox: &Sandbox) -> impl Iterator<Item = Record<'_>> {
    sandbox.records.own(FAXES)
}

/// What waits until a call ends.
#[derive(Debug, Deserialize, serde::Serialize)]
pub(super) struct Delivery {
    pub(super) due_at: model::Timestamp,
    pub(super) fax: String,
}
