//! The file drop.

mod call;
mod condition;
pub mod config;
mod content;
mod effects;
mod faults;
mod path;
mod quota;
mod read;
mod refusal;
mod rename;
mod row;
pub mod steps;
#[cfg(test)]
mod tests;
mod tree;
mod write;

pub use call::{Answered, Call, Client, Via};
pub use condition::{Condition, lists};
pub use faults::{is_locked, login_changes, note_login, note_wrong_password, short_after};
pub use path::TreePath;
pub use quota::{Quota, Usage};
pub use read::{Part, directory, list, open, peek, stat};
pub use refusal::Refusal;
pub use rename::{Move, rename};
pub use row::{Content, Opened, Stored, content};
pub use tree::Entry;
pub use write::{Parents, Upload, Written, delete, make_directory, may_write, remove_directory, write};

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
