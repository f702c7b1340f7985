//! Writes the segments of a response with numbered HL segments.

use x12::draft::SegmentDraft;
use x12::loops::Loop;

use super::text::segment;

#[derive(Debug, Default)]
pub(super) struct HlWriter {
    pub(super) segments: Vec<SegmentDraft>,
    count: usize,
}

/// The number of an HL segment (HL01).
#[derive(Clone, Copy, Debug)]
pub(super) struct LevelId(usize);

impl HlWriter {
    /// Starts a level with the given level code (HL03).
    pub(super) fn begin(&mut self, parent: Option<LevelId>, code: &str, has_children: bool) -> LevelId {
        self.write(parent, code, if has_children { "1" } else { "0" })
    }

    /// Starts a level for which the guide does not use HL04, because it never has children.
    pub(super) fn begin_leaf(&mut self, parent: LevelId, code: &str) {
        self.write(Some(parent), code, "");
    }

    fn write(&mut self, parent: Option<LevelId>, code: &str, children: &str) -> LevelId {
        self.count += 1;
        let parent = parent.map_or_else(String::new, |LevelId(id)| id.to_string());
        self.segments.push(segment("HL", [&self.count.to_string(), &parent, code, children]));
        LevelId(self.count)
    }

    pub(super) fn push(&mut self, segment: SegmentDraft) {
        self.segments.push(segment);
    }

    pub(super) fn extend(&mut self, segments: impl IntoIterator<Item = SegmentDraft>) {
        self.segments.extend(segments);
    }
}

/// The TRN segments of a request, returned as references (TRN01 = 2).
pub(super) fn trace_segments(request: &Loop<'_, '_, '_>) -> Vec<SegmentDraft> {
    let traces = request.segments().filter(|segment| segment.name() == "TRN").take(2);
    let returned = traces.map(|trace| {
        let [reference, company, more] = [2, 3, 4].map(|number| trace.text_at(number));
        segment("TRN", ["2", reference, company, more])
    });
    returned.collect()
}
