//! Assigns the segments of a transaction to loops, by the table of its implementation guide.

use std::collections::HashMap;

use crate::Segment;
use crate::guide::{Guide, Node};

/// The loops that occur in a transaction, as a tree, and the loop of every segment.
#[derive(Clone, Debug)]
pub struct Loops<'s, 'a> {
    segments: &'s [Segment<'a>],
    /// The first is the root, which holds the segments outside of all loops.
    occurrences: Vec<Occurrence<'static>>,
    /// For each segment, the index of its occurrence; None if the guide does not allow the segment there.
    loop_of_segment: Vec<Option<usize>>,
}

#[derive(Clone, Debug)]
struct Occurrence<'g> {
    node: &'g Node,
    parent: Option<usize>,
    children: Vec<usize>,
    /// Segment indices.
    segments: Vec<usize>,
}

/// One occurrence of a loop.
#[derive(Clone, Copy, Debug)]
pub struct Loop<'l, 's, 'a> {
    loops: &'l Loops<'s, 'a>,
    at: usize,
}

impl<'s, 'a> Loops<'s, 'a> {
    /// Assigns the segments, of which the first is the ST.
    pub fn read(guide: &'static Guide, segments: &'s [Segment<'a>]) -> Self {
        let root = Occurrence { node: guide.root(), parent: None, children: Vec::new(), segments: Vec::new() };
        let loop_of_segment = Vec::with_capacity(segments.len());
        let mut loops = Self { segments, occurrences: vec![root], loop_of_segment };
        let mut current = 0;
        let mut levels = HashMap::new();
        for (index, segment) in segments.iter().enumerate() {
            let occurrence = loops.assign(segment, current, &levels);
            if let Some(at) = occurrence {
                current = at;
                loops.occurrences[at].segments.push(index);
                if segment.name() == "HL" {
                    levels.insert(segment.text_at(1), at);
                }
            }
            loops.loop_of_segment.push(occurrence);
        }
        loops
    }

    /// Finds the loop that a segment belongs to or starts. An HL goes below the parent level given by HL02; any other
    /// segment is searched for from the current loop outwards.
    fn assign(&mut self, segment: &Segment<'a>, current: usize, levels: &HashMap<&str, usize>) -> Option<usize> {
        if segment.name() == "ST" {
            return (self.loop_of_segment.is_empty()).then_some(0);
        }
        let parent = levels.get(segment.text_at(2)).copied().filter(|_| segment.name() == "HL");
        if let Some(started) = parent.and_then(|at| self.start_loop(segment, at)) {
            return Some(started);
        }
        let mut next = Some(current);
        while let Some(at) = next {
            if let Some(started) = self.start_loop(segment, at) {
                return Some(started);
            }
            let occurrence = &self.occurrences[at];
            if occurrence.node.owns(segment.name()) {
                return Some(at);
            }
            next = occurrence.parent;
        }
        None
    }

    /// Starts a new loop directly below this one, if the segment is the first segment of such a loop.
    fn start_loop(&mut self, segment: &Segment<'a>, parent: usize) -> Option<usize> {
        let node = self.occurrences[parent].node.loops.iter().find(|inner| inner.begins_with(segment))?;
        let at = self.occurrences.len();
        self.occurrences.push(Occurrence { node, parent: Some(parent), children: Vec::new(), segments: Vec::new() });
        self.occurrences[parent].children.push(at);
        Some(at)
    }

    /// The root: the segments outside of all loops, such as ST and BHT, with all loops below.
    pub fn root(&self) -> Loop<'_, 's, 'a> {
        Loop { loops: self, at: 0 }
    }

    /// The name of the loop that contains the segment at this position; the ST has position 1.
    pub fn within(&self, position: usize) -> Option<&'static str> {
        let at = (*self.loop_of_segment.get(position.checked_sub(1)?)?)?;
        Some(self.occurrences[at].node.name).filter(|name| !name.is_empty())
    }

    /// Positions of the segments that belong to no loop of the guide.
    pub fn unplaced(&self) -> impl Iterator<Item = usize> {
        self.loop_of_segment.iter().zip(1..).filter(|(at, _)| at.is_none()).map(|(_, position)| position)
    }

    /// All loops of this name, in text order.
    pub fn named(&self, name: &str) -> impl Iterator<Item = Loop<'_, 's, 'a>> {
        (0..self.occurrences.len()).map(|at| Loop { loops: self, at }).filter(move |found| found.name() == name)
    }
}

impl<'l, 's, 'a> Loop<'l, 's, 'a> {
    fn occurrence(&self) -> &'l Occurrence<'static> {
        &self.loops.occurrences[self.at]
    }

    /// The loop's name; empty for the root.
    pub fn name(&self) -> &'static str {
        self.occurrence().node.name
    }

    /// Its own segments, without those of inner loops.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'a>> + use<'l, 's, 'a> {
        let segments = self.loops.segments;
        self.occurrence().segments.iter().map(move |index| segments[*index])
    }

    /// Positions of its segments; the ST has position 1.
    pub fn positions(&self) -> impl Iterator<Item = usize> + use<'l, 's, 'a> {
        self.occurrence().segments.iter().map(|index| index + 1)
    }

    /// Its first own segment with this name.
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

    /// The child loops with this name.
    pub fn all(&self, name: &str) -> impl Iterator<Item = Self> {
        self.children().filter(move |child| child.name() == name)
    }

    /// The first child loop with this name.
    pub fn child(&self, name: &str) -> Option<Self> {
        self.children().find(|child| child.name() == name)
    }
}
