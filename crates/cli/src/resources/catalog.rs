//! The list of all resources.

use super::authoring::{BENCHMARKS, CRITERIA, DATASETS, ENVIRONMENTS, SIMULATORS, TASKS};
use super::describe::Resource;
use super::running::{KEYS, PLAYGROUNDS, RUNS, SANDBOXES, SOLVERS};

pub(crate) const ALL: [&Resource; 11] = [
    &BENCHMARKS,
    &TASKS,
    &CRITERIA,
    &ENVIRONMENTS,
    &SIMULATORS,
    &DATASETS,
    &PLAYGROUNDS,
    &SANDBOXES,
    &SOLVERS,
    &RUNS,
    &KEYS,
];
