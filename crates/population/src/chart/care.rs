//! Care plans with goals, and the care team.

use serde_json::{Value, json};

use super::Builder;
use super::elements::{LOINC, SNOMED, concept, hl7, meta, reference};
use super::patient::primary;

pub(super) fn write(builder: &mut Builder<'_>) {
    if builder.health.onsets.is_empty() {
        return;
    }
    let team = write_team(builder);
    for onset in builder.health.onsets.clone() {
        let module = &builder.population.tables.modules[onset.module];
        let Some(care) = &module.care else { continue };
        let start = onset.date.max(builder.population.spec.start());
        let problem = builder.problems.iter().find(|problem| problem.module == Some(onset.module));
        let addresses: Vec<Value> = problem.map(|problem| reference("Condition", &problem.id)).into_iter().collect();
        let goal = builder.id("goal");
        let ended = builder.person.death.is_some();
        let mut period = json!({"start": start.to_string()});
        if let Some(death) = builder.person.death {
            period["end"] = death.to_string().into();
        }
        let mut resource = json!({"resourceType": "Goal", "id": goal, "meta": meta("us-core-goal"), "lifecycleStatus": if ended { "cancelled" } else { "active" },
            "achievementStatus": hl7("goal-achievement", "in-progress", "In Progress"), "description": {"text": care.goal},
            "subject": builder.subject(), "startDate": start.to_string(),
            "target": [{"dueDate": builder.end().plus(180).to_string()}]});
        if !addresses.is_empty() {
            resource["addresses"] = addresses.clone().into();
        }
        builder.resources.push(resource);
        let activities: Vec<Value> = care
            .activities
            .iter()
            .map(|text| json!({"detail": {"status": if ended { "stopped" } else { "in-progress" }, "description": text}}))
            .collect();
        let id = builder.id("plan");
        let div =
            format!("<div xmlns=\"http://www.w3.org/1999/xhtml\">{}: {}</div>", care.title, care.activities.join("; "));
        let mut plan = json!({"resourceType": "CarePlan", "id": id, "meta": meta("us-core-careplan"),
            "text": {"status": "generated", "div": div}, "status": if ended { "revoked" } else { "active" }, "intent": "plan",
            "category": [{"coding": [{"system": "http://hl7.org/fhir/us/core/CodeSystem/careplan-category",
                "code": "assess-plan", "display": "Assessment and Plan of Treatment"}]}],
            "title": care.title, "subject": builder.subject(), "period": period,
            "careTeam": [reference("CareTeam", &team)], "goal": [reference("Goal", &goal)], "activity": activities});
        if !addresses.is_empty() {
            plan["addresses"] = addresses.into();
        }
        builder.resources.push(plan);
    }
}

fn write_team(builder: &mut Builder<'_>) -> String {
    let practice = &builder.population.practice;
    let modules = &builder.population.tables.modules;
    let plans = builder.health.onsets.iter().filter_map(|onset| modules[onset.module].visits.as_ref());
    let mut specialties = vec![primary(builder)];
    specialties.extend(plans.map(|plan| plan.specialty.as_str()).filter(|specialty| *specialty != "primary"));
    specialties.dedup();
    let mut participants: Vec<Value> = specialties
        .iter()
        .map(|specialty| {
            json!({"role": [concept(SNOMED, "309343006", "Physician")],
            "member": practice.of_specialty(specialty, builder.person.index).reference()})
        })
        .collect();
    participants.push(json!({"role": [concept(SNOMED, "116154003", "Patient")], "member": builder.subject()}));
    let id = builder.id("team");
    builder.resources.push(json!({"resourceType": "CareTeam", "id": id, "meta": meta("us-core-careteam"),
        "status": if builder.person.death.is_some() { "inactive" } else { "active" },
        "category": [concept(LOINC, "LA27976-2", "Encounter-focused care team")], "name": "Care team", "subject": builder.subject(),
        "participant": participants, "managingOrganization": [reference("Organization", "org-lakeshore")]}));
    id
}
