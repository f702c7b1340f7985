//! The tree that HL segments make of a transaction (X12.22 segment HL: HL01 id, HL02 parent, HL03 level, HL04 child
//! code), with the checks that the guides ask for.

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
    /// Index of the level that HL02 names.
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    /// Positions of the HL and of the segments up to the next one; the ST has position 1.
    pub first: usize,
    pub last: usize,
}

impl<'a> Hierarchy<'a> {
    /// The levels as far as they go, and what is wrong with them. The guide says which level may stand below which.
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
            let [id, above, code] = [1, 2, 3].map(|number| segment.text_at(number));
            let parent = by_id.get(above).copied();
            let mut elements = Vec::new();
            if id != (levels.len() + 1).to_string() {
                let fault = if id.is_empty() { ElementFault::Missing } else { ElementFault::Code };
                elements.push(ElementReport::new(1, fault, id));
            }
            if parent.is_none() && !above.is_empty() {
                elements.push(ElementReport::new(2, ElementFault::Code, above));
            }
            let above_code = parent.and_then(|parent| levels.get(parent)).map(|level| level.code);
            elements.extend(known.as_ref().and_then(|known| level_fault(known, code, above_code, above)));
            report(&mut faults, position, elements);
            let at = levels.len();
            if let Some(level) = parent.and_then(|parent| levels.get_mut(parent)) {
                level.children.push(at);
            }
            by_id.insert(id, at);
            levels.push(Level { id, code, parent, children: Vec::new(), first: position, last: position });
        }
        for level in &levels {
            report(&mut faults, level.first, child_code_fault(level, segments).into_iter().collect());
        }
        (Self { levels }, faults.into_values().collect())
    }

    /// In the order of the text.
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

/// One report for each segment, however many of its elements are wrong.
fn report(faults: &mut BTreeMap<usize, SegmentReport>, position: usize, elements: Vec<ElementReport>) {
    if let Some(reported) = faults.get_mut(&position) {
        reported.elements.extend(elements);
    } else if !elements.is_empty() {
        let (name, fault) = ("HL".to_owned(), Some(SegmentFault::Elements));
        faults.insert(position, SegmentReport { name, position, fault, elements, within: None });
    }
}

/// A level that the guide does not have, or that may not stand below this parent.
fn level_fault(
    levels: &[(&str, Option<&str>)],
    code: &str,
    above: Option<&str>,
    parent_id: &str,
) -> Option<ElementReport> {
    let mut allowed = levels.iter().filter(|(level, _)| *level == code).peekable();
    if allowed.peek().is_none() {
        let fault = if code.is_empty() { ElementFault::Missing } else { ElementFault::Code };
        return Some(ElementReport::new(3, fault, code));
    }
    let is_dangling = above.is_none() && !parent_id.is_empty();
    if is_dangling || allowed.any(|(_, parent)| *parent == above) {
        return None;
    }
    let fault = if parent_id.is_empty() { ElementFault::Missing } else { ElementFault::Code };
    Some(ElementReport::new(2, fault, parent_id))
}

/// HL04 is 1 exactly where there are children; the guides that do not use it leave it out.
fn child_code_fault(level: &Level<'_>, segments: &[Segment<'_>]) -> Option<ElementReport> {
    let code = segments.get(level.first - 1)?.text_at(4);
    let is_right = match code {
        "" => true,
        "0" => level.children.is_empty(),
        // A subscriber may announce a dependent and be the patient too, but someone must follow.
        "1" => !level.children.is_empty(),
        _ => false,
    };
    (!is_right).then(|| ElementReport::new(4, ElementFault::Code, code))
}
