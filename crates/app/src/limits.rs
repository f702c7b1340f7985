//! What an operator decides: what one request may cost, and which servers may be called.

use std::path::PathBuf;

use crate::mllp::MllpListen;

#[derive(Clone, Debug)]
pub struct Limits {
    /// JSON bodies.
    pub json_bytes: usize,
    /// A FHIR bundle, or one file.
    pub upload_bytes: u64,
    /// An NDJSON stream, which is never held as a whole.
    pub stream_bytes: u64,
    /// Memory for dataset layers; those that are not in use are dropped beyond it.
    pub layer_bytes: u64,
    /// One file in a sandbox.
    pub file_bytes: u64,
    /// What clients may write into one sandbox.
    pub sandbox_bytes: u64,
    pub sandbox_files: u64,
    /// Connections by HTTP, and how long a client may keep one waiting: for a request, for more of its body, or by not
    /// reading the answer.
    pub http_connections: usize,
    pub http_idle_seconds: u64,
    /// Connections by SFTP, in all and for one sandbox.
    pub sftp_sessions: usize,
    pub sftp_sandbox_sessions: usize,
    /// Events in the log of one task run; beyond it its sandboxes take no traffic.
    pub task_run_events: i64,
    /// MLLP connections to all sandboxes together, and how long one may stay silent.
    pub mllp_connections: u32,
    pub mllp_idle_seconds: u64,
    /// WebSocket connections of phone lines, in all and for one sandbox, and how long one may stay silent.
    pub voice_streams: usize,
    pub voice_sandbox_streams: usize,
    pub voice_idle_seconds: u64,
    /// Requests a second for each key, and how many may come at once.
    pub requests_per_second: u32,
    pub request_burst: u32,
    /// Refused credentials a second for each address, and how many may come at once.
    pub refusals_per_second: u32,
    pub refusal_burst: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            json_bytes: 1024 * 1024,
            upload_bytes: 64 * 1024 * 1024,
            stream_bytes: 16 * 1024 * 1024 * 1024,
            layer_bytes: 2 * 1024 * 1024 * 1024,
            file_bytes: 2 * 1024 * 1024 * 1024,
            sandbox_bytes: 8 * 1024 * 1024 * 1024,
            sandbox_files: 10_000,
            http_connections: 10_000,
            http_idle_seconds: 60,
            sftp_sessions: 1000,
            sftp_sandbox_sessions: 100,
            task_run_events: 100_000,
            mllp_connections: 4000,
            mllp_idle_seconds: 300,
            voice_streams: 2000,
            voice_sandbox_streams: 1000,
            voice_idle_seconds: 600,
            requests_per_second: 1000,
            request_burst: 2000,
            refusals_per_second: 20,
            refusal_burst: 200,
        }
    }
}

/// What an operator decides.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub limits: Limits,
    /// Servers that simulators may call, as `host`, `host:port` or a network such as `10.1.0.0/16`; none without the
    /// operator's word.
    pub allowed_hosts: Vec<String>,
    /// Where HL7 sandboxes get their MLLP ports; without it they have none.
    pub mllp: Option<MllpListen>,
    /// Where clients reach the SFTP server, if there is one.
    pub sftp: Option<SftpAddress>,
    /// Where uploads wait until they are whole; the system's directory for temporary files by default.
    pub spool: Option<PathBuf>,
    /// What stands for the engine's version in results. Only tests set it: they need two engines, and there is one.
    pub engine: Option<&'static str>,
}

/// The address in the credentials of file drops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SftpAddress {
    /// The host of the HTTP server, unless the operator says otherwise.
    pub host: Option<String>,
    pub port: u16,
}

impl From<Limits> for Options {
    fn from(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }
}
