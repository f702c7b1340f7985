//! The catalog entry of a simulator type, and the macro that builds the catalog from the simulators' modules.

use model::FieldErrors;
use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use serde_json::{Map, Value};

use crate::authored;
use crate::credentials::Credential;
use crate::effects::EffectInfo;
use crate::operation::OperationEntry;
use crate::scenario::step::{self, DatasetFile, DatasetFiles, ScenarioStep, StepContext, StepOutput};
use crate::scheduler::Schedule;

/// A simulator type as authors and the manual see it.
#[derive(Debug)]
pub struct SimulatorInfo {
    pub kind: SimulatorType,
    pub summary: &'static str,
    /// The dataset types that it can be initialized from.
    pub datasets: &'static [DatasetType],
    pub credentials: &'static [Credential],
    /// Paths of its operations in a run's `endpoints`.
    pub endpoints: &'static [Endpoint],
    pub steps: &'static [StepInfo],
    /// HTTP operations. The server has routes of its own for protocols that are not JSON requests and responses.
    pub operations: &'static [OperationEntry],
    pub effects: EffectInfo,
    /// Its delayed work.
    pub(crate) schedules: &'static [Schedule],
    pub config_defaults: ConfigDefaults,
    pub(crate) example_config: fn() -> Value,
    pub(crate) check_config: fn(&Value) -> Result<(), FieldErrors>,
}

/// One member of a run's `endpoints`.
#[derive(Debug)]
pub struct Endpoint {
    pub name: &'static str,
    /// Relative to the run or task run.
    pub path: &'static str,
}

impl Endpoint {
    /// An endpoint whose path is its name.
    pub(crate) const fn at(name: &'static str) -> Self {
        Self { name, path: name }
    }
}

/// Defaults that have changed since benchmark versions were published: a published config means the same forever.
#[derive(Clone, Copy, Debug)]
pub struct ConfigDefaults {
    /// Writes today's defaults into the config of a version that is published now.
    pub pin: fn(&mut Value),
    /// Writes the defaults of the first release into a config that was published before `pin` existed.
    pub restore: fn(&mut Value),
}

impl ConfigDefaults {
    /// Of a type whose defaults have never changed.
    pub(crate) const UNCHANGED: Self = Self { pin: |_| {}, restore: |_| {} };
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

/// A scenario step that a simulator type supports.
#[derive(Debug)]
pub struct StepInfo {
    /// The value of the step's `do`.
    pub name: &'static str,
    pub summary: &'static str,
    pub(crate) example: fn() -> Value,
    /// Validates the step's own parameters: the step without `do`, `sandbox` and `after_seconds`.
    pub(crate) check: fn(&Value) -> Result<(), FieldErrors>,
    /// Finds the dataset file that the step refers to.
    pub(crate) dataset_file: fn(&Value, DatasetFiles<'_>) -> Result<Option<DatasetFile>, FieldErrors>,
    /// Executes the step.
    pub(crate) execute: fn(&StepContext<'_>, &Value) -> Result<StepOutput, FieldErrors>,
}

impl StepInfo {
    pub(crate) const fn of<T: ScenarioStep>(name: &'static str, summary: &'static str, example: fn() -> Value) -> Self {
        Self {
            name,
            summary,
            example,
            check: authored::check::<T>,
            dataset_file: step::dataset_file::<T>,
            execute: step::execute::<T>,
        }
    }

    /// A valid step, including `do`.
    pub fn example(&self) -> Value {
        (self.example)()
    }
}

/// Builds the catalog and the dispatch by type. A type without a module does not compile.
macro_rules! simulators {
    ($($kind:ident => $module:ident,)+ $(#[cfg(test)] $test_only:ident,)?) => {
        /// Every simulator type, in the order of the catalog.
        pub fn catalog() -> &'static [SimulatorInfo] {
            const CATALOG: &[SimulatorInfo] = &[$($module::SIMULATOR,)+ $(#[cfg(test)] $test_only::SIMULATOR,)?];
            CATALOG
        }

        /// The catalog entry of a type.
        pub fn info(kind: SimulatorType) -> &'static SimulatorInfo {
            match kind {
                $(SimulatorType::$kind => {
                    const SIMULATOR: &SimulatorInfo = &$module::SIMULATOR;
                    SIMULATOR
                })+
            }
        }
    };
}
