//! Binary in its native form (<https://hl7.org/fhir/R4/binary.html#rest>): the bytes themselves with their content type,
//! unless the client asks for FHIR.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use world::Record;

use super::http::Request;
use super::interaction::Interaction;
use super::media;
use super::outcome::{FhirError, excerpt};
use super::reply::{Reply, ReplyContent, version_name};

const BINARY: &str = "Binary";

/// Whether the request reads a Binary without asking for FHIR.
pub(crate) fn is_read(request: &Request, interaction: &Interaction, format: Option<&str>) -> bool {
    let is_binary = match interaction {
        Interaction::Read(found, _) | Interaction::VersionRead(found, ..) => found.as_str() == BINARY,
        _ => false,
    };
    let asks_for_other = request.header("accept").is_some_and(|accept| !media::names_fhir(accept));
    is_binary && format.is_none() && asks_for_other
}

/// Whether the request writes a Binary as bytes.
pub(crate) fn is_write(request: &Request, interaction: &Interaction) -> bool {
    let is_binary = match interaction {
        Interaction::Create(found) | Interaction::Update(found, _) => found.as_str() == BINARY,
        _ => false,
    };
    is_binary && request.header("content-type").is_some_and(|given| !media::names_fhir(given))
}

/// The Binary for the bytes of a request.
pub(crate) fn resource(request: &Request, interaction: &Interaction) -> Value {
    let mut binary = json!({"resourceType": BINARY});
    if let Interaction::Update(_, id) = interaction {
        binary["id"] = json!(id);
    }
    binary["contentType"] = json!(request.header("content-type").unwrap_or_default().trim());
    if let Some(context) = request.header("x-security-context") {
        binary["securityContext"] = json!({"reference": context.trim()});
    }
    if !request.body.is_empty() {
        binary["data"] = json!(STANDARD.encode(&request.body));
    }
    binary
}

/// The bytes of a stored Binary, if its content type is one that the client accepts.
pub(crate) fn reply(record: &Record<'_>, accept: &str) -> Result<Reply, FhirError> {
    let binary = record.json();
    let content_type = binary["contentType"].as_str().unwrap_or("application/octet-stream");
    if !media::accepts(accept, content_type) {
        let message = format!(
            "the content is of type {}, which is not one of {}; ask for application/fhir+json or */*",
            excerpt(content_type),
            excerpt(accept)
        );
        return Err(FhirError::new(406, "not-supported", message));
    }
    let data: String = binary["data"].as_str().unwrap_or_default().split_ascii_whitespace().collect();
    let bytes = STANDARD
        .decode(data)
        .map_err(|_| FhirError::new(422, "value", "the data of the Binary is not valid base64"))?;
    let mut reply = Reply::new(200, ReplyContent::Bytes { bytes, name: version_name(record) });
    reply = reply.versioned(record.version, record.at);
    reply.headers.push(("content-type", content_type.to_owned()));
    // Stored content must not run in a browser that opens it.
    reply.headers.push(("content-security-policy", "sandbox".to_owned()));
    Ok(reply)
}
