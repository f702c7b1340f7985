//! Passes if the agent did only what is allowed.
//!
//! Reads the effects of the agent, which come from the change log and the events. Effects that were undone count too.
//! Patterns are `channel/kind[/key][:verb]`: `fhir/Appointment`, `fhir/Task/t-12:update`, `files/outbox/**`,
//! `hl7/ORM^O01:send`. Without a verb, a pattern covers additions: records created, messages sent, calls placed. `require`
//! lists effects that must have happened, and allows them; with it, an agent that does nothing fails. `at_most` limits the
//! number of effects. The example: [`EXAMPLE`]. Evidence: `unexpected[]`, and with `require` also `missing[]`.

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
use crate::candidates::{self, CountProblem};
use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::evidence::{EvaluationContext, EvaluationResult, Outcome, check_is_local, object};
use crate::glob::{Glob, Segment};
use crate::limits::{LONGEST_LIST, LONGEST_PATH};
use crate::manual::Parameter;
use crate::unmatchable::{self, UnmatchablePart};
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
    /// Allowed effects. If empty, no effect is allowed.
    #[serde(default)]
    pub allow: Vec<Authored<EffectPattern>>,
    /// Effects that must have happened. They are allowed, too.
    #[serde(default)]
    pub require: Vec<Authored<EffectPattern>>,
    /// The maximum number of effects that a pattern may cover.
    #[serde(default)]
    pub at_most: BTreeMap<String, u64>,
    /// Patterns whose first effects must be in this order.
    #[serde(default)]
    pub order: Vec<Authored<EffectPattern>>,
}

/// A pattern for effects, by name and verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectPattern {
    pub channel: &'static str,
    pub glob: Glob,
    pub verbs: Verbs,
}

/// The verbs that a pattern covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verbs {
    /// No verb was given: create, send, place and answer.
    Additions,
    One(Verb),
    /// `*`.
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
            return Err(format!("must name something in `{channel}`: `{channel}/**` covers everything"));
        }
        if resource.starts_with('/') {
            return Err("has an empty segment: put a name or pattern between slashes".to_owned());
        }
        Ok(Self { channel, glob: Glob::read(resource)?, verbs })
    }
}

/// Splits off the verb, which follows the last colon that is not escaped by a backslash.
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
    /// A kind covers everything below it, except in a file tree, where names are paths.
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
        summary: "The agent did only what is allowed.",
        example: EXAMPLE,
        reads: ReadSimulators::All,
        is_limit: true,
        parameters: &[
            Parameter::with_default(
                "allow",
                "[]",
                "patterns of allowed [effects](#effects). Allowing everything is an error",
            )
            .escaped(Escaping::Glob),
            Parameter::with_default(
                "require",
                "[]",
                "patterns of effects that must have happened at least once; they are allowed, too. Without it, an agent that does nothing passes",
            )
            .escaped(Escaping::Glob),
            Parameter::with_default(
                "at_most",
                "{}",
                "from a pattern to the maximum number of effects that it may cover",
            ),
            Parameter::with_default(
                "order",
                "[]",
                "two or more patterns: the first effect of each must not come before the first effects of the patterns before it. For example, `[\"x12/270\", \"files/outbox/**\"]`: first send the inquiry, then file the response. Patterns without effects are skipped",
            )
            .escaped(Escaping::Glob),
        ],
        description: "Without parameters, no effect is allowed. An X12 inquiry or claim that a TA1 or 999 refused is an effect, but `require` and `order` do not count it. Actions of the scenario, and automatic consequences of the agent's actions (a payer's decision, a delivery), are not effects.",
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
        for (pattern, max) in &self.at_most {
            if let Err(error) = EffectPattern::read(pattern) {
                errors.add(format!("at_most.{}", short(pattern)), error);
            } else if *max == 0 {
                errors.add(
                    format!("at_most.{}", short(pattern)),
                    "must be at least 1: leave out the pattern to forbid the effect",
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

    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let world = context.evidence.world;
        if world.sandboxes.is_empty() {
            return Err("the playground has no sandbox".to_owned());
        }
        world.sandboxes.values().try_for_each(check_is_local)?;
        let required = self.require.iter().map(Authored::ready).collect::<Result<Vec<_>, _>>()?;
        let mut allowed = self.allow.iter().map(Authored::ready).collect::<Result<Vec<_>, _>>()?;
        allowed.extend(&required);
        let effects = context.evidence.effects;
        let order = self.order.iter().map(Authored::ready).collect::<Result<Vec<_>, _>>()?;
        let patterns = 1 + allowed.len() + required.len() + self.at_most.len() + order.len();
        context.budget.spend(effects.iter().map(|effect| patterns * (1 + effect.resource.len())).sum())?;
        let refused = x12_refusals::refused_resources(context)?;
        let is_accepted = |effect: &Effect| !(effect.channel == "x12" && is_refused(effect, &refused));
        let accepted: Vec<&Effect> = effects.iter().filter(|effect| is_accepted(effect)).collect();
        let is_missing = |wanted: &&&EffectPattern| !accepted.iter().any(|effect| wanted.covers(effect));
        let missing: Vec<&EffectPattern> = required.iter().filter(is_missing).copied().collect();
        let excess = self.excess_effects(effects)?;
        let is_allowed = |effect: &Effect| allowed.iter().any(|allowed| allowed.covers(effect));
        let is_unexpected = |(index, effect): &(usize, &Effect)| excess.contains(index) || !is_allowed(effect);
        let unexpected: Vec<&Effect> =
            effects.iter().enumerate().filter(is_unexpected).map(|(_, effect)| effect).collect();
        let mut outcome = self.outcome(&unexpected, &missing, &out_of_order(&order, &accepted));
        if !missing.is_empty() {
            let missing = required.iter().copied().enumerate().filter(|(_, wanted)| is_missing(&wanted));
            let nearest = candidates::effects::of(&missing.collect::<Vec<_>>(), context);
            candidates::add_candidates(&mut outcome, nearest, &CountProblem::TooFew);
        }
        Ok(outcome)
    }

    fn unmatchable_parts(&self, _assertion: &Value, _bindings: &Bindings<'_>) -> Vec<UnmatchablePart> {
        unmatchable::effect_types(self)
    }

    /// Warns about a label such as "nothing else was done" on a criterion that also fails if required work is missing.
    fn recommendations(&self, label: &str) -> Vec<&'static str> {
        const NOTHING_ELSE: [&str; 3] = ["nothing else was", "nothing else happened", "no side effects"];
        const LABEL: &str = "the label says that nothing else was done, but the criterion also fails if a required effect is \
                             missing: mention both, as in \"The work was done, and nothing else\"";
        let label = label.to_lowercase();
        let is_misleading = !self.require.is_empty() && NOTHING_ELSE.iter().any(|words| label.starts_with(words));
        if is_misleading { vec![LABEL] } else { Vec::new() }
    }
}

