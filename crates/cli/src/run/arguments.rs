//! The arguments of `verial run`.

use std::path::PathBuf;

use clap::Args;
use model::BenchmarkRunId;

use super::gate::{AxisMinimum, parse_score};
use super::metadata;
use crate::auth::Connection;
use crate::report::ReportOutputs;

#[derive(Args)]
pub(crate) struct RunArgs {
    /// The benchmark: slug@version, or with --local a benchmark folder, which is run without publishing
    #[arg(required_unless_present = "resume")]
    pub(crate) benchmark: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
    /// Solver key; if omitted, the organization key is used
    #[arg(long, env = "VERIAL_SOLVER_KEY", value_name = "KEY", hide_env_values = true)]
    pub(crate) solver_key: Option<String>,
    /// With an organization key: the alias of the solver to run for, created if missing
    #[arg(long, value_name = "ALIAS", default_value = "command-line")]
    pub(crate) solver: String,
    /// The agent's command, run by `sh -c` once per task
    #[arg(long, value_name = "COMMAND", required_unless_present = "resume")]
    pub(crate) agent: Option<String>,
    /// A name for the agent in statistics, such as its version
    #[arg(long, value_name = "NAME")]
    pub(crate) agent_name: Option<String>,
    /// Hide details of checks from the agent; eligible for the leaderboard
    #[arg(long)]
    pub(crate) scored: bool,
    /// Only this task, by name or id; repeatable. Such a run does not count in leaderboards and statistics
    #[arg(long = "task", value_name = "NAME")]
    pub(crate) tasks: Vec<String>,
    /// Only tasks with this tag; repeatable
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Only the tasks that an earlier run did not pass: its id or its journal
    #[arg(long, value_name = "RUN|JOURNAL", conflicts_with = "tasks")]
    pub(crate) failed_from: Option<String>,
    /// Rerun tasks that were not measured for reasons other than the agent, at most N times
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1",
        default_value_t = 0, hide_default_value = true, value_parser = clap::value_parser!(u32).range(0..=10))]
    pub(crate) retry_infra: u32,
    /// Metadata to store with the run, such as model=m-1; repeatable. The commit, branch and job of common CI systems, and
    /// the model in VERIAL_MODEL, are added automatically
    #[arg(long = "meta", value_name = "NAME=VALUE", value_parser = metadata::parse_entry)]
    pub(crate) metadata: Vec<(String, String)>,
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// Number of agents that work at a time; limited by the benchmark's concurrency within a run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) parallel: u32,
    /// Time limit for each agent in seconds; default: the task's deadline
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Seconds between SIGTERM and SIGKILL for an agent
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub(crate) grace: u64,
    /// Seconds to keep retrying when the server does not respond
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) patience: u64,
    /// Gate: the minimum mean score of the runs
    #[arg(long, value_name = "X", value_parser = parse_score)]
    pub(crate) min_score: Option<f64>,
    /// Gate: the minimum score of an axis, such as safety=1.0; repeatable
    #[arg(long, value_name = "AXIS=X")]
    pub(crate) min_axis: Vec<AxisMinimum>,
    /// Gate: the minimum number of passed tasks in each run
    #[arg(long, value_name = "N")]
    pub(crate) min_tasks_passed: Option<u32>,
    /// Gate: do not fail on critical failures
    #[arg(long)]
    pub(crate) allow_critical: bool,
    /// Gate: not significantly worse than this run, paired by task
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<BenchmarkRunId>,
    /// Write a JUnit XML report
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a self-contained HTML report
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write a Markdown report
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Print the report as JSON instead of a scorecard
    #[arg(long)]
    pub(crate) json: bool,
    /// Include check details of a scored run, using the organization key; the report then reveals the criteria
    #[arg(long)]
    pub(crate) evidence: bool,
    /// The journal file of the run [default: .verial/runs/ID.json in the working directory; for a local run in DIR of
    /// --data or in the home directory]
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Resume an interrupted run: its journal or its id
    #[arg(long, value_name = "JOURNAL|RUN", conflicts_with_all = ["benchmark", "scored", "tasks", "tags",
        "failed_from", "metadata", "repeat", "agent_name", "journal", "local"])]
    pub(crate) resume: Option<String>,
    /// Start a server in this process, with the bundled benchmarks
    #[arg(long)]
    pub(crate) local: bool,
    /// The caller stops the server afterwards: do not print hints that need it
    #[arg(long, hide = true)]
    pub(crate) server_ends: bool,
    /// With --local: keep the server's data in this directory; otherwise it is removed
    #[arg(long, value_name = "DIR", requires = "local")]
    pub(crate) data: Option<PathBuf>,
    /// With --local: another file or folder that the agent must not read, in addition to the server's data, benchmark
    /// folders, the journal and keys; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) hide: Vec<PathBuf>,
    /// With --local: start the agent without isolation; it could read the criteria, and reports say so
    #[arg(long)]
    pub(crate) no_isolation: bool,
    /// Behave as on a system without Landlock; for tests
    #[arg(long, hide = true)]
    pub(crate) assume_no_landlock: bool,
}

impl RunArgs {
    pub(crate) fn report_outputs(&self) -> ReportOutputs<'_> {
        ReportOutputs {
            json: self.json,
            junit: self.junit.as_deref(),
            html: self.report.as_deref(),
            markdown: self.markdown.as_deref(),
        }
    }
}
