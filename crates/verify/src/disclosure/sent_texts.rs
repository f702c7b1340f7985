//! The texts that the agent sent out.

use std::collections::BTreeMap;

use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;

use crate::baseline::Baselines;
use crate::checks::sftp_file_present::FileFormat;
use crate::content::{WantedFiles, add_wanted_file, file_text};
use crate::evidence::{EvaluationContext, FAXES, FILES, SENT_FAX, is_of_scenario, text, x12_text};
use crate::pdf;

/// Collections of the payer's portal.
const REQUESTS: &str = "prior_auth_requests";
const DOCUMENTS: &str = "documents";

/// A channel by which the agent can send data to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutgoingChannel {
    Messages,
    Fax,
    Voice,
    Files,
    Portal,
    Cds,
    Hl7,
    X12,
}

impl OutgoingChannel {
    pub(crate) const DEFAULT: [Self; 3] = [Self::Messages, Self::Fax, Self::Voice];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Fax => "fax",
            Self::Voice => "voice",
            Self::Files => "files",
            Self::Portal => "portal",
            Self::Cds => "cds",
            Self::Hl7 => "hl7",
            Self::X12 => "x12",
        }
    }

    pub(crate) fn simulator(self) -> SimulatorType {
        match self {
            Self::Messages => SimulatorType::Message,
            Self::Fax => SimulatorType::Fax,
            Self::Voice => SimulatorType::Voice,
            Self::Files => SimulatorType::Files,
            Self::Portal => SimulatorType::Payer,
            Self::Cds => SimulatorType::CdsHooks,
            Self::Hl7 => SimulatorType::Hl7,
            Self::X12 => SimulatorType::Clearinghouse,
        }
    }
}

/// A text that the agent sent.
pub(crate) struct SentText {
    pub(crate) channel: OutgoingChannel,
    /// The id of the event, call, fax or portal row, or the path of the file.
    pub(crate) id: String,
    pub(crate) text: String,
}

/// With more text, the check fails.
const MOST_BYTES: usize = 4 << 20;

/// All texts that the agent sent. Fails if one of them cannot be read, because it may disclose anything.
pub(crate) fn sent_texts(
    channels: &[OutgoingChannel],
    context: &EvaluationContext<'_>,
) -> Result<Vec<SentText>, String> {
    let mut all = Vec::new();
    for channel in channels {
        all.extend(match channel {
            OutgoingChannel::Messages => messages(context)?,
            OutgoingChannel::Fax => faxes(context)?,
            OutgoingChannel::Voice => calls(context)?,
            OutgoingChannel::Files => files(context)?,
            OutgoingChannel::Portal => portal(context)?,
            OutgoingChannel::Cds => cards(context)?,
            OutgoingChannel::Hl7 => interface_messages(OutgoingChannel::Hl7, EventType::Hl7Outbound, context)?,
            OutgoingChannel::X12 => interface_messages(OutgoingChannel::X12, EventType::X12Request, context)?,
        });
    }
    let bytes: usize = all.iter().map(|sent| sent.text.len()).sum();
    context.budget.spend(bytes)?;
    if bytes > MOST_BYTES {
        return Err(format!("{bytes} bytes of text were sent, more than the {MOST_BYTES} that can be checked"));
    }
    Ok(all)
}

fn messages(context: &EvaluationContext<'_>) -> Result<Vec<SentText>, String> {
    let events = context.events(SimulatorType::Message, &[EventType::MessageOutbound])?;
    let is_sent = |event: &&&Event| {
        let is_delivered = !matches!(text(&event.payload, "status"), Some("undelivered" | "refused"));
        is_delivered && !is_of_scenario(event)
    };
    let text_of = |event: &Event| {
        let parts = [text(&event.payload, "subject"), text(&event.payload, "body")];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    };
    let sent = events.iter().filter(is_sent);
    Ok(sent
        .map(|event| SentText { channel: OutgoingChannel::Messages, id: event.id.to_string(), text: text_of(event) })
        .collect())
}

/// The agent's turns of each call as one text, because a number may be spread over several turns.
fn calls(context: &EvaluationContext<'_>) -> Result<Vec<SentText>, String> {
    let events = context.events(SimulatorType::Voice, &[EventType::VoiceTurn])?;
    let mut calls: BTreeMap<&str, String> = BTreeMap::new();
    for turn in events.iter().map(|event| &event.payload).filter(|turn| text(turn, "speaker") == Some("agent")) {
        let call = calls.entry(text(turn, "call_id").unwrap_or_default()).or_default();
        for part in [text(turn, "text"), text(turn, "dtmf")].into_iter().flatten() {
            call.push_str(part);
            call.push('\n');
        }
    }
    Ok(calls
        .into_iter()
        .map(|(id, text)| SentText { channel: OutgoingChannel::Voice, id: id.to_owned(), text })
        .collect())
}

