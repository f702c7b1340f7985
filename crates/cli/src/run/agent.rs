//! The agent's command: started in a process group of its own, watched, and ended with all that it started.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context;
use model::api_key::masked;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::capture::Capture;
use super::interrupt::Interrupt;
use super::journal::{AgentEnd, Process};

/// How long output is waited for that a process outside the group may still hold back.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// What the shell says when it cannot start a command.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Variables that lead to keys or to the data of a server.
const SECRETS: [&str; 6] =
    ["VERIAL_API_KEY", "VERIAL_SOLVER_KEY", "VERIAL_DATABASE", "VERIAL_DATA", "VERIAL_BLOBS", "VERIAL_CONFIG"];

pub(crate) struct Agent {
    group: i32,
    capture: Capture,
    began: Instant,
    status: oneshot::Receiver<Option<ExitStatus>>,
    /// Each ends with its stream.
    readers: Vec<oneshot::Receiver<()>>,
}

/// How long the agent may work, and how long it has to end when it is told to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) work: Duration,
    pub(crate) grace: Duration,
}

/// Why the agent came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    ByItself,
    TimedOut,
    Interrupted,
}

impl Agent {
    pub(crate) fn start(command: &str, variables: &[(&str, String)], log: &Path) -> anyhow::Result<Self> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).process_group(0);
        Self::spawn(shell, variables, log)
    }

    /// The launcher makes a session, and so a process group, of its own.
    pub(crate) fn start_confined(launcher: Command, variables: &[(&str, String)], log: &Path) -> anyhow::Result<Self> {
        Self::spawn(launcher, variables, log)
    }

    fn spawn(mut command: Command, variables: &[(&str, String)], log: &Path) -> anyhow::Result<Self> {
        let capture = Capture::open(log)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in std::env::vars_os().filter(|(name, value)| is_secret(name, value)) {
            command.env_remove(name);
        }
        for (name, value) in variables {
            command.env(name, value.replace('\0', ""));
        }
        let mut child = command.spawn().context("cannot start `sh` for the agent")?;
        let group = i32::try_from(child.id()).context("a process number beyond all bounds")?;
        let mut readers = Vec::new();
        if let Some(stream) = child.stdout.take() {
            let capture = capture.clone();
            readers.push(on_a_thread(move || capture.drain(stream)));
        }
        if let Some(stream) = child.stderr.take() {
            let capture = capture.clone();
            readers.push(on_a_thread(move || capture.drain(stream)));
        }
        Ok(Self { group, capture, began: Instant::now(), status: waited(child), readers })
    }

    pub(crate) fn process(&self) -> Option<Process> {
        Some(Process { group: self.group, began: began(self.group)? })
    }

    /// Until it ends, or has to.
    pub(crate) async fn wait(mut self, times: Times, interrupt: &Interrupt, log: &Path) -> (End, AgentEnd) {
        let mut status = None;
        let end = tokio::select! {
            ended = &mut self.status => {
                status = ended.ok().flatten();
                End::ByItself
            }
            () = tokio::time::sleep(times.work) => End::TimedOut,
            () = interrupt.stopped() => End::Interrupted,
        };
        if end != End::ByItself {
            status = self.told_to_end(times.grace, interrupt).await;
        }
        // Also what the agent has started and left behind.
        signal(self.group, Signal::KILL);
        for reader in &mut self.readers {
            let _ = timeout(LAST_WORDS, reader).await;
        }
        let (output_bytes, left_out_bytes) = self.capture.finish();
        let (exit_code, by_signal) = told(status);
        let ended = AgentEnd {
            exit_code,
            signal: by_signal,
            timed_out: end == End::TimedOut,
            seconds: self.began.elapsed().as_secs_f64(),
            output_bytes,
            left_out_bytes,
            log: log.to_owned(),
        };
        (end, ended)
    }

    /// Politely first.
    async fn told_to_end(&mut self, grace: Duration, interrupt: &Interrupt) -> Option<ExitStatus> {
        signal(self.group, Signal::TERM);
        let in_time = tokio::select! {
            ended = timeout(grace, &mut self.status) => ended.ok(),
            () = interrupt.hurried() => None,
        };
        let ended = match in_time {
            Some(ended) => ended,
            None => {
                signal(self.group, Signal::KILL);
                (&mut self.status).await
            }
        };
        ended.ok().flatten()
    }
}

/// By its name, or because a key of ours is in its value.
fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    SECRETS.iter().any(|secret| name == *secret) || masked(&value) != value
}

/// Threads and no tasks: a stream that a stranger holds open must not keep this process from ending.
fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<T> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = sender.send(work());
    });
    receiver
}

fn waited(mut child: Child) -> oneshot::Receiver<Option<ExitStatus>> {
    on_a_thread(move || child.wait().ok())
}

impl AgentEnd {
    /// The shell could not start it: that tells nothing of the agent.
    pub(crate) fn was_not_started(&self) -> bool {
        !self.timed_out && self.exit_code.is_some_and(|code| NOT_STARTED.contains(&code))
    }
}

/// Ends what is left of an agent whose `verial run` was killed. Whether there was something.
pub(crate) fn end_leftover(process: Process) -> bool {
    let is_it = began(process.group) == Some(process.began);
    if is_it {
        signal(process.group, Signal::KILL);
    }
    is_it
}

fn signal(group: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group) {
        let _ = kill_process_group(group, signal);
    }
}

/// When a process began, in the kernel's own count: field 22 of its `stat`, after the name in brackets.
fn began(process: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}

fn told(status: Option<ExitStatus>) -> (Option<i32>, Option<i32>) {
    use std::os::unix::process::ExitStatusExt;
    status.map_or((None, None), |status| (status.code(), status.signal()))
}
