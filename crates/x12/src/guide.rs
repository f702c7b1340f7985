//! The implementation guides (TR3) of 005010 as tables: which segment starts which loop, and which other segments the
//! loop contains.
//!
//! The tables define where a segment belongs, not what is required or how often it may occur.

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
    /// The prefix of ST03 and GS08, without the addenda.
    pub version: &'static str,
    pub title: &'static str,
    root: Node,
}

/// A loop: the segment that starts it, its other segments and its inner loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// Empty for the root, which holds the segments outside of all loops.
    pub(crate) name: &'static str,
    trigger: &'static str,
    /// If the trigger segment can start different loops: the number of the element that decides, and its codes.
    when: Option<(usize, &'static str)>,
    /// The segments besides the trigger, separated by spaces.
    own: &'static str,
    pub(crate) loops: &'static [Node],
}

/// All supported guides. BHT02 of a 278 tells a request from a response.
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

    /// The guide of a transaction; None for sets and versions without a table here.
    pub fn of(transaction: &Transaction<'_, '_>) -> Option<&'static Self> {
        let (set, version) = (transaction.set(), transaction.version());
        let is_response = transaction.segments().get(1).is_some_and(|second| second.text_at(2) == "11");
        let guide = GUIDES.into_iter().find(|guide| guide.set == set && version.starts_with(guide.version))?;
        let is_review_response = set == "278" && is_response;
        Some(if is_review_response { &authorization::RESPONSE } else { guide })
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// Whether the guide uses the segment anywhere.
    pub fn knows(&self, segment: &str) -> bool {
        self.root.knows(segment)
    }

    /// The names of its loops, outer loops before inner ones.
    pub fn loops(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        self.root.names(&mut names);
        names
    }

    /// The HL03 codes of the hierarchy levels, each with the code of its parent level.
    pub(crate) fn levels(&self) -> Vec<(&'static str, Option<&'static str>)> {
        let mut levels = Vec::new();
        self.root.levels(None, &mut levels);
        levels
    }
}

impl Node {
    pub(crate) fn begins_with(&self, segment: &crate::Segment<'_>) -> bool {
        let has_code = |(element, codes): (usize, &str)| {
            let code = segment.element(element).and_then(|element| element.component(1)).unwrap_or_default();
            codes.split_ascii_whitespace().any(|known| known == code)
        };
        segment.name() == self.trigger && self.when.is_none_or(has_code)
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

/// The root: the segments outside of all loops.
const fn header(own: &'static str, loops: &'static [Node]) -> Node {
    Node { name: "", trigger: "ST", when: None, own, loops }
}

/// A hierarchy level, identified by HL03.
const fn level(name: &'static str, code: &'static str, own: &'static str, loops: &'static [Node]) -> Node {
    Node { name, trigger: "HL", when: Some((3, code)), own, loops }
}

/// A loop for a person or organization, identified by the entity codes of NM101.
const fn entity(name: &'static str, codes: &'static str, own: &'static str) -> Node {
    Node { name, trigger: "NM1", when: Some((1, codes)), own, loops: &[] }
}

/// An entity loop with inner loops.
const fn entity_with(name: &'static str, codes: &'static str, own: &'static str, loops: &'static [Node]) -> Node {
    Node { name, trigger: "NM1", when: Some((1, codes)), own, loops }
}

/// A loop identified by the name of its first segment alone.
const fn part(name: &'static str, trigger: &'static str, own: &'static str, loops: &'static [Node]) -> Node {
    Node { name, trigger, when: None, own, loops }
}

/// A loop identified by the first element of its trigger segment.
const fn part_when(name: &'static str, trigger: &'static str, codes: &'static str, own: &'static str) -> Node {
    Node { name, trigger, when: Some((1, codes)), own, loops: &[] }
}
