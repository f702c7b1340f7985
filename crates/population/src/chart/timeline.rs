//! The visits of a patient: dates, specialties and reasons.

use super::Builder;
use crate::date::Date;
use crate::module::{Module, ModuleKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VisitReason {
    Office,
    Child,
    Prenatal {
        weeks: i64,
    },
    Delivery,
    /// A stay in the hospital because of this module.
    Admission {
        module: usize,
    },
}

#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) date: Date,
    pub(crate) minute: i64,
    pub(crate) reason: VisitReason,
    pub(crate) specialty: &'static str,
    /// The modules that are managed at the visit.
    pub(crate) modules: Vec<usize>,
}

/// The visits in chronological order, on different days, within the patient's life.
pub(crate) fn visits(builder: &mut Builder<'_>) -> Vec<Visit> {
    let mut visits = Vec::new();
    office(builder, &mut visits);
    specialists(builder, &mut visits);
    admissions(builder, &mut visits);
    children(builder, &mut visits);
    pregnancies(builder, &mut visits);
    let (start, end) = (builder.population.spec.start(), builder.end());
    visits.retain(|visit| visit.date >= start && visit.date <= end && builder.person.lives_on(visit.date));
    visits.sort_by_key(|visit| (visit.date, !visit.is_inpatient(), visit.minute));
    visits.dedup_by_key(|visit| visit.date);
    // Deliveries come first, because no other stay may overlap them, and there are no visits during a stay.
    for delivery in [true, false] {
        for visit in
            visits.iter().filter(|visit| visit.is_inpatient() && delivery == (visit.reason == VisitReason::Delivery))
        {
            let end = last_day(builder, visit);
            if !builder.stays.iter().any(|stay| visit.date <= stay.1 && stay.0 <= end) {
                builder.stays.push((visit.date, end));
            }
        }
    }
    let stays = &builder.stays;
    visits.retain(|visit| match visit.is_inpatient() {
        true => stays.iter().any(|stay| stay.0 == visit.date),
        false => !stays.iter().any(|stay| (stay.0..=stay.1).contains(&visit.date)),
    });
    visits
}

impl Visit {
    pub(crate) fn is_inpatient(&self) -> bool {
        matches!(self.reason, VisitReason::Admission { .. } | VisitReason::Delivery)
    }

    /// The specialty that determines the organization and location of the visit.
    pub(crate) fn site(&self) -> &'static str {
        if self.is_inpatient() { "hospital" } else { self.specialty }
    }
}

/// The day of discharge.
pub(crate) fn last_day(builder: &Builder<'_>, visit: &Visit) -> Date {
    let days = match visit.reason {
        VisitReason::Admission { module } => modules(builder)[module].admission.as_ref().map_or(1, |plan| plan.days),
        VisitReason::Delivery => 2,
        _ => 0,
    };
    visit.date.plus(days).min(builder.end())
}

fn modules(builder: &Builder<'_>) -> &'static [Module] {
    &builder.population.tables.modules
}

fn minute(builder: &mut Builder<'_>) -> i64 {
    480 + builder.random.below(30) * 15
}

/// Primary care visits: as often as the most demanding disease needs, plus one or two.
fn office(builder: &mut Builder<'_>, visits: &mut Vec<Visit>) {
    let start = builder.population.spec.start();
    for year in 0..builder.population.spec.history_years {
        let first = start.plus_years(year);
        let age = builder.person.age(first);
        if age < 18 {
            continue;
        }
        let current: Vec<usize> =
            builder.health.onsets.iter().filter(|o| o.date <= first.plus(300)).map(|o| o.module).collect();
        let plans = current.iter().filter_map(|place| modules(builder)[*place].visits.as_ref());
        let most = plans.filter(|plan| plan.specialty == "primary").map(|plan| plan.per_year).max().unwrap_or(0);
        let others = if age >= 65 { 2 } else { 1 };
        let count = most + builder.random.between(i64::from(age >= 40), others);
        for number in 0..count {
            let date = first.plus(365 * number / count + builder.random.below(365 / count)).workday();
            let modules = builder.health.onsets.iter().filter(|o| o.date <= date).map(|o| o.module).collect();
            let minute = minute(builder);
            visits.push(Visit { date, minute, reason: VisitReason::Office, specialty: "primary", modules });
        }
    }
}

fn specialists(builder: &mut Builder<'_>, visits: &mut Vec<Visit>) {
    let start = builder.population.spec.start();
    for onset in builder.health.onsets.clone() {
        let Some(plan) = &modules(builder)[onset.module].visits else { continue };
        if plan.specialty == "primary" {
            continue;
        }
        let step = 365 / plan.per_year.max(1);
        let mut date = onset.date.max(start).plus(builder.random.between(7, 40));
        while date <= builder.end() {
            let minute = minute(builder);
            let visit = Visit {
                date: date.workday(),
                minute,
                reason: VisitReason::Office,
                specialty: &plan.specialty,
                modules: vec![onset.module],
            };
            visits.push(visit);
            date = date.plus(step + builder.random.between(-15, 15));
        }
    }
}

fn admissions(builder: &mut Builder<'_>, visits: &mut Vec<Visit>) {
    for onset in builder.health.onsets.clone() {
        let Some(admission) = &modules(builder)[onset.module].admission else { continue };
        for year in 0..builder.population.spec.history_years {
            let date = builder.population.spec.start().plus_years(year).plus(builder.random.below(365));
            let happens = builder.random.below(1000) < admission.per_thousand_years;
            if happens && date >= onset.date && date.plus(admission.days) <= builder.end() {
                let reason = VisitReason::Admission { module: onset.module };
                visits.push(Visit { date, minute: 1005, reason, specialty: "hospital", modules: vec![onset.module] });
            }
        }
    }
}

fn children(builder: &mut Builder<'_>, visits: &mut Vec<Visit>) {
    let Some(place) = modules(builder).iter().position(|module| module.kind == ModuleKind::Child) else { return };
    let Some(plan) = modules(builder)[place].child.as_ref().filter(|_| builder.health.programs.contains(&place)) else {
        return;
    };
    for &months in &plan.visit_months {
        let date = builder.person.birth.plus_months(months).plus(builder.random.between(2, 12)).workday();
        if builder.random.percent(plan.attend_percent) && builder.person.age(date) < 18 {
            let minute = minute(builder);
            let onsets = builder.health.onsets.iter().filter(|onset| onset.date <= date).map(|onset| onset.module);
            let modules = std::iter::once(place).chain(onsets).collect();
            visits.push(Visit { date, minute, reason: VisitReason::Child, specialty: "pediatrics", modules });
        }
    }
}

fn pregnancies(builder: &mut Builder<'_>, visits: &mut Vec<Visit>) {
    let Some(place) = modules(builder).iter().position(|module| module.kind == ModuleKind::Pregnancy) else { return };
    let Some(plan) = &modules(builder)[place].pregnancy else { return };
    for delivery in builder.health.deliveries.clone() {
        for &weeks in &plan.visit_weeks {
            let date = delivery.plus(weeks * 7 - 280 + 1).workday();
            if date < delivery {
                let (minute, reason) = (minute(builder), VisitReason::Prenatal { weeks });
                visits.push(Visit { date, minute, reason, specialty: "obstetrics", modules: vec![place] });
            }
        }
        let minute = builder.random.below(600);
        visits.push(Visit {
            date: delivery,
            minute,
            reason: VisitReason::Delivery,
            specialty: "obstetrics",
            modules: vec![place],
        });
    }
}
