//! The statistics of finished benchmark runs: how good, how sure, how reliable, and whether one group beats another.
//! Everything is summed exactly and rounded once at the end, so neither the order of the runs nor that of their tasks can
//! change a digit. What cannot be known is absent, never a number that stands for it.

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

/// A finished run, as far as statistics need it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSample {
    pub run: BenchmarkRunId,
    pub score: Score,
    pub axes: Axes,
    pub tasks: Vec<TaskSample>,
    /// Critical criteria that failed.
    pub critical_failures: i64,
    /// What its score lies between.
    pub bounds: Bounds,
    /// Tasks that were not measured, through no fault of the agent. They are not among `tasks`.
    pub unmeasured: u64,
}

/// One task of a finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSample {
    pub task: TaskId,
    pub name: String,
    pub score: Score,
    pub verdict: Verdict,
    /// Critical criteria that failed.
    pub critical_failures: i64,
}
