//! References to documents of the same playground that are sent by fax: files of a Files sandbox, and documents of a FHIR
//! sandbox. Nothing is fetched from outside.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fhir::ResourceReference;
use model::simulator::SimulatorType;
use serde_json::Value;
use world::{Context, World};

use super::rows::text;
use crate::files::{self, OpenedFile, TreePath};

/// Where the bytes of a document are.
#[derive(Clone, Debug)]
pub enum DocumentSource {
    File(OpenedFile),
    Bytes(Vec<u8>),
}

const EXPECTED_REFERENCE: &str =
    "must be `files/` with a path, `DocumentReference/` or `Binary/` with an id, or an existing id";

/// Resolves `content_reference`. The error completes a sentence about the reference.
pub(super) fn resolve(
    world: &World,
    context: &Context<'_>,
    actor: &str,
    reference: &str,
) -> Result<DocumentSource, String> {
    match reference.split_once('/') {
        Some(("files", path)) => file(world, context, actor, path).map(DocumentSource::File),
        Some(("Binary", id)) => binary(world, id).map(DocumentSource::Bytes),
        Some(("DocumentReference", id)) => document_reference(world, id).map(DocumentSource::Bytes),
        None if resource(world, "DocumentReference", reference).is_some() => {
            document_reference(world, reference).map(DocumentSource::Bytes)
        }
        None if resource(world, "Binary", reference).is_some() => binary(world, reference).map(DocumentSource::Bytes),
        _ => Err(EXPECTED_REFERENCE.to_owned()),
    }
}

fn file(world: &World, context: &Context<'_>, actor: &str, path: &str) -> Result<OpenedFile, String> {
    let path = TreePath::exact(path).ok_or("is not a valid file path")?;
    let client = files::Client { actor: actor.to_owned(), protocol: files::Protocol::Http };
    let drops = world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Files && sandbox.is_active);
    let mut files = drops.filter_map(|drop| {
        let call = files::Call { world, context, sandbox: &drop.id, client: &client };
        files::peek(&call, &path).ok()
    });
    files.next().ok_or_else(|| "is not a file of the playground".to_owned())
}

fn resource(world: &World, kind: &str, id: &str) -> Option<std::sync::Arc<Value>> {
    let mut stores =
        world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Fhir && sandbox.is_active);
    stores.find_map(|store| store.records.get(kind, id).live().map(|record| record.json()))
}

fn binary(world: &World, id: &str) -> Result<Vec<u8>, String> {
    let binary = resource(world, "Binary", id).ok_or("is not a Binary of the FHIR data")?;
    decode(text(&binary, "data").ok_or("is a Binary without data")?)
}

/// The first attachment that has data or refers to a Binary.
fn document_reference(world: &World, id: &str) -> Result<Vec<u8>, String> {
    let document = resource(world, "DocumentReference", id).ok_or("is not a DocumentReference of the FHIR data")?;
    let contents = document.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut attachments = contents.iter().filter_map(|content| content.get("attachment"));
    let content = attachments.find_map(|attachment| match text(attachment, "data") {
        Some(data) => Some(decode(data)),
        None => text(attachment, "url").and_then(binary_id).map(|id| binary(world, id)),
    });
    content.unwrap_or_else(|| Err("is a DocumentReference whose attachment has neither data nor a Binary".to_owned()))
}

/// The id in `Binary/7`, or in an absolute URL of one.
fn binary_id(url: &str) -> Option<&str> {
    let reference = ResourceReference::parse(url)?;
    (reference.resource_type().as_str() == "Binary").then_some(reference.id())
}

fn decode(data: &str) -> Result<Vec<u8>, String> {
    let compact: String = data.split_ascii_whitespace().collect();
    STANDARD.decode(compact).map_err(|_| "has data that is not base64".to_owned())
}
