//! Exit codes: what a script can tell from the number alone.

use std::process::ExitCode;

use client::ClientError;

/// The code, what it means, for the manual.
pub(crate) const CODES: [(u8, &str); 7] = [
    (0, "it worked; for `verial run`: the gate was met"),
    (1, "the answer is no: under the gate, scoring again differs, the check found faults"),
    (2, "the command line is not right"),
    (3, "the server refused"),
    (
        4,
        "the server cannot be reached or has a problem of its own, or the agent cannot be started: nothing is told of the agent",
    ),
    (5, "something on this machine failed, such as a file that cannot be read"),
    (130, "interrupted by Ctrl-C or a signal"),
];

/// An end that is no fault of anybody: its code, and a line that says why.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub(crate) struct Ended {
    code: u8,
    words: String,
}

fn ended(code: u8, words: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Ended { code, words: words.into() })
}

/// The answer is no.
pub(crate) fn no(words: impl Into<String>) -> anyhow::Error {
    ended(1, words)
}

pub(crate) fn usage(words: impl Into<String>) -> anyhow::Error {
    ended(2, words)
}

/// The server has not what is asked for.
pub(crate) fn refused(words: impl Into<String>) -> anyhow::Error {
    ended(3, words)
}

pub(crate) fn infrastructure(words: impl Into<String>) -> anyhow::Error {
    ended(4, words)
}

pub(crate) fn interrupted(words: impl Into<String>) -> anyhow::Error {
    ended(130, words)
}

/// So many faults, in words.
pub(crate) fn faults(count: usize) -> String {
    crate::output::text::counted(count, "fault")
}

/// The code of a failure, by what is at its root.
pub(crate) fn code(error: &anyhow::Error) -> ExitCode {
    for cause in error.chain() {
        if let Some(known) = cause.downcast_ref::<Ended>() {
            return ExitCode::from(known.code);
        }
        if let Some(authoring::Error::Faults(_)) = cause.downcast_ref::<authoring::Error>() {
            return ExitCode::from(1);
        }
        if let Some(error) = of_server(cause) {
            return ExitCode::from(if error.is_infrastructure() { 4 } else { 3 });
        }
    }
    ExitCode::from(5)
}

/// What the server, or the way to it, has done.
fn of_server<'cause>(cause: &'cause (dyn std::error::Error + 'static)) -> Option<&'cause ClientError> {
    match cause.downcast_ref::<authoring::Error>() {
        Some(authoring::Error::Server { reason, .. }) => Some(reason),
        _ => cause.downcast_ref::<ClientError>(),
    }
}

/// What the user can do about it, where that is known.
pub(crate) fn next_step(error: &anyhow::Error) -> Option<String> {
    if error.chain().any(is_taken) {
        let flag = error.downcast_ref::<Listener>().map_or("--listen", |listener| listener.flag);
        return Some(format!("another program listens there; {flag} 127.0.0.1:0 takes a free port"));
    }
    let error = error.chain().find_map(of_server)?;
    let ClientError::Refused(refusal) = error else {
        // What a TLS client says of an answer that is no TLS.
        if format!("{error:?}").contains("InvalidContentType") {
            return Some("the server does not speak https there: try http://".into());
        }
        let step =
            "is the server running? `verial serve` starts one; --url, VERIAL_URL or `verial config set url` name it";
        return Some(step.into());
    };
    let step = match (refusal.status, refusal.code.as_str()) {
        (401, "TOKEN_EXPIRED") => "the run's token has ended: begin a new run",
        (401, _) => "`verial auth status` shows which key is used; `verial auth set-key` keeps another",
        (403, _) => "this needs another kind of key: vk_… for an organization, vrl_slv_… for a solver",
        (404, _) => return of_missing(&refusal.message),
        (429, _) => "too many requests: wait a little, or ask the operator for a higher limit",
        (500.., _) => "the server's log has more under this request id",
        _ => return None,
    };
    Some(step.into())
}

/// Where something could not listen, and the flag that would have it listen elsewhere.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) flag: &'static str,
    pub(crate) words: String,
}

impl std::fmt::Display for Listener {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.words)
    }
}

fn is_taken(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::AddrInUse)
}

/// Where to look for what the server does not have.
fn of_missing(message: &str) -> Option<String> {
    let noun = message.strip_prefix("no such ")?;
    if noun == "endpoint" {
        let step = "/docs of the server lists its paths; --url and VERIAL_URL are its address alone, without a path";
        return Some(step.into());
    }
    match crate::resources::group_of(noun) {
        Some(group) => Some(format!("`verial {group} list` shows those there are; other organizations' are not found")),
        None => Some("look the id up with `list` of its group; other organizations' are not found".into()),
    }
}
