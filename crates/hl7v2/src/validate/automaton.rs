//! Compares the segments of a message with its structure (HL7 v2.8, chapter 2.13), and finds the fewest faults that
//! explain the difference.
//!
//! The abstract syntax becomes an automaton whose states are the places of its segments. From each place to each other
//! it is known which required segments lie between: passing over them costs one fault each, and so does a segment
//! that is left out of account. The cheapest way through is the explanation. Ambiguous structures (is this ORC the
//! next order, or one of the prior results?) need no special care, because all ways are followed at once.

use std::collections::BTreeMap;

/// What is wrong with the order of segments. `at` is an index into the segments given; a missing segment should have
/// stood before the one at that index, or at the end.
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

/// Ways that have this many faults more than the best are not followed.
const MOST_BEHIND: usize = 4;
/// With so many faults, what follows is not worth knowing.
const MOST_FAULTS: usize = 40;

pub(crate) struct Automaton {
    /// The name of each place's segment.
    names: Vec<&'static str>,
    /// The places of a segment.
    places: BTreeMap<&'static str, Vec<usize>>,
    /// What is missing between two places, by `from * places + to`; None if the second cannot follow the first.
    between: Vec<Option<Missing>>,
    first: Vec<(usize, Missing)>,
    last: Vec<(usize, Missing)>,
    whole: Missing,
}

/// Places of required segments that were passed over.
type Missing = Vec<usize>;

/// What an expression of the syntax looks like from outside.
#[derive(Default)]
struct Shape {
    /// Where it can start, and what is missing before.
    first: Vec<(usize, Missing)>,
    /// Where it can end, and what is missing after.
    last: Vec<(usize, Missing)>,
    /// What is missing if nothing of it is there.
    none: Missing,
}

impl Automaton {
    /// The syntax is one of ours and well formed: the tests of the table see to that.
    pub(crate) fn new(syntax: &str) -> Self {
        let words = words(syntax);
        let names: Vec<&'static str> = words.iter().filter_map(|word| segment_name(word)).collect();
        let mut places: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (place, name) in names.iter().enumerate() {
            places.entry(*name).or_default().push(place);
        }
        let mut builder = Builder { words: words.into_iter(), next: 0, count: names.len(), between: Vec::new() };
        builder.between.resize(names.len() * names.len(), None);
        let shape = builder.sequence();
        Self { names, places, between: builder.between, first: shape.first, last: shape.last, whole: shape.none }
    }

    /// The deviations of these segments, in their order. Those of the local segments are not for this.
    pub(crate) fn compare(&self, segments: &[&str]) -> Vec<Deviation> {
        let mut trails = Trails::default();
        let mut ways = Ways::start(self);
        for (at, name) in segments.iter().enumerate() {
            ways = ways.step(self, name, at, &mut trails);
            if ways.best() > MOST_FAULTS {
                return trails.read(ways.best_trail());
            }
        }
        let trail = ways.finish(self, segments.len(), &mut trails);
        trails.read(trail)
    }

    fn names_of(&self, missing: &[usize]) -> impl DoubleEndedIterator<Item = &'static str> {
        missing.iter().map(|place| self.names[*place])
    }
}

fn words(syntax: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = syntax.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphanumeric() { 3.min(rest.len()) } else { first.len_utf8() };
        let (word, after) = rest.split_at(length);
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// Names live as long as the program, as the table that they come from.
fn segment_name(word: &str) -> Option<&'static str> {
    NAMES.iter().copied().find(|name| *name == word)
}

/// All segments that a structure has.
const NAMES: &[&str] = &[
    "ACC", "AIG", "AIL", "AIP", "AIS", "AL1", "ARV", "AUT", "BLG", "CDO", "CON", "CTD", "CTI", "DB1", "DEV", "DG1",
    "DRG", "DSC", "ERR", "EVN", "FT1", "GT1", "IN1", "IN2", "IN3", "MRG", "MSA", "MSH", "NK1", "NTE", "OBR", "OBX",
    "ODS", "ODT", "ORC", "PD1", "PDA", "PID", "PR1", "PRT", "PV1", "PV2", "RF1", "RGS", "ROL", "RQ1", "RQD", "RXA",
    "RXC", "RXE", "RXO", "RXR", "SAC", "SCH", "SFT", "SPM", "TCD", "TQ1", "TQ2", "TXA", "UAC", "UB1", "UB2",
];

