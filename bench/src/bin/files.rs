//! Large files: how fast OpenSSH's client and curl move them in and out of a file drop, against OpenSSH's own
//! `sftp-server` with the same client on the same machine. That one is run directly, without SSH and its encryption, and
//! leaves bytes where a crash loses them: it is the most that this client can do, not a peer.
//!
//! `cargo run --release -p verial-bench --bin files [-- MEBIBYTES]`; needs `sftp`, `sftp-server` and `curl`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use app::{Options, SftpAddress};
use model::playground::NewSandbox;
use model::simulator::{NewSimulator, SimulatorType};
use verial_bench::{Stage, median, resident_kib};

const ROUNDS: usize = 3;
const SERVERS: [&str; 2] = ["/usr/lib/openssh/sftp-server", "/usr/libexec/sftp-server"];

fn main() -> anyhow::Result<()> {
    let mebibytes: usize = std::env::args().nth(1).map_or(Ok(256), |text| text.parse())?;
    let serving = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let place = serving.block_on(Place::open())?;
    let work = tempfile::tempdir()?;
    let large = work.path().join("large");
    std::fs::write(&large, bytes(mebibytes << 20))?;
    let mut seconds: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    let before = resident_kib()?;
    for _ in 0..ROUNDS {
        // Rounds take turns, so that a slow moment of the machine hits all cases alike.
        for (case, command) in place.commands(work.path())? {
            let begun = Instant::now();
            run(command).with_context(|| format!("{case:?}"))?;
            seconds.entry(case).or_default().push(begun.elapsed().as_secs_f64());
        }
    }
    let speed = |case: &(&str, &str)| mebibytes as f64 / median(seconds.get(case).cloned().unwrap_or_default());
    println!("{mebibytes} MiB, median of {ROUNDS}");
    for case in seconds.keys() {
        let (direction, _) = case;
        let ratio = speed(case) / speed(&(*direction, BASE));
        println!("{direction:<10} {:<34} {:>8.1} MiB/s {ratio:>8.3}", case.1, speed(case));
    }
    println!("memory of the server: {} MiB before, {} MiB after", before >> 10, resident_kib()? >> 10);
    Ok(())
}

const BASE: &str = "OpenSSH sftp-server, no SSH";

/// Bytes that do not compress to nothing.
fn bytes(length: usize) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(&mut next).flatten().take(length).collect()
}

/// A server with a file drop.
struct Place {
    credentials: BTreeMap<String, String>,
    files_url: String,
    key: String,
    _stage: Stage,
}

impl Place {
    async fn open() -> anyhow::Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let sftp = Some(SftpAddress { host: Some("127.0.0.1".into()), port: listener.local_addr()?.port() });
        let stage = Stage::open_with(None, Options { sftp, ..Options::default() }).await?;
        tokio::spawn(sftp::serve(listener, stage.app.clone(), std::future::pending()));
        let base = format!("http://{}", stage.serve().await?);
        let config = serde_json::Value::Null;
        let new = NewSimulator { r#type: SimulatorType::Files, name: "Drop".into(), config };
        let simulator = app::simulators::create(&stage.app, &stage.grant, None, new).await?.value.id;
        let new = NewSandbox { simulator_id: simulator, dataset_id: None, playground_id: None };
        let sandbox = app::sandboxes::create(&stage.app, &stage.grant, &base, None, new).await?.value;
        let files_url = format!("{base}/sandboxes/{}/files", sandbox.id);
        Ok(Self { credentials: sandbox.credentials, files_url, key: stage.key.clone(), _stage: stage })
    }

    /// What is measured, in its order: uploads before the downloads of what they brought.
    fn commands(&self, work: &Path) -> anyhow::Result<Vec<((&'static str, &'static str), Command)>> {
        let theirs = work.join("theirs");
        std::fs::create_dir_all(&theirs)?;
        let (put, get) = ("put large outbox/large", "get outbox/large back");
        let (direct_put, direct_get) =
            (format!("put large {}/large", theirs.display()), format!("get {}/large back", theirs.display()));
        Ok(vec![
            (("upload", BASE), direct(work, &direct_put)?),
            (("upload", "SFTP"), self.sftp(work, put)?),
            (("upload", "HTTP"), self.curl(work, &["-T", "large"])),
            (("download", BASE), direct(work, &direct_get)?),
            (("download", "SFTP"), self.sftp(work, get)?),
            (("download", "HTTP"), self.curl(work, &["-o", "back"])),
        ])
    }

    fn credential(&self, name: &str) -> &str {
        self.credentials.get(name).map(String::as_str).unwrap_or_default()
    }

    fn sftp(&self, work: &Path, line: &str) -> anyhow::Result<Command> {
        use std::os::unix::fs::PermissionsExt;
        let askpass = work.join("askpass");
        std::fs::write(&askpass, format!("#!/bin/sh\necho '{}'\n", self.credential("password")))?;
        std::fs::set_permissions(&askpass, std::fs::Permissions::from_mode(0o700))?;
        let mut command = Command::new("sftp");
        for option in ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "BatchMode=no"] {
            command.arg(format!("-o{option}"));
        }
        command.arg(format!("-P{}", self.credential("sftp_port"))).arg("-b").arg(batch(work, line)?);
        command.arg(format!("{}@{}", self.credential("username"), self.credential("sftp_host")));
        command.env("SSH_ASKPASS", askpass).env("SSH_ASKPASS_REQUIRE", "force").env("DISPLAY", ":0");
        command.current_dir(work);
        Ok(command)
    }

    fn curl(&self, work: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new("curl");
        command.args(["-sSf", "-H"]).arg(format!("Authorization: Bearer {}", self.key)).args(arguments);
        command.arg(format!("{}/outbox/by-http", self.files_url)).current_dir(work);
        command
    }
}

/// A new file for each, because all commands are made before the first is run.
fn batch(work: &Path, line: &str) -> anyhow::Result<PathBuf> {
    let name = line.split(' ').next().unwrap_or_default();
    let path = work.join(format!("{name}-{}", line.len()));
    std::fs::write(&path, format!("{line}\n"))?;
    Ok(path)
}

fn direct(work: &Path, line: &str) -> anyhow::Result<Command> {
    let server = SERVERS.into_iter().find(|path| Path::new(path).exists()).context("no sftp-server on this machine")?;
    let mut command = Command::new("sftp");
    command.arg("-D").arg(server).arg("-b").arg(batch(work, line)?).current_dir(work);
    Ok(command)
}

fn run(mut command: Command) -> anyhow::Result<()> {
    let ran = command.stdin(Stdio::null()).stdout(Stdio::null()).output()?;
    ensure!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Ok(())
}
