//! Compares the segments of a message with its structure (HL7 v2.8, chapter 2.13), and finds the fewest errors that
//! explain the difference.
//!
//! The abstract syntax is compiled to an automaton whose states are the segments of the syntax. For each transition the
//! automaton knows which required segments it skips. Each skipped segment costs, and so does each segment of the
//! message that is ignored. The cheapest path is the explanation. Ambiguous structures (is this ORC the next order, or
//! one of the prior results?) need no special handling, because all paths are followed in parallel.

use std::collections::BTreeMap;

/// A deviation of the segments from the structure. `at` is an index into the given segments; a missing segment belongs
/// before the segment at that index, or at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deviation {
    Missing { name: &'static str, at: usize },
    Unexpected { at: usize },
}

impl Deviation {
    pub(crate) fn at(&self) -> usize {
        match self {
            Self::Missing { at, .. } | Self::Unexpected { at } => *at,
        }
    }
}

/// The costs of a missing and of an unexpected segment. Of two explanations with as many errors, a missing segment is
/// more likely.
const MISSING_COST: usize = 2;
const UNEXPECTED_COST: usize = 3;
/// Paths that cost this much more than the best one are dropped.
const MAX_COST_ABOVE_BEST: usize = 12;
/// The comparison stops when the best path costs more than this.
const MAX_COST: usize = 120;

pub(crate) struct Automaton {
    /// The segment name of each state.
    names: Vec<&'static str>,
    /// The states of each segment name.
    states: BTreeMap<&'static str, Vec<usize>>,
    /// The segments that a transition skips, by `from * states + to`; None if there is no transition.
    skipped: Vec<Option<Skipped>>,
    first: Vec<(usize, Skipped)>,
    last: Vec<(usize, Skipped)>,
    /// The required segments of the whole structure.
    required: Skipped,
}

/// The states of required segments that are skipped.
type Skipped = Vec<usize>;

/// The entry and exit states of a syntax expression.
#[derive(Default)]
struct Fragment {
    /// The states it can start with, and the segments skipped before.
    first: Vec<(usize, Skipped)>,
    /// The states it can end with, and the segments skipped after.
    last: Vec<(usize, Skipped)>,
    /// The segments skipped if the whole expression is absent.
    required: Skipped,
}

impl Automaton {
    /// Compiles a syntax, which must be well formed. The tests of the structure table check that.
    pub(crate) fn new(syntax: &str) -> Self {
        let tokens = tokens(syntax);
        let names: Vec<&'static str> = tokens.iter().filter_map(|token| segment_name(token)).collect();
        let mut states: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (state, name) in names.iter().enumerate() {
            states.entry(*name).or_default().push(state);
        }
        let mut builder = Builder { tokens: tokens.into_iter(), next: 0, count: names.len(), skipped: Vec::new() };
        builder.skipped.resize(names.len() * names.len(), None);
        let Fragment { first, last, required } = builder.sequence();
        Self { names, states, skipped: builder.skipped, first, last, required }
    }

    /// The deviations of these segments from the structure, in order. Z segments must be left out.
    pub(crate) fn compare(&self, segments: &[&str]) -> Vec<Deviation> {
        let mut history = History::default();
        let mut paths = Paths::start(self);
        for (at, name) in segments.iter().enumerate() {
            paths = paths.step(self, name, at, &mut history);
            if paths.best_cost() > MAX_COST {
                return history.deviations(paths.best_end());
            }
        }
        let end = paths.finish(self, segments.len(), &mut history);
        history.deviations(end)
    }

    fn names_of(&self, states: &[usize]) -> impl DoubleEndedIterator<Item = &'static str> {
        states.iter().map(|state| self.names[*state])
    }
}