const MOST_UNEXPECTED: usize = 100;
/// Effects that the details name. The evidence has more.
const MOST_NAMED: usize = 3;

/// Whether the receiver refused the transaction, or it is unknown which part of the request was refused.
fn is_refused(effect: &Effect, refused: &BTreeMap<Seq, BTreeSet<String>>) -> bool {
    refused.get(&effect.seq).is_some_and(|resources| resources.contains(&effect.resource))
}

/// The effects that came too early: before the first effect of an earlier pattern.
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

/// The names of the first items.
fn first_names<T: fmt::Display>(all: &[&T]) -> String {
    let named: Vec<String> = all.iter().take(MOST_NAMED).map(|one| short(&one.to_string())).collect();
    if all.len() > MOST_NAMED { format!("{} …", named.join(", ")) } else { named.join(", ") }
}

impl NoSideEffects {
    fn outcome(&self, unexpected: &[&Effect], missing: &[&EffectPattern], early: &[&Effect]) -> Outcome {
        let missing_text = match missing {
            [] => None,
            [one] => Some(format!("a required effect did not happen: {one}")),
            several => Some(format!("{} required effects did not happen: {}", several.len(), first_names(several))),
        };
        let unexpected_text = match unexpected {
            [] => None,
            [one] => Some(format!("1 effect that is not allowed: {}", short(&one.to_string()))),
            several => Some(format!("{} effects that are not allowed: {}", several.len(), first_names(several))),
        };
        let early_text = (!early.is_empty()).then(|| format!("came too early: {}", first_names(early)));
        let problems: Vec<String> = [unexpected_text, missing_text, early_text].into_iter().flatten().collect();
        let details =
            if problems.is_empty() { "only allowed effects happened".to_owned() } else { problems.join("; ") };
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

    /// The indices of the effects that exceed a limit of `at_most`: the last ones that its pattern covers.
    fn excess_effects(&self, effects: &[Effect]) -> Result<HashSet<usize>, String> {
        let mut found = HashSet::new();
        for (pattern, max) in &self.at_most {
            let pattern = EffectPattern::read(pattern)?;
            let covered = effects.iter().enumerate().filter(|(_, effect)| pattern.covers(effect));
            found.extend(covered.map(|(index, _)| index).skip(usize::try_from(*max).unwrap_or(usize::MAX)));
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

/// The effect, with the position of its event in the log.
fn json(effect: &Effect) -> Value {
    let resource = short(&format!("{}/{}", effect.channel, effect.resource));
    object([("resource", resource.into()), ("change", effect.verb.name().into()), ("seq", effect.seq.into())])
}

#[cfg(test)]
mod tests;
