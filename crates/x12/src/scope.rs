//! Splits a transaction into the parts that are about one subject each: the HL loop of a subscriber or a dependent, one
//! claim in it, or one claim of a remittance.
//!
//! Values in one part belong together. A path over the whole transaction could combine the member of one loop with the
//! claim of another.

use std::ops::Range;

use crate::Segment;
use crate::hierarchy::{Hierarchy, Level};

/// The segments of one part of a transaction, as ranges of indices in text order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    ranges: Vec<Range<usize>>,
}

impl Scope {
    /// Sorts the ranges and drops empty ones.
    fn new(mut ranges: Vec<Range<usize>>) -> Self {
        ranges.retain(|range| !range.is_empty());
        ranges.sort_by_key(|range| range.start);
        Self { ranges }
    }

    pub(crate) fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    pub(crate) fn len(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }
}

/// HL03 codes of levels that describe a person: subscriber, dependent, and the patient of a claim acknowledgment.
const SUBJECT_LEVELS: [&str; 3] = ["22", "23", "PT"];
/// HL03 code of a patient event in a services review (278), the event to be reviewed.
const EVENT_LEVEL: &str = "EV";
/// Segments that request or report something about a subject. A subscriber level without one only identifies the
/// subscriber of the dependents below it.
const BUSINESS_SEGMENTS: [&str; 8] = ["EQ", "EB", "AAA", "CLM", "STC", "TRN", "UM", "HCR"];