fn tokens(syntax: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = syntax.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphanumeric() { 3.min(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// The static copy of a segment name; None for brackets.
fn segment_name(token: &str) -> Option<&'static str> {
    NAMES.iter().copied().find(|name| *name == token)
}

/// The segments that occur in structures.
const NAMES: &[&str] = &[
    "ACC", "AIG", "AIL", "AIP", "AIS", "AL1", "ARV", "AUT", "BLG", "CDO", "CON", "CTD", "CTI", "DB1", "DEV", "DG1",
    "DRG", "DSC", "ERR", "EVN", "FT1", "GT1", "IN1", "IN2", "IN3", "MRG", "MSA", "MSH", "NK1", "NTE", "OBR", "OBX",
    "ODS", "ODT", "ORC", "ORO", "PD1", "PDA", "PID", "PR1", "PRT", "PV1", "PV2", "RF1", "RGS", "ROL", "RQ1", "RQD",
    "RX1", "RXA", "RXC", "RXE", "RXO", "RXR", "RXV", "SAC", "SCH", "SFT", "SPM", "TCD", "TQ1", "TQ2", "TXA", "UAC",
    "UB1", "UB2",
];

struct Builder<'s> {
    tokens: std::vec::IntoIter<&'s str>,
    next: usize,
    count: usize,
    skipped: Vec<Option<Skipped>>,
}

impl Builder<'_> {
    /// Compiles a sequence and consumes its closing bracket.
    fn sequence(&mut self) -> Fragment {
        let mut sequence = Fragment::default();
        while let Some(token) = self.tokens.next() {
            let part = match token {
                "[" => Fragment { required: Skipped::new(), ..self.sequence() },
                "{" => self.repeating(),
                "<" => self.choice(),
                "]" | "}" | ">" => break,
                _ => self.segment(),
            };
            self.join(&sequence.last, &part.first);
            sequence = sequence.then(part);
        }
        sequence
    }

    fn segment(&mut self) -> Fragment {
        let state = self.next;
        self.next += 1;
        Fragment { first: vec![(state, Skipped::new())], last: vec![(state, Skipped::new())], required: vec![state] }
    }

    fn repeating(&mut self) -> Fragment {
        let repeated = self.sequence();
        self.join(&repeated.last, &repeated.first);
        repeated
    }

    /// Compiles a choice, which only has single segments, such as `<OBR|RXO>`.
    fn choice(&mut self) -> Fragment {
        let mut choice = Fragment::default();
        while let Some(token) = self.tokens.next().filter(|token| *token != ">") {
            if token == "|" {
                continue;
            }
            let part = self.segment();
            choice.first.extend(part.first);
            choice.last.extend(part.last);
            if choice.required.is_empty() {
                choice.required = part.required;
            }
        }
        choice
    }

    /// Adds transitions from each last state to each first state.
    fn join(&mut self, last: &[(usize, Skipped)], first: &[(usize, Skipped)]) {
        for (from, after) in last {
            for (to, before) in first {
                let known = &mut self.skipped[from * self.count + to];
                let cost = after.len() + before.len();
                if known.as_ref().is_none_or(|known| cost < known.len()) {
                    *known = Some([after.as_slice(), before].concat());
                }
            }
        }
    }
}

impl Fragment {
    /// This expression followed by the next.
    fn then(mut self, next: Fragment) -> Fragment {
        let before = |(state, skipped): &(usize, Skipped)| (*state, [self.required.as_slice(), skipped].concat());
        self.first.extend(next.first.iter().map(before).collect::<Vec<_>>());
        for (_, skipped) in &mut self.last {
            skipped.extend(&next.required);
        }
        self.last.extend(next.last);
        self.required.extend(next.required);
        self
    }
}

/// The cheapest path to each state, after some segments.
struct Paths {
    /// The path on which all segments so far are unexpected.
    start: Option<Path>,
    to: Vec<Option<Path>>,
}

#[derive(Clone, Copy)]
struct Path {
    cost: usize,
    /// The last deviation of the path in the history.
    end: Option<usize>,
}

impl Paths {
    fn start(automaton: &Automaton) -> Self {
        Self { start: Some(Path { cost: 0, end: None }), to: vec![None; automaton.names.len()] }
    }

    fn step(&self, automaton: &Automaton, name: &str, at: usize, history: &mut History) -> Self {
        let limit = self.best_cost() + MAX_COST_ABOVE_BEST;
        let mut ignore_segment = |path: &Path| {
            let is_kept = path.cost < limit;
            is_kept.then(|| Path { cost: path.cost + UNEXPECTED_COST, end: history.unexpected(path.end, at) })
        };
        let mut next = Self {
            start: self.start.as_ref().and_then(&mut ignore_segment),
            to: self.to.iter().map(|path| path.as_ref().and_then(&mut ignore_segment)).collect(),
        };
        for state in automaton.states.get(name).into_iter().flatten() {
            let Some((path, skipped)) = self.cheapest_to(automaton, *state) else { continue };
            let cost = path.cost + MISSING_COST * skipped.len();
            if next.to[*state].is_none_or(|known| cost < known.cost) {
                let end = history.missing(path.end, automaton.names_of(skipped), at);
                next.to[*state] = Some(Path { cost, end });
            }
        }
        next
    }

    fn cheapest_to<'a>(&self, automaton: &'a Automaton, state: usize) -> Option<(Path, &'a Skipped)> {
        let count = automaton.names.len();
        let started = self.start.iter().flat_map(|path| {
            let first = automaton.first.iter().filter(|(first, _)| *first == state);
            first.map(|(_, skipped)| (*path, skipped))
        });
        let others = self.to.iter().enumerate().filter_map(|(from, path)| {
            let skipped = automaton.skipped[from * count + state].as_ref()?;
            Some(((*path)?, skipped))
        });
        started.chain(others).min_by_key(|(path, skipped)| path.cost + MISSING_COST * skipped.len())
    }

    fn finish(&self, automaton: &Automaton, at: usize, history: &mut History) -> Option<usize> {
        let started = self.start.iter().map(|path| (*path, &automaton.required));
        let ended = automaton.last.iter().filter_map(|(state, skipped)| Some((self.to[*state]?, skipped)));
        let cost = |(path, skipped): &(Path, &Skipped)| path.cost + MISSING_COST * skipped.len();
        let (path, skipped) = started.chain(ended).min_by_key(cost)?;
        history.missing(path.end, automaton.names_of(skipped), at)
    }

    fn all(&self) -> impl Iterator<Item = &Path> {
        self.start.iter().chain(self.to.iter().flatten())
    }

    fn best_cost(&self) -> usize {
        self.all().map(|path| path.cost).min().unwrap_or(0)
    }

    fn best_end(&self) -> Option<usize> {
        self.all().min_by_key(|path| path.cost).and_then(|path| path.end)
    }
}

