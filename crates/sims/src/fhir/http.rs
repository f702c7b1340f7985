//! FHIR requests and responses, independent of the HTTP server.

/// An HTTP request to the sandbox's FHIR server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// In upper case.
    pub method: String,
    /// Relative to the base URL, without a leading `/`, percent-encoded: `Patient/1`.
    pub path: String,
    /// Without the `?`, percent-encoded.
    pub query: String,
    /// With lower-case names. Only [`HEADERS`], never credentials.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The sandbox's FHIR base URL, without a trailing `/`.
    pub base_url: String,
    /// The paths of further base URLs, such as that of the run. The sandbox's own path is not needed.
    pub other_paths: Vec<String>,
    /// The token endpoint, if it is not below the base URL.
    pub token_url: Option<String>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The request headers that the simulator uses or logs.
pub const HEADERS: [&str; 12] = [
    "accept",
    "content-type",
    "prefer",
    "if-match",
    "if-none-match",
    "if-modified-since",
    "if-none-exist",
    "x-provenance",
    "x-security-context",
    "x-request-id",
    "user-agent",
    "idempotency-key",
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    /// Replaces `body` if it is not text: the content of a Binary.
    pub raw: Option<Vec<u8>>,
}
