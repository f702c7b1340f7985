//! The configuration of a file drop.

use model::FieldErrors;
use model::dataset::{FILE_PATH_RULE, is_file_path};
use serde::Deserialize;
use serde_json::Value;

use crate::authored::{self, Authored};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesConfig {
    /// How much clients may write into one sandbox. The server's own limit applies as well.
    pub quota_bytes: Option<i64>,
    /// Permanent directories in addition to `inbox` and `outbox`.
    pub folders: Option<Vec<String>>,
    /// Injected faults.
    pub faults: Option<Faults>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    pub short_write: Option<ShortWrite>,
    pub locked_account: Option<LockedAccount>,
}

/// SFTP uploads fail after this number of bytes. The bytes before are stored.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShortWrite {
    pub after_bytes: u64,
    /// How many uploads fail. Defaults to 1.
    pub times: Option<u64>,
}

/// The account is locked for a while after this number of wrong passwords.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedAccount {
    pub after_failures: u64,
    pub for_seconds: i64,
}

const MAX_QUOTA_BYTES: i64 = 1 << 40;
const MAX_FOLDERS: usize = 100;

impl FilesConfig {
    /// The config of a sandbox, which was validated when it was saved.
    pub fn of(config: &Value) -> Self {
        // Most configs are empty. The common case skips reading them.
        let is_empty = config.as_object().is_none_or(serde_json::Map::is_empty);
        if is_empty { Self::default() } else { authored::read(config).unwrap_or_default() }
    }

    pub(crate) fn locked_account(&self) -> Option<LockedAccount> {
        self.faults.as_ref()?.locked_account
    }
}

impl Authored for FilesConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        if let Some(quota) = self.quota_bytes {
            errors.range("quota_bytes", quota, 1..=MAX_QUOTA_BYTES);
        }
        errors.each("folders", self.folders.as_deref().unwrap_or_default(), MAX_FOLDERS, |folder, errors| {
            if !is_file_path(folder) {
                errors.add("", FILE_PATH_RULE);
            }
        });
        if let Some(faults) = &self.faults {
            errors.inside("faults", |errors| faults.validate(errors));
        }
    }
}

impl Faults {
    fn validate(&self, errors: &mut FieldErrors) {
        let as_i64 = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        if let Some(fault) = &self.short_write {
            errors.range("short_write.after_bytes", as_i64(fault.after_bytes), 0..=MAX_QUOTA_BYTES);
            errors.range("short_write.times", as_i64(fault.times.unwrap_or(1)), 1..=1000);
        }
        if let Some(fault) = &self.locked_account {
            errors.range("locked_account.after_failures", as_i64(fault.after_failures), 1..=100);
            errors.range("locked_account.for_seconds", fault.for_seconds, 1..=authored::MAX_DELAY_SECONDS);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validate_config;
    use model::simulator::SimulatorType;
    use serde_json::{Value, json};

    fn check(config: &Value, good: bool) {
        let result = validate_config(SimulatorType::Files, config);
        assert_eq!(result.is_ok(), good, "{config}: {result:?}");
    }

    #[test]
    fn quotas_are_positive_integers() {
        for (quota, good) in [
            (json!(1), true),
            (json!(null), true),
            (json!(0), false),
            (json!(-1), false),
            (json!(1.5), false),
            (json!("1"), false),
            (json!(u64::MAX), false),
        ] {
            check(&json!({ "quota_bytes": quota }), good);
        }
    }

    #[test]
    fn folders_are_paths_and_faults_have_bounds() {
        check(&json!({"folders": ["outbox/returns", "archive"]}), true);
        check(&json!({"folders": ["../x"]}), false);
        check(&json!({"folders": vec!["x"; 101]}), false);
        check(&json!({"faults": {"short_write": {"after_bytes": 0}}}), true);
        check(&json!({"faults": {"short_write": {"after_bytes": 5, "times": 0}}}), false);
        check(&json!({"faults": {"short_write": {"times": 1}}}), false);
        check(&json!({"faults": {"locked_account": {"after_failures": 3, "for_seconds": 60}}}), true);
        check(&json!({"faults": {"locked_account": {"after_failures": 0, "for_seconds": 60}}}), false);
        check(&json!({"faults": {"slow": {}}}), false);
    }
}
