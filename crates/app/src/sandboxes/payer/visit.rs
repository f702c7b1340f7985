//! A browser's session with the portal: a signed cookie with the login and the time of the last request. The login itself
//! is a record of the playground, so that a logout or a reset ends it on every node.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::Timestamp;
use ring::hmac;
use store::sandboxes::StoredSandbox;

use crate::sandboxes::credentials;
use crate::{App, AppError, random};

/// The content of a cookie whose signature was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Identifies the browser until it logs in or out.
    id: String,
    /// Identifies the login, while the browser is logged in.
    pub(super) login: Option<String>,
    seen_at: Timestamp,
}

impl Visit {
    pub(super) fn new(app: &App, login: Option<String>) -> Result<Self, AppError> {
        let id = URL_SAFE_NO_PAD.encode(random::bytes::<18>()?);
        Ok(Self { id, login, seen_at: app.now() })
    }

    pub(super) fn seen_now(self, app: &App) -> Self {
        Self { seen_at: app.now(), ..self }
    }

    pub(super) fn is_past(&self, now: Timestamp, milliseconds: i64) -> bool {
        self.seen_at.plus_milliseconds(milliseconds) <= now
    }

    /// `CLAIMS.SIGNATURE`.
    pub(super) fn sign(&self, sandbox: &StoredSandbox) -> String {
        let login = self.login.as_deref().unwrap_or_default();
        let claims = URL_SAFE_NO_PAD.encode(format!("{},{login},{}", self.id, self.seen_at.milliseconds()));
        format!("{claims}.{}", signature(sandbox, &format!("visit {claims}")))
    }

    pub(super) fn read(sandbox: &StoredSandbox, cookie: &str) -> Option<Self> {
        let (claims, signature) = cookie.split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        hmac::verify(&credentials::portal_key(sandbox), format!("visit {claims}").as_bytes(), &signature).ok()?;
        let claims = String::from_utf8(URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        let mut parts = claims.splitn(3, ',');
        let (id, login, seen_at) = (parts.next()?.to_owned(), parts.next()?, parts.next()?.parse().ok()?);
        let login = Some(login).filter(|login| !login.is_empty()).map(ToOwned::to_owned);
        Some(Self { id, login, seen_at: Timestamp(seen_at) })
    }

    /// The token that forms of this session must send back.
    pub(super) fn form_token(&self, sandbox: &StoredSandbox) -> String {
        signature(sandbox, &format!("form {}", self.id))
    }
}

fn signature(sandbox: &StoredSandbox, text: &str) -> String {
    URL_SAFE_NO_PAD.encode(hmac::sign(&credentials::portal_key(sandbox), text.as_bytes()).as_ref())
}
