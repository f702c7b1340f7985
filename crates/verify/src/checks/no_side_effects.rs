//! Passes when the agent changed nothing but what is allowed.
//!
//! Reads the difference between the state and its baseline, and the events. `allow` takes globs that start with an
//! area: `fhir/Appointment`, `files/outbox/**`, `hl7/ORM^O01`. `require` takes such globs too: each must have happened, so
//! that an agent that does nothing does not pass, and what is required is allowed. `at_most` says how often. The example:
//! [`EXAMPLE`]. Evidence: `unexpected[]`, and with `require` also `missing[]`.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use model::FieldErrors;
use model::event::{Event, EventType};
use model::score::Score;
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde_json::Value;
use world::{Records, Revision, Sandbox, Seq};

use crate::authored::{Authored, Notation};
use crate::bounds::short;
use crate::checks::{Check, CheckInfo};
use crate::evidence::{Case, Evaluated, Outcome, FILES, FOLDERS, UNSEEN, check_here, hl7_text, is_hl7_sent, is_of_scenario, object, text, x12_text};
use crate::glob::{Glob, Segment};
use crate::limits::{LONGEST_LIST, LONGEST_PATH};
use crate::manual::Member;

pub const EXAMPLE: &str = r#"{
  "assert": "no-side-effects",
  "allow": ["files/outbox/**", "hl7/ORM^O01"],
  "require": ["fhir/Appointment"],
  "at_most": {"fhir/Appointment": 1}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoSideEffects {
    /// Without any, nothing at all may change.
    #[serde(default)]
    pub allow: Vec<Authored<ResourceGlob>>,
    /// What must have changed or been sent, each at least once; it need not be allowed as well.
    #[serde(default)]
    pub require: Vec<Authored<ResourceGlob>>,
    /// By such a glob, how many effects it may cover; one more is not allowed.
    #[serde(default)]
    pub at_most: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceGlob {
    pub area: Area,
    pub glob: Glob,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    Fhir,
    Hl7,
    X12,
    Files,
    Portal,
    Voice,
    Fax,
    Messages,
    Cds,
}

impl Area {
    pub const ALL: [Area; 9] = [
        Self::Fhir,
        Self::Hl7,
        Self::X12,
        Self::Files,
        Self::Portal,
        Self::Voice,
        Self::Fax,
        Self::Messages,
        Self::Cds,
    ];

    fn read(name: &str) -> Option<Self> {
        let name: serde::de::value::StrDeserializer<'_, serde::de::value::Error> = name.into_deserializer();
        Self::deserialize(name).ok()
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fhir => "fhir",
            Self::Hl7 => "hl7",
            Self::X12 => "x12",
            Self::Files => "files",
            Self::Portal => "portal",
            Self::Voice => "voice",
            Self::Fax => "fax",
            Self::Messages => "messages",
            Self::Cds => "cds",
        })
    }
}

impl Notation for ResourceGlob {
    const LONGEST: usize = LONGEST_PATH;

    fn read(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once('/').unwrap_or((text, ""));
        let Some(area) = Area::read(name) else {
            let areas: Vec<String> = Area::ALL.iter().map(Area::to_string).collect();
            return Err(format!("must start with one of {}, as in `fhir/Appointment`", areas.join(", ")));
        };
        if rest.is_empty() {
            return Err(format!("must say what in `{area}` is allowed: `{area}/**` is everything"));
        }
        if rest.starts_with('/') {
            return Err("has an empty segment: a name or pattern must stand between slashes".to_owned());
        }
        Ok(Self { area, glob: Glob::read(rest)? })
    }
}

impl fmt::Display for ResourceGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.area, self.glob)
    }
}

