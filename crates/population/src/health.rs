//! The conditions of a patient and their onset. This part of a chart is cheap, so prevalence is measured on it.

use crate::Population;
use crate::date::Date;
use crate::module::{Curve, Module, ModuleKind, Sex};
use crate::person::Person;

/// A body mass index of 30, in thousandths.
const OBESE: i64 = 30_000;
const PREGNANCY_DAYS: i64 = 280;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Onset {
    /// The index of the module.
    pub(crate) module: usize,
    pub(crate) date: Date,
}

#[derive(Debug, Default)]
pub(crate) struct Health {
    /// Onsets in the order of the modules.
    pub(crate) onsets: Vec<Onset>,
    /// The end dates of pregnancies, including expected ones.
    pub(crate) deliveries: Vec<Date>,
    /// The screening and well-child modules that the patient participates in.
    pub(crate) programs: Vec<usize>,
}

impl Health {
    pub(crate) fn of(population: &Population, person: &Person) -> Self {
        let mut health = Self::default();
        for (place, module) in population.tables.modules.iter().enumerate() {
            match module.kind {
                ModuleKind::Chronic => {
                    let date = health.onset(population, person, module);
                    health.onsets.extend(date.map(|date| Onset { module: place, date }));
                }
                ModuleKind::Screening | ModuleKind::Child => {
                    health.programs.extend(takes_part(population, person, module).then_some(place));
                }
                ModuleKind::Pregnancy => health.deliveries = deliveries(population, person, module),
            }
        }
        health
    }

    /// The age at which the curve, adjusted by the patient's risks, reaches the patient's threshold.
    fn onset(&self, population: &Population, person: &Person, module: &Module) -> Option<Date> {
        let curve = module.onset.as_ref().filter(|_| population.spec.frequency(&module.id) > 0)?;
        let age = person.age(population.spec.as_of);
        let of_sex = if person.female { curve.female } else { curve.male };
        // In millionths of the curve.
        let mut factor = 1_000_000 * of_sex / 100 * population.spec.frequency(&module.id) / 100;
        for risk in &module.risks {
            let (has, share) = self.risk(population, person, &risk.of, age);
            // Patients with the risk are `times` as likely. The average over all patients does not change.
            let average = 100_000 + share * (risk.times.0 - 1000) / 1000;
            factor = factor * 100_000 / average;
            if has {
                factor = factor * risk.times.0 / 1000;
            }
        }
        let mut random = population.random(person.index, &module.id);
        let threshold = random.below(100_000);
        let days = reached(curve, threshold * 1_000_000 / factor.max(1))?;
        let date = person.birth.plus(days + random.below(180));
        let end = person.death.unwrap_or(population.spec.as_of);
        (date <= end).then_some(date)
    }

    /// Whether the patient has a risk, and the share of people of that age with it, in thousandths of a percent.
    fn risk(&self, population: &Population, person: &Person, name: &str, age: i64) -> (bool, i64) {
        match name {
            "obesity" => (person.bmi >= OBESE, 47_000),
            "smoker" => (person.smoker, 11_000),
            name => {
                let module = population.tables.modules.iter().position(|module| module.id == name);
                let curve = module.and_then(|place| population.tables.modules[place].onset.as_ref());
                (module.is_some_and(|place| self.has(place)), curve.map_or(0, |curve| value(curve, age)))
            }
        }
    }

    pub(crate) fn has(&self, module: usize) -> bool {
        self.onsets.iter().any(|onset| onset.module == module)
    }

    pub(crate) fn had(&self, module: usize, date: Date) -> bool {
        self.onsets.iter().any(|onset| onset.module == module && onset.date <= date)
    }

    /// The week of the pregnancy on this day.
    pub(crate) fn weeks(&self, date: Date) -> Option<i64> {
        let days = self.deliveries.iter().map(|delivery| PREGNANCY_DAYS - delivery.since(date));
        days.filter(|days| (0..PREGNANCY_DAYS).contains(days)).map(|days| days / 7).next()
    }
}

fn takes_part(population: &Population, person: &Person, module: &Module) -> bool {
    let (sex, percent) = module.screening.as_ref().map_or((None, 100_000), |plan| (plan.sex, plan.percent.0));
    let percent = percent * population.spec.frequency(&module.id) / 100;
    is_of(sex, person) && population.random(person.index, &module.id).milli_percent(percent)
}

pub(crate) fn is_of(sex: Option<Sex>, person: &Person) -> bool {
    sex.is_none_or(|sex| (sex == Sex::Female) == person.female)
}

fn deliveries(population: &Population, person: &Person, module: &Module) -> Vec<Date> {
    let Some(plan) = module.pregnancy.as_ref().filter(|_| person.female) else { return Vec::new() };
    let mut random = population.random(person.index, &module.id);
    let mut found: Vec<Date> = Vec::new();
    let rate = plan.per_thousand_years * population.spec.frequency(&module.id);
    for year in -population.spec.history_years..=0 {
        let date = population.spec.as_of.plus_years(year).plus(random.below(365));
        let chosen = random.milli_percent(rate);
        let condition = (plan.ages[0]..=plan.ages[1]).contains(&person.age(date));
        let apart = found.last().is_none_or(|last| date.since(*last) > 450);
        let began = date.plus(-PREGNANCY_DAYS + 56) < population.spec.as_of;
        if chosen && condition && apart && began && person.death.is_none() {
            found.push(date.workday());
        }
    }
    found
}

/// In thousandths of a percent.
fn value(curve: &Curve, age: i64) -> i64 {
    let mut last = (0, 0);
    for &(point, share) in &curve.points {
        if age <= point {
            return last.1 + (share.0 - last.1) * (age - last.0) / (point - last.0).max(1);
        }
        last = (point, share.0);
    }
    last.1
}

/// The age in days at which the curve reaches a value in thousandths of a percent.
fn reached(curve: &Curve, wanted: i64) -> Option<i64> {
    let mut last = (0, 0);
    for &(point, share) in &curve.points {
        if wanted < share.0 {
            let days = (point - last.0) * 365 * (wanted - last.1).max(0) / (share.0 - last.1).max(1);
            return Some(last.0 * 36_525 / 100 + days);
        }
        last = (point, share.0);
    }
    None
}
