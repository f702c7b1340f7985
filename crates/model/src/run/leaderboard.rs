//! Published results of one version of a benchmark.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::RunBenchmark;
use crate::Timestamp;
use crate::stats::Interval;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Leaderboard {
    pub benchmark: RunBenchmark,
    /// What an agent has for doing nothing, and what the reference agent has, if the version was audited.
    #[schema(minimum = 0, maximum = 1)]
    pub floor: Option<f64>,
    #[schema(minimum = 0, maximum = 1)]
    pub ceiling: Option<f64>,
    /// Best first: by mean score, then by best score.
    pub entries: Vec<LeaderboardEntry>,
}

/// One solver's published runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LeaderboardEntry {
    /// Equal means have equal ranks.
    pub rank: u64,
    pub solver: LeaderboardSolver,
    /// How many runs it has published.
    pub runs: u64,
    pub best: f64,
    pub mean: f64,
    /// Of the mean; null for one run.
    pub interval: Option<Interval>,
    /// How many critical criteria failed in all of these runs.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub critical_failures: i64,
    /// Mean per axis.
    pub axes: BTreeMap<String, f64>,
    pub first_run_at: Timestamp,
    pub last_run_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct LeaderboardSolver {
    pub alias: String,
    /// The name of its organization.
    pub organization: String,
    pub agent_description: Option<String>,
    pub agent_version: Option<String>,
}
