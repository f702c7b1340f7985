//! Something of the same playground that is sent by fax: a file of its file drop, or a document of its FHIR data. Nothing is
//! ever fetched from elsewhere.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::simulator::SimulatorType;
use serde_json::Value;
use world::{Context, World};

use super::rows::text;
use crate::files::{self, Opened, TreePath};

/// Where the bytes are.
#[derive(Clone, Debug)]
pub enum Source {
    File(Opened),
    Bytes(Vec<u8>),
}

const RULE: &str = "must be `files/` with a path, `DocumentReference/` or `Binary/` with an id, or the id alone";

/// The fault is what is wrong with the reference.
pub(super) fn resolve(world: &World, context: &Context<'_>, actor: &str, reference: &str) -> Result<Source, String> {
    match reference.split_once('/') {
        Some(("files", path)) => file(world, context, actor, path).map(Source::File),
        Some(("Binary", id)) => binary(world, id).map(Source::Bytes),
        Some(("DocumentReference", id)) => document_reference(world, id).map(Source::Bytes),
        None if resource(world, "DocumentReference", reference).is_some() => {
            document_reference(world, reference).map(Source::Bytes)
        }
        None if resource(world, "Binary", reference).is_some() => binary(world, reference).map(Source::Bytes),
        _ => Err(RULE.to_owned()),
    }
}

fn file(world: &World, context: &Context<'_>, actor: &str, path: &str) -> Result<Opened, String> {
    let path = TreePath::exact(path).ok_or("is not the path of a file")?;
    let client = files::Client { actor: actor.to_owned(), via: files::Via::Http };
    let drops = world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Files && sandbox.is_active);
    let mut found = drops.filter_map(|drop| {
        let call = files::Call { world, context, sandbox: &drop.id, client: &client };
        files::peek(&call, &path).ok()
    });
    found.next().ok_or_else(|| "is no file of the playground".to_owned())
}

fn resource(world: &World, kind: &str, id: &str) -> Option<std::sync::Arc<Value>> {
    let mut stores =
        world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Fhir && sandbox.is_active);
    stores.find_map(|store| store.records.get(kind, id).live().map(|record| record.json()))
}

fn binary(world: &World, id: &str) -> Result<Vec<u8>, String> {
    let binary = resource(world, "Binary", id).ok_or("is no Binary of the FHIR data")?;
    decoded(text(&binary, "data").ok_or("is a Binary without data")?)
}

/// The first of its attachments that is here.
fn document_reference(world: &World, id: &str) -> Result<Vec<u8>, String> {
    let document = resource(world, "DocumentReference", id).ok_or("is no DocumentReference of the FHIR data")?;
    let contents = document.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut attachments = contents.iter().filter_map(|content| content.get("attachment"));
    let found = attachments.find_map(|attachment| match text(attachment, "data") {
        Some(data) => Some(decoded(data)),
        None => text(attachment, "url").and_then(binary_of).map(|id| binary(world, id)),
    });
    found.unwrap_or_else(|| Err("is a DocumentReference whose attachment has neither data nor a Binary".to_owned()))
}

/// `Binary/7`, or an address that ends so.
fn binary_of(url: &str) -> Option<&str> {
    let (before, id) = url.rsplit_once('/')?;
    (before.rsplit('/').next() == Some("Binary")).then_some(id)
}

fn decoded(data: &str) -> Result<Vec<u8>, String> {
    let packed: String = data.split_ascii_whitespace().collect();
    STANDARD.decode(packed).map_err(|_| "has data that is not base64".to_owned())
}
