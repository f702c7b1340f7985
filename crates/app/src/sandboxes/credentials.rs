//! What a client of a sandbox's protocol needs. Secrets are derived from the sandbox's own and stand nowhere at rest.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::api_key::CLIENT_SECRET_PREFIX;
use model::simulator::SimulatorType;
use ring::hmac;
use store::sandboxes::StoredSandbox;

use super::Addresses;

/// By the names that the simulator's type gives them. Paths of channels are below `doors`, where the holder's own
/// credential opens them.
pub(crate) fn of(sandbox: &StoredSandbox, base: &Addresses, doors: &str) -> BTreeMap<String, String> {
    let credentials: Vec<(&str, String)> = match sandbox.kind {
        SimulatorType::Fhir => vec![
            ("fhir_base_url", fhir_base_url(sandbox, &base.base)),
            ("token_url", token_url(sandbox, &base.base)),
            ("client_id", sandbox.id.to_string()),
            ("client_secret", client_secret(sandbox)),
        ],
        SimulatorType::Clearinghouse => vec![
            ("transactions_url", format!("{doors}/x12/transactions")),
            ("responses_url", format!("{doors}/x12/responses")),
        ],
        // Host and port of MLLP are told by whoever listens.
        SimulatorType::Hl7 => {
            vec![("inbox_url", format!("{doors}/hl7/inbox")), ("outbound_url", format!("{doors}/hl7/outbound"))]
        }
        SimulatorType::Files => sftp(sandbox, base),
        SimulatorType::Fax => vec![
            ("fax_number", sims::fax::number::own(&sandbox.config, &sandbox.id)),
            ("upload_url", format!("{doors}/fax/faxes")),
        ],
        SimulatorType::CdsHooks => {
            vec![("services_url", format!("{doors}/cds/services")), ("hooks_url", format!("{doors}/cds/hooks"))]
        }
        SimulatorType::Message => vec![("messages_url", format!("{doors}/messages"))],
        SimulatorType::Payer => vec![
            ("portal_url", format!("{}/portal", direct_doors(sandbox, &base.base))),
            ("username", portal_username(sandbox)),
            ("password", portal_password(sandbox)),
            ("api_url", format!("{doors}/portal")),
        ],
        SimulatorType::Voice => vec![
            ("phone_number", phone_number(sandbox)),
            ("ws_url", format!("{}/voice/stream", for_web_sockets(doors))),
        ],
        // The other types have no running simulator yet.
    };
    credentials.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The user is the sandbox. Without an SFTP server there is nothing to log in to.
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

/// The author's, or one that is made for the sandbox. Numbers after 555 belong to nobody.
pub(crate) fn phone_number(sandbox: &StoredSandbox) -> String {
    let authored = sandbox.config.get("phone_number").and_then(|number| number.as_str());
    let made = || {
        let derived = derived(sandbox, "phone number");
        let digits = derived.as_ref().iter().take(7).map(|byte| char::from(b'0' + byte % 10));
        format!("+1555{}", digits.collect::<String>())
    };
    authored.map_or_else(made, ToOwned::to_owned)
}

/// `https://host/…` as the address of a WebSocket.
fn for_web_sockets(address: &str) -> String {
    match address.strip_prefix("http") {
        Some(rest) => format!("ws{rest}"),
        None => address.to_owned(),
    }
}

/// Where an organization reaches the channels of its sandbox.
pub(crate) fn direct_doors(sandbox: &StoredSandbox, base: &str) -> String {
    format!("{base}/sandboxes/{}", sandbox.id)
}

pub(crate) fn fhir_base_url(sandbox: &StoredSandbox, base: &str) -> String {
    format!("{}/fhir", direct_doors(sandbox, base))
}

fn token_url(sandbox: &StoredSandbox, base: &str) -> String {
    format!("{}/auth/token", fhir_base_url(sandbox, base))
}

pub(crate) fn client_secret(sandbox: &StoredSandbox) -> String {
    let secret = URL_SAFE_NO_PAD.encode(derived(sandbox, "client secret").as_ref());
    format!("{CLIENT_SECRET_PREFIX}{secret}")
}

/// A name that tells sandboxes apart, and nothing else.
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
