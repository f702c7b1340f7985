//! The rows of faxes. Ids are ordered by time.

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

/// The text of a fax by page, and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaxText {
    pub pages: Vec<PageText>,
    pub ocr_status: OcrStatus,
    /// The OCR program with its version: `tesseract 5.3.0`.
    pub ocr_engine: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageText {
    pub text: String,
    pub source: TextSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSource {
    TextLayer,
    Ocr,
    /// The page is empty or could not be read.
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
    /// Every scanned page has a text layer.
    #[default]
    NotNeeded,
    Done,
    /// OCR is not installed on the server.
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

/// Separates pages.
const PAGE_SEPARATOR: char = '\u{c}';

impl FaxText {
    /// The members of the row. There is no `text` if all pages are empty.
    pub(super) fn members(&self) -> Map<String, Value> {
        let texts: Vec<String> = self.pages.iter().map(|page| page.text.replace([PAGE_SEPARATOR, '\0'], " ")).collect();
        let joined = texts.join(&PAGE_SEPARATOR.to_string());
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

/// A complete row of a fax.
#[derive(Clone, Debug)]
pub struct StoredFax(pub(super) Value);

impl StoredFax {
    /// The row as it appears in lists.
    pub fn public_row(&self) -> Value {
        public_row(&self.0)
    }

    /// The row as it appears in lists, and `text`.
    pub fn public_row_with_text(&self) -> Value {
        let mut row = self.public_row();
        row["text"] = text(&self.0, "text").into();
        row
    }

    pub fn pages(&self) -> usize {
        self.0.get("pages").and_then(Value::as_u64).and_then(|pages| usize::try_from(pages).ok()).unwrap_or(0)
    }

    pub fn member(&self, name: &str) -> &str {
        text(&self.0, name).unwrap_or_default()
    }

    /// Where the bytes are.
    pub fn content(&self) -> Option<Content> {
        stored_content(&self.0)
    }

    /// The document that the fax was rendered from, if any.
    pub fn document(&self) -> Option<Document> {
        let document = self.0.get("document")?;
        model::reading::read(document, Hints::default()).into_result().ok()
    }

    /// Whether OCR has not run yet, or was not installed when it should have run.
    pub fn needs_ocr(&self) -> bool {
        let status = text(&self.0, "ocr_status");
        let is_unavailable = status == Some(OcrStatus::Unavailable.name());
        is_unavailable || (status.is_none() && self.0.get("text").is_none())
    }

    /// The text by page.
    pub fn text_by_page(&self) -> Value {
        let full_text = text(&self.0, "text");
        let sources = self.0.get("text_sources").and_then(Value::as_array);
        let mut texts = full_text.unwrap_or_default().split(PAGE_SEPARATOR);
        let pages = (1..=self.pages()).map(|number| {
            let page_text = texts.next().unwrap_or_default();
            let stored = sources.and_then(|sources| sources.get(number - 1)).cloned();
            let source = stored.unwrap_or_else(|| if full_text.is_some() { "text_layer" } else { "none" }.into());
            serde_json::json!({"page": number, "source": source, "text": page_text})
        });
        let pages: Vec<Value> = pages.collect();
        let mut result = serde_json::json!({"id": self.0.get("id"), "ocr_status": ocr_status(&self.0)});
        if let Some(engine) = self.0.get("ocr_engine") {
            result["ocr_engine"] = engine.clone();
        }
        result["text"] = full_text.into();
        result["pages"] = pages.into();
        result
    }
}

/// A fax of the agent with scanned pages that could not be read when it was sent, because OCR was not installed.
#[derive(Clone, Debug)]
pub struct UnreadableFax {
    pub sandbox: SandboxId,
    pub id: String,
    pub fax: StoredFax,
}

/// All unreadable faxes of a playground.
pub fn unreadable_faxes(world: &World) -> Vec<UnreadableFax> {
    let lines = world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Fax);
    let faxes = lines.flat_map(|sandbox| all(sandbox).map(|record| (sandbox.id.clone(), record)));
    let unreadable = faxes.filter_map(|(sandbox, record)| {
        let row = Value::clone(&record.json());
        let is_unreadable = text(&row, "direction") == Some(Direction::Outbound.name())
            && text(&row, "ocr_status") == Some(OcrStatus::Unavailable.name());
        is_unreadable.then(|| UnreadableFax { sandbox, id: record.key.to_owned(), fax: StoredFax(row) })
    });
    unreadable.collect()
}

/// Where the bytes of a fax are: in the row, or in the blob with their hash.
pub fn stored_content(row: &Value) -> Option<Content> {
    match text(row, "base64") {
        Some(_) => content(row),
        None => Some(Content::Blobs(vec![text(row, "sha256")?.to_owned()])),
    }
}

fn ocr_status(row: &Value) -> Value {
    let stored = row.get("ocr_status").cloned();
    // Faxes of a scenario are rendered. OCR runs when their text is requested.
    stored.unwrap_or_else(|| if row.get("text").is_some() { "not_needed" } else { "on_request" }.into())
}

/// The row without the members that have endpoints of their own.
pub(super) fn public_row(row: &Value) -> Value {
    let mut public = row.clone();
    let status = ocr_status(row);
    if let Some(members) = public.as_object_mut() {
        members.retain(|name, _| !["base64", "document", "text", "text_sources"].contains(&name.as_str()));
        members.insert("ocr_status".to_owned(), status);
    }
    public
}

pub(super) fn find(sandbox: &Sandbox, direction: Direction, id: &str) -> Option<Value> {
    let row = Value::clone(&sandbox.records.get(FAXES, id).live()?.json());
    (text(&row, "direction") == Some(direction.name())).then_some(row)
}

/// All faxes, oldest first.
pub(super) fn all(sandbox: &Sandbox) -> impl Iterator<Item = Record<'_>> {
    sandbox.records.own(FAXES)
}

/// A fax whose next call has not ended yet.
#[derive(Debug, Deserialize, serde::Serialize)]
pub(super) struct PendingDelivery {
    pub(super) due_at: model::Timestamp,
    pub(super) fax: String,
}
