//! Measures the prevalence of each module in a population, for comparison with published figures.

use crate::Population;
use crate::health::{Health, is_of};
use crate::module::{Module, ModuleKind, Sex, Target};
use crate::person::Person;

/// One figure of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrevalenceRow {
    pub module: String,
    /// Such as `Women 50-74`.
    pub group: String,
    /// The number of people in the group.
    pub people: u64,
    pub with: u64,
    /// Thousandths of a percent.
    pub found: i64,
    /// In thousandths of a percent, multiplied by the factor of the specification.
    pub target: i64,
    pub source: String,
}

/// Uses demographics and onsets only, without generating charts.
pub fn prevalence(population: &Population, patients: u64) -> Vec<PrevalenceRow> {
    let modules = &population.tables.modules;
    let targets: Vec<(usize, &Module, &Target)> = modules
        .iter()
        .enumerate()
        .flat_map(|(place, module)| module.prevalence.iter().map(move |target| (place, module, target)))
        .collect();
    let mut counts = vec![(0_u64, 0_u64); targets.len()];
    for index in 0..patients {
        let (person, health) = population.person(index);
        let age = person.age(population.spec.as_of);
        for ((place, module, target), (people, with)) in targets.iter().zip(&mut counts) {
            if (target.ages[0]..=target.ages[1]).contains(&age) && is_of(target.sex, &person) {
                *people += 1;
                *with += u64::from(has(population, &person, &health, *place, module, target));
            }
        }
    }
    let row = |((_, module, target), (people, with)): (&(usize, &Module, &Target), (u64, u64))| PrevalenceRow {
        module: module.title.clone(),
        group: group(target),
        people,
        with,
        found: i64::try_from(with * 100_000 / people.max(1)).unwrap_or(0),
        target: target.percent.0 * population.spec.frequency(&module.id) / 100,
        source: module.source.clone(),
    };
    targets.iter().zip(counts).map(row).collect()
}

fn has(
    population: &Population,
    person: &Person,
    health: &Health,
    place: usize,
    module: &Module,
    target: &Target,
) -> bool {
    let as_of = population.spec.as_of;
    match module.kind {
        ModuleKind::Chronic => health.has(place),
        ModuleKind::Screening => health.programs.contains(&place),
        ModuleKind::Pregnancy => {
            let since = if target.per_year { as_of.plus_years(-1) } else { population.spec.start() };
            health.deliveries.iter().any(|date| *date > since && *date <= as_of)
        }
        ModuleKind::Child => person.age(as_of) < 18 && health.programs.contains(&place),
    }
}

fn group(target: &Target) -> String {
    let who = match target.sex {
        Some(Sex::Female) => "women",
        Some(Sex::Male) => "men",
        None => "ages",
    };
    let [first, last] = target.ages;
    if last >= 110 { format!("{who} {first}+") } else { format!("{who} {first}-{last}") }
}
