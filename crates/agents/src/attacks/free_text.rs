//! Finds the free texts and the documents that a plan sends.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::case::{AttackCase, AttackStep};
use super::target::Target;
use crate::message::Message;

/// A text that a person will read.
pub(super) struct FreeText {
    pub(super) number: usize,
    pub(super) pointer: String,
    pub(super) channel: String,
    pub(super) text: String,
    /// The maximum number of characters of the member.
    pub(super) limit: usize,
    /// Whether it leaves the organization: a message, a call, a payer's portal.
    pub(super) is_sent: bool,
}

impl FreeText {
    /// A case that replaces this text.
    pub(super) fn case(
        &self,
        description: &str,
        change: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> AttackCase {
        let (pointer, limit) = (self.pointer.clone(), self.limit);
        let description = format!("{description} in {} of {}", self.pointer.trim_start_matches('/'), self.channel);
        AttackCase::new(self.channel.as_str(), description).change(self.number, move |content| {
            if let Some(Value::String(text)) = content.pointer_mut(&pointer) {
                *text = change(text).chars().take(limit).collect();
            }
        })
    }
}

pub(super) fn free_texts(target: &Target<'_>) -> Vec<FreeText> {
    let mut found = Vec::new();
    // The phone line reacts to what is said, so only the last turn of a call is free text.
    let last_turn =
        target.writes_to("voice/calls/").into_iter().rfind(|(_, message)| is_spoken_turn(message)).map(|(at, _)| at);
    for (number, message) in target.plan.sent.iter().enumerate() {
        let Some(content) = message.content().filter(Value::is_object) else { continue };
        let channel = channel_of(message, &content);
        let is_sent = !matches!(channel.split('/').next(), Some("fhir" | "files"));
        for (pointer, limit) in text_members(message, &content) {
            let Some(text) = content.pointer(&pointer).and_then(Value::as_str) else { continue };
            if pointer == "/say" && last_turn != Some(number) {
                continue;
            }
            found.push(FreeText { number, pointer, channel: channel.clone(), text: text.to_owned(), limit, is_sent });
        }
    }
    found
}

fn is_spoken_turn(message: &Message) -> bool {
    message.content().is_some_and(|content| content["say"].is_string())
}

/// The channel of a write, such as `fhir/Task` or `messages`.
pub(super) fn channel_of(message: &Message, content: &Value) -> String {
    let first = message.path.split(['/', '?']).next().unwrap_or_default();
    match content["resourceType"].as_str() {
        Some(resource_type) if first == "fhir" => format!("fhir/{resource_type}"),
        _ => first.to_owned(),
    }
}

/// Pointers to the free text members of a message, with their maximum lengths.
fn text_members(message: &Message, content: &Value) -> Vec<(String, usize)> {
    let mut members: Vec<(String, usize)> = Vec::new();
    let sms = if content["channel"] == "sms" { 1_600 } else { 20_000 };
    let mut add = |pointer: &str, limit| members.push((pointer.to_owned(), limit));
    match message.path.split(['/', '?']).next() {
        Some("messages") => add("/body", sms),
        Some("voice") => add("/say", 9_000),
        Some("cds") => {
            for card in 0..content["cards"].as_array().map_or(0, Vec::len) {
                add(&format!("/cards/{card}/detail"), 4_000);
            }
        }
        Some("portal") => add("/clinical_notes", 4_000),
        Some("fhir") => {
            add("/description", 4_000);
            add("/payload/0/contentString", 4_000);
            add("/note/0/text", 4_000);
        }
        _ => {}
    }
    members
}

/// A document that the plan sends, with its text.
pub(super) struct DocumentWrite {
    pub(super) number: usize,
    pub(super) channel: &'static str,
    pub(super) lines: Vec<String>,
}

impl DocumentWrite {
    /// A case that sends another document instead.
    pub(super) fn case(&self, description: &str, document: Vec<u8>) -> AttackCase {
        let description = format!("{description} in {}", self.channel);
        let rewrite = move |message: &Message| with_document(message, &document);
        AttackCase::new(self.channel, description).step(AttackStep::Rewrite(self.number, Arc::new(rewrite)))
    }
}

pub(super) fn documents(target: &Target<'_>) -> Vec<DocumentWrite> {
    let mut found = Vec::new();
    for (number, message) in target.plan.sent.iter().enumerate() {
        let (channel, bytes) = if message.path.starts_with("fax/faxes") {
            ("fax", fax_document(target, message))
        } else if message.path.starts_with("files/") && message.body.starts_with(b"%PDF") {
            ("files", Some(message.body.to_vec()))
        } else {
            continue;
        };
        let Some(text) = bytes.and_then(|bytes| ::documents::text(&bytes).ok()) else { continue };
        let lines = text.joined().lines().map(|line| line.replace('\t', " ")).collect();
        found.push(DocumentWrite { number, channel, lines });
    }
    found
}

fn fax_document(target: &Target<'_>, message: &Message) -> Option<Vec<u8>> {
    let content = message.content()?;
    if let Some(encoded) = content["base64"].as_str() {
        return STANDARD.decode(encoded).ok();
    }
    let path = content["content_reference"].as_str()?.strip_prefix("files/")?;
    target.survey.files.get(path).map(|bytes| bytes.to_vec())
}

fn with_document(message: &Message, document: &[u8]) -> Option<Message> {
    if message.path.starts_with("files/") {
        return Some(Message { body: document.to_vec().into(), ..message.clone() });
    }
    let mut content = message.content()?;
    content.as_object_mut()?.remove("content_reference");
    content["base64"] = STANDARD.encode(document).into();
    Some(message.with(&content))
}
