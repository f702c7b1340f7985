//! The file drop.

pub mod config;
mod content;
pub mod steps;

use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::registry::SimulatorInfo;

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Files,
    summary: "A file drop with an inbox, over HTTP and SFTP",
    credentials: &["sftp_host", "sftp_port", "username", "password", "base_path"],
    endpoints: &["files", "files_inbox"],
    steps: &[steps::DROP_FILE_INBOX, steps::FILE_DELETE],
    example_config: || json!({"quota_bytes": 104_857_600}),
    check_config: authored::check::<config::FilesConfig>,
};
