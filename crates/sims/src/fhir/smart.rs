//! `.well-known/smart-configuration` (<https://hl7.org/fhir/smart-app-launch/conformance.html>).

use serde_json::json;

use super::interaction_context::InteractionContext;
use super::reply::{Reply, ReplyContent};

/// The token endpoint of the server.
pub(crate) fn token_url(context: &InteractionContext<'_>) -> String {
    context.token_url.map_or_else(|| format!("{}/auth/token", context.base_url), ToOwned::to_owned)
}

pub(crate) fn configuration(context: &InteractionContext<'_>) -> Reply {
    let document = json!({
        "token_endpoint": token_url(context),
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "grant_types_supported": ["client_credentials"],
        "scopes_supported": ["system/*.cruds", "system/*.rs", "system/*.read", "system/*.write", "system/*.*"],
        "response_types_supported": ["token"],
        "capabilities": ["client-confidential-symmetric", "permission-v1", "permission-v2"],
    });
    let mut reply = Reply::new(200, ReplyContent::Document { text: document.to_string(), name: "smart-configuration" });
    reply.headers.push(("content-type", "application/json".to_owned()));
    reply
}
