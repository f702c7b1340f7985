//! The credentials of sandboxes, as their simulators declare them. Secrets are derived from the sandbox's own secret and
//! are not stored.

use std::collections::BTreeMap;

use ring::hmac;
use sims::credentials::{CredentialContext, Listener};
use store::sandboxes::StoredSandbox;

use super::Addresses;

/// All credentials of a sandbox, by name. `url` is the prefix of its operations for the caller's credential. Those of MLLP
/// are added when its port is open.
pub(crate) fn of(sandbox: &StoredSandbox, base: &Addresses, url: &str) -> BTreeMap<String, String> {
    let mut credentials = declared(sandbox, &base.base, url, None, ("", 0));
    if let Some((host, port)) = base.sftp() {
        credentials.extend(declared(sandbox, &base.base, url, Some(Listener::Sftp), (&host, port)));
    }
    credentials
}

fn declared(
    sandbox: &StoredSandbox,
    base: &str,
    url: &str,
    listener: Option<Listener>,
    address: (&str, u16),
) -> BTreeMap<String, String> {
    let sandbox_url = sandbox_url(sandbox, base);
    let context = CredentialContext {
        sandbox: &sandbox.id,
        config: &sandbox.config,
        url,
        sandbox_url: &sandbox_url,
        listener: address,
        derive: &|purpose| derived(sandbox, purpose).as_ref().to_vec(),
    };
    let declared = sims::info(sandbox.kind).credentials.iter().filter(|credential| credential.listener == listener);
    declared.map(|credential| (credential.name.to_owned(), credential.value(&context))).collect()
}

/// One credential, which must not depend on an address: a user name or a secret. Empty if the type has no such credential.
pub(crate) fn own(sandbox: &StoredSandbox, name: &str) -> String {
    let listener = sims::info(sandbox.kind).credentials.iter().find(|credential| credential.name == name);
    let listener = listener.and_then(|credential| credential.listener);
    declared(sandbox, "", "", listener, ("", 0)).remove(name).unwrap_or_default()
}

/// The number of a phone line.
pub(crate) fn phone_number(sandbox: &StoredSandbox) -> String {
    own(sandbox, "phone_number")
}

/// The URL prefix of a sandbox for keys of its organization and its own credentials.
pub(crate) fn sandbox_url(sandbox: &StoredSandbox, base: &str) -> String {
    format!("{base}/sandboxes/{}", sandbox.id)
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
