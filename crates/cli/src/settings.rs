//! Merges settings from flags, `VERIAL_…` variables, the TOML file and defaults, in this order.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use app::{App, Clock, Limits, Options};
use clap::Args;
use serde::Deserialize;
use server::MllpListen;
use store::blobs::BlobUrl;
use store::{Blobs, DatabaseUrl, Store};

use crate::exit::usage;

/// Where the data is stored; shared by `serve` and `admin`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct StorageArguments {
    /// Directory for the database and blobs, unless set separately [default: ./verial-data]
    #[arg(long, env = "VERIAL_DATA", value_name = "DIR", global = true)]
    pub(crate) data: Option<PathBuf>,
    /// sqlite:PATH or postgres://… [default: sqlite in the data directory]
    #[arg(long, env = "VERIAL_DATABASE", value_name = "URL", hide_env_values = true, global = true)]
    pub(crate) database: Option<String>,
    /// file:DIR, s3://BUCKET[/PREFIX] or gs://BUCKET[/PREFIX] [default: in the data directory]
    #[arg(long, env = "VERIAL_BLOBS", value_name = "URL", global = true)]
    pub(crate) blobs: Option<String>,
    /// TOML file with the same settings
    #[arg(long, env = "VERIAL_CONFIG", value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
}

/// The settings of a TOML file.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SettingsFile {
    data: Option<PathBuf>,
    database: Option<String>,
    blobs: Option<String>,
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) public_url: Option<String>,
    pub(crate) mllp_listen: Option<String>,
    pub(crate) sftp_listen: Option<SocketAddr>,
    pub(crate) sftp_public: Option<String>,
    pub(crate) log: Option<String>,
    #[serde(default)]
    pub(crate) log_json: bool,
    #[serde(default)]
    pub(crate) allow_hosts: Vec<String>,
    #[serde(default)]
    pub(crate) limits: std::collections::BTreeMap<String, u64>,
}

impl SettingsFile {
    pub(crate) fn read(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not a valid settings file", path.display()))
    }
}

/// The merged storage locations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Storage {
    data: PathBuf,
    database: DatabaseUrl,
    blobs: BlobUrl,
}

impl Storage {
    pub(crate) fn merge(arguments: &StorageArguments, file: &SettingsFile) -> anyhow::Result<Self> {
        let data = arguments.data.clone().or_else(|| file.data.clone()).unwrap_or_else(|| "verial-data".into());
        let database = arguments.database.clone().or_else(|| file.database.clone());
        let blobs = arguments.blobs.clone().or_else(|| file.blobs.clone());
        Ok(Self {
            database: parse_or(database, "database", || DatabaseUrl::Sqlite(data.join("verial.db")))?,
            blobs: parse_or(blobs, "blobs", || BlobUrl::Directory(data.join("blobs")))?,
            data,
        })
    }

    /// The directory for incomplete uploads.
    pub(crate) fn spool(&self) -> PathBuf {
        self.data.join("spool")
    }

    /// Opens the database and the blob store. Blocking.
    pub(crate) fn open(&self, options: impl Into<Options>) -> anyhow::Result<App> {
        let in_data = |path: &Path| path.starts_with(&self.data);
        let needs_data = matches!(&self.database, DatabaseUrl::Sqlite(path) if in_data(path))
            || matches!(&self.blobs, BlobUrl::Directory(path) if in_data(path));
        if needs_data {
            create_private_directory(&self.data)?;
        }
        let clock = Clock::system();
        let store = Store::open(&self.database, clock.now()).context("cannot open the database")?;
        let blobs = Blobs::open(&self.blobs).context("cannot open the blob store")?;
        Ok(App::new(store, blobs, clock, options))
    }
}

/// Creates a directory that other users of the machine cannot read.
fn create_private_directory(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    created.with_context(|| format!("cannot create the directory {}", path.display()))
}

fn parse_or<T: FromStr<Err = String>>(
    text: Option<String>,
    name: &str,
    default: impl FnOnce() -> T,
) -> anyhow::Result<T> {
    match text {
        None => Ok(default()),
        Some(text) => text.parse().map_err(|reason| usage(format!("--{name} {reason}"))),
    }
}

/// Parses `--mllp-listen`. By default, MLLP uses free ports on the loopback interface.
pub(crate) fn mllp(text: Option<&str>) -> anyhow::Result<Option<MllpListen>> {
    match text {
        None => Ok(Some(MllpListen::LOOPBACK)),
        Some("off") => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|reason| usage(format!("--mllp-listen {reason}, or `off`"))),
    }
}

