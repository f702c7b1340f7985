//! `~/.verial/config.json`: the user's settings, readable only by the user.

use std::path::PathBuf;

use anyhow::Context;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Default, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserConfig {
    #[serde(alias = "base-url", alias = "base_url", skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    #[serde(alias = "api-key", skip_serializing_if = "Option::is_none")]
    pub(crate) api_key: Option<String>,
    #[serde(alias = "solver-key", skip_serializing_if = "Option::is_none")]
    pub(crate) solver_key: Option<String>,
}

impl UserConfig {
    #[expect(clippy::disallowed_methods, reason = "the file is in the user's home directory")]
    pub(crate) fn path() -> anyhow::Result<PathBuf> {
        let home = std::env::var_os("HOME").context("HOME is not set")?;
        Ok(PathBuf::from(home).join(".verial").join("config.json"))
    }

    pub(crate) fn read() -> anyhow::Result<Self> {
        let path = Self::path()?;
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    pub(crate) fn write(&self) -> anyhow::Result<PathBuf> {
        let path = Self::path()?;
        write_private(&path, &serde_json::to_vec_pretty(self)?)?;
        Ok(path)
    }
}

/// Writes a file atomically, with permissions for the user only.
pub(crate) fn write_private(path: &std::path::Path, content: &[u8]) -> anyhow::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    let write = || -> std::io::Result<()> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".new");
        let temporary = path.with_file_name(name);
        let _ = std::fs::remove_file(&temporary);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(temporary, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
