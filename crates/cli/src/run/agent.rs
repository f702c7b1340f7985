//! The agent's process: starts the command in its own process group, waits for it, and kills the group.

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

/// How long to wait for the end of output that a process outside of the group keeps open.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);
/// Exit codes of a shell that cannot start a command.
const NOT_STARTED_CODES: [i32; 2] = [126, 127];

/// Variables that contain keys or the location of a server's data.
const SECRET_VARIABLES: [&str; 6] =
    ["VERIAL_API_KEY", "VERIAL_SOLVER_KEY", "VERIAL_DATABASE", "VERIAL_DATA", "VERIAL_BLOBS", "VERIAL_CONFIG"];

pub(crate) struct Agent {
    group: i32,
    capture: Capture,
    began: Instant,
    status: oneshot::Receiver<Option<ExitStatus>>,
    /// One per output stream; resolves at its end.
    readers: Vec<oneshot::Receiver<()>>,
}

/// How long the agent may work, and how long it has to exit after SIGTERM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentLimits {
    pub(crate) work: Duration,
    pub(crate) grace: Duration,
}

/// Why the agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
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

    /// Starts a launcher, which creates its own session and process group.
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
        let group = i32::try_from(child.id()).context("process id out of range")?;
        let mut readers = Vec::new();
        if let Some(stream) = child.stdout.take() {
            let capture = capture.clone();
            readers.push(spawn_thread(move || capture.drain(stream)));
        }
        if let Some(stream) = child.stderr.take() {
            let capture = capture.clone();
            readers.push(spawn_thread(move || capture.drain(stream)));
        }
        Ok(Self { group, capture, began: Instant::now(), status: wait_on_thread(child), readers })
    }

    pub(crate) fn process(&self) -> Option<Process> {
        Some(Process { group: self.group, began: began(self.group)? })
    }

    /// Waits until the agent exits, its time is up, or the run is interrupted.
    pub(crate) async fn wait(
        mut self,
        limits: AgentLimits,
        interrupt: &Interrupt,
        log: &Path,
    ) -> (EndReason, AgentEnd) {
        let mut status = None;
        let end = tokio::select! {
            ended = &mut self.status => {
                status = ended.ok().flatten();
                EndReason::ByItself
            }
            () = tokio::time::sleep(limits.work) => EndReason::TimedOut,
            () = interrupt.stopped() => EndReason::Interrupted,
        };
        if end != EndReason::ByItself {
            status = self.terminate(limits.grace, interrupt).await;
        }
        // Also kill processes that the agent left behind.
        signal(self.group, Signal::KILL);
        for reader in &mut self.readers {
            let _ = timeout(OUTPUT_TIMEOUT, reader).await;
        }
        let (output_bytes, left_out_bytes) = self.capture.finish();
        let (exit_code, by_signal) = exit_status(status);
        let ended = AgentEnd {
            exit_code,
            signal: by_signal,
            timed_out: end == EndReason::TimedOut,
            seconds: self.began.elapsed().as_secs_f64(),
            output_bytes,
            left_out_bytes,
            log: log.to_owned(),
        };
        (end, ended)
    }

    /// Sends SIGTERM, and SIGKILL after the grace period.
    async fn terminate(&mut self, grace: Duration, interrupt: &Interrupt) -> Option<ExitStatus> {
        signal(self.group, Signal::TERM);
        let in_time = tokio::select! {
            ended = timeout(grace, &mut self.status) => ended.ok(),
            () = interrupt.forced() => None,
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

/// Whether a variable is secret, by its name or because its value contains a key.
fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    SECRET_VARIABLES.iter().any(|secret| name == *secret) || masked(&value) != value
}

/// Runs work on a thread instead of a task: a stream that another process keeps open must not block this process's exit.
fn spawn_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<T> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = sender.send(work());
    });
    receiver
}

fn wait_on_thread(mut child: Child) -> oneshot::Receiver<Option<ExitStatus>> {
    spawn_thread(move || child.wait().ok())
}

impl AgentEnd {
    /// Whether the shell could not start the command, which says nothing about the agent.
    pub(crate) fn was_not_started(&self) -> bool {
        !self.timed_out && self.exit_code.is_some_and(|code| NOT_STARTED_CODES.contains(&code))
    }
}

/// Kills the remaining processes of an agent whose `verial run` was killed. Returns whether there were any.
pub(crate) fn kill_leftover(process: Process) -> bool {
    let is_same_process = began(process.group) == Some(process.began);
    if is_same_process {
        signal(process.group, Signal::KILL);
    }
    is_same_process
}

fn signal(group: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group) {
        let _ = kill_process_group(group, signal);
    }
}

/// The start time of a process in kernel ticks: field 22 of `/proc/PID/stat`, counted after the name in parentheses.
fn began(process: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}

fn exit_status(status: Option<ExitStatus>) -> (Option<i32>, Option<i32>) {
    use std::os::unix::process::ExitStatusExt;
    status.map_or((None, None), |status| (status.code(), status.signal()))
}
