//! A FHIR request and its answer, without a connection.

/// One HTTP request below the sandbox's FHIR base address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// In capitals.
    pub method: String,
    /// After the base address, without the leading `/`, still percent-encoded: `Patient/1`.
    pub path: String,
    /// Without the `?`, still percent-encoded.
    pub query: String,
    /// Names in lower case. Only those that a FHIR server reads; never a credential.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The sandbox's FHIR base address, without a `/` at its end.
    pub base_url: String,
    /// The paths of further bases of the sandbox, below any host: those of its run. The sandbox's own need not be here.
    pub other_paths: Vec<String>,
    /// Where tokens are given, if that is not below the base address.
    pub token_url: Option<String>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Headers of a request that matter to the simulator and to its events.
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
    /// The body instead, when it is not text: the content of a Binary.
    pub raw: Option<Vec<u8>>,
}