impl Check for NoSideEffects {
    const INFO: CheckInfo = CheckInfo {
        name: "no-side-effects",
        summary: "The agent changed nothing but what is allowed.",
        example: EXAMPLE,
        members: &[
            Member::new("allow", "[]", "globs that start with an area ({areas}): what may change. Allowing everything is a fault"),
            Member::new("require", "[]", "such globs too: what must have happened at least once, and is allowed with that. Without it an agent that does nothing passes"),
            Member::new("at_most", "{}", "from such a glob to the number of effects that it may cover. Without it two are as good as one"),
        ],
        told: "Without any member, nothing at all may change. What the scenario did is no effect: a record is compared with its last state that the dataset or a step gave it.",
        evidence: "`unexpected[]`, and with `require` `missing[]`",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        errors.size("allow", self.allow.len(), LONGEST_LIST);
        errors.size("require", self.require.len(), LONGEST_LIST);
        errors.size("at_most", self.at_most.len(), LONGEST_LIST);
        for (glob, most) in &self.at_most {
            if let Err(fault) = ResourceGlob::read(glob) {
                errors.add(format!("at_most.{}", short(glob)), fault);
            } else if *most == 0 {
                errors.add(format!("at_most.{}", short(glob)), "must be at least 1: what is not allowed needs no limit");
            }
        }
        if Area::ALL.iter().all(|area| self.allows_all_of(*area)) {
            errors.add("allow", "can never fail: everything is allowed");
        }
    }

    fn evaluate(&self, case: &Case<'_>) -> Evaluated {
        let required = self.require.iter().map(Authored::ready).collect::<Result<Vec<_>, _>>()?;
        let mut allowed = self.allow.iter().map(Authored::ready).collect::<Result<Vec<_>, _>>()?;
        allowed.extend(&required);
        let mut effects = changes(case)?;
        for event in case.evidence.events.iter().filter(|event| !is_of_scenario(event)) {
            effects.extend(sent(event, case)?);
        }
        let globs = 1 + allowed.len() + required.len() + self.at_most.len();
        case.budget.spend(effects.iter().map(|effect| globs * (1 + effect.name.len())).sum())?;
        let is_missing = |wanted: &&&ResourceGlob| !effects.iter().any(|effect| effect.is_covered(wanted));
        let missing: Vec<&ResourceGlob> = required.iter().filter(is_missing).copied().collect();
        let over = self.too_many(&effects)?;
        let is_allowed = |effect: &Effect| allowed.iter().any(|allowed| effect.is_covered(allowed));
        let is_unexpected = |(place, effect): &(usize, &Effect)| over.contains(place) || !is_allowed(effect);
        let unexpected: Vec<&Effect> =
            effects.iter().enumerate().filter(is_unexpected).map(|(_, effect)| effect).collect();
        Ok(self.outcome(&unexpected, &missing))
    }
}

const MOST_UNEXPECTED: usize = 100;
/// How many are named in a sentence; the evidence has more.
const MOST_NAMED: usize = 3;

/// The first of them by name.
fn first<T: fmt::Display>(all: &[&T]) -> String {
    let named: Vec<String> = all.iter().take(MOST_NAMED).map(|one| short(&one.to_string())).collect();
    if all.len() > MOST_NAMED { format!("{} …", named.join(", ")) } else { named.join(", ") }
}

/// Something that the agent did to the world.
struct Effect {
    area: Area,
    /// What `allow` may name: `Appointment/7`, `outbox/a.json`, `ORM^O01`.
    name: String,
    /// `create`, `update`, `delete` or `send`.
    change: &'static str,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.change, self.area, self.name)
    }
}

impl Effect {
    /// In FHIR and the portal a kind covers all of its rows.
    fn is_covered(&self, allowed: &ResourceGlob) -> bool {
        let has_kinds = matches!(self.area, Area::Fhir | Area::Portal);
        let kind = self.name.split_once('/').map(|(kind, _)| kind).filter(|_| has_kinds);
        self.area == allowed.area
            && (allowed.glob.matches(&self.name) || kind.is_some_and(|kind| allowed.glob.matches(kind)))
    }

    fn json(&self) -> Value {
        let resource = short(&format!("{}/{}", self.area, self.name));
        object([("resource", resource.into()), ("change", self.change.into())])
    }
}

