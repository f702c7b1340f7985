//! The chart of one patient: a timeline of visits, and the resources of each visit.

mod appointments;
mod care;
mod claims;
mod coverage;
pub(crate) mod elements;
mod immunizations;
mod medications;
mod notes;
mod patient;
mod problems;
mod results;
mod studies;
mod timeline;
mod visit;
mod vitals;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::date::Date;
use crate::health::Health;
use crate::milli::Milli;
use crate::person::Person;
use crate::random::Random;
use crate::{Chart, Population};
use coverage::Coverage;
use medications::Medication;
use problems::Problem;

/// A chart under construction.
pub(crate) struct Builder<'a> {
    population: &'a Population,
    person: Person,
    health: Health,
    random: Random,
    dirty: Random,
    resources: Vec<Value>,
    dirt: Vec<&'static str>,
    numbers: BTreeMap<&'static str, u32>,
    /// The last measured value of each analyte and vital sign.
    latest: BTreeMap<&'static str, Milli>,
    /// The patient's deviation from the mean of each analyte, in thousandths of a standard deviation.
    levels: BTreeMap<&'static str, i64>,
    /// The last date of each panel.
    panels: BTreeMap<&'static str, Date>,
    /// The last date of each screening test and imaging study.
    studies: BTreeMap<&'static str, Date>,
    /// The dates of the doses of each vaccine, by CVX code.
    vaccines: BTreeMap<&'static str, Vec<Date>>,
    /// The first and last days of hospital stays.
    stays: Vec<(Date, Date)>,
    /// The day of the current visit.
    today: Date,
    medications: Vec<Medication>,
    problems: Vec<Problem>,
    coverages: Vec<Coverage>,
    allergies: Vec<String>,
}

pub(crate) fn build(population: &Population, index: u64) -> Chart {
    let (person, health) = population.person(index);
    let mut builder = Builder {
        population,
        person,
        health,
        random: population.random(index, "chart"),
        dirty: population.random(index, "dirt"),
        resources: Vec::with_capacity(512),
        dirt: Vec::new(),
        numbers: BTreeMap::new(),
        latest: BTreeMap::new(),
        levels: BTreeMap::new(),
        panels: BTreeMap::new(),
        studies: BTreeMap::new(),
        vaccines: BTreeMap::new(),
        stays: Vec::new(),
        today: population.spec.start(),
        medications: Vec::new(),
        problems: Vec::new(),
        coverages: Vec::new(),
        allergies: Vec::new(),
    };
    builder.write();
    Chart { resources: builder.resources, dirt: builder.dirt }
}

impl Builder<'_> {
    fn write(&mut self) {
        patient::write(self);
        coverage::write(self);
        problems::write_allergies(self);
        problems::write_past(self);
        for visit in timeline::visits(self) {
            visit::write(self, &visit);
        }
        medications::write_all(self);
        problems::write_all(self);
        care::write(self);
        appointments::write(self);
        patient::write_other_charts(self);
    }

    /// A new id, from the patient's index, the kind and a number.
    fn id(&mut self, kind: &'static str) -> String {
        let number = self.numbers.entry(kind).or_default();
        *number += 1;
        format!("{:06}-{kind}-{number}", self.person.index)
    }

    fn subject(&self) -> Value {
        let Person { given, family, .. } = &self.person;
        json!({"reference": format!("Patient/{}", self.person.id()), "display": format!("{given} {family}")})
    }

    fn as_of(&self) -> Date {
        self.population.spec.as_of
    }

    /// The last day of the chart.
    fn end(&self) -> Date {
        self.person.death.unwrap_or(self.as_of())
    }

    /// Decides whether a data error occurs here, and records its name. `rate` is in thousandths of a percent.
    fn soils(&mut self, name: &'static str, rate: Milli) -> bool {
        let soils = self.dirty.milli_percent(rate.0);
        if soils && !self.dirt.contains(&name) {
            self.dirt.push(name);
        }
        soils
    }
}
