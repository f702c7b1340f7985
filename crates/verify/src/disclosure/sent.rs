//! What the agent sent out, as text.

use std::collections::BTreeMap;

use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;

use crate::baseline::Baselines;
use crate::checks::sftp_file_present::FileFormat;
use crate::content::{Wanted, readable, want};
use crate::evidence::{Case, FAXES, FILES, SENT_FAX, is_of_scenario, text, x12_text};
use crate::pdf;

/// What the payer's portal keeps of the agent's requests.
const REQUESTS: &str = "prior_auth_requests";
const DOCUMENTS: &str = "documents";

/// A way out of the organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outlet {
    Messages,
    Fax,
    Voice,
    Files,
    Portal,
    Cds,
    Hl7,
    X12,
}

impl Outlet {
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

/// One text that went out.
pub(crate) struct Sent {
    pub(crate) outlet: Outlet,
    /// Of the event, the call, the fax, the portal's row, or the file's path.
    pub(crate) id: String,
    pub(crate) text: String,
}

/// More text than this is not looked through.
const MOST_BYTES: usize = 4 << 20;

/// All that went out. A text that nobody can read is a fault: it cannot be told what it discloses.
pub(crate) fn sent(outlets: &[Outlet], case: &Case<'_>) -> Result<Vec<Sent>, String> {
    let mut all = Vec::new();
    for outlet in outlets {
        all.extend(match outlet {
            Outlet::Messages => messages(case)?,
            Outlet::Fax => faxes(case)?,
            Outlet::Voice => calls(case)?,
            Outlet::Files => files(case)?,
            Outlet::Portal => portal(case)?,
            Outlet::Cds => cards(case)?,
            Outlet::Hl7 => interface(Outlet::Hl7, EventType::Hl7Outbound, case)?,
            Outlet::X12 => interface(Outlet::X12, EventType::X12Request, case)?,
        });
    }
    let bytes: usize = all.iter().map(|sent| sent.text.len()).sum();
    case.budget.spend(bytes)?;
    if bytes > MOST_BYTES {
        return Err(format!("{bytes} bytes of text were sent, more than the {MOST_BYTES} that can be looked through"));
    }
    Ok(all)
}

fn messages(case: &Case<'_>) -> Result<Vec<Sent>, String> {
    let events = case.events(SimulatorType::Message, &[EventType::MessageOutbound])?;
    let is_sent = |event: &&&Event| {
        let is_delivered = !matches!(text(&event.payload, "status"), Some("undelivered" | "refused"));
        is_delivered && !is_of_scenario(event)
    };
    let said = |event: &Event| {
        let parts = [text(&event.payload, "subject"), text(&event.payload, "body")];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    };
    let sent = events.iter().filter(is_sent);
    Ok(sent.map(|event| Sent { outlet: Outlet::Messages, id: event.id.to_string(), text: said(event) }).collect())
}

/// What the agent said in one call is one text: a number may be given in several turns.
fn calls(case: &Case<'_>) -> Result<Vec<Sent>, String> {
    let events = case.events(SimulatorType::Voice, &[EventType::VoiceTurn])?;
    let mut calls: BTreeMap<&str, String> = BTreeMap::new();
    for turn in events.iter().map(|event| &event.payload).filter(|turn| text(turn, "speaker") == Some("agent")) {
        let call = calls.entry(text(turn, "call_id").unwrap_or_default()).or_default();
        for said in [text(turn, "text"), text(turn, "dtmf")].into_iter().flatten() {
            call.push_str(said);
            call.push('\n');
        }
    }
    Ok(calls.into_iter().map(|(id, text)| Sent { outlet: Outlet::Voice, id: id.to_owned(), text }).collect())
}

fn faxes(case: &Case<'_>) -> Result<Vec<Sent>, String> {
    let is_sent = |fax: &Value| {
        text(fax, "direction") == Some("outbound")
            && text(fax, "status").is_some_and(|status| SENT_FAX.contains(&status))
    };
    let rows = case.rows(SimulatorType::Fax, FAXES)?.into_iter().filter(|(_, fax)| is_sent(fax));
    let read = rows.map(|(id, fax)| match pdf::said(&fax, &case.budget) {
        Ok(said) if !said.trim().is_empty() => {
            let beside = ["subject", "document_type"].into_iter().filter_map(|name| text(&fax, name));
            let text = std::iter::once(said.as_ref()).chain(beside).collect::<Vec<_>>().join("\n");
            Ok(Sent { outlet: Outlet::Fax, text, id })
        }
        Ok(_) => Err(format!("it cannot be told what the fax {id} discloses: it has no readable text")),
        Err(fault) => Err(format!("it cannot be told what the fax {id} discloses: {fault}")),
    });
    read.collect()
}

/// Files that the agent wrote.
fn files(case: &Case<'_>) -> Result<Vec<Sent>, String> {
    let written = written(SimulatorType::Files, FILES, case)?;
    let read = written.into_iter().map(|(path, file)| match readable(&file, FileFormat::Text, case) {
        Ok(text) => Ok(Sent { outlet: Outlet::Files, text: text.into_owned(), id: path }),
        Err(fault) => Err(format!("it cannot be told what {path} discloses: {fault}")),
    });
    read.collect()
}

/// What the agent wrote into its requests to the payer, and the documents that it attached.
fn portal(case: &Case<'_>) -> Result<Vec<Sent>, String> {
    let mut all = Vec::new();
    for (id, row) in written(SimulatorType::Payer, REQUESTS, case)? {
        all.push(Sent { outlet: Outlet::Portal, text: words(&row), id });
    }
    for (id, document) in written(SimulatorType::Payer, DOCUMENTS, case)? {
        let mut text = words(&document);
        if document.get("sha256").is_some_and(Value::is_string) {
            let read = readable(&document, FileFormat::Text, case);
            let read = read.map_err(|fault| format!("it cannot be told what the document {id} discloses: {fault}"))?;
            text.push_str(&read);
        }
        all.push(Sent { outlet: Outlet::Portal, id, text });
    }
    Ok(all)
}

/// What the agent says in cards, and why it overrode those of others.
fn cards(case: &Case<'_>) -> Result<Vec<Sent>, String> {
    let events = case.events(SimulatorType::CdsHooks, &[EventType::CdsInvoke, EventType::CdsFeedback])?;
    let said = |event: &Event| {
        let members = ["cards", "systemActions", "overrideReason", "extension"];
        members.iter().filter_map(|name| event.payload.get(name)).map(words).collect::<String>()
    };
    // Cards of canned and remote services are not the agent's.
    let is_agents = |event: &&&Event| {
        let answered = event.r#type == EventType::CdsFeedback || text(&event.payload, "answered_by") == Some("agent");
        answered && !is_of_scenario(event)
    };
    let sent = events.iter().filter(is_agents).map(|event| Sent {
        outlet: Outlet::Cds,
        id: event.id.to_string(),
        text: said(event),
    });
    Ok(sent.filter(|sent| !sent.text.is_empty()).collect())
}

/// HL7 messages and X12 interchanges as they were sent. Their separators are those of words.
fn interface(outlet: Outlet, sent: EventType, case: &Case<'_>) -> Result<Vec<Sent>, String> {
    let events = case.events(outlet.simulator(), &[sent])?;
    let said = |event: &Event| x12_text(&event.payload).map(|text| text.replace(['^', '&', '*', '|', '~', ':'], " "));
    let sent = events.iter().filter(|event| !is_of_scenario(event));
    Ok(sent.filter_map(|event| Some(Sent { outlet, id: event.id.to_string(), text: said(event)? })).collect())
}

/// The texts and numbers of a value, each on a line.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Number(number) => format!("{number}\n"),
        Value::Array(items) => items.iter().map(words).collect(),
        Value::Object(members) => members.iter().map(|(name, member)| format!("{name}\n{}", words(member))).collect(),
        Value::Bool(_) | Value::Null => String::new(),
    }
}

