//! Credentials and addresses for the clients of a sandbox. Secrets are derived from the sandbox's secret and not stored.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::api_key::CLIENT_SECRET_PREFIX;
use model::simulator::SimulatorType;
use ring::hmac;
use store::sandboxes::StoredSandbox;

use super::Addresses;

/// By the names of the simulator's type. Paths of channels are below `prefix`.
pub(crate) fn of(sandbox: &StoredSandbox, base: &Addresses, prefix: &str) -> BTreeMap<String, String> {
    let credentials: Vec<(&str, String)> = match sandbox.kind {
        SimulatorType::Fhir => vec![
            ("fhir_base_url", fhir_base_url(sandbox, &base.base)),
            ("token_url", token_url(sandbox, &base.base)),
            ("client_id", sandbox.id.to_string()),
            ("client_secret", client_secret(sandbox)),
        ],
        SimulatorType::Clearinghouse => vec![
            ("transactions_url", format!("{prefix}/x12/transactions")),
            ("responses_url", format!("{prefix}/x12/responses")),
        ],
        // The server adds host and port of MLLP.
        SimulatorType::Hl7 => {
            vec![("inbox_url", format!("{prefix}/hl7/inbox")), ("outbound_url", format!("{prefix}/hl7/outbound"))]
        }
        SimulatorType::Files => sftp(sandbox, base),
        SimulatorType::Fax => vec![
            ("fax_number", sims::fax::number::own(&sandbox.config, &sandbox.id)),
            ("upload_url", format!("{prefix}/fax/faxes")),
        ],
        SimulatorType::CdsHooks => {
            vec![("services_url", format!("{prefix}/cds/services")), ("hooks_url", format!("{prefix}/cds/hooks"))]
        }
        SimulatorType::Message => vec![("messages_url", format!("{prefix}/messages"))],
        SimulatorType::Payer => vec![
            ("portal_url", format!("{}/portal", direct_prefix(sandbox, &base.base))),
            ("username", portal_username(sandbox)),
            ("password", portal_password(sandbox)),
            ("api_url", format!("{prefix}/portal")),
        ],
        SimulatorType::Voice => vec![
            ("phone_number", phone_number(sandbox)),
            ("ws_url", format!("{}/voice/stream", for_web_sockets(prefix))),
        ],
        // Other types have no credentials.
    };
    credentials.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The user is the sandbox. Empty without an SFTP server.
fn sftp(sandbox: &StoredSandbox, base: &Addresses) -> Vec<(&'static str, String)> {
    let Some((host, port)) = base.sftp() else { return Vec::new() };
    vec![
        ("sftp_host", host),
        ("sftp_port", port.to_string()),
        ("username", sandbox.id.to_string()),
        ("password", sftp_password(sandbox)),
        ("base_path", "/".to_owned()),
    ]
}

pub(crate) fn sftp_password(sandbox: &StoredSandbox) -> String {
    let secret = URL_SAFE_NO_PAD.encode(derived(sandbox, "sftp password").as_ref());
    format!("{CLIENT_SECRET_PREFIX}{secret}")
}

/// The number in the config, or one that is derived for the sandbox. 555 numbers are fictional.
pub(crate) fn phone_number(sandbox: &StoredSandbox) -> String {
    let authored = sandbox.config.get("phone_number").and_then(|number| number.as_str());
    let made = || {
        let derived = derived(sandbox, "phone number");
        let digits = derived.as_ref().iter().take(7).map(|byte| char::from(b'0' + byte % 10));
        format!("+1555{}", digits.collect::<String>())
    };
    authored.map_or_else(made, ToOwned::to_owned)
}

/// `https://host/…` as the URL of a WebSocket.
fn for_web_sockets(address: &str) -> String {
    match address.strip_prefix("http") {
        Some(rest) => format!("ws{rest}"),
        None => address.to_owned(),
    }
}

/// The URL prefix of a sandbox's channels for its organization.
pub(crate) fn direct_prefix(sandbox: &StoredSandbox, base: &str) -> String {
    format!("{base}/sandboxes/{}", sandbox.id)
}

pub(crate) fn fhir_base_url(sandbox: &StoredSandbox, base: &str) -> String {
    format!("{}/fhir", direct_prefix(sandbox, base))
}

fn token_url(sandbox: &StoredSandbox, base: &str) -> String {
    format!("{}/auth/token", fhir_base_url(sandbox, base))
}

pub(crate) fn client_secret(sandbox: &StoredSandbox) -> String {
    let secret = URL_SAFE_NO_PAD.encode(derived(sandbox, "client secret").as_ref());
    format!("{CLIENT_SECRET_PREFIX}{secret}")
}

/// A name that is derived from the sandbox.
pub(crate) fn portal_username(sandbox: &StoredSandbox) -> String {
    let id = sandbox.id.to_string().to_ascii_lowercase();
    format!("clinic-{}", id.get(id.len().saturating_sub(8)..).unwrap_or(&id))
}

pub(crate) fn portal_password(sandbox: &StoredSandbox) -> String {
    let secret = URL_SAFE_NO_PAD.encode(derived(sandbox, "portal password").as_ref());
    format!("{CLIENT_SECRET_PREFIX}{secret}")
}

/// The key that the portal's cookies are signed with.
pub(crate) fn portal_key(sandbox: &StoredSandbox) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, derived(sandbox, "portal cookies").as_ref())
}

/// The key that the sandbox's access tokens are signed with.
pub(crate) fn token_key(sandbox: &StoredSandbox) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, derived(sandbox, "access tokens").as_ref())
}

fn derived(sandbox: &StoredSandbox, purpose: &str) -> hmac::Tag {
    let key = hmac::Key::new(hmac::HMAC_SHA256, sandbox.secret.as_bytes());
    hmac::sign(&key, purpose.as_bytes())
}
