//! The published results of a benchmark version.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::RunBenchmark;
use crate::Timestamp;
use crate::stats::{Interval, PassHat};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Leaderboard {
    pub benchmark: RunBenchmark,
    /// The score of an agent that does nothing, if the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    /// The score of the reference agent, if the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    /// The engine of all results; null if there are none.
    #[serde(default)]
    pub engine: Option<String>,
    /// The number of runs left out because this engine has not scored them.
    #[serde(default)]
    pub other_engines: u64,
    /// Best first: by mean score, then by best score.
    pub entries: Vec<LeaderboardEntry>,
}

/// A published series: all scored runs of the version by one solver with one agent and agent version. Cancelled and
/// expired runs count with 0 for unfinished tasks, and runs that the organization's key wrote into count 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LeaderboardEntry {
    /// Entries with equal means have equal ranks.
    pub rank: u64,
    pub solver: LeaderboardSolver,
    /// The `agent` of the runs.
    #[serde(default)]
    pub agent: Option<String>,
    /// The number of runs that count, at most the newest 1000.
    pub runs: u64,
    /// The number of them that were cancelled or expired before all tasks were done.
    #[serde(default)]
    pub unfinished_runs: u64,
    /// The number of scored runs of this version by the solver, with any agent and agent version.
    #[serde(default)]
    pub solver_runs: u64,
    pub best: f64,
    pub mean: f64,
    /// The confidence interval of the mean; null for one run.
    pub interval: Option<Interval>,
    /// The number of failed critical criteria in all of these runs.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// pass^k, the mean over the tasks, for each k from 1 to 10 for which every task has at least k runs.
    #[serde(default)]
    pub pass_hat: Vec<PassHat>,
    /// Mean score per axis.
    pub axes: BTreeMap<String, f64>,
    pub first_run_at: Timestamp,
    pub last_run_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct LeaderboardSolver {
    /// The alias of the solver.
    pub alias: String,
    /// The name of its organization.
    pub organization: String,
    pub agent_description: Option<String>,
    /// The agent version at the time of the runs.
    pub agent_version: Option<String>,
}