struct Builder<'s> {
    words: std::vec::IntoIter<&'s str>,
    next: usize,
    count: usize,
    between: Vec<Option<Missing>>,
}

impl Builder<'_> {
    /// Up to the bracket that closes it, which is taken too.
    fn sequence(&mut self) -> Shape {
        let mut whole = Shape::default();
        while let Some(word) = self.words.next() {
            let part = match word {
                "[" => Shape { none: Missing::new(), ..self.sequence() },
                "{" => self.repeating(),
                "<" => self.choice(),
                "]" | "}" | ">" => break,
                _ => self.segment(),
            };
            self.join(&whole.last, &part.first);
            whole = whole.then(part);
        }
        whole
    }

    fn segment(&mut self) -> Shape {
        let place = self.next;
        self.next += 1;
        Shape { first: vec![(place, Missing::new())], last: vec![(place, Missing::new())], none: vec![place] }
    }

    fn repeating(&mut self) -> Shape {
        let shape = self.sequence();
        self.join(&shape.last, &shape.first);
        shape
    }

    /// Of segments only, as in `<OBR|RXO>`.
    fn choice(&mut self) -> Shape {
        let mut whole = Shape::default();
        while let Some(word) = self.words.next().filter(|word| *word != ">") {
            if word == "|" {
                continue;
            }
            let part = self.segment();
            whole.first.extend(part.first);
            whole.last.extend(part.last);
            if whole.none.is_empty() {
                whole.none = part.none;
            }
        }
        whole
    }

    fn join(&mut self, last: &[(usize, Missing)], first: &[(usize, Missing)]) {
        for (from, after) in last {
            for (to, before) in first {
                let known = &mut self.between[from * self.count + to];
                let cost = after.len() + before.len();
                if known.as_ref().is_none_or(|known| cost < known.len()) {
                    *known = Some([after.as_slice(), before].concat());
                }
            }
        }
    }
}

impl Shape {
    fn then(mut self, next: Shape) -> Shape {
        let before = |(place, missing): &(usize, Missing)| (*place, [self.none.as_slice(), missing].concat());
        self.first.extend(next.first.iter().map(before).collect::<Vec<_>>());
        for (_, missing) in &mut self.last {
            missing.extend(&next.none);
        }
        self.last.extend(next.last);
        self.none.extend(next.none);
        self
    }
}

/// The cheapest way to each place, after some segments.
struct Ways {
    /// None until the first segment is in place.
    start: Option<Way>,
    to: Vec<Option<Way>>,
}

#[derive(Clone, Copy)]
struct Way {
    faults: usize,
    trail: Option<usize>,
}

impl Ways {
    fn start(automaton: &Automaton) -> Self {
        Self { start: Some(Way { faults: 0, trail: None }), to: vec![None; automaton.names.len()] }
    }

    fn step(&self, automaton: &Automaton, name: &str, at: usize, trails: &mut Trails) -> Self {
        let worth = self.best() + MOST_BEHIND;
        let mut leave_out = |way: &Way| {
            let is_worth = way.faults < worth;
            is_worth.then(|| Way { faults: way.faults + 1, trail: trails.unexpected(way.trail, at) })
        };
        let mut next = Self {
            start: self.start.as_ref().and_then(&mut leave_out),
            to: self.to.iter().map(|way| way.as_ref().and_then(&mut leave_out)).collect(),
        };
        for place in automaton.places.get(name).into_iter().flatten() {
            let Some((way, missing)) = self.cheapest_to(automaton, *place) else { continue };
            let faults = way.faults + missing.len();
            if next.to[*place].is_none_or(|known| faults <= known.faults) {
                let trail = trails.missing(way.trail, automaton.names_of(missing), at);
                next.to[*place] = Some(Way { faults, trail });
            }
        }
        next
    }

