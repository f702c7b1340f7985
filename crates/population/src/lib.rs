//! A seeded population of coherent longitudinal charts in FHIR R4, shaped like US Core.
//!
//! Every patient is a function of the seed and the index: the same bytes on every machine, in any order, on any number of
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

pub use must_support::{Support, must_support};
pub use spec::{DIRT, Error, Spec};
pub use statistics::{Row, prevalence};

use health::Health;
use person::Person;
use practice::Practice;
use random::Random;
use tables::Tables;

/// The version of the generator: another one may give other bytes for the same seed.
pub const VERSION: u32 = 2;

/// A population that is not generated yet.
#[derive(Debug)]
pub struct Population {
    seed: u64,
    spec: Spec,
    tables: &'static Tables,
    practice: Practice,
}

/// All resources of a patient, in an order in which references point backward where they can.
#[derive(Debug)]
pub struct Chart {
    pub resources: Vec<Value>,
    /// What is wrong in the chart on purpose, by the names of [`DIRT`].
    pub dirt: Vec<&'static str>,
}

impl Population {
    pub fn new(seed: u64, spec: Spec) -> Result<Self, Error> {
        let tables = tables::tables()?;
        let practice = Practice::new(seed, tables);
        Ok(Self { seed, spec, tables, practice })
    }

    /// What all charts refer to: organizations, locations, practitioners, schedules and free slots.
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