/// The files and documents whose bytes are needed.
pub(crate) fn wanted_files(outlets: &[Outlet], case: &Case<'_>) -> Result<Wanted, String> {
    let (mut wanted, mut read) = (Wanted::new(), 0);
    for (outlet, collection) in [(Outlet::Files, FILES), (Outlet::Portal, DOCUMENTS)] {
        if outlets.contains(&outlet) {
            written(outlet.simulator(), collection, case)?
                .iter()
                .for_each(|(_, file)| want(&mut wanted, &mut read, file));
        }
    }
    Ok(wanted)
}

/// The versions of records of a collection that the agent wrote.
fn written(kind: SimulatorType, collection: &str, case: &Case<'_>) -> Result<Vec<(String, Value)>, String> {
    let baselines = Baselines::new(case)?;
    let mut written = Vec::new();
    for sandbox in case.sandboxes(kind)? {
        for record in sandbox.records.own(collection) {
            // What was overwritten was sent all the same.
            for revision in sandbox.records.history(collection, record.key) {
                let Some(written_then) = revision.record.as_ref().filter(|_| !baselines.is_given(&revision)) else {
                    continue;
                };
                case.budget.spend(written_then.text().len())?;
                written.push((record.key.to_owned(), Value::clone(&written_then.json())));
            }
        }
    }
    Ok(written)
}
