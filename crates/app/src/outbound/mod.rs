//! Requests to other servers, which only go to hosts that the operator allows, are limited in time and size, and follow no
//! redirects. `mllp` delivers HL7 messages. This is the only network code of the crate, and only the client side: the
//! sockets that the server listens on belong to `server::net`.

mod allowed;
mod inside;
pub(crate) mod mllp;
mod names;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use allowed::Allowed;
use bytes::Bytes;
use futures_util::StreamExt;
use names::{InternalAddress, Names};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// The servers that may be called.
#[derive(Clone, Debug)]
pub(crate) struct Outbound {
    names: Names,
    client: Option<reqwest::Client>,
}

/// A request to another server.
#[derive(Clone, Debug)]
pub(crate) struct OutboundRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: Vec<u8>,
    /// Limits of the response.
    pub(crate) max_response_bytes: u64,
    pub(crate) timeout: Duration,
}

/// The response of another server.
#[derive(Clone, Debug)]
pub(crate) struct OutboundResponse {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// Why a call to another server failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    #[error("this server is not allowed to call {0}; its operator can allow it with --allow-host")]
    NotAllowed(String),
    #[error("the address is not below the other server's base address")]
    Outside,
    #[error("the other server did not answer")]
    NoAnswer,
    #[error("the other server's answer is too large")]
    TooLarge,
}

impl Outbound {
    pub(crate) fn new(allowed_hosts: &[String]) -> Self {
        let allowed = Arc::new(Allowed::new(allowed_hosts));
        Self::with(Names {
            allowed,
            #[cfg(test)]
            known: Default::default(),
        })
    }

    fn with(names: Names) -> Self {
        let client = (!names.allowed.is_empty()).then(|| {
            // Fails if it is already installed, which is fine.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let builder = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT).dns_resolver(names.clone());
            builder.redirect(reqwest::redirect::Policy::none()).no_proxy().build()
        });
        Self { names, client: client.and_then(Result::ok) }
    }

    pub(crate) async fn call(&self, request: OutboundRequest<'_>) -> Result<OutboundResponse, CallError> {
        let timeout = request.timeout;
        tokio::time::timeout(timeout, self.exchange(request)).await.unwrap_or(Err(CallError::NoAnswer))
    }

    async fn exchange(&self, request: OutboundRequest<'_>) -> Result<OutboundResponse, CallError> {
        let parsed = reqwest::Url::parse(request.url).map_err(|_| CallError::NoAnswer)?;
        let host = parsed.host_str().unwrap_or_default().to_owned();
        let client = self.permitted(&parsed)?;
        let method = reqwest::Method::from_bytes(request.method.as_bytes()).map_err(|_| CallError::NoAnswer)?;
        let mut builder = client.request(method, parsed).body(request.body);
        for (name, value) in request.headers {
            builder = builder.header(name, value);
        }
        let response = builder.send().await.map_err(|error| call_error(error, &host))?;
        let status = response.status().as_u16();
        let header = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        let headers = response.headers().iter().filter_map(header).collect();
        Ok(OutboundResponse { status, headers, body: read_limited(response, request.max_response_bytes).await? })
    }

    fn permitted(&self, url: &reqwest::Url) -> Result<&reqwest::Client, CallError> {
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        self.check_address(host, port)?;
        self.client.as_ref().ok_or_else(|| CallError::NotAllowed(format!("{host}:{port}")))
    }

    fn check_address(&self, host: &str, port: u16) -> Result<(), CallError> {
        let is_allowed = self.names.allowed.names(host, port);
        if is_allowed { Ok(()) } else { Err(CallError::NotAllowed(format!("{host}:{port}"))) }
    }

    /// The addresses of an allowed host, for any protocol. The caller must connect to them without another lookup.
    pub(crate) async fn addresses(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, CallError> {
        self.check_address(host, port)?;
        let found = tokio::time::timeout(CONNECT_TIMEOUT, self.names.find(host, port)).await;
        match found {
            Ok(Ok(addresses)) => Ok(addresses),
            Ok(Err(error)) if error.is::<InternalAddress>() => Err(CallError::NotAllowed(error.to_string())),
            Ok(Err(_)) | Err(_) => Err(CallError::NoAnswer),
        }
    }
}

/// The caller learns that a name resolves to an internal address. Details of other failures are only logged.
fn call_error(error: reqwest::Error, host: &str) -> CallError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(found) = cause {
        if found.is::<InternalAddress>() {
            return CallError::NotAllowed(format!("an internal address, to which {host} resolves"));
        }
        cause = found.source();
    }
    tracing::warn!(error = %error.without_url(), "another server did not answer");
    CallError::NoAnswer
}

/// A URL below a base URL; none if dots or backslashes lead out of it.
pub(crate) fn below(base: &str, path: &str, query: &str) -> Option<String> {
    let mark = if query.is_empty() { "" } else { "?" };
    let url = reqwest::Url::parse(&format!("{base}/{path}{mark}{query}")).ok()?;
    let base = reqwest::Url::parse(&format!("{base}/")).ok()?;
    let is_below = url.origin() == base.origin() && url.path().starts_with(base.path());
    is_below.then(|| url.to_string())
}

async fn read_limited(response: reqwest::Response, max_bytes: u64) -> Result<Bytes, CallError> {
    let mut chunks = response.bytes_stream();
    let mut body = Vec::new();
    while let Some(chunk) = chunks.next().await {
        body.extend_from_slice(&chunk.map_err(|_| CallError::NoAnswer)?);
        if body.len() as u64 > max_bytes {
            return Err(CallError::TooLarge);
        }
    }
    Ok(body.into())
}
