//! Statistics of finished benchmark runs: means, confidence intervals, reliability, and comparison of groups.
//! Means are exact and rounded once at the end, and deviations are added in order of size, so neither the order of the runs
//! nor that of their tasks can change a digit. Unknown values are absent; there are no sentinel numbers.

mod attempts;
mod compare;
mod interval;
mod sample;
mod student;
mod summary;
#[cfg(test)]
mod tests;

pub use attempts::{MOST_ATTEMPTS, PassAt, PassHat};
pub use compare::{
    AxisDifference, ComparedGroup, Comparison, NoInterval, PairedDifference, SignTest, TaskDifference, TaskSide,
    compare,
};
pub use interval::{Interval, IntervalMethod, LEVEL, PassRate};
pub use summary::{AgentSample, AgentStatistics, AxisStatistics, Statistics, TaskStatistics, per_agent, statistics};

use crate::audit::Bounds;
use crate::score::{Axes, Score, Verdict};
use crate::{BenchmarkRunId, TaskId};

/// The data of a finished run for statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSample {
    pub run: BenchmarkRunId,
    pub score: Score,
    pub axes: Axes,
    pub tasks: Vec<TaskSample>,
    /// The number of failed critical criteria.
    pub critical_failures: i64,
    /// The floor and ceiling of its score.
    pub bounds: Bounds,
    /// The number of tasks that were not measured, through no fault of the agent. They are not among `tasks`.
    pub unmeasured: u64,
}

/// One task of a finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSample {
    pub task: TaskId,
    pub name: String,
    pub score: Score,
    pub verdict: Verdict,
    /// The number of failed critical criteria.
    pub critical_failures: i64,
}
