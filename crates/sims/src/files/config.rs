//! What an author may configure of a file drop.

use model::FieldErrors;
use serde::Deserialize;

use crate::authored::Authored;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesConfig {
    /// How much one sandbox may hold besides its datasets; the organization's limit holds anyway.
    pub quota_bytes: Option<i64>,
}

const LARGEST_QUOTA_BYTES: i64 = 1 << 40;

impl Authored for FilesConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        if let Some(quota) = self.quota_bytes {
            errors.range("quota_bytes", quota, 1..=LARGEST_QUOTA_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validate_config;
    use model::simulator::SimulatorType;
    use serde_json::json;

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
            let result = validate_config(SimulatorType::Files, &json!({ "quota_bytes": quota }));
            assert_eq!(result.is_ok(), good, "{quota}");
        }
    }
}
