//! Runs of a benchmark version by a solver, task by task. Each task is scored.

mod axes;
mod benchmark_run;
mod criterion_run;
mod critical_failure;
mod engine_result;
mod leaderboard;
mod order;
mod phase;
mod rescore;
mod task_run;

pub use axes::{ShownAxes, ShownAxis, shown_axes};
pub use benchmark_run::{
    BenchmarkRun, CreatedRun, MOST_COMPARED, Metadata, NewRun, NewSolverRun, RunBenchmark, RunFilter, RunSandbox,
    RunSummary, RunTask,
};
pub use criterion_run::CriterionRun;
pub use critical_failure::{CriticalFailure, MOST_CRITICAL_CRITERIA};
pub use engine_result::{EngineCriterionResult, EngineResult, EngineScore, EngineTaskResult};
pub use leaderboard::{Leaderboard, LeaderboardEntry, LeaderboardSolver};
pub use order::shuffled;
pub use phase::{IllegalTransition, Phase, PhaseTransition, Status};
pub use rescore::{CriteriaChange, Rescore, RescoredCriterion, RescoredTask};
pub use task_run::{
    Check, CheckResult, CriterionRunSummary, CriterionSnapshot, RunState, Sealed, StartedSandbox, StartedTask,
    StartedTaskRun, TaskRun, TaskRunResult, TaskSnapshot,
};