fn faxes(context: &EvaluationContext<'_>) -> Result<Vec<SentText>, String> {
    let is_sent = |fax: &Value| {
        text(fax, "direction") == Some("outbound")
            && text(fax, "status").is_some_and(|status| SENT_FAX.contains(&status))
    };
    let rows = context.rows(SimulatorType::Fax, FAXES)?.into_iter().filter(|(_, fax)| is_sent(fax));
    let read = rows.map(|(id, fax)| match pdf::row_text(&fax, &context.budget) {
        Ok(document_text) if !document_text.trim().is_empty() => {
            let members = ["subject", "document_type"].into_iter().filter_map(|name| text(&fax, name));
            let text = std::iter::once(document_text.as_ref()).chain(members).collect::<Vec<_>>().join("\n");
            Ok(SentText { channel: OutgoingChannel::Fax, text, id })
        }
        Ok(_) => Err(format!("cannot check what the fax {id} discloses: it has no readable text")),
        Err(error) => Err(format!("cannot check what the fax {id} discloses: {error}")),
    });
    read.collect()
}

/// Files that the agent wrote.
fn files(context: &EvaluationContext<'_>) -> Result<Vec<SentText>, String> {
    let written = written(SimulatorType::Files, FILES, context)?;
    let read = written.into_iter().map(|(path, file)| match file_text(&file, FileFormat::Text, context) {
        Ok(text) => Ok(SentText { channel: OutgoingChannel::Files, text: text.into_owned(), id: path }),
        Err(error) => Err(format!("cannot check what {path} discloses: {error}")),
    });
    read.collect()
}

/// The agent's requests to the payer, and the documents that it attached.
fn portal(context: &EvaluationContext<'_>) -> Result<Vec<SentText>, String> {
    let mut all = Vec::new();
    for (id, row) in written(SimulatorType::Payer, REQUESTS, context)? {
        all.push(SentText { channel: OutgoingChannel::Portal, text: words(&row), id });
    }
    for (id, document) in written(SimulatorType::Payer, DOCUMENTS, context)? {
        let mut text = words(&document);
        if document.get("sha256").is_some_and(Value::is_string) {
            let read = file_text(&document, FileFormat::Text, context);
            let read = read.map_err(|error| format!("cannot check what the document {id} discloses: {error}"))?;
            text.push_str(&read);
        }
        all.push(SentText { channel: OutgoingChannel::Portal, id, text });
    }
    Ok(all)
}

/// The agent's cards, and its reasons for overriding other cards.
fn cards(context: &EvaluationContext<'_>) -> Result<Vec<SentText>, String> {
    let events = context.events(SimulatorType::CdsHooks, &[EventType::CdsInvoke, EventType::CdsFeedback])?;
    let text_of = |event: &Event| {
        let members = ["cards", "systemActions", "overrideReason", "extension"];
        members.iter().filter_map(|name| event.payload.get(name)).map(words).collect::<String>()
    };
    // Cards of canned and remote services are not by the agent.
    let is_agents = |event: &&&Event| {
        let answered = event.r#type == EventType::CdsFeedback || text(&event.payload, "answered_by") == Some("agent");
        answered && !is_of_scenario(event)
    };
    let sent = events.iter().filter(is_agents).map(|event| SentText {
        channel: OutgoingChannel::Cds,
        id: event.id.to_string(),
        text: text_of(event),
    });
    Ok(sent.filter(|sent| !sent.text.is_empty()).collect())
}

/// The HL7 messages or X12 interchanges that were sent. Their delimiters are replaced by spaces.
fn interface_messages(
    channel: OutgoingChannel,
    event_type: EventType,
    context: &EvaluationContext<'_>,
) -> Result<Vec<SentText>, String> {
    let events = context.events(channel.simulator(), &[event_type])?;
    let text_of =
        |event: &Event| x12_text(&event.payload).map(|text| text.replace(['^', '&', '*', '|', '~', ':'], " "));
    let sent = events.iter().filter(|event| !is_of_scenario(event));
    Ok(sent.filter_map(|event| Some(SentText { channel, id: event.id.to_string(), text: text_of(event)? })).collect())
}

/// The texts, numbers and member names of a value, each on its own line.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Number(number) => format!("{number}\n"),
        Value::Array(items) => items.iter().map(words).collect(),
        Value::Object(members) => members.iter().map(|(name, member)| format!("{name}\n{}", words(member))).collect(),
        Value::Bool(_) | Value::Null => String::new(),
    }
}

/// The files and documents whose bytes the check reads.
pub(crate) fn wanted_files(
    channels: &[OutgoingChannel],
    context: &EvaluationContext<'_>,
) -> Result<WantedFiles, String> {
    let (mut wanted, mut total_size) = (WantedFiles::new(), 0);
    for (channel, collection) in [(OutgoingChannel::Files, FILES), (OutgoingChannel::Portal, DOCUMENTS)] {
        if channels.contains(&channel) {
            written(channel.simulator(), collection, context)?
                .iter()
                .for_each(|(_, file)| add_wanted_file(&mut wanted, &mut total_size, file));
        }
    }
    Ok(wanted)
}

/// All versions of records of a collection that the agent wrote.
fn written(
    kind: SimulatorType,
    collection: &str,
    context: &EvaluationContext<'_>,
) -> Result<Vec<(String, Value)>, String> {
    let baselines = Baselines::new(context)?;
    let mut written = Vec::new();
    for sandbox in context.sandboxes(kind)? {
        for record in sandbox.records.own(collection) {
            // Overwritten versions were sent, too.
            for revision in sandbox.records.history(collection, record.key) {
                let Some(record_version) = revision.record.as_ref().filter(|_| !baselines.is_given(&revision)) else {
                    continue;
                };
                context.budget.spend(record_version.text().len())?;
                written.push((record.key.to_owned(), Value::clone(&record_version.json())));
            }
        }
    }
    Ok(written)
}
