//! The implementation guides (TR3) of 005010 as tables: which segment begins which loop, and which others it has.
//!
//! The tables say where a segment belongs. They do not say what is required or how often.

mod authorization;
mod claim;
mod claim_status;
mod eligibility;
mod response;

use crate::Transaction;

#[derive(Debug, PartialEq, Eq)]
pub struct Guide {
    /// ST01.
    pub set: &'static str,
    /// How ST03 and GS08 begin; the addenda follow.
    pub version: &'static str,
    pub title: &'static str,
    root: Node,
}

/// A loop: begun by its trigger, with the segments of its own and the loops below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// Empty for what is in no loop.
    pub(crate) name: &'static str,
    trigger: &'static str,
    /// Where the trigger has several meanings: the number of the element that tells, and its codes.
    when: Option<(usize, &'static str)>,
    /// Besides the trigger, with spaces between.
    own: &'static str,
    pub(crate) loops: &'static [Node],
}

/// All that are known. A 278 is told by BHT02 whether it asks or answers.
static GUIDES: [&Guide; 11] = [
    &eligibility::REQUEST,
    &eligibility::RESPONSE,
    &claim_status::REQUEST,
    &claim_status::RESPONSE,
    &claim_status::CLAIM_ACKNOWLEDGMENT,
    &authorization::REQUEST,
    &authorization::RESPONSE,
    &claim::PROFESSIONAL,
    &claim::INSTITUTIONAL,
    &response::PAYMENT,
    &response::IMPLEMENTATION_ACKNOWLEDGMENT,
];

impl Guide {
    pub fn all() -> impl Iterator<Item = &'static Self> {
        GUIDES.into_iter()
    }

    /// None for sets and versions that have no table here.
    pub fn of(transaction: &Transaction<'_, '_>) -> Option<&'static Self> {
        let (set, version) = (transaction.set(), transaction.version());
        let is_answer = transaction.segments().get(1).is_some_and(|second| second.text_at(2) == "11");
        let found = GUIDES.into_iter().find(|guide| guide.set == set && version.starts_with(guide.version))?;
        let answers = set == "278" && is_answer;
        Some(if answers { &authorization::RESPONSE } else { found })
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// Whether the guide has the segment anywhere.
    pub fn knows(&self, segment: &str) -> bool {
        self.root.knows(segment)
    }

    /// The names of its loops, outer before inner.
    pub fn loops(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        self.root.names(&mut names);
        names
    }

    /// The codes of HL03, each with that of the level above it.
    pub(crate) fn levels(&self) -> Vec<(&'static str, Option<&'static str>)> {
        let mut levels = Vec::new();
        self.root.levels(None, &mut levels);
        levels
    }
}

impl Node {
    pub(crate) fn begins_with(&self, segment: &crate::Segment<'_>) -> bool {
        let is_meant = |(element, codes): (usize, &str)| {
            let code = segment.element(element).and_then(|element| element.component(1)).unwrap_or_default();
            codes.split_ascii_whitespace().any(|known| known == code)
        };
        segment.name() == self.trigger && self.when.is_none_or(is_meant)
    }

    pub(crate) fn owns(&self, segment: &str) -> bool {
        self.own.split_ascii_whitespace().any(|own| own == segment)
    }

    fn knows(&self, segment: &str) -> bool {
        self.trigger == segment || self.owns(segment) || self.loops.iter().any(|inner| inner.knows(segment))
    }

    fn names(&self, names: &mut Vec<&'static str>) {
        for inner in self.loops {
            if !names.contains(&inner.name) {
                names.push(inner.name);
            }
            inner.names(names);
        }
    }

    fn levels(&self, above: Option<&'static str>, levels: &mut Vec<(&'static str, Option<&'static str>)>) {
        for inner in self.loops.iter().filter(|inner| inner.trigger == "HL") {
            let code = inner.when.map(|(_, code)| code);
            levels.extend(code.map(|code| (code, above)));
            inner.levels(code, levels);
        }
    }
}

/// What is in no loop.
const fn header(own: &'static str, loops: &'static [Node]) -> Node {
    Node { name: "", trigger: "ST", when: None, own, loops }
}

/// A level of the hierarchy, by HL03.
const fn level(name: &'static str, code: &'static str, own: &'static str, loops: &'static [Node]) -> Node {
    Node { name, trigger: "HL", when: Some((3, code)), own, loops }
}

/// A person or organization, by the entity codes of NM101.
const fn entity(name: &'static str, codes: &'static str, own: &'static str) -> Node {
    Node { name, trigger: "NM1", when: Some((1, codes)), own, loops: &[] }
}

/// An entity with loops below it.
const fn entity_with(name: &'static str, codes: &'static str, own: &'static str, loops: &'static [Node]) -> Node {
    Node { name, trigger: "NM1", when: Some((1, codes)), own, loops }
}

/// A loop whose first segment has one meaning there.
const fn part(name: &'static str, trigger: &'static str, own: &'static str, loops: &'static [Node]) -> Node {
    Node { name, trigger, when: None, own, loops }
}

/// A loop by the first element of its trigger.
const fn part_when(name: &'static str, trigger: &'static str, codes: &'static str, own: &'static str) -> Node {
    Node { name, trigger, when: Some((1, codes)), own, loops: &[] }
}
