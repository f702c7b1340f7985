//! The authored config of an HL7 v2 interface.

use hl7v2::{ErrorCode, Message};
use model::FieldErrors;
use serde::Deserialize;

use super::receive::LIMITS;
use super::text::with_carriage_returns;
use crate::authored::{self, Authored};
use crate::network;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hl7Config {
    /// Rejects messages with structural faults. By default they are accepted with warnings.
    pub strict: Option<bool>,
    /// Accepts every message that can be parsed. `false` means the same as `strict: true`.
    pub lenient: Option<bool>,
    /// The only version that the interface accepts. Default: any.
    pub version: Option<String>,
    /// Inbound messages are also pushed to this address.
    pub mllp: Option<MllpTarget>,
    /// Messages that arrive in the inbox.
    #[serde(default)]
    pub inbox: Vec<InboxSeed>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InboxSeed {
    /// Line feeds are converted to carriage returns.
    pub message: String,
    /// Arrives this many seconds after the sandbox was created.
    pub after_seconds: Option<i64>,
}

/// How an interface validates messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validation {
    /// Every fault is an error.
    Strict,
    /// Faults of the structure are warnings. An unsupported header and a control id in use are errors.
    Structure,
    /// Every fault is a warning.
    Lenient,
}

impl Validation {
    /// The mode that a sandbox's config selects.
    pub(super) fn of(config: Option<&serde_json::Value>) -> Self {
        let flag = |name: &str| config.and_then(|config| config.get(name)).and_then(serde_json::Value::as_bool);
        match (flag("strict"), flag("lenient")) {
            (Some(true), _) | (_, Some(false)) => Self::Strict,
            (_, Some(true)) => Self::Lenient,
            _ => Self::Structure,
        }
    }

    pub(super) fn tolerates(self, code: ErrorCode) -> bool {
        match self {
            Self::Strict => false,
            Self::Structure => !code.is_rejection() && code != ErrorCode::DuplicateKeyIdentifier,
            Self::Lenient => true,
        }
    }
}

/// Writes the current default into a config without a mode, so that its meaning does not change with the default.
pub fn write_default(config: &mut serde_json::Value) {
    set_default_mode(config, false);
}

/// Snapshots without a mode are from the time when interfaces were strict by default.
pub fn keep_old_default(config: &mut serde_json::Value) {
    set_default_mode(config, true);
}

fn set_default_mode(config: &mut serde_json::Value, is_strict: bool) {
    if let Some(members) = config.as_object_mut()
        && ["strict", "lenient"].iter().all(|name| members.get(*name).is_none_or(serde_json::Value::is_null))
    {
        members.insert("strict".to_owned(), is_strict.into());
    }
}

impl InboxSeed {
    pub(super) fn parse(&self) -> Result<Message, String> {
        parse_authored(&self.message)
    }
}

/// Parses an authored message.
pub(super) fn parse_authored(text: &str) -> Result<Message, String> {
    let text = with_carriage_returns(text);
    Message::parse_text(&text, &LIMITS).map_err(|error| format!("cannot be read: {error}"))
}

const MAX_INBOX_MESSAGES: usize = 200;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MllpTarget {
    pub host: String,
    pub port: i64,
}

const VERSIONS: [&str; 11] = ["2.1", "2.2", "2.3", "2.3.1", "2.4", "2.5", "2.5.1", "2.6", "2.7", "2.7.1", "2.8"];

impl Authored for Hl7Config {
    fn validate(&self, errors: &mut FieldErrors) {
        if self.strict.is_some() && self.strict == self.lenient {
            errors.add("lenient", "contradicts `strict`; give one of them");
        }
        if self.version.as_deref().is_some_and(|version| !VERSIONS.contains(&version)) {
            errors.add("version", format!("must be one of {}", VERSIONS.join(", ")));
        }
        if let Some(target) = &self.mllp {
            errors.inside("mllp", |errors| {
                network::check_host(errors, "host", &target.host);
                errors.range("port", target.port, 1..=65_535);
            });
        }
        errors.each("inbox", &self.inbox, MAX_INBOX_MESSAGES, |seed, errors| {
            if let Err(error) = seed.parse() {
                errors.add("message", error);
            }
            if seed.message.contains('\0') {
                errors.add("message", "must not contain NUL characters");
            }
            authored::delay(errors, "after_seconds", seed.after_seconds);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_without_a_mode_keeps_the_default_of_its_time() {
        for (config, written, old) in [
            (json!({}), json!({"strict": false}), json!({"strict": true})),
            (json!({"strict": null}), json!({"strict": false}), json!({"strict": true})),
            (json!({"lenient": true}), json!({"lenient": true}), json!({"lenient": true})),
            (json!({"strict": false}), json!({"strict": false}), json!({"strict": false})),
        ] {
            let (mut new, mut kept) = (config.clone(), config);
            super::write_default(&mut new);
            super::keep_old_default(&mut kept);
            assert_eq!((new, kept), (written, old));
        }
        assert_eq!(Validation::of(Some(&json!({"strict": false}))), Validation::of(Some(&json!({}))));
    }

    use crate::validate_config;
    use model::simulator::SimulatorType;
    use serde_json::json;

    #[test]
    fn validation_errors_name_the_field() {
        for (config, expected) in [
            (json!({"version": "2.3", "lenient": true}), ""),
            (json!({"mllp": {"host": "::1", "port": 1}}), ""),
            (json!({"strict": true}), ""),
            (json!({"strict": true, "lenient": false}), ""),
            (json!({"strict": true, "lenient": true}), "lenient: contradicts `strict`; give one of them"),
            (json!({"version": 2.5}), "version: must be a string, is 2.5"),
            (
                json!({"version": "3.0"}),
                "version: must be one of 2.1, 2.2, 2.3, 2.3.1, 2.4, 2.5, 2.5.1, 2.6, 2.7, 2.7.1, 2.8",
            ),
            (json!({"inbox": [{"message": "MSH|^~\\&|A\nPID|1", "after_seconds": 5}]}), ""),
            (json!({"inbox": ["MSH|^~\\&|A"]}), "inbox.0: must be an object, is \"MSH|^~\\\\&|A\""),
            (
                json!({"inbox": [{"message": "MSH|^~\\&|A"}, {"message": "PID|1", "after_seconds": -1}]}),
                "inbox.1.after_seconds: must be from 0 to 604800, is -1; inbox.1.message: cannot be read: segment 1, byte 0: \
                 a message starts with MSH, this with `PID|1`",
            ),
            (json!({"lenient": "yes"}), "lenient: must be true or false, is \"yes\""),
            (json!({"mllp": "localhost:2575"}), "mllp: must be an object, is \"localhost:2575\""),
            (
                json!({"mllp": {"host": "a b", "port": 0}}),
                "mllp.host: must be a host name or an IP address; mllp.port: must be from 1 to 65535, is 0",
            ),
        ] {
            let errors = validate_config(SimulatorType::Hl7, &config).err().unwrap_or_default();
            assert_eq!(errors.to_string(), expected, "{config}");
        }
    }
}
