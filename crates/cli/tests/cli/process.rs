//! Running `verial` as a child process.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use testkit::{Caller, Contract, Database, TestDatabase};

/// A place for data that outlives the processes working on it.
pub(crate) struct Site {
    database: TestDatabase,
}

impl Site {
    pub(crate) fn new(database: Database) -> Self {
        Self { database: TestDatabase::new(database) }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.database.directory()
    }

    /// A command of `verial` on this site's data, with nothing of the caller's settings.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = verial(words);
        command.arg("--data").arg(self.directory()).arg("--database").arg(self.database.argument());
        command
    }

    pub(crate) fn serve(&self) -> Serving {
        self.serve_with(&[])
    }

    pub(crate) fn serve_with(&self, arguments: &[&str]) -> Serving {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0", "--log", "error"]);
        command.args(arguments);
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut serving = Serving { child, base_url: String::new(), first_key: None, started: String::new() };
        for line in BufReader::new(serving.child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            serving.started.push_str(&line);
            serving.started.push('\n');
            if let Some(key) = line.strip_prefix("API key, shown this once: ") {
                serving.first_key = Some(key.to_owned());
            }
            if let Some((_, rest)) = line.split_once("listens on ") {
                serving.base_url = rest.split(' ').next().unwrap().to_owned();
                return serving;
            }
        }
        panic!("the server ended before it listened");
    }
}

/// A running server.
pub(crate) struct Serving {
    child: Child,
    pub(crate) base_url: String,
    pub(crate) first_key: Option<String>,
    /// What it has printed until it listened.
    pub(crate) started: String,
}

impl Serving {
    /// Someone with the key that the first start printed.
    pub(crate) fn first_caller(&self) -> Caller {
        let key = self.first_key.as_deref().expect("a first start prints a key");
        Caller::new(reqwest::Client::new(), &self.base_url, Some(key), Arc::new(Contract::load()))
    }

    /// `kill -9`
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The highest resident memory that the process has had.
    pub(crate) fn peak_kibibytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Lets the peak begin again at what the process holds now. A kernel that cannot do it leaves the earlier peak.
    pub(crate) fn forget_peak(&self) {
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5");
    }

    /// Processor time of all its threads. The kernel counts in hundredths of a second on every system that Linux runs on.
    pub(crate) fn processor_milliseconds(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // After the name, which is in brackets and may hold anything; `utime` and `stime` are fields 14 and 15.
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks = fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap());
        ticks.sum::<u64>() * 10
    }

    /// SIGTERM, and its exit code.
    pub(crate) fn terminate(&mut self) -> Option<i32> {
        // The shell's own `kill`: a small system has no other.
        let sent = Command::new("sh").arg("-c").arg(format!("kill {}", self.child.id())).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn verial(words: &[&str]) -> Command {
    let mut command = Command::new(binary());
    for name in ["DATA", "DATABASE", "BLOBS", "CONFIG", "LISTEN", "URL", "API_KEY", "LOG", "LIMITS", "SOLVER_KEY"] {
        command.env_remove(format!("VERIAL_{name}"));
    }
    command.args(words).stdin(Stdio::null());
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

/// `VERIAL_TEST_BINARY` names another one, such as a release whose processor time is to be seen.
#[expect(clippy::disallowed_methods, reason = "a test reads what its caller set")]
fn binary() -> String {
    std::env::var("VERIAL_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_verial").to_owned())
}

/// Two tests of the real process, one for each database; that for PostgreSQL only where there is one.
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