    fn cheapest_to<'a>(&self, automaton: &'a Automaton, place: usize) -> Option<(Way, &'a Missing)> {
        let count = automaton.names.len();
        let started = self.start.iter().flat_map(|way| {
            let first = automaton.first.iter().filter(|(first, _)| *first == place);
            first.map(|(_, missing)| (*way, missing))
        });
        let others = self.to.iter().enumerate().filter_map(|(from, way)| {
            let missing = automaton.between[from * count + place].as_ref()?;
            Some(((*way)?, missing))
        });
        started.chain(others).min_by_key(|(way, missing)| way.faults + missing.len())
    }

    fn finish(&self, automaton: &Automaton, at: usize, trails: &mut Trails) -> Option<usize> {
        let started = self.start.iter().map(|way| (*way, &automaton.whole));
        let ended = automaton.last.iter().filter_map(|(place, missing)| Some((self.to[*place]?, missing)));
        let (way, missing) = started.chain(ended).min_by_key(|(way, missing)| way.faults + missing.len())?;
        trails.missing(way.trail, automaton.names_of(missing), at)
    }

    fn all(&self) -> impl Iterator<Item = &Way> {
        self.start.iter().chain(self.to.iter().flatten())
    }

    fn best(&self) -> usize {
        self.all().map(|way| way.faults).min().unwrap_or(0)
    }

    fn best_trail(&self) -> Option<usize> {
        self.all().min_by_key(|way| way.faults).and_then(|way| way.trail)
    }
}

/// The faults of all ways; those that share a beginning share its faults.
#[derive(Default)]
struct Trails {
    steps: Vec<(Option<usize>, Deviation)>,
}

impl Trails {
    fn unexpected(&mut self, before: Option<usize>, at: usize) -> Option<usize> {
        self.add(before, Deviation::Unexpected { at })
    }

    fn missing(
        &mut self,
        mut trail: Option<usize>,
        names: impl Iterator<Item = &'static str>,
        at: usize,
    ) -> Option<usize> {
        for name in names {
            trail = self.add(trail, Deviation::Missing { name, at });
        }
        trail
    }

    fn add(&mut self, before: Option<usize>, deviation: Deviation) -> Option<usize> {
        self.steps.push((before, deviation));
        Some(self.steps.len() - 1)
    }

    fn read(&self, mut trail: Option<usize>) -> Vec<Deviation> {
        let mut deviations = Vec::new();
        while let Some((before, deviation)) = trail.and_then(|index| self.steps.get(index)) {
            deviations.push(deviation.clone());
            trail = *before;
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
        let said = Automaton::new(syntax).compare(&segments).into_iter().map(|deviation| match deviation {
            Deviation::Missing { name, at } => format!("{name} missing at {at}"),
            Deviation::Unexpected { at } => format!("{} unexpected at {at}", segments[at]),
        });
        assert_eq!(said.collect::<Vec<_>>(), expected, "{segments:?} as {syntax}");
    }

    #[test]
    fn what_the_syntax_allows_has_no_deviation() {
        check("MSH PID [PV1]", "MSH PID", &[]);
        check("MSH PID [PV1]", "MSH PID PV1", &[]);
        check("MSH [{NTE}] {OBR [{OBX}]}", "MSH NTE NTE OBR OBX OBX OBR OBR OBX", &[]);
        check("MSH [<OBR|RXO> [NTE]]", "MSH RXO NTE", &[]);
        check("MSH [{[ORC] [{OBX}]}] FT1", "MSH FT1", &[]);
        check("MSH [{[ORC] [{OBX}]}] FT1", "MSH OBX ORC ORC OBX OBX FT1", &[]);
        // The second ORC is a new order although a prior result could start with it.
        let order = "MSH {ORC OBR [{[PID] {[ORC] OBR {OBX}}}] [FT1]}";
        check(order, "MSH ORC OBR ORC OBR", &[]);
        check(order, "MSH ORC OBR PID ORC OBR OBX ORC OBR FT1", &[]);
    }

    #[test]
    fn the_fewest_faults_are_told() {
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
    fn a_message_that_is_all_wrong_is_given_up() {
        let segments = "MSH ".to_owned() + &"XXX ".repeat(10_000);
        let segments: Vec<&str> = segments.split_whitespace().collect();
        let deviations = Automaton::new("MSH PID").compare(&segments);
        assert_eq!(deviations.len(), MOST_FAULTS + 1);
    }
}
