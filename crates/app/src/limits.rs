//! The operator's configuration: limits, and the servers that may be called.

use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct Limits {
    /// JSON bodies.
    pub json_bytes: usize,
    /// A FHIR bundle, or one file.
    pub upload_bytes: u64,
    /// An NDJSON stream, which is never completely in memory.
    pub stream_bytes: u64,
    /// Memory for dataset layers. Beyond it, layers that are not in use are dropped.
    pub layer_bytes: u64,
    /// One file in a sandbox.
    pub file_bytes: u64,
    /// Bytes and files that clients may write to one sandbox.
    pub sandbox_bytes: u64,
    pub sandbox_files: u64,
    /// HTTP connections, and how long a client may be idle while sending a request or reading the response.
    pub http_connections: usize,
    pub http_idle_seconds: u64,
    /// SFTP connections, in total and to one sandbox.
    pub sftp_sessions: usize,
    pub sftp_sandbox_sessions: usize,
    /// Events in the log of one task run. Beyond it, its sandboxes take no traffic.
    pub task_run_events: i64,
    /// MLLP connections to all sandboxes, and their idle timeout.
    pub mllp_connections: u32,
    pub mllp_idle_seconds: u64,
    /// WebSocket connections of phone lines, in total and to one sandbox, and their idle timeout.
    pub voice_streams: usize,
    pub voice_sandbox_streams: usize,
    pub voice_idle_seconds: u64,
    /// Requests per second for each key, and the size of a burst.
    pub requests_per_second: u32,
    pub request_burst: u32,
    /// Rejected credentials per second for each address, and the size of a burst.
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

/// The operator's configuration.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub limits: Limits,
    /// Servers that simulators may call, as `host`, `host:port` or a network such as `10.1.0.0/16`; none by default.
    pub allowed_hosts: Vec<String>,
    /// Where clients reach the SFTP server, if there is one.
    pub sftp: Option<SftpAddress>,
    /// The directory for incomplete uploads; the system's directory for temporary files by default.
    pub spool: Option<PathBuf>,
    /// The engine version in results. Only set by tests, which need two engines.
    pub engine: Option<&'static str>,
}

/// The address in the credentials of file drops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SftpAddress {
    /// The host of the HTTP server by default.
    pub host: Option<String>,
    pub port: u16,
}

impl From<Limits> for Options {
    fn from(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }
}
