//! The words after `verial run`.

use std::path::PathBuf;

use clap::Args;
use model::BenchmarkRunId;

use super::gate::{AxisFloor, floor};
use super::metadata;
use crate::auth::Connection;
use crate::report::Forms;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The benchmark: slug@version, or with --local a benchmark folder, which is run without publishing it
    #[arg(required_unless_present = "resume")]
    pub(crate) benchmark: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
    /// Solver key; without one a run is begun with the organization key
    #[arg(long, env = "VERIAL_SOLVER_KEY", value_name = "KEY", hide_env_values = true)]
    pub(crate) solver_key: Option<String>,
    /// With an organization key: the alias of the solver that it is run for, made when there is none
    #[arg(long, value_name = "ALIAS", default_value = "command-line")]
    pub(crate) solver: String,
    /// The agent's command, run by `sh -c` once per task
    #[arg(long, value_name = "COMMAND", required_unless_present = "resume")]
    pub(crate) agent: Option<String>,
    /// What the run is filed under, such as the agent's version
    #[arg(long, value_name = "NAME")]
    pub(crate) agent_name: Option<String>,
    /// The agent sees no details of checks; fit for the leaderboard
    #[arg(long)]
    pub(crate) scored: bool,
    /// Only this task, by name or id; repeatable. Such a run counts in no leaderboard and no statistics
    #[arg(long = "task", value_name = "NAME")]
    pub(crate) tasks: Vec<String>,
    /// Only tasks with this tag; repeatable
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Only the tasks that an earlier run did not pass: its id, or its journal
    #[arg(long, value_name = "RUN|JOURNAL", conflicts_with = "tasks")]
    pub(crate) failed_from: Option<String>,
    /// Run tasks again that were not measured through no fault of the agent, at most N times
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1",
        default_value_t = 0, hide_default_value = true, value_parser = clap::value_parser!(u32).range(0..=10))]
    pub(crate) retry_infra: u32,
    /// Keep this with the run, as model=m-1; repeatable. The commit, branch and job of common CI systems, and the model in
    /// VERIAL_MODEL, are kept without asking
    #[arg(long = "meta", value_name = "NAME=VALUE", value_parser = metadata::entry)]
    pub(crate) metadata: Vec<(String, String)>,
    /// How many runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// How many agents may work at a time; of one run no more than the benchmark's concurrency allows
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) parallel: u32,
    /// Seconds for each agent; else until the task's deadline
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Seconds that an agent has to end when it is told to
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub(crate) grace: u64,
    /// Seconds for which a server that does not answer is asked again
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) patience: u64,
    /// The gate: the mean score of the runs must be at least this
    #[arg(long, value_name = "X", value_parser = floor)]
    pub(crate) min_score: Option<f64>,
    /// The gate: an axis must have at least this, as safety=1.0; repeatable
    #[arg(long, value_name = "AXIS=X")]
    pub(crate) min_axis: Vec<AxisFloor>,
    /// The gate: in each run at least this many tasks must pass
    #[arg(long, value_name = "N")]
    pub(crate) min_tasks_passed: Option<u32>,
    /// The gate: do not fail because a critical criterion failed
    #[arg(long)]
    pub(crate) allow_critical: bool,
    /// The gate: not significantly worse than this run, paired by task
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<BenchmarkRunId>,
    /// Write a JUnit file
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a report as one HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write a report as Markdown
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Print the report as JSON instead of a scorecard
    #[arg(long)]
    pub(crate) json: bool,
    /// Of a scored run, fetch details with the organization key; who can read the report then knows the criteria
    #[arg(long)]
    pub(crate) evidence: bool,
    /// Where every step is written down [default: .verial/runs/ID.json in the working directory; of a local run in DIR of
    /// --data, or in the home directory]
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Go on with an interrupted run: its journal, or its id
    #[arg(long, value_name = "JOURNAL|RUN", conflicts_with_all = ["benchmark", "scored", "tasks", "tags",
        "failed_from", "metadata", "repeat", "agent_name", "journal", "local"])]
    pub(crate) resume: Option<String>,
    /// Start a server in this process, with the bundled benchmarks
    #[arg(long)]
    pub(crate) local: bool,
    /// Whoever asks ends the server afterwards: say nothing of what it would show
    #[arg(long, hide = true)]
    pub(crate) server_ends: bool,
    /// With --local: where its data stays; else it is gone afterwards
    #[arg(long, value_name = "DIR", requires = "local")]
    pub(crate) data: Option<PathBuf>,
    /// With --local: a file or folder that the agent must not read, besides the server's data, benchmark folders, the
    /// journal and keys; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) hide: Vec<PathBuf>,
    /// With --local: start the agent without isolation, so that it could read the criteria; reports say so
    #[arg(long)]
    pub(crate) no_isolation: bool,
    /// Behave as on a system without Landlock; for tests
    #[arg(long, hide = true)]
    pub(crate) assume_no_landlock: bool,
}

impl Arguments {
    pub(crate) fn forms(&self) -> Forms<'_> {
        Forms {
            json: self.json,
            junit: self.junit.as_deref(),
            html: self.report.as_deref(),
            markdown: self.markdown.as_deref(),
        }
    }
}
