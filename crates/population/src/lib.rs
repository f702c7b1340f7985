//! Generates a population of coherent longitudinal charts in FHIR R4 from a seed, in the style of US Core.
//!
//! Every patient is a function of the seed and the index: the same bytes on every machine, in any order, with any number of
//! threads. No I/O, no clock, no floating point.

mod chart;
mod date;
mod health;
mod kidney;
mod milli;
mod module;
mod must_support;
mod person;
mod practice;
mod random;
mod spec;
mod statistics;
mod tables;

use serde_json::Value;

pub use must_support::{ElementSupport, must_support};
pub use spec::{DIRT, Spec, SpecError};
pub use statistics::{PrevalenceRow, prevalence};

use health::Health;
use person::Person;
use practice::Practice;
use random::Random;
use tables::Tables;

/// The version of the generator. Another version may generate other bytes for the same seed.
pub const VERSION: u32 = 2;

/// A population, which is generated chart by chart.
#[derive(Debug)]
pub struct Population {
    seed: u64,
    spec: Spec,
    tables: &'static Tables,
    practice: Practice,
}

/// All resources of a patient. As far as possible, references point to earlier resources.
#[derive(Debug)]
pub struct Chart {
    pub resources: Vec<Value>,
    /// The deliberate errors in the chart, by the names of [`DIRT`].
    pub dirt: Vec<&'static str>,
}

impl Population {
    pub fn new(seed: u64, spec: Spec) -> Result<Self, SpecError> {
        let tables = tables::tables()?;
        let practice = Practice::new(seed, tables);
        Ok(Self { seed, spec, tables, practice })
    }

    /// The resources that all charts share: organizations, locations, practitioners, schedules and free slots.
    pub fn shared(&self) -> Vec<Value> {
        self.practice.resources(&self.spec)
    }

    /// The chart of one patient.
    pub fn chart(&self, index: u64) -> Chart {
        chart::build(self, index)
    }

    /// The chart as NDJSON.
    pub fn lines(&self, index: u64) -> String {
        lines(&self.chart(index).resources)
    }

    fn random(&self, index: u64, stream: &str) -> Random {
        Random::of(self.seed, index, stream)
    }

    fn person(&self, index: u64) -> (Person, Health) {
        let person = Person::of(self, index);
        let health = Health::of(self, &person);
        (person, health)
    }
}

/// Resources as NDJSON.
pub fn lines(resources: &[Value]) -> String {
    let mut text = String::new();
    for resource in resources {
        text.push_str(&resource.to_string());
        text.push('\n');
    }
    text
}