/// Limits from the file, then from `name=value` flags.
pub(crate) fn limits(file: &SettingsFile, flags: &[String]) -> anyhow::Result<Limits> {
    let mut limits = Limits::default();
    for (name, value) in &file.limits {
        set_limit(&mut limits, name, *value)?;
    }
    for flag in flags {
        let (name, value) = flag.split_once('=').ok_or_else(|| usage(format!("--limit {flag}: write name=value")))?;
        set_limit(&mut limits, name, value.parse().map_err(|_| usage(format!("--limit {flag}: not a number")))?)?;
    }
    Ok(limits)
}

fn set_limit(limits: &mut Limits, name: &str, value: u64) -> anyhow::Result<()> {
    let small = || u32::try_from(value).with_context(|| format!("limit {name} is too large"));
    match name {
        "json_bytes" => limits.json_bytes = usize::try_from(value)?,
        "upload_bytes" => limits.upload_bytes = value,
        "stream_bytes" => limits.stream_bytes = value,
        "layer_bytes" => limits.layer_bytes = value,
        "file_bytes" => limits.file_bytes = value,
        "sandbox_bytes" => limits.sandbox_bytes = value,
        "sandbox_files" => limits.sandbox_files = value,
        "http_connections" => limits.http_connections = usize::try_from(value)?,
        "http_idle_seconds" => limits.http_idle_seconds = value,
        "sftp_sessions" => limits.sftp_sessions = usize::try_from(value)?,
        "sftp_sandbox_sessions" => limits.sftp_sandbox_sessions = usize::try_from(value)?,
        "task_run_events" => limits.task_run_events = i64::try_from(value)?,
        "mllp_connections" => limits.mllp_connections = small()?,
        "mllp_idle_seconds" => limits.mllp_idle_seconds = value,
        "voice_streams" => limits.voice_streams = usize::try_from(value)?,
        "voice_sandbox_streams" => limits.voice_sandbox_streams = usize::try_from(value)?,
        "voice_idle_seconds" => limits.voice_idle_seconds = value,
        "requests_per_second" => limits.requests_per_second = small()?,
        "request_burst" => limits.request_burst = small()?,
        "refusals_per_second" => limits.refusals_per_second = small()?,
        "refusal_burst" => limits.refusal_burst = small()?,
        _ => {
            return Err(usage(format!(
                "unknown limit {name}; expected one of json_bytes, upload_bytes, stream_bytes, layer_bytes, file_bytes, sandbox_bytes, \
             sandbox_files, http_connections, http_idle_seconds, sftp_sessions, sftp_sandbox_sessions, task_run_events, mllp_connections, mllp_idle_seconds, \
             voice_streams, voice_sandbox_streams, voice_idle_seconds, \
             requests_per_second, request_burst, refusals_per_second, refusal_burst"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_override_the_file_and_the_file_overrides_defaults() {
        let file: SettingsFile =
            toml::from_str("data = '/srv/v'\ndatabase = 'sqlite:/srv/a.db'\n[limits]\njson_bytes = 5").unwrap();
        let flags = StorageArguments { database: Some("sqlite:/srv/b.db".into()), ..Default::default() };
        let storage = Storage::merge(&flags, &file).unwrap();
        assert_eq!(storage.database, DatabaseUrl::Sqlite("/srv/b.db".into()));
        assert_eq!(storage.blobs, BlobUrl::Directory("/srv/v/blobs".into()));
        assert_eq!(limits(&file, &[]).unwrap().json_bytes, 5);
        assert_eq!(limits(&file, &["json_bytes=6".into()]).unwrap().json_bytes, 6);
        assert!(limits(&file, &["jsonbytes=6".into()]).is_err());
        assert!(toml::from_str::<SettingsFile>("databse = 'x'").is_err());
    }

    #[test]
    fn mllp_listens_on_loopback_by_default() {
        assert_eq!(mllp(None).unwrap(), Some(MllpListen::LOOPBACK));
        assert_eq!(mllp(Some("off")).unwrap(), None);
        assert!(mllp(Some("0.0.0.0:2575-2674")).unwrap().is_some());
        assert!(mllp(Some("everywhere")).unwrap_err().to_string().contains("HOST:FIRST-LAST"));
    }
}
