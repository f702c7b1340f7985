//! Calls to other servers: only to hosts that the operator allows, bounded in time and size, never redirected.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;

const CONNECT: Duration = Duration::from_secs(5);
const WHOLE_CALL: Duration = Duration::from_secs(30);

/// The servers that may be called, as `host` or `host:port`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbound {
    allowed_hosts: Vec<String>,
    client: Option<reqwest::Client>,
}

/// One answer of another server.
#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// Why another server could not be asked.
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
    pub(crate) fn new(allowed_hosts: Vec<String>) -> Self {
        let client = (!allowed_hosts.is_empty()).then(|| {
            let builder = reqwest::Client::builder().connect_timeout(CONNECT).timeout(WHOLE_CALL);
            builder.redirect(reqwest::redirect::Policy::none()).no_proxy().build()
        });
        Self { allowed_hosts, client: client.and_then(Result::ok) }
    }

    pub(crate) async fn call(
        &self,
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
        most_bytes: u64,
    ) -> Result<Fetched, CallError> {
        let parsed = reqwest::Url::parse(url).map_err(|_| CallError::NoAnswer)?;
        let client = self.permitted(&parsed)?;
        let method = reqwest::Method::from_bytes(method.as_bytes()).map_err(|_| CallError::NoAnswer)?;
        let mut request = client.request(method, parsed).body(body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let answer = request.send().await.map_err(|error| {
            tracing::warn!(error = %error.without_url(), "another server did not answer");
            CallError::NoAnswer
        })?;
        let status = answer.status().as_u16();
        let header = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        let headers = answer.headers().iter().filter_map(header).collect();
        Ok(Fetched { status, headers, body: bounded(answer, most_bytes).await? })
    }

    fn permitted(&self, url: &reqwest::Url) -> Result<&reqwest::Client, CallError> {
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        self.check_address(host, port)?;
        self.client.as_ref().ok_or_else(|| CallError::NotAllowed(format!("{host}:{port}")))
    }

    /// Whether this host may be called at this port, by whatever protocol.
    pub(crate) fn check_address(&self, host: &str, port: u16) -> Result<(), CallError> {
        let with_port = format!("{host}:{port}");
        let is_allowed = self.allowed_hosts.iter().any(|allowed| allowed == host || *allowed == with_port);
        if is_allowed { Ok(()) } else { Err(CallError::NotAllowed(with_port)) }
    }
}

/// The address of something below a base address; none when dots or backslashes lead out of it.
pub(crate) fn below(base: &str, path: &str, query: &str) -> Option<String> {
    let mark = if query.is_empty() { "" } else { "?" };
    let url = reqwest::Url::parse(&format!("{base}/{path}{mark}{query}")).ok()?;
    let base = reqwest::Url::parse(&format!("{base}/")).ok()?;
    let is_below = url.origin() == base.origin() && url.path().starts_with(base.path());
    is_below.then(|| url.to_string())
}

async fn bounded(answer: reqwest::Response, most: u64) -> Result<Bytes, CallError> {
    let mut pieces = answer.bytes_stream();
    let mut body = Vec::new();
    while let Some(piece) = pieces.next().await {
        body.extend_from_slice(&piece.map_err(|_| CallError::NoAnswer)?);
        if body.len() as u64 > most {
            return Err(CallError::TooLarge);
        }
    }
    Ok(body.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_hosts_are_called() {
        let outbound = Outbound::new(vec!["fhir.example.org".into(), "localhost:8080".into()]);
        let is_allowed = |url: &str| outbound.permitted(&url.parse().unwrap()).is_ok();
        for good in ["https://fhir.example.org/r4", "http://fhir.example.org:81/", "http://localhost:8080/fhir"] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in [
            "http://localhost/fhir",
            "http://localhost:8081/",
            "http://127.0.0.1:8080/",
            "http://[::1]:8080/",
            "http://fhir.example.org.evil.example/",
            "http://evil.example/?fhir.example.org",
            "http://fhir.example.org@evil.example/",
            "http://169.254.169.254/",
        ] {
            assert!(!is_allowed(bad), "{bad}");
        }
        assert!(Outbound::new(Vec::new()).permitted(&"http://a".parse().unwrap()).is_err());
    }

    #[test]
    fn nothing_leads_out_of_a_base_address() {
        let base = "https://fhir.example.org/r4";
        assert_eq!(below(base, "Patient/1", "a=b").as_deref(), Some("https://fhir.example.org/r4/Patient/1?a=b"));
        assert_eq!(below(base, "", "").as_deref(), Some("https://fhir.example.org/r4/"));
        assert_eq!(below(base, "Patient/a%2Fb", "").as_deref(), Some("https://fhir.example.org/r4/Patient/a%2Fb"));
        for outside in
            ["../admin", "Patient/../../admin", "%2e%2e/admin", ".%2E/%2e./admin", "..\\admin", "/../../admin"]
        {
            assert_eq!(below(base, outside, ""), None, "{outside}");
        }
    }
}
