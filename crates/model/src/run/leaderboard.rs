//! Published results of one version of a benchmark.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::RunBenchmark;
use crate::Timestamp;
use crate::stats::{Interval, PassHat};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Leaderboard {
    pub benchmark: RunBenchmark,
    /// What an agent has for doing nothing, and what the reference agent has, if the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    /// All of it is by this engine; null when there is nothing.
    #[serde(default)]
    pub engine: Option<String>,
    /// How many runs are left out, because this engine has not scored them.
    #[serde(default)]
    pub other_engines: u64,
    /// Best first: by mean score, then by best score.
    pub entries: Vec<LeaderboardEntry>,
}

/// A published series: all scored runs of the version by one solver with one agent and agent version. Cancelled and expired
/// runs count with 0 for unfinished tasks, and runs that the organization's key wrote into count 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LeaderboardEntry {
    /// Equal means have equal ranks.
    pub rank: u64,
    pub solver: LeaderboardSolver,
    /// The `agent` that the runs were made with.
    #[serde(default)]
    pub agent: Option<String>,
    /// How many runs count; of a longer series the newest 1000 do.
    pub runs: u64,
    /// How many of them were cancelled or expired before all tasks were done.
    #[serde(default)]
    pub unfinished_runs: u64,
    /// How many scored runs of this version the solver has made under any agent and agent version.
    #[serde(default)]
    pub solver_runs: u64,
    pub best: f64,
    pub mean: f64,
    /// Of the mean; null for one run.
    pub interval: Option<Interval>,
    /// How many critical criteria failed in all of these runs.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// pass^k, the mean over the tasks, for each k from 1 to 10 that every task has as many runs for.
    #[serde(default)]
    pub pass_hat: Vec<PassHat>,
    /// Mean per axis.
    pub axes: BTreeMap<String, f64>,
    pub first_run_at: Timestamp,
    pub last_run_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct LeaderboardSolver {
    /// The name that the solver is known by.
    pub alias: String,
    /// The name of its organization.
    pub organization: String,
    pub agent_description: Option<String>,
    /// As it was when the runs were made.
    pub agent_version: Option<String>,
}