/// What differs from the baseline and from what the scenario brought, by sandbox, collection and key. The rows of the other
/// simulators only keep book of what their events tell.
fn changes(case: &Case<'_>) -> Result<Vec<Effect>, String> {
    let world = case.evidence.world;
    if world.sandboxes.is_empty() {
        return Err("the playground has no sandbox".to_owned());
    }
    world.sandboxes.values().try_for_each(check_here)?;
    case.budget.spend(case.evidence.events.len())?;
    let steps = case.evidence.events.iter().filter(|event| event.r#type == EventType::ScenarioStep);
    let scenario: HashSet<Seq> = steps.map(|event| event.seq).collect();
    let mut effects = Vec::new();
    for sandbox in world.sandboxes.values() {
        let Some(area) = area_of_rows(sandbox) else { continue };
        for collection in sandbox.records.written_collections().filter(|name| is_counted(area, name)) {
            let keys: std::collections::BTreeSet<&str> =
                sandbox.records.written(collection).into_iter().map(|revision| revision.key).collect();
            for key in keys {
                if let Some(change) = change(&sandbox.records, collection, key, &scenario, case)? {
                    let name = if area == Area::Files { key.to_owned() } else { format!("{collection}/{key}") };
                    effects.push(Effect { area, name, change });
                }
            }
        }
    }
    Ok(effects)
}

/// A file drop also keeps book of quotas and faults, which are nobody's work.
fn is_counted(area: Area, collection: &str) -> bool {
    if area == Area::Files { [FILES, FOLDERS].contains(&collection) } else { !UNSEEN.contains(&collection) }
}

fn area_of_rows(sandbox: &Sandbox) -> Option<Area> {
    match sandbox.kind {
        SimulatorType::Fhir => Some(Area::Fhir),
        SimulatorType::Files => Some(Area::Files),
        SimulatorType::Payer => Some(Area::Portal),
        _ => None,
    }
}

/// How the record differs from its last version that is not the agent's.
fn change(
    records: &Records,
    collection: &str,
    key: &str,
    scenario: &HashSet<Seq>,
    case: &Case<'_>,
) -> Result<Option<&'static str>, String> {
    let history = records.history(collection, key);
    let is_given = |revision: &&Revision<'_>| revision.seq == 0 || scenario.contains(&revision.seq);
    let content = |revision: Option<&Revision<'_>>| revision.and_then(|revision| Some(revision.record.as_ref()?.json()));
    let (given, now) = (content(history.iter().find(is_given)), content(history.first()));
    for value in given.iter().chain(&now) {
        case.budget.spend(crate::compare::size(value))?;
    }
    Ok(match (given, now) {
        (None, None) => None,
        (None, Some(_)) => Some("create"),
        (Some(_), None) => Some("delete"),
        (Some(given), Some(now)) => {
            let substance = if collection == FILES { substance_of_file } else { substance };
            (substance(&given) != substance(&now)).then_some("update")
        }
    })
}

/// The record without the bookkeeping of the store; as text, so that neither the order of members nor 1 and 1.0 are mixed up.
fn substance(record: &Value) -> String {
    let mut record = record.clone();
    if let Some(meta) = record.get_mut("meta").and_then(Value::as_object_mut) {
        meta.shift_remove("versionId");
        meta.shift_remove("lastUpdated");
        if meta.is_empty()
            && let Some(members) = record.as_object_mut()
        {
            members.shift_remove("meta");
        }
    }
    model::canonical::to_string(&record)
}

/// A file is its bytes and what they are: not when they were written, nor where they are kept.
fn substance_of_file(record: &Value) -> String {
    match (text(record, "sha256"), text(record, "content_type")) {
        (Some(sha256), Some(content_type)) => format!("{sha256} {content_type}"),
        _ => substance(record),
    }
}

