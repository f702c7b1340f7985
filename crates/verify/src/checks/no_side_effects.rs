//! Passes when the agent did nothing but what is allowed.
//!
//! Reads the effects of the agent's work, which come from the change log and the events: what was done and undone counts.
//! Patterns are written `channel/kind[/key][:verb]`: `fhir/Appointment`, `fhir/Task/t-12:update`, `files/outbox/**`,
//! `hl7/ORM^O01:send`. Without a verb a pattern means what was added: records created, messages sent, calls placed.
//! `require` names what must have happened, so that an agent that does nothing does not pass, and allows it. `at_most` says
//! how often. The example: [`EXAMPLE`]. Evidence: `unexpected[]`, and with `require` also `missing[]`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use model::FieldErrors;
use model::score::Score;
use model::template::Bindings;
use serde::Deserialize;
use serde_json::Value;
use world::{Effect, Seq, Verb};

use crate::authored::{Authored, Notation};
use crate::bind::Escaping;
use crate::bounds::short;
use crate::candidates::{self, Shortfall};
use crate::checks::{Check, CheckInfo, Reads};
use crate::evidence::{Case, Evaluated, Outcome, check_here, object};
use crate::glob::{Glob, Segment};
use crate::impossible::{self, Impossible};
use crate::limits::{LONGEST_LIST, LONGEST_PATH};
use crate::manual::Member;
use crate::x12_refusals;

pub const EXAMPLE: &str = r#"{
  "assert": "no-side-effects",
  "allow": ["files/outbox/**", "hl7/ORM^O01"],
  "require": ["fhir/Appointment", "fhir/Slot/{{entity.slot}}:update"],
  "at_most": {"fhir/Appointment": 1}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoSideEffects {
    /// Without any, nothing at all may be done.
    #[serde(default)]
    pub allow: Vec<Authored<EffectPattern>>,
    /// What must have been done; allowed with that.
    #[serde(default)]
    pub require: Vec<Authored<EffectPattern>>,
    /// How many effects a pattern may cover.
    #[serde(default)]
    pub at_most: BTreeMap<String, u64>,
    /// What must have begun in this order.
    #[serde(default)]
    pub order: Vec<Authored<EffectPattern>>,
}

/// Effects by name and verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectPattern {
    pub channel: &'static str,
    pub glob: Glob,
    pub verbs: Verbs,
}

/// Which verbs a pattern covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verbs {
    /// None was written: create, send, place and answer.
    Additions,
    One(Verb),
    /// `*`
    All,
}

impl Verbs {
    fn cover(self, verb: Verb) -> bool {
        match self {
            Verbs::Additions => verb.is_addition(),
            Verbs::One(one) => one.covers(verb),
            Verbs::All => true,
        }
    }
}

impl Notation for EffectPattern {
    const LONGEST: usize = LONGEST_PATH;

    fn read(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once('/').unwrap_or((text, ""));
        let Some(channel) = sims::effects::channels().find(|channel| *channel == name) else {
            let channels: Vec<&str> = sims::effects::channels().collect();
            return Err(format!("must start with one of {}, as in `fhir/Appointment`", channels.join(", ")));
        };
        let (resource, verbs) = split_verb(rest)?;
        if resource.is_empty() {
            return Err(format!("must say what in `{channel}` is meant: `{channel}/**` is everything"));
        }
        if resource.starts_with('/') {
            return Err("has an empty segment: a name or pattern must stand between slashes".to_owned());
        }
        Ok(Self { channel, glob: Glob::read(resource)?, verbs })
    }
}

/// The verb stands after the last colon that no backslash escapes.
fn split_verb(text: &str) -> Result<(&str, Verbs), String> {
    let mut colon = None;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if c == ':' && !is_escaped {
            colon = Some(at);
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    let Some(colon) = colon else { return Ok((text, Verbs::Additions)) };
    let (resource, verb) = (&text[..colon], &text[colon + 1..]);
    let verbs = match verb {
        "*" => Some(Verbs::All),
        verb => verb.parse().ok().map(Verbs::One),
    };
    let names: Vec<&str> = Verb::ALL.iter().map(|verb| verb.name()).collect();
    let unknown = || {
        let verb = short(verb);
        format!(
            "has the unknown verb `{verb}`: expected one of {} or *. A colon in a name is written `\\:`",
            names.join(", ")
        )
    };
    Ok((resource, verbs.ok_or_else(unknown)?))
}

impl fmt::Display for EffectPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.channel, self.glob.to_string().replace(':', "\\:"))?;
        match self.verbs {
            Verbs::Additions => Ok(()),
            Verbs::One(verb) => write!(f, ":{verb}"),
            Verbs::All => f.write_str(":*"),
        }
    }
}