/// The parts that are about one subject each, in text order; empty if the transaction has no such parts.
pub(crate) fn read(set: &str, segments: &[Segment<'_>]) -> Vec<Scope> {
    if set == "835" {
        return claims(segments, 0..segments.len(), "CLP", &["LX", "PLB", "SE"]);
    }
    let (hierarchy, _) = Hierarchy::read(segments, None);
    let levels = hierarchy.levels();
    let header = 0..levels.first().map_or(0, |level| level.first - 1);
    let mut scopes = Vec::new();
    for level in levels.iter().filter(|level| is_subject(level)) {
        if has_child_subjects(&hierarchy, level) && !has_business_segment(segments, level) {
            continue;
        }
        let mut context = vec![header.clone()];
        context.extend(ancestors(levels, level).map(|ancestor| identifying_range(segments, ancestor)));
        scopes.extend(
            parts(set, segments, &hierarchy, level)
                .into_iter()
                .map(|part| Scope::new(context.iter().cloned().chain(part).collect())),
        );
    }
    scopes
}

/// The claims or patient events of a subject, each with the subject's own segments. Without any, the subject is one
/// part.
fn parts(set: &str, segments: &[Segment<'_>], hierarchy: &Hierarchy<'_>, level: &Level<'_>) -> Vec<Vec<Range<usize>>> {
    let own = own_range(level);
    let first_of_claim = match set {
        "837" => Some("CLM"),
        "276" | "277" => Some("TRN"),
        _ => None,
    };
    if let Some(first) = first_of_claim {
        let claims = claims(segments, own.clone(), first, &[]);
        if !claims.is_empty() {
            return claims.into_iter().map(|claim| claim.ranges).collect();
        }
    }
    let events: Vec<&Level<'_>> = hierarchy.children(level).filter(|child| child.code == EVENT_LEVEL).collect();
    let subtree = |level: &Level<'_>| {
        let mut ranges = Vec::new();
        add_subtree(hierarchy, level, &mut ranges, 0);
        ranges
    };
    if events.is_empty() {
        return vec![subtree(level)];
    }
    let event_part = |event: &Level<'_>| std::iter::once(own.clone()).chain(subtree(event)).collect();
    events.into_iter().map(event_part).collect()
}

/// The claims within a range, each together with the segments before the first claim. A claim starts with the segment
/// `first` and ends before the next claim or before a segment of `ends`.
fn claims(segments: &[Segment<'_>], range: Range<usize>, first: &str, ends: &[&str]) -> Vec<Scope> {
    let name_at = |at: &usize| segments.get(*at).map_or("", |segment| segment.name());
    let starts: Vec<usize> = range.clone().filter(|at| name_at(at) == first).collect();
    let Some(before) = starts.first().map(|at| range.start..*at) else { return Vec::new() };
    let claim = |(number, start): (usize, &usize)| {
        let next = starts.get(number + 1).copied().unwrap_or(range.end);
        let end = (start + 1..next).find(|at| ends.contains(&name_at(at))).unwrap_or(next);
        Scope::new(vec![before.clone(), *start..end])
    };
    starts.iter().enumerate().map(claim).collect()
}

fn is_subject(level: &Level<'_>) -> bool {
    SUBJECT_LEVELS.contains(&level.code)
}

fn has_child_subjects(hierarchy: &Hierarchy<'_>, level: &Level<'_>) -> bool {
    hierarchy.children(level).any(is_subject)
}

fn has_business_segment(segments: &[Segment<'_>], level: &Level<'_>) -> bool {
    own_range(level).any(|at| segments.get(at).is_some_and(|segment| BUSINESS_SEGMENTS.contains(&segment.name())))
}

/// The index range of the level's own segments.
fn own_range(level: &Level<'_>) -> Range<usize> {
    level.first - 1..level.last
}

/// The segments that identify a subject, without those that request or report something about it. For other levels, all
/// segments.
fn identifying_range(segments: &[Segment<'_>], level: &Level<'_>) -> Range<usize> {
    let own = own_range(level);
    let is_business_segment =
        |at: &usize| segments.get(*at).is_some_and(|segment| BUSINESS_SEGMENTS.contains(&segment.name()));
    let end = own.clone().find(is_business_segment).filter(|_| is_subject(level)).unwrap_or(own.end);
    own.start..end
}

/// The ancestors of a level, nearest first. HL02 can only refer to an earlier level, so there is no cycle.
fn ancestors<'l, 'a>(levels: &'l [Level<'a>], level: &'l Level<'a>) -> impl Iterator<Item = &'l Level<'a>> {
    std::iter::successors(level.parent.and_then(|at| levels.get(at)), |ancestor| levels.get(ancestor.parent?))
}

/// Levels below this depth are left out; no guide is this deep.
const MAX_DEPTH: usize = 8;

/// Adds the level and its descendants, except those that are subjects themselves.
fn add_subtree(hierarchy: &Hierarchy<'_>, level: &Level<'_>, ranges: &mut Vec<Range<usize>>, depth: usize) {
    ranges.push(own_range(level));
    if depth < MAX_DEPTH {
        for child in hierarchy.children(level).filter(|child| !is_subject(child)) {
            add_subtree(hierarchy, child, ranges, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::query::{Position, Query, Selector, View};
    use crate::{Limits, parse};

    fn interchange(set: &str, body: &str) -> String {
        format!(
            "ISA*00*          *00*          *ZZ*A              *ZZ*B              *260401*1200*^*00501*000000001*0*P*:~\
             GS*HS*A*B*20260401*1200*1*X*005010~ST*{set}*0001~BHT*0022*13*1*20260401*1200~{body}SE*1*0001~GE*1*1~\
             IEA*1*000000001~"
        )
    }

    /// For each part, the values of an element in the segments whose first element is the qualifier.
    fn values(text: &str, segment: &str, qualifier: Option<&str>, element: usize) -> Vec<Vec<String>> {
        let body = parse(text, &Limits::default()).expect("an interchange");
        let selector = qualifier.map(|value| Selector::Where { position: Position::element(1), value });
        let query = Query { within: None, segment, selector, position: Some(Position::element(element)) };
        let transaction = body.transactions().next().expect("a transaction");
        let views = View::by_subject(&transaction);
        views.iter().map(|view| view.values(&query).into_iter().map(Into::into).collect()).collect()
    }

    const PARENT_LEVELS: &str =
        "HL*1**20*1~NM1*PR*2*PAYER*****PI*1~HL*2*1*21*1~NM1*41*2*CLINIC*****46*1~HL*3*2*19*1~NM1*1P*2*C*****XX*9~";

    #[test]
    fn each_claim_of_a_subscriber_is_its_own_part() {
        let text = interchange(
            "276",
            &format!(
                "{PARENT_LEVELS}HL*4*3*22*0~NM1*IL*1*STONE*ADA****MI*M1~TRN*1*T1~REF*1K*C1~TRN*1*T2~REF*1K*C2~\
                 HL*5*3*22*0~NM1*IL*1*WELLS*BEN****MI*M2~TRN*1*T3~REF*1K*C3~"
            ),
        );
        assert_eq!(values(&text, "NM1", Some("IL"), 9), [["M1"], ["M1"], ["M2"]]);
        assert_eq!(values(&text, "REF", Some("1K"), 2), [["C1"], ["C2"], ["C3"]]);
        assert_eq!(values(&text, "NM1", Some("PR"), 9), [["1"], ["1"], ["1"]]);
        assert_eq!(values(&text, "BHT", None, 3), [["1"], ["1"], ["1"]]);
    }

    #[test]
    fn the_part_of_a_dependent_includes_its_subscriber() {
        let text = interchange(
            "270",
            "HL*1**20*1~NM1*PR*2*PAYER~HL*2*1*21*1~NM1*1P*2*CLINIC~HL*3*2*22*1~NM1*IL*1*STONE*ADA****MI*M1~\
             HL*4*3*23*0~NM1*03*1*STONE*KIM~EQ*30~HL*5*3*23*0~NM1*03*1*STONE*LEE~EQ*98~",
        );
        assert_eq!(values(&text, "NM1", Some("03"), 4), [["KIM"], ["LEE"]]);
        assert_eq!(values(&text, "NM1", Some("IL"), 9), [["M1"], ["M1"]]);
        assert_eq!(values(&text, "EQ", None, 1), [["30"], ["98"]]);
    }

    #[test]
    fn a_subscriber_with_its_own_inquiry_is_a_part_of_its_own() {
        let text = interchange(
            "270",
            "HL*1**20*1~HL*2*1*21*1~HL*3*2*22*1~NM1*IL*1*STONE*ADA****MI*M1~EQ*30~HL*4*3*23*0~NM1*03*1*STONE*KIM~EQ*98~",
        );
        assert_eq!(values(&text, "EQ", None, 1), [["30"], ["98"]]);
    }

    #[test]
    fn each_event_of_a_services_review_is_its_own_part() {
        let text = interchange(
            "278",
            "HL*1**20*1~NM1*X3*2*P~HL*2*1*21*1~NM1*1P*2*C~HL*3*2*22*1~NM1*IL*1*STONE*ADA****MI*M1~\
             HL*4*3*EV*1~UM*HS*I~HL*5*4*SS*0~SV1*HC:72148~HL*6*3*EV*1~UM*AR*I~HL*7*6*SS*0~SV1*HC:70551~",
        );
        assert_eq!(values(&text, "UM", None, 1), [["HS"], ["AR"]]);
        assert_eq!(values(&text, "SV1", None, 1), [["HC:72148"], ["HC:70551"]]);
        assert_eq!(values(&text, "NM1", Some("IL"), 9), [["M1"], ["M1"]]);
    }

    #[test]
    fn each_claim_of_a_remittance_is_its_own_part() {
        let text = interchange("835", "TRN*1*CHECK~LX*1~CLP*C1*1~NM1*QC*1*STONE~LX*2~CLP*C2*4~NM1*QC*1*WELLS~PLB*1*X~");
        assert_eq!(values(&text, "CLP", None, 1), [["C1"], ["C2"]]);
        assert_eq!(values(&text, "NM1", Some("QC"), 3), [["STONE"], ["WELLS"]]);
        assert_eq!(values(&text, "TRN", None, 2), [["CHECK"], ["CHECK"]]);
    }

    #[test]
    fn a_transaction_without_subjects_is_one_part() {
        let text = interchange("999", "AK1*HS*1~AK9*A*1*1*1~");
        assert_eq!(values(&text, "AK9", None, 1), [["A"]]);
    }
}
