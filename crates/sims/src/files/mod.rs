//! The Files simulator: a file drop with an inbox.

mod call;
mod condition;
pub mod config;
mod content;
mod effects;
mod error;
mod faults;
mod path;
mod quota;
mod read;
mod rename;
mod row;
pub mod steps;
#[cfg(test)]
mod tests;
mod tree;
mod write;

pub use call::{Call, Client, FilesOutcome, Protocol};
pub use condition::{Condition, etag_list_matches};
pub use error::FilesError;
pub use faults::{has_failed_logins, is_locked, record_login, record_wrong_password, upload_limit};
pub use path::TreePath;
pub use quota::{Quota, Usage};
pub use read::{ListRange, directory, list, open, peek, stat};
pub use rename::{MoveRequest, rename};
pub use row::{Content, OpenedFile, StoredContent, content};
pub use tree::TreeEntry;
pub use write::{Parents, Upload, WrittenFile, check_writable, delete, make_directory, remove_directory, write};

use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::credentials::{Credential, Listener};
use crate::registry::{ConfigDefaults, Endpoint, SimulatorInfo};

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Files,
    summary: "A file drop with an inbox, over HTTP and SFTP",
    datasets: &[DatasetType::Fhir, DatasetType::Files],
    credentials: &[
        Credential::of(Listener::Sftp, "sftp_host", |context| context.host()),
        Credential::of(Listener::Sftp, "sftp_port", |context| context.port()),
        Credential::of(Listener::Sftp, "username", |context| context.sandbox.to_string()),
        Credential::of(Listener::Sftp, "password", |context| context.secret("sftp password")),
        Credential::of(Listener::Sftp, "base_path", |_| "/".to_owned()),
    ],
    endpoints: &[Endpoint::at("files"), Endpoint { name: "files_inbox", path: "files/inbox" }],
    steps: &[steps::DROP_FILE_INBOX, steps::FILE_DELETE],
    example_config: || {
        json!({
            "quota_bytes": 104_857_600,
            "folders": ["outbox/returns"],
            "faults": {
                "short_write": {"after_bytes": 65_536, "times": 1},
                "locked_account": {"after_failures": 3, "for_seconds": 60},
            },
        })
    },
    effects: effects::EFFECTS,
    operations: &[],
    schedules: &[],
    config_defaults: ConfigDefaults::UNCHANGED,
    check_config: authored::check::<config::FilesConfig>,
};
