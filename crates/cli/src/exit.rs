//! Exit codes, the errors that carry them, and hints for the user.

use std::process::ExitCode;

use client::ClientError;

/// Each code with its meaning, for the manual.
pub(crate) const CODES: [(u8, &str); 7] = [
    (0, "success; for `verial run`: the gate was met"),
    (1, "negative result: the gate was not met, rescoring differs, or a check found errors"),
    (2, "invalid command line"),
    (3, "the server rejected the request"),
    (4, "the server cannot be reached or failed, or the agent cannot be started; says nothing about the agent"),
    (5, "a local failure, such as an unreadable file"),
    (130, "interrupted by Ctrl-C or a signal"),
];

/// An error with an exit code and a message.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ExitError {
    code: u8,
    message: String,
}

fn exit_error(code: u8, message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(ExitError { code, message: message.into() })
}

/// Exit code 1: the command worked, but its result is negative.
pub(crate) fn failure(message: impl Into<String>) -> anyhow::Error {
    exit_error(1, message)
}

/// Exit code 2: invalid command line.
pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
    exit_error(2, message)
}

/// Exit code 3: the server does not have what was requested.
pub(crate) fn rejected(message: impl Into<String>) -> anyhow::Error {
    exit_error(3, message)
}

/// Exit code 4: the server or the agent's start failed.
pub(crate) fn infrastructure(message: impl Into<String>) -> anyhow::Error {
    exit_error(4, message)
}

/// Exit code 130: interrupted by a signal.
pub(crate) fn interrupted(message: impl Into<String>) -> anyhow::Error {
    exit_error(130, message)
}

/// `1 error`, `2 errors`.
pub(crate) fn count_errors(count: usize) -> String {
    crate::output::text::counted(count, "error")
}

/// The exit code of an error, by the first known cause in its chain.
pub(crate) fn code(error: &anyhow::Error) -> ExitCode {
    for cause in error.chain() {
        if let Some(known) = cause.downcast_ref::<ExitError>() {
            return ExitCode::from(known.code);
        }
        if let Some(authoring::Error::Findings(_)) = cause.downcast_ref::<authoring::Error>() {
            return ExitCode::from(1);
        }
        if let Some(error) = client_error(cause) {
            return ExitCode::from(if error.is_infrastructure() { 4 } else { 3 });
        }
    }
    ExitCode::from(5)
}

/// The client error behind a cause, if it is one.
fn client_error<'cause>(cause: &'cause (dyn std::error::Error + 'static)) -> Option<&'cause ClientError> {
    match cause.downcast_ref::<authoring::Error>() {
        Some(authoring::Error::Server { reason, .. }) => Some(reason),
        _ => cause.downcast_ref::<ClientError>(),
    }
}

/// What the user can do about an error, if known.
pub(crate) fn next_step(error: &anyhow::Error) -> Option<String> {
    if error.chain().any(is_address_in_use) {
        let flag = error.downcast_ref::<ListenError>().map_or("--listen", |listener| listener.flag);
        return Some(format!("the port is in use by another program; {flag} 127.0.0.1:0 uses a free port"));
    }
    let error = error.chain().find_map(client_error)?;
    let ClientError::Rejected(rejection) = error else {
        // The TLS error for a response that is not TLS.
        if format!("{error:?}").contains("InvalidContentType") {
            return Some("the server does not use https on this port: try http://".into());
        }
        let hint = "is the server running? `verial serve` starts one; set its address with --url, VERIAL_URL or `verial config set url`";
        return Some(hint.into());
    };
    let hint = match (rejection.status, rejection.code.as_str()) {
        (401, "TOKEN_EXPIRED") => "the run's token has expired: start a new run",
        (401, _) => "`verial auth status` shows which key is used; `verial auth set-key` stores another",
        (403, _) => "this needs a different kind of key: vk_… for an organization, vrl_slv_… for a solver",
        (404, _) => return not_found_hint(&rejection.message),
        (429, _) => "too many requests: wait, or ask the operator for a higher limit",
        (500.., _) => "the server's log has details under this request id",
        _ => return None,
    };
    Some(hint.into())
}

/// A failure to listen on an address, and the flag that changes the address.
#[derive(Debug)]
pub(crate) struct ListenError {
    pub(crate) flag: &'static str,
    pub(crate) message: String,
}

impl std::fmt::Display for ListenError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

fn is_address_in_use(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::AddrInUse)
}

/// A hint for a 404: where to find valid ids.
fn not_found_hint(message: &str) -> Option<String> {
    let noun = message.strip_prefix("no such ")?;
    if noun == "endpoint" {
        let hint = "the server's /docs lists its paths; --url and VERIAL_URL must be its address without a path";
        return Some(hint.into());
    }
    match crate::resources::group_of(noun) {
        Some(group) => {
            Some(format!("`verial {group} list` shows the existing ones; those of other organizations are not found"))
        }
        None => Some(
            "look up the id with the `list` command of its group; those of other organizations are not found".into(),
        ),
    }
}
