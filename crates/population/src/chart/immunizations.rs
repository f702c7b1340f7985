//! Vaccines that are due at a visit. Live vaccines are not given in pregnancy or with methotrexate or a biologic.

use serde_json::json;

use super::Builder;
use super::claims::Service;
use super::elements::{meta, reference};
use super::timeline::{Visit, VisitReason};
use crate::date::Date;
use crate::module::ModuleKind;
use crate::tables::Vaccine;

pub(super) fn write_due(builder: &mut Builder<'_>, visit: &Visit, encounter: &str, services: &mut Vec<Service>) {
    if !matches!(visit.specialty, "primary" | "pediatrics" | "obstetrics") {
        return;
    }
    for vaccine in &builder.population.tables.vaccines {
        if is_due(builder, visit, vaccine) && !(vaccine.live && bars_live(builder, visit)) {
            builder.vaccines.entry(&vaccine.cvx).or_default().push(visit.date);
            write(builder, visit, encounter, vaccine);
            let first = !services.iter().any(|service| service.code == "90471");
            let (code, name, cents) = if first {
                ("90471", "Immunization administration, first vaccine", 3500)
            } else {
                ("90472", "Immunization administration, each additional vaccine", 1800)
            };
            services.push(Service { code: code.to_owned(), name: name.to_owned(), cents, advanced_imaging: false });
        }
    }
}

fn bars_live(builder: &Builder<'_>, visit: &Visit) -> bool {
    let suppressed = ["methotrexate", "biologic"].iter().any(|group| super::medications::takes_group(builder, group));
    suppressed || builder.health.weeks(visit.date).is_some()
}

fn is_due(builder: &Builder<'_>, visit: &Visit, vaccine: &'static Vaccine) -> bool {
    let given = builder.vaccines.get(vaccine.cvx.as_str()).map_or(&[][..], Vec::as_slice);
    let pregnant = builder.health.weeks(visit.date).is_some();
    match visit.reason {
        VisitReason::Prenatal { weeks } => vaccine.pregnancy && weeks == 30,
        // The dose in pregnancy is due in its own week.
        _ if pregnant && vaccine.pregnancy => false,
        _ if vaccine.seasonal => seasonal(builder, visit, vaccine, given),
        VisitReason::Child => child(builder, visit, vaccine, given),
        _ => adult(builder, visit, vaccine, given),
    }
}

/// Whether the interval after the dose with this number has passed.
fn apart(vaccine: &Vaccine, number: usize, last: Option<&Date>, date: Date) -> bool {
    let days = number.checked_sub(1).and_then(|place| vaccine.intervals.get(place)).copied().unwrap_or(28);
    last.is_none_or(|last| date.since(*last) >= days)
}

/// Influenza: once a season. Patients decide again every season.
fn seasonal(builder: &Builder<'_>, visit: &Visit, vaccine: &Vaccine, given: &[Date]) -> bool {
    let season = |date: Date| date.plus(-180).parts().0;
    let (_, month, _) = visit.date.parts();
    let percent = match visit.reason {
        VisitReason::Child if visit.date.months_since(builder.person.birth) >= 6 => vaccine.child_percent,
        VisitReason::Child => 0,
        _ => adult_percent(builder, visit, vaccine),
    };
    let stream = format!("{}:{}", vaccine.cvx, season(visit.date));
    !(3..=8).contains(&month)
        && given.last().is_none_or(|last| season(*last) != season(visit.date))
        && builder.population.random(builder.person.index, &stream).percent(percent)
}

/// The percentage of adults of this age who get the vaccine.
fn adult_percent(builder: &Builder<'_>, visit: &Visit, vaccine: &Vaccine) -> i64 {
    let age = builder.person.age(visit.date);
    let Some(adult) = vaccine.adult.as_ref().filter(|adult| age >= adult.from) else { return 0 };
    let percent = match age {
        65.. => adult.percent_65.or(adult.percent_50),
        50..65 => adult.percent_50,
        _ => None,
    };
    percent.unwrap_or(adult.percent)
}

fn adult(builder: &Builder<'_>, visit: &Visit, vaccine: &Vaccine, given: &[Date]) -> bool {
    let Some(plan) = &vaccine.adult else { return false };
    let mut chance = builder.population.random(builder.person.index, &vaccine.cvx);
    // Patients who decline once always decline.
    let takes = chance.percent(adult_percent(builder, visit, vaccine));
    let due = match plan.every_months {
        Some(months) => {
            // The last dose before the chart was given at a random time in the interval.
            let before = builder.population.spec.start().plus_months(-chance.below(months));
            visit.date >= given.last().copied().unwrap_or(before).plus_months(months)
        }
        None => given.len() < plan.doses && apart(vaccine, given.len(), given.last(), visit.date),
    };
    takes && due
}

/// Adds the doses that were due before the start of the chart.
fn child(builder: &Builder<'_>, visit: &Visit, vaccine: &Vaccine, given: &[Date]) -> bool {
    let birth = builder.person.birth;
    let months = visit.date.months_since(birth);
    let plan = builder.population.tables.modules.iter().find(|module| module.kind == ModuleKind::Child);
    let percent = plan.and_then(|module| module.child.as_ref()).map_or(0, |child| child.vaccinated_percent);
    let takes = builder.population.random(builder.person.index, "vaccines").percent(percent);
    let start = builder.population.spec.start();
    let early: Vec<Date> = vaccine.months.iter().map(|month| birth.plus_months(*month).plus(14)).collect();
    let early: Vec<&Date> = early.iter().filter(|date| **date < start).collect();
    let number = early.len() + given.len();
    let last = given.last().or(early.last().copied());
    takes
        && vaccine.months.get(number).is_some_and(|month| months >= *month)
        && vaccine.until_months.is_none_or(|until| months <= until)
        && apart(vaccine, number, last, visit.date)
}

fn write(builder: &mut Builder<'_>, visit: &Visit, encounter: &str, vaccine: &Vaccine) {
    let id = builder.id("imm");
    let lot = format!("{}{:04}", if builder.random.percent(50) { "L" } else { "U" }, builder.random.below(10_000));
    builder.resources.push(json!({"resourceType": "Immunization", "id": id, "meta": meta("us-core-immunization"),
        "status": "completed",
        "vaccineCode": super::elements::concept("http://hl7.org/fhir/sid/cvx", &vaccine.cvx, &vaccine.name),
        "patient": builder.subject(), "encounter": reference("Encounter", encounter),
        "occurrenceDateTime": visit.date.to_string(), "primarySource": true, "lotNumber": lot,
        "location": reference("Location", crate::practice::location_of(visit.specialty))}));
}