impl EffectPattern {
    /// A kind covers all that is named below it, except in a file tree, where names are paths.
    fn covers(&self, effect: &Effect) -> bool {
        if self.channel != effect.channel || !self.verbs.cover(effect.verb) {
            return false;
        }
        let name = effect.resource.as_str();
        let is_tree = sims::effects::has_paths(effect.channel);
        let parts = name.match_indices('/').map(|(at, _)| &name[..at]).filter(|_| !is_tree);
        parts.chain(std::iter::once(name)).any(|name| self.glob.matches(name))
    }

    fn covers_channel(&self) -> bool {
        self.verbs == Verbs::All && self.glob.segments.iter().all(|segment| *segment == Segment::AnyDepth)
    }
}

impl Check for NoSideEffects {
    const INFO: CheckInfo = CheckInfo {
        name: "no-side-effects",
        summary: "The agent did nothing but what is allowed.",
        example: EXAMPLE,
        reads: Reads::All,
        is_limit: true,
        members: &[
            Member::new(
                "allow",
                "[]",
                "patterns of [effects](#effects): what may be done. Allowing everything is an error",
            )
            .escaped(Escaping::Glob),
            Member::new(
                "require",
                "[]",
                "patterns too: what must have been done at least once, and is allowed with that. Without it an agent that does nothing passes",
            )
            .escaped(Escaping::Glob),
            Member::new(
                "at_most",
                "{}",
                "from a pattern to the number of effects that it may cover. Without it two are as good as one",
            ),
            Member::new(
                "order",
                "[]",
                "two or more patterns: the first effect of each must not come before the first effects of those before it: `[\"x12/270\", \"files/outbox/**\"]`, first ask, then file the answer. What did not happen is left out",
            )
            .escaped(Escaping::Glob),
        ],
        description: "Without any member, nothing at all may be done. An X12 inquiry or claim that a TA1 or 999 refused is an effect, but neither `require` nor `order` counts it. What the scenario did, and what follows by itself from what the agent did (a payer's decision, a delivery), is not an effect.",
        evidence: "`unexpected[{resource,change,seq}]`, with `require` `missing[]` and, if something is missing, [`candidates[]`](#evidence), with `order` `out_of_order[{resource,change,seq}]`",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        errors.size("allow", self.allow.len(), LONGEST_LIST);
        errors.size("require", self.require.len(), LONGEST_LIST);
        errors.size("at_most", self.at_most.len(), LONGEST_LIST);
        errors.size("order", self.order.len(), LONGEST_LIST);
        if self.order.len() == 1 {
            errors.add("order", "can never fail: give at least two patterns");
        }
        for (pattern, most) in &self.at_most {
            if let Err(fault) = EffectPattern::read(pattern) {
                errors.add(format!("at_most.{}", short(pattern)), fault);
            } else if *most == 0 {
                errors.add(
                    format!("at_most.{}", short(pattern)),
                    "must be at least 1: what is not allowed needs no limit",
                );
            }
        }
        if sims::effects::channels().all(|channel| self.allows_all_of(channel)) {
            errors.add("allow", "can never fail: everything is allowed");
        }
    }

    fn is_guard(&self) -> bool {
        self.require.is_empty()
    }

    fn evaluate(&self, case: &Case<'_>) -> Evaluated {
        let world = case.evidence.world;
        if world.sandboxes.is_empty() {
            return Err("the playground has no sandbox".to_owned());
        }
        world.sandboxes.values().try_for_each(check_here)?;
        let required = self.require.iter().map(Authored::ready).collect::<Result<Vec<_>, _>>()?;
        let mut allowed = self.allow.iter().map(Authored::ready).collect::<Result<Vec<_>, _>>()?;
        allowed.extend(&required);
        let effects = case.evidence.effects;
        let order = self.order.iter().map(Authored::ready).collect::<Result<Vec<_>, _>>()?;
        let patterns = 1 + allowed.len() + required.len() + self.at_most.len() + order.len();
        case.budget.spend(effects.iter().map(|effect| patterns * (1 + effect.resource.len())).sum())?;
        let refused = x12_refusals::refused_resources(case)?;
        let is_taken = |effect: &Effect| !(effect.channel == "x12" && is_refused(effect, &refused));
        let taken: Vec<&Effect> = effects.iter().filter(|effect| is_taken(effect)).collect();
        let is_missing = |wanted: &&&EffectPattern| !taken.iter().any(|effect| wanted.covers(effect));
        let missing: Vec<&EffectPattern> = required.iter().filter(is_missing).copied().collect();
        let over = self.too_many(effects)?;
        let is_allowed = |effect: &Effect| allowed.iter().any(|allowed| allowed.covers(effect));
        let is_unexpected = |(index, effect): &(usize, &Effect)| over.contains(index) || !is_allowed(effect);
        let unexpected: Vec<&Effect> =
            effects.iter().enumerate().filter(is_unexpected).map(|(_, effect)| effect).collect();
        let mut outcome = self.outcome(&unexpected, &missing, &out_of_order(&order, &taken));
        if !missing.is_empty() {
            let missing = required.iter().copied().enumerate().filter(|(_, wanted)| is_missing(&wanted));
            let near = candidates::effects::of(&missing.collect::<Vec<_>>(), case);
            candidates::add_candidates(&mut outcome, near, &Shortfall::TooFew);
        }
        Ok(outcome)
    }