/// What left the playground.
fn sent(event: &Event, case: &Case<'_>) -> Result<Option<Effect>, String> {
    let payload = &event.payload;
    let member = |name: &str| text(payload, name).unwrap_or("unknown").to_owned();
    let (area, name) = match event.r#type {
        EventType::Hl7Outbound if !is_hl7_sent(payload) => return Ok(None),
        EventType::Hl7Outbound => (Area::Hl7, message_type(payload, case)?),
        // Who only looks for answers sends no interchange.
        EventType::X12Request if x12_text(payload).is_some() => (Area::X12, transaction_set(payload, case)?),
        EventType::VoiceTurn if text(payload, "speaker") == Some("agent") => (Area::Voice, member("call_id")),
        // What was refused went nowhere.
        EventType::FaxOutbound if text(payload, "status") == Some("refused") => return Ok(None),
        EventType::FaxOutbound => (Area::Fax, member("to_number")),
        EventType::MessageOutbound => (Area::Messages, member("channel")),
        EventType::CdsFeedback => (Area::Cds, member("hook")),
        // Cards that the agent shows to a user.
        EventType::CdsInvoke if text(payload, "answered_by") == Some("agent") && payload.get("cards").is_some() => {
            (Area::Cds, member("hook"))
        }
        _ => return Ok(None),
    };
    Ok(Some(Effect { area, name, change: "send" }))
}

fn message_type(payload: &Value, case: &Case<'_>) -> Result<String, String> {
    let text = hl7_text(payload).unwrap_or_default();
    case.budget.spend(text.len())?;
    let message = hl7v2::Message::parse_text(text, &hl7v2::Limits::default());
    Ok(message.map_or_else(|_| "unknown".to_owned(), |message| format!("{}^{}", message.message_type(), message.trigger_event())))
}

fn transaction_set(payload: &Value, case: &Case<'_>) -> Result<String, String> {
    let text = x12_text(payload).unwrap_or_default();
    case.budget.spend(text.len())?;
    let body = x12::parse(text, &x12::Limits::default()).ok();
    let sets: std::collections::BTreeSet<String> =
        body.iter().flat_map(|body| body.transactions()).map(|one| one.set().to_owned()).collect();
    let sets: Vec<String> = sets.into_iter().collect();
    Ok(if sets.is_empty() { "unknown".to_owned() } else { sets.join("+") })
}

impl NoSideEffects {
    fn outcome(&self, unexpected: &[&Effect], missing: &[&ResourceGlob]) -> Outcome {
        let details = match (unexpected.len(), missing.len()) {
            (0, 0) => "nothing happened but what is allowed".to_owned(),
            (0, 1) => format!("a required effect did not happen: {}", first(missing)),
            (0, count) => format!("{count} required effects did not happen: {}", first(missing)),
            (1, _) => format!("1 effect that is not allowed: {}", first(unexpected)),
            (count, _) => format!("{count} effects that are not allowed: {}", first(unexpected)),
        };
        let listed = unexpected.iter().take(MOST_UNEXPECTED).map(|effect| effect.json()).collect();
        let mut evidence = object([("unexpected", Value::Array(listed))]);
        if !self.require.is_empty() {
            let missing = missing.iter().map(|missing| short(&missing.to_string()));
            evidence["missing"] = missing.collect::<Vec<String>>().into();
        }
        let passed = unexpected.is_empty() && missing.is_empty();
        let score = if passed { Score::one() } else { Score::zero() };
        Outcome { score, passed, details, evidence }
    }

    /// Places of those beyond a limit: the last ones that it covers.
    fn too_many(&self, effects: &[Effect]) -> Result<HashSet<usize>, String> {
        let mut found = HashSet::new();
        for (glob, most) in &self.at_most {
            let glob = ResourceGlob::read(glob)?;
            let covered = effects.iter().enumerate().filter(|(_, effect)| effect.is_covered(&glob));
            found.extend(covered.map(|(place, _)| place).skip(usize::try_from(*most).unwrap_or(usize::MAX)));
        }
        Ok(found)
    }

    fn allows_all_of(&self, area: Area) -> bool {
        self.allow.iter().any(|allowed| match allowed {
            Authored::Ready(allowed) => {
                allowed.area == area && allowed.glob.segments.iter().all(|segment| *segment == Segment::AnyDepth)
            }
            Authored::Template(_) => false,
        })
    }
}

#[cfg(test)]
mod tests;
