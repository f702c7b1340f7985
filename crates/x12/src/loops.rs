//! The loops of a transaction: which segment is in which, by the table of its implementation guide.

use std::collections::HashMap;

use crate::Segment;
use crate::guide::{Guide, Node};

/// Every loop that occurs, as a tree, and the loop of every segment.
#[derive(Clone, Debug)]
pub struct Loops<'s, 'a> {
    segments: &'s [Segment<'a>],
    /// The first is what is in no loop.
    occurrences: Vec<Occurrence<'static>>,
    /// By segment, the index of its occurrence.
    places: Vec<Option<usize>>,
}

#[derive(Clone, Debug)]
struct Occurrence<'g> {
    node: &'g Node,
    parent: Option<usize>,
    children: Vec<usize>,
    /// Indices.
    segments: Vec<usize>,
}

/// One occurrence of a loop.
#[derive(Clone, Copy, Debug)]
pub struct Loop<'l, 's, 'a> {
    loops: &'l Loops<'s, 'a>,
    at: usize,
}

impl<'s, 'a> Loops<'s, 'a> {
    /// From the ST on.
    pub fn read(guide: &'static Guide, segments: &'s [Segment<'a>]) -> Self {
        let root = Occurrence { node: guide.root(), parent: None, children: Vec::new(), segments: Vec::new() };
        let places = Vec::with_capacity(segments.len());
        let mut loops = Self { segments, occurrences: vec![root], places };
        let mut current = 0;
        let mut levels = HashMap::new();
        for (index, segment) in segments.iter().enumerate() {
            let place = loops.place(segment, current, &levels);
            if let Some(at) = place {
                current = at;
                loops.occurrences[at].segments.push(index);
                if segment.name() == "HL" {
                    levels.insert(segment.text_at(1), at);
                }
            }
            loops.places.push(place);
        }
        loops
    }

    /// The loop in which a segment is or which it begins. A level of the hierarchy is below the level that it names;
    /// all else is looked for from the current loop outwards.
    fn place(&mut self, segment: &Segment<'a>, current: usize, levels: &HashMap<&str, usize>) -> Option<usize> {
        if segment.name() == "ST" {
            return (self.places.is_empty()).then_some(0);
        }
        let named = levels.get(segment.text_at(2)).copied().filter(|_| segment.name() == "HL");
        if let Some(begun) = named.and_then(|at| self.begin(segment, at)) {
            return Some(begun);
        }
        let mut next = Some(current);
        while let Some(at) = next {
            if let Some(begun) = self.begin(segment, at) {
                return Some(begun);
            }
            let occurrence = &self.occurrences[at];
            if occurrence.node.owns(segment.name()) {
                return Some(at);
            }
            next = occurrence.parent;
        }
        None
    }

    /// A new loop directly below this one, if the segment is the first of such a loop.
    fn begin(&mut self, segment: &Segment<'a>, parent: usize) -> Option<usize> {
        let node = self.occurrences[parent].node.loops.iter().find(|inner| inner.begins_with(segment))?;
        let at = self.occurrences.len();
        self.occurrences.push(Occurrence { node, parent: Some(parent), children: Vec::new(), segments: Vec::new() });
        self.occurrences[parent].children.push(at);
        Some(at)
    }

    /// What is in no loop, such as ST and BHT, and all loops below.
    pub fn root(&self) -> Loop<'_, 's, 'a> {
        Loop { loops: self, at: 0 }
    }

    /// The name of the loop of the segment at this position, which is 1 for the ST.
    pub fn within(&self, position: usize) -> Option<&'static str> {
        let at = (*self.places.get(position.checked_sub(1)?)?)?;
        Some(self.occurrences[at].node.name).filter(|name| !name.is_empty())
    }

    /// Positions of segments for which the guide has no place.
    pub fn unplaced(&self) -> impl Iterator<Item = usize> {
        self.places.iter().zip(1..).filter(|(place, _)| place.is_none()).map(|(_, position)| position)
    }

    /// All loops of this name, in the order of the text.
    pub fn named(&self, name: &str) -> impl Iterator<Item = Loop<'_, 's, 'a>> {
        (0..self.occurrences.len()).map(|at| Loop { loops: self, at }).filter(move |found| found.name() == name)
    }
}

impl<'l, 's, 'a> Loop<'l, 's, 'a> {
    fn occurrence(&self) -> &'l Occurrence<'static> {
        &self.loops.occurrences[self.at]
    }

    /// Empty for what is in no loop.
    pub fn name(&self) -> &'static str {
        self.occurrence().node.name
    }

    /// Those of its own, not of the loops below it.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'a>> + use<'l, 's, 'a> {
        let segments = self.loops.segments;
        self.occurrence().segments.iter().map(move |index| segments[*index])
    }

    /// Positions of its segments; the ST has position 1.
    pub fn positions(&self) -> impl Iterator<Item = usize> + use<'l, 's, 'a> {
        self.occurrence().segments.iter().map(|index| index + 1)
    }

    /// The first of its own with this name.
    pub fn segment(&self, name: &str) -> Option<Segment<'a>> {
        self.segments().find(|segment| segment.name() == name)
    }

    pub fn parent(&self) -> Option<Self> {
        self.occurrence().parent.map(|at| Self { at, ..*self })
    }

    pub fn children(&self) -> impl Iterator<Item = Self> + use<'l, 's, 'a> {
        let loops = self.loops;
        self.occurrence().children.iter().map(move |at| Loop { loops, at: *at })
    }

    /// The loops of this name directly below it.
    pub fn all(&self, name: &str) -> impl Iterator<Item = Self> {
        self.children().filter(move |child| child.name() == name)
    }

    /// The first loop of this name directly below it.
    pub fn child(&self, name: &str) -> Option<Self> {
        self.children().find(|child| child.name() == name)
    }
}