    fn impossible(&self, _assertion: &Value, _bindings: &Bindings<'_>) -> Vec<Impossible> {
        impossible::effect_types(self)
    }

    /// A criterion whose label says that nothing else happened must not fail because the work is missing.
    fn recommendations(&self, label: &str) -> Vec<&'static str> {
        const NOTHING_ELSE: [&str; 3] = ["nothing else was", "nothing else happened", "no side effects"];
        const LABEL: &str = "the label says that nothing else was done, but the criterion also fails when a required effect is \
                             missing: say both, as in \"The work was done, and nothing else\"";
        let label = label.to_lowercase();
        let is_misleading = !self.require.is_empty() && NOTHING_ELSE.iter().any(|words| label.starts_with(words));
        if is_misleading { vec![LABEL] } else { Vec::new() }
    }
}

const MOST_UNEXPECTED: usize = 100;
/// How many are named in a sentence; the evidence has more.
const MOST_NAMED: usize = 3;

/// Whether the receiver refused what was sent, or a part of it that cannot be told apart.
fn is_refused(effect: &Effect, refused: &BTreeMap<Seq, BTreeSet<String>>) -> bool {
    refused.get(&effect.seq).is_some_and(|resources| resources.contains(&effect.resource))
}

/// The first effect of each pattern that comes before the first effect of a pattern that should have come earlier.
fn out_of_order<'e>(order: &[&EffectPattern], effects: &[&'e Effect]) -> Vec<&'e Effect> {
    let mut latest = 0;
    let mut early = Vec::new();
    for pattern in order {
        let Some((at, effect)) = effects.iter().enumerate().find(|(_, effect)| pattern.covers(effect)) else {
            continue;
        };
        if at < latest {
            early.push(*effect);
        }
        latest = latest.max(at);
    }
    early
}

/// The first of them by name.
fn first<T: fmt::Display>(all: &[&T]) -> String {
    let named: Vec<String> = all.iter().take(MOST_NAMED).map(|one| short(&one.to_string())).collect();
    if all.len() > MOST_NAMED { format!("{} …", named.join(", ")) } else { named.join(", ") }
}

impl NoSideEffects {
    fn outcome(&self, unexpected: &[&Effect], missing: &[&EffectPattern], early: &[&Effect]) -> Outcome {
        let lacking = match missing {
            [] => None,
            [one] => Some(format!("a required effect did not happen: {one}")),
            several => Some(format!("{} required effects did not happen: {}", several.len(), first(several))),
        };
        let beside = match unexpected {
            [] => None,
            [one] => Some(format!("1 effect that is not allowed: {}", short(&one.to_string()))),
            several => Some(format!("{} effects that are not allowed: {}", several.len(), first(several))),
        };
        let early_words = (!early.is_empty()).then(|| format!("came too early: {}", first(early)));
        let faults: Vec<String> = [beside, lacking, early_words].into_iter().flatten().collect();
        let details =
            if faults.is_empty() { "nothing happened but what is allowed".to_owned() } else { faults.join("; ") };
        let listed = unexpected.iter().take(MOST_UNEXPECTED).map(|effect| json(effect)).collect();
        let mut evidence = object([("unexpected", Value::Array(listed))]);
        if !self.require.is_empty() {
            let missing = missing.iter().map(|missing| short(&missing.to_string()));
            evidence["missing"] = missing.collect::<Vec<String>>().into();
        }
        if !self.order.is_empty() {
            evidence["out_of_order"] = early.iter().map(|effect| json(effect)).collect();
        }
        let passed = unexpected.is_empty() && missing.is_empty() && early.is_empty();
        let score = if passed { Score::one() } else { Score::zero() };
        Outcome { score, passed, details, evidence }
    }

    /// Indices of the effects beyond a limit: the last ones that it covers.
    fn too_many(&self, effects: &[Effect]) -> Result<HashSet<usize>, String> {
        let mut found = HashSet::new();
        for (pattern, most) in &self.at_most {
            let pattern = EffectPattern::read(pattern)?;
            let covered = effects.iter().enumerate().filter(|(_, effect)| pattern.covers(effect));
            found.extend(covered.map(|(index, _)| index).skip(usize::try_from(*most).unwrap_or(usize::MAX)));
        }
        Ok(found)
    }

    fn allows_all_of(&self, channel: &str) -> bool {
        self.allow.iter().any(|allowed| match allowed {
            Authored::Ready(allowed) => allowed.channel == channel && allowed.covers_channel(),
            Authored::Template(_) => false,
        })
    }
}

/// The effect, with the place in the log of the event that tells of it.
fn json(effect: &Effect) -> Value {
    let resource = short(&format!("{}/{}", effect.channel, effect.resource));
    object([("resource", resource.into()), ("change", effect.verb.name().into()), ("seq", effect.seq.into())])
}

#[cfg(test)]
mod tests;
