//! Criteria: what `verify` refuses, and what could only fail when a run is scored.

use fhir::definitions::SearchParameter;
use fhir::{ResourceType, nearest};
use model::FieldErrors;
use model::simulator::SimulatorType;
use model::template::Bindings;
use serde_json::Value;
use verify::authored::{Authored, Notation};
use verify::checks::fhir_resource_state::FhirResourceState;
use verify::checks::no_side_effects::{EffectPattern, NoSideEffects};
use verify::glob::{Segment, Token};
use verify::phrase::Negation;
use verify::{Assertion, Parsed};

use super::{Finding, Findings, fields, weights};
use crate::expand::{about, input};
use crate::folder::{Criterion, Folder, Task};

pub(super) fn judge(folder: &Folder, path: &str, task: &Task, findings: &mut Findings) {
    if task.criteria.is_empty() {
        findings.add(Finding::error(path, format!("{}: no criteria: every agent would fail it", task.name)));
        return;
    }
    let about = about(task);
    for (index, criterion) in task.criteria.iter().enumerate() {
        public_label(path, index, criterion, findings);
        let Some(assertion) = read(path, index, &criterion.assertion, findings) else { continue };
        let entity = input(folder, criterion.entity.as_ref());
        let bindings = Bindings { entity: entity.as_ref(), task: Some(&about) };
        let mut faults = unreachable(folder, &assertion);
        for hint in recommended(&assertion).into_iter().chain(misleading_label(criterion, &assertion)) {
            findings.add(Finding::hint(path, format!("{}: {hint}", place(index))));
        }
        match &assertion {
            Assertion::FhirResourceState(check) => {
                faults.extend(searches(check, &bindings));
                let resource_type = searched(check, &bindings);
                let paths = resource_type.map(|kind| fields::unknown_paths(&criterion.assertion, kind));
                faults.extend(paths.unwrap_or_default());
            }
            Assertion::NoSideEffects(check) => faults.extend(globs(check)),
            _ => {}
        }
        for (member, fault) in faults {
            findings.add(Finding::error(path, format!("{}{member}: {fault}", place(index))));
        }
    }
    weights::judge(path, task, findings);
}

fn public_label(path: &str, index: usize, criterion: &Criterion, findings: &mut Findings) {
    let mut errors = FieldErrors::new();
    if let Some(public_label) = &criterion.public_label {
        errors.name("public_label", public_label);
    }
    findings.add_fields(path, &format!("criteria.{index}"), &errors);
}

/// The assertion, if `verify` takes it.
pub(crate) fn read(path: &str, index: usize, assertion: &Value, findings: &mut Findings) -> Option<Assertion> {
    let place = place(index);
    match verify::parse(assertion) {
        Err(faults) => findings.add_fields(path, &place, &faults),
        Ok(Parsed::Unknown { name }) => {
            findings.add(Finding::error(path, format!("{place}.assert: there is no check `{name}`{}", meant(&name))));
        }
        Ok(Parsed::Known(assertion)) => return Some(assertion),
    }
    None
}

fn place(index: usize) -> String {
    format!("criteria.{index}.assertion")
}

fn meant(name: &str) -> String {
    let names = || verify::catalogue().iter().map(|check| check.name);
    match nearest(name, names()) {
        Some(meant) => format!(": did you mean `{meant}`?"),
        None => format!("; there are {}", names().collect::<Vec<_>>().join(", ")),
    }
}

/// What is reported under a label that says that nothing else happened must not be that the work is missing.
fn misleading_label(criterion: &Criterion, assertion: &Assertion) -> Option<&'static str> {
    const NOTHING_ELSE: [&str; 3] = ["nothing else was", "nothing else happened", "no side effects"];
    let Assertion::NoSideEffects(check) = assertion else { return None };
    let label = criterion.label.to_lowercase();
    let message = "the label says that nothing else was done, but the criterion also fails when a required effect is \
                   missing: say both, as in \"The work was done, and nothing else\"";
    let is_misleading = !check.require.is_empty() && NOTHING_ELSE.iter().any(|words| label.starts_with(words));
    is_misleading.then_some(message)
}

/// Stricter options for an assertion that something was written: without them what it does not name is not looked at.
fn recommended(assertion: &Assertion) -> Option<&'static str> {
    const ONLY: &str = "`only: true` would also fail records that say more than the assertion names; see `ignore`";
    const NEGATION: &str =
        "`negation: reject` would also fail a required phrase that is negated, as in \"do not call\"";
    match assertion {
        Assertion::FhirResourceState(check) => {
            let is_absence = check.count.is_some_and(|count| count.max == Some(0));
            (!check.only && !is_absence).then_some(ONLY)
        }
        Assertion::MessageTranscript(check) => {
            (!check.contains.is_empty() && check.negation == Negation::Ignore).then_some(NEGATION)
        }
        _ => None,
    }
}