/// The deviations of all paths, as linked lists: each entry has the index of the one before it, so that paths share a
/// common beginning.
#[derive(Default)]
struct History {
    entries: Vec<(Option<usize>, Deviation)>,
}

impl History {
    fn unexpected(&mut self, before: Option<usize>, at: usize) -> Option<usize> {
        self.add(before, Deviation::Unexpected { at })
    }

    fn missing(
        &mut self,
        mut end: Option<usize>,
        names: impl Iterator<Item = &'static str>,
        at: usize,
    ) -> Option<usize> {
        for name in names {
            end = self.add(end, Deviation::Missing { name, at });
        }
        end
    }

    fn add(&mut self, before: Option<usize>, deviation: Deviation) -> Option<usize> {
        self.entries.push((before, deviation));
        Some(self.entries.len() - 1)
    }

    /// The deviations of the path that ends with this entry.
    fn deviations(&self, mut end: Option<usize>) -> Vec<Deviation> {
        let mut deviations = Vec::new();
        while let Some((before, deviation)) = end.and_then(|index| self.entries.get(index)) {
            deviations.push(deviation.clone());
            end = *before;
        }
        deviations.reverse();
        deviations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(syntax: &str, segments: &str, expected: &[&str]) {
        let segments: Vec<&str> = segments.split_whitespace().collect();
        let found = Automaton::new(syntax).compare(&segments).into_iter().map(|deviation| match deviation {
            Deviation::Missing { name, at } => format!("{name} missing at {at}"),
            Deviation::Unexpected { at } => format!("{} unexpected at {at}", segments[at]),
        });
        assert_eq!(found.collect::<Vec<_>>(), expected, "{segments:?} as {syntax}");
    }

    #[test]
    fn allowed_segments_have_no_deviations() {
        check("MSH PID [PV1]", "MSH PID", &[]);
        check("MSH PID [PV1]", "MSH PID PV1", &[]);
        check("MSH [{NTE}] {OBR [{OBX}]}", "MSH NTE NTE OBR OBX OBX OBR OBR OBX", &[]);
        check("MSH [<OBR|RXO> [NTE]]", "MSH RXO NTE", &[]);
        check("MSH [{[ORC] [{OBX}]}] FT1", "MSH FT1", &[]);
        check("MSH [{[ORC] [{OBX}]}] FT1", "MSH OBX ORC ORC OBX OBX FT1", &[]);
        // The second ORC starts a new order, although a prior result could start with it.
        let order = "MSH {ORC OBR [{[PID] {[ORC] OBR {OBX}}}] [FT1]}";
        check(order, "MSH ORC OBR ORC OBR", &[]);
        check(order, "MSH ORC OBR PID ORC OBR OBX ORC OBR FT1", &[]);
    }

    #[test]
    fn the_fewest_deviations_are_reported() {
        check("MSH EVN PID PV1", "MSH EVN PV1", &["PID missing at 2"]);
        check("MSH EVN PID PV1", "MSH EVN PID", &["PV1 missing at 3"]);
        check("MSH EVN PID PV1", "MSH", &["EVN missing at 1", "PID missing at 1", "PV1 missing at 1"]);
        check("MSH EVN PID PV1", "MSH EVN PID PID PV1", &["PID unexpected at 3"]);
        check("MSH EVN PID [PV1]", "MSH EVN XXX PID", &["XXX unexpected at 2"]);
        check("MSH {OBR {OBX}}", "MSH OBR OBR OBX", &["OBX missing at 2"]);
        check("MSH [PID PV1] ORC", "MSH PID ORC", &["PV1 missing at 2"]);
        check("MSH <OBR|RXO> NTE", "MSH NTE", &["OBR missing at 1"]);
        check("MSH {RGS}", "MSH", &["RGS missing at 1"]);
    }

    #[test]
    fn the_comparison_stops_at_too_many_deviations() {
        let segments = "MSH ".to_owned() + &"XXX ".repeat(10_000);
        let segments: Vec<&str> = segments.split_whitespace().collect();
        let deviations = Automaton::new("MSH PID").compare(&segments);
        assert_eq!(deviations.len(), MAX_COST / UNEXPECTED_COST + 1);
    }
}
