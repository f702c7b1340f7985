//! The tree of HL segments in a transaction (X12.22 segment HL: HL01 id, HL02 parent, HL03 level, HL04 child
//! code), with the checks that the guides require.

use std::collections::{BTreeMap, HashMap};

use crate::Segment;
use crate::check::{ElementReport, SegmentReport};
use crate::codes::{ElementFault, SegmentFault};
use crate::guide::Guide;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchy<'a> {
    levels: Vec<Level<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level<'a> {
    /// HL01.
    pub id: &'a str,
    /// HL03, such as `20` for an information source.
    pub code: &'a str,
    /// Index of the parent level, given by HL02.
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    /// Positions of the HL and of the last segment before the next HL; the ST has position 1.
    pub first: usize,
    pub last: usize,
}

impl<'a> Hierarchy<'a> {
    /// Builds the hierarchy and reports its faults. The guide defines which level may be the parent of which.
    pub fn read(segments: &[Segment<'a>], guide: Option<&Guide>) -> (Self, Vec<SegmentReport>) {
        let mut levels: Vec<Level<'a>> = Vec::new();
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        let mut faults = BTreeMap::new();
        let known = guide.map(Guide::levels);
        for (segment, position) in segments.iter().zip(1..) {
            let is_level = segment.name() == "HL";
            if !is_level {
                let is_inside = segment.name() != "SE";
                if let Some(level) = levels.last_mut().filter(|_| is_inside) {
                    level.last = position;
                }
                continue;
            }
            let [id, parent_id, code] = [1, 2, 3].map(|number| segment.text_at(number));
            let parent = by_id.get(parent_id).copied();
            let mut elements = Vec::new();
            if id != (levels.len() + 1).to_string() {
                let fault = if id.is_empty() { ElementFault::Missing } else { ElementFault::Code };
                elements.push(ElementReport::new(1, fault, id));
            }
            if parent.is_none() && !parent_id.is_empty() {
                elements.push(ElementReport::new(2, ElementFault::Code, parent_id));
            }
            let parent_code = parent.and_then(|parent| levels.get(parent)).map(|level| level.code);
            elements.extend(known.as_ref().and_then(|known| level_fault(known, code, parent_code, parent_id)));
            add_faults(&mut faults, position, elements);
            let at = levels.len();
            if let Some(level) = parent.and_then(|parent| levels.get_mut(parent)) {
                level.children.push(at);
            }
            by_id.insert(id, at);
            levels.push(Level { id, code, parent, children: Vec::new(), first: position, last: position });
        }
        for level in &levels {
            add_faults(&mut faults, level.first, child_code_fault(level, segments).into_iter().collect());
        }
        (Self { levels }, faults.into_values().collect())
    }

    /// The levels in text order.
    pub fn levels(&self) -> &[Level<'a>] {
        &self.levels
    }

    pub fn roots(&self) -> impl Iterator<Item = &Level<'a>> {
        self.levels.iter().filter(|level| level.parent.is_none())
    }

    pub fn children(&self, level: &Level<'a>) -> impl Iterator<Item = &Level<'a>> {
        level.children.iter().filter_map(|at| self.levels.get(*at))
    }
}

/// Adds element faults to the one report of their segment.
fn add_faults(faults: &mut BTreeMap<usize, SegmentReport>, position: usize, elements: Vec<ElementReport>) {
    if let Some(reported) = faults.get_mut(&position) {
        reported.elements.extend(elements);
    } else if !elements.is_empty() {
        let (name, fault) = ("HL".to_owned(), Some(SegmentFault::Elements));
        faults.insert(position, SegmentReport { name, position, fault, elements, within: None });
    }
}

/// The fault of a level that the guide does not have or does not allow below this parent.
fn level_fault(
    levels: &[(&str, Option<&str>)],
    code: &str,
    parent_code: Option<&str>,
    parent_id: &str,
) -> Option<ElementReport> {
    let mut allowed = levels.iter().filter(|(level, _)| *level == code).peekable();
    if allowed.peek().is_none() {
        let fault = if code.is_empty() { ElementFault::Missing } else { ElementFault::Code };
        return Some(ElementReport::new(3, fault, code));
    }
    let is_dangling = parent_code.is_none() && !parent_id.is_empty();
    if is_dangling || allowed.any(|(_, parent)| *parent == parent_code) {
        return None;
    }
    let fault = if parent_id.is_empty() { ElementFault::Missing } else { ElementFault::Code };
    Some(ElementReport::new(2, fault, parent_id))
}

/// The fault of an HL04 that is invalid or denies existing children. A code that announces children without any
/// following is accepted: an example in the guide of the 271 announces a subscriber and ends with a rejection.
fn child_code_fault(level: &Level<'_>, segments: &[Segment<'_>]) -> Option<ElementReport> {
    let code = segments.get(level.first - 1)?.text_at(4);
    let is_valid = match code {
        "" | "1" => true,
        "0" => level.children.is_empty(),
        _ => false,
    };
    (!is_valid).then(|| ElementReport::new(4, ElementFault::Code, code))
}
