//! What the registry knows of a simulator type, and the list that makes a registry of the simulators' folders.

use model::FieldErrors;
use model::simulator::SimulatorType;
use serde_json::{Map, Value};

use crate::authored;
use crate::effects::EffectInfo;
use crate::scenario::step::{self, DatasetFile, Done, Files, Stage, Step};

/// One simulator type as authors and the manual see it.
#[derive(Debug)]
pub struct SimulatorInfo {
    pub kind: SimulatorType,
    pub summary: &'static str,
    /// The names of what a sandbox's `credentials` hold.
    pub credentials: &'static [&'static str],
    /// The names under a run's `endpoints`.
    pub endpoints: &'static [&'static str],
    pub steps: &'static [StepInfo],
    pub effects: EffectInfo,
    pub(crate) example_config: fn() -> Value,
    pub(crate) check_config: fn(&Value) -> Result<(), FieldErrors>,
}

impl SimulatorInfo {
    /// A valid config that shows every key.
    pub fn example_config(&self) -> Value {
        (self.example_config)()
    }

    /// `null` is an empty config.
    pub fn validate_config(&self, config: &Value) -> Result<(), FieldErrors> {
        match config {
            Value::Null => (self.check_config)(&Value::Object(Map::new())),
            config => (self.check_config)(config),
        }
    }
}

/// One scenario step that a simulator type takes.
#[derive(Debug)]
pub struct StepInfo {
    /// What the step's `do` says.
    pub name: &'static str,
    pub summary: &'static str,
    pub(crate) example: fn() -> Value,
    /// Judges the step's own parameters: the step without `do`, `sandbox` and `after_seconds`.
    pub(crate) check: fn(&Value) -> Result<(), FieldErrors>,
    /// What the step needs of the datasets.
    pub(crate) dataset_file: fn(&Value, Files<'_>) -> Result<Option<DatasetFile>, FieldErrors>,
    /// What happens when the step is due.
    pub(crate) carry_out: fn(&Stage<'_>, &Value) -> Result<Done, FieldErrors>,
}

impl StepInfo {
    pub(crate) const fn of<T: Step>(name: &'static str, summary: &'static str, example: fn() -> Value) -> Self {
        Self {
            name,
            summary,
            example,
            check: authored::check::<T>,
            dataset_file: step::dataset_file::<T>,
            carry_out: step::carry_out::<T>,
        }
    }

    /// A valid step, with its `do`.
    pub fn example(&self) -> Value {
        (self.example)()
    }
}

/// Makes the catalogue and the dispatch. A type without a folder does not compile.
macro_rules! simulators {
    ($($kind:ident => $folder:ident),+ $(,)?) => {
        /// Every simulator type, in the order of the registry.
        pub fn catalogue() -> &'static [SimulatorInfo] {
            const CATALOGUE: &[SimulatorInfo] = &[$($folder::SIMULATOR),+];
            CATALOGUE
        }

        /// The catalogue's entry of one type.
        pub fn info(kind: SimulatorType) -> &'static SimulatorInfo {
            match kind {
                $(SimulatorType::$kind => {
                    const SIMULATOR: &SimulatorInfo = &$folder::SIMULATOR;
                    SIMULATOR
                })+
            }
        }
    };
}
