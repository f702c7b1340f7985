//! The next appointment. Its slot is a function of the index: until the schedules are full, no two patients have
//! the same slot. After that, slots are booked again.

use serde_json::json;

use super::Builder;
use super::elements::reference;
use super::patient::primary;

/// Half hours of a morning, from 8:00.
const MORNING: u64 = 8;
/// Workdays within the planning horizon of a schedule, 90 days.
const DAYS: u64 = 60;

pub(super) fn write(builder: &mut Builder<'_>) {
    if builder.person.death.is_some() || !builder.random.percent(55) {
        return;
    }
    let practice = &builder.population.practice;
    let index = builder.person.index;
    let who = practice.of_specialty(primary(builder), index);
    let place = practice.practitioners.iter().filter(|other| other.specialty == who.specialty).count() as u64;
    let number = index / place.max(1);
    let mut day = builder.as_of().plus(1).workday();
    for _ in 0..number / MORNING % DAYS {
        day = day.plus(1).workday();
    }
    let start = 480 + (number % MORNING) as i64 * 30;
    let (slot, id) = (builder.id("slot"), builder.id("appt"));
    let reason =
        builder.problems.iter().find(|problem| problem.end.is_none()).map_or("Annual visit", |problem| problem.name);
    let (subject, practitioner) = (builder.subject(), who.reference());
    builder.resources.push(
        json!({"resourceType": "Slot", "id": slot, "schedule": reference("Schedule", &format!("sched-{}", who.id)),
        "status": "busy", "start": day.at(start), "end": day.at(start + 30)}),
    );
    builder.resources.push(json!({"resourceType": "Appointment", "id": id, "status": "booked",
        "appointmentType": super::elements::hl7("v2-0276", "FOLLOWUP", "A follow up visit from a previous appointment"),
        "reasonCode": [{"text": reason}], "start": day.at(start), "end": day.at(start + 30), "minutesDuration": 30,
        "slot": [reference("Slot", &slot)],
        "participant": [{"actor": subject, "status": "accepted"}, {"actor": practitioner, "status": "accepted"}]}));
}
