//! The hierarchy of an answer while it is written: HL segments number themselves.

use x12::draft::SegmentDraft;
use x12::loops::Loop;

use super::text::segment;

#[derive(Debug, Default)]
pub(super) struct Levels {
    pub(super) segments: Vec<SegmentDraft>,
    count: usize,
}

/// HL01 of a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct LevelId(usize);

impl Levels {
    /// Begins a level, by HL03.
    pub(super) fn begin(&mut self, above: Option<LevelId>, code: &str, has_children: bool) -> LevelId {
        self.write(above, code, if has_children { "1" } else { "0" })
    }

    /// Begins a level of which the guide says itself that nothing is below it: HL04 is not used.
    pub(super) fn begin_last(&mut self, above: LevelId, code: &str) {
        self.write(Some(above), code, "");
    }

    fn write(&mut self, above: Option<LevelId>, code: &str, children: &str) -> LevelId {
        self.count += 1;
        let parent = above.map_or_else(String::new, |LevelId(id)| id.to_string());
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

/// TRN as it came, now as a reference.
pub(super) fn traces_back(asked: &Loop<'_, '_, '_>) -> Vec<SegmentDraft> {
    let traces = asked.segments().filter(|segment| segment.name() == "TRN").take(2);
    let back = traces.map(|trace| {
        let [reference, company, more] = [2, 3, 4].map(|number| trace.text_at(number));
        segment("TRN", ["2", reference, company, more])
    });
    back.collect()
}