/// What is wrong, each with the member that it is about, from its dot on.
type Faults = Vec<(String, String)>;

/// A check whose simulator the environment does not have finds nothing, whatever the agent does.
fn unreachable(folder: &Folder, assertion: &Assertion) -> Faults {
    let has = |kind| folder.benchmark.environment.simulators.iter().any(|simulator| simulator.r#type == kind);
    let missing = simulator_of(assertion).filter(|kind| !has(*kind));
    missing
        .map(|kind| (String::new(), format!("the environment has no {} simulator", kind.name())))
        .into_iter()
        .collect()
}

fn simulator_of(assertion: &Assertion) -> Option<SimulatorType> {
    match assertion {
        Assertion::FhirResourceState(_) | Assertion::NoDisclosure(_) => Some(SimulatorType::Fhir),
        Assertion::Hl7Structural(_) => Some(SimulatorType::Hl7),
        Assertion::PortalStateMatch(_) => Some(SimulatorType::Payer),
        Assertion::SftpFilePresent(_) => Some(SimulatorType::Files),
        Assertion::VoiceTranscript(_) => Some(SimulatorType::Voice),
        Assertion::X12Response(_) => Some(SimulatorType::Clearinghouse),
        Assertion::FaxDocument(_) => Some(SimulatorType::Fax),
        Assertion::MessageTranscript(_) => Some(SimulatorType::Message),
        Assertion::CdsResponse(_) => Some(SimulatorType::CdsHooks),
        Assertion::NoSideEffects(_) | Assertion::InteractionBudget(_) => None,
    }
}

/// A search that is not understood fails the check, whatever the agent does.
fn searches(check: &FhirResourceState, bindings: &Bindings<'_>) -> Faults {
    let Some(resource_type) = searched(check, bindings) else { return Faults::new() };
    let mut faults = Faults::new();
    for (name, values) in &check.search {
        // What cannot be filled in is told with the other templates.
        let filled =
            values.0.iter().filter_map(|value| bindings.fill(value, |_, text| fhir::search::escape(text)).ok());
        let refused = filled.filter_map(|value| understood(resource_type, name, value).err());
        faults.extend(refused.map(|fault| (format!(".search.{name}"), fault)));
    }
    faults
}

fn searched(check: &FhirResourceState, bindings: &Bindings<'_>) -> Option<ResourceType> {
    match &check.resource_type {
        Authored::Ready(resource_type) => Some(*resource_type),
        Authored::Template(text) => ResourceType::named(&bindings.text(text).ok()?),
    }
}

fn understood(resource_type: ResourceType, name: &str, value: String) -> Result<(), String> {
    let query = fhir::search::parse(resource_type, "", &[(name.to_owned(), value)]).map_err(|fault| fault.reason)?;
    let Some((_, reason)) = query.ignored.into_iter().next() else { return Ok(()) };
    let code = name.split([':', '.']).next().unwrap_or(name);
    let names = SearchParameter::of(resource_type).map(SearchParameter::code);
    match nearest(code, names).filter(|meant| *meant != code) {
        Some(meant) => Err(format!("{reason}: did you mean `{meant}`?")),
        None => Err(reason),
    }
}

/// A misspelt type allows nothing, and what is required of it never happens.
fn globs(check: &NoSideEffects) -> Faults {
    let mut faults = Faults::new();
    for (member, globs) in [("allow", &check.allow), ("require", &check.require)] {
        for (index, glob) in globs.iter().enumerate() {
            if let Authored::Ready(glob) = glob {
                faults.extend(unknown_type(glob).map(|fault| (format!(".{member}.{index}"), fault)));
            }
        }
    }
    for text in check.at_most.keys() {
        let fault = EffectPattern::read(text).ok().and_then(|glob| unknown_type(&glob));
        faults.extend(fault.map(|fault| (format!(".at_most.{text}"), fault)));
    }
    faults
}

fn unknown_type(glob: &EffectPattern) -> Option<String> {
    let Some(Segment::Name(tokens)) = glob.glob.segments.first().filter(|_| glob.channel == "fhir") else {
        return None;
    };
    let names: Vec<&str> = match tokens.as_slice() {
        [Token::Alternatives(alternatives)] => alternatives.iter().filter_map(|one| whole_text(one)).collect(),
        tokens => whole_text(tokens).into_iter().collect(),
    };
    let unknown = names.into_iter().find_map(|name| name.parse::<ResourceType>().err());
    unknown.map(|unknown| unknown.to_string())
}

/// The text, if no part of it is a pattern.
fn whole_text(tokens: &[Token]) -> Option<&str> {
    match tokens {
        [Token::Text(text)] => Some(text),
        _ => None,
    }
}
