//! The credentials of a sandbox: what a client needs to use its protocol. Each simulator type declares its own.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::SandboxId;
use model::api_key::CLIENT_SECRET_PREFIX;
use serde_json::Value;

/// A server for a protocol other than HTTP. It runs only if the operator has configured it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    Mllp,
    Sftp,
}

/// One member of a sandbox's `credentials`.
#[derive(Debug)]
pub struct Credential {
    pub name: &'static str,
    /// The credential exists only while this listener runs.
    pub listener: Option<Listener>,
    pub(crate) value: fn(&CredentialContext<'_>) -> String,
}

/// What credentials are made of. Secrets are derived from the sandbox's own secret and are not stored.
pub struct CredentialContext<'a> {
    pub sandbox: &'a SandboxId,
    pub config: &'a Value,
    /// The URL prefix of the sandbox's operations for the caller's credential.
    pub url: &'a str,
    /// The URL prefix of the sandbox itself, which the sandbox's own credentials open.
    pub sandbox_url: &'a str,
    /// Host and port of the credential's listener.
    pub listener: (&'a str, u16),
    /// 32 bytes derived from the sandbox's secret, different for each purpose.
    pub derive: &'a dyn Fn(&str) -> Vec<u8>,
}

impl Credential {
    pub(crate) const fn new(name: &'static str, value: fn(&CredentialContext<'_>) -> String) -> Self {
        Self { name, listener: None, value }
    }

    pub(crate) const fn of(
        listener: Listener,
        name: &'static str,
        value: fn(&CredentialContext<'_>) -> String,
    ) -> Self {
        Self { name, listener: Some(listener), value }
    }

    pub fn value(&self, context: &CredentialContext<'_>) -> String {
        (self.value)(context)
    }
}

impl CredentialContext<'_> {
    pub(crate) fn url_of(&self, path: &str) -> String {
        format!("{}/{path}", self.url)
    }

    /// A password or client secret.
    pub(crate) fn secret(&self, purpose: &str) -> String {
        format!("{CLIENT_SECRET_PREFIX}{}", URL_SAFE_NO_PAD.encode((self.derive)(purpose)))
    }

    pub(crate) fn host(&self) -> String {
        self.listener.0.to_owned()
    }

    pub(crate) fn port(&self) -> String {
        self.listener.1.to_string()
    }
}
