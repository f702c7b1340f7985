//! Runs `verial` as a child process.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use testkit::{Caller, Contract, Database, TestDatabase};

/// A data directory and database that outlive the server processes on it.
pub(crate) struct ServerData {
    database: TestDatabase,
}

impl ServerData {
    pub(crate) fn new(database: Database) -> Self {
        Self { database: TestDatabase::new(database) }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.database.directory()
    }

    /// A `verial` command on this data, without the caller's settings.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = verial(arguments);
        command.arg("--data").arg(self.directory()).arg("--database").arg(self.database.argument());
        command
    }

    pub(crate) fn serve(&self) -> ServerProcess {
        self.serve_with(&[])
    }

    pub(crate) fn serve_with(&self, arguments: &[&str]) -> ServerProcess {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0", "--log", "error"]);
        command.args(arguments);
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut server = ServerProcess { child, base_url: String::new(), first_key: None, started: String::new() };
        for line in BufReader::new(server.child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            server.started.push_str(&line);
            server.started.push('\n');
            if let Some(key) = line.strip_prefix("API key, shown this once: ") {
                server.first_key = Some(key.to_owned());
            }
            if let Some((_, rest)) = line.split_once("listens on ") {
                server.base_url = rest.split(' ').next().unwrap().to_owned();
                return server;
            }
        }
        panic!("the server exited before it listened");
    }
}

/// A running server.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) base_url: String,
    pub(crate) first_key: Option<String>,
    /// The output until it listened.
    pub(crate) started: String,
}

impl ServerProcess {
    /// A caller with the key that the first start printed.
    pub(crate) fn first_caller(&self) -> Caller {
        let key = self.first_key.as_deref().expect("a first start prints a key");
        Caller::new(testkit::http_client(), &self.base_url, Some(key), Arc::new(Contract::load()))
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The peak resident memory of the process.
    pub(crate) fn peak_kibibytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Resets the peak to the current memory use. Has no effect if the kernel does not support it.
    pub(crate) fn reset_peak(&self) {
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5");
    }

    /// Processor time of all threads. The kernel counts in hundredths of a second on all Linux systems.
    pub(crate) fn processor_milliseconds(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // After the name, which is in parentheses and may contain anything; `utime` and `stime` are fields 14 and 15.
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks = fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap());
        ticks.sum::<u64>() * 10
    }

    /// Sends SIGTERM, and returns the exit code.
    pub(crate) fn terminate(&mut self) -> Option<i32> {
        // The shell's built-in `kill`: minimal systems have no other.
        let sent = Command::new("sh").arg("-c").arg(format!("kill {}", self.child.id())).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn verial(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    for name in ["DATA", "DATABASE", "BLOBS", "CONFIG", "LISTEN", "URL", "API_KEY", "LOG", "LIMITS", "SOLVER_KEY"] {
        command.env_remove(format!("VERIAL_{name}"));
    }
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Standard output of a command that must succeed.
pub(crate) fn output(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// Standard error of a command that must fail.
pub(crate) fn failure(command: &mut Command) -> String {
    let Output { status, stderr, .. } = command.output().unwrap();
    assert!(!status.success(), "{command:?} succeeded");
    String::from_utf8(stderr).unwrap()
}

/// A file that tests upload.
pub(crate) fn write_file(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// The binary under test. `VERIAL_TEST_BINARY` selects another one, such as a release build.
#[expect(clippy::disallowed_methods, reason = "configures the tests")]
fn binary() -> String {
    std::env::var("VERIAL_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_verial").to_owned())
}

/// Defines a test for each database; the one for PostgreSQL is skipped without a cluster.
macro_rules! on_both_databases {
    ($work:ident: $on_sqlite:ident, $on_postgres:ident) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $on_sqlite() {
            $work(testkit::Database::Sqlite).await;
        }

        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $on_postgres() {
            if testkit::postgres_url().is_some() {
                $work(testkit::Database::Postgres).await;
            }
        }
    };
}
pub(crate) use on_both_databases;
