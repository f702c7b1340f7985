//! Acknowledgements of what was checked: TA1 (X12.56) for the interchange, and the implementation acknowledgment 999
//! (TR3 005010X231A1) for each group.

use std::fmt;

use crate::check::{ElementReport, GroupReport, Report, SegmentReport, TransactionReport};
use crate::codes::{InterchangeFault, SegmentFault, TransactionFault};
use crate::draft::{ElementDraft, InterchangeDraft, SegmentDraft, TransactionDraft, composite};
use crate::envelope::Envelope;

/// GS08 and ST03 of a 999.
pub const VERSION: &str = "005010X231A1";

/// A transaction, a group or an interchange is taken or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    /// Groups only: some of the transactions are.
    Partially,
    Rejected,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accepted => "A",
            Self::Partially => "P",
            Self::Rejected => "R",
        })
    }
}

impl Report {
    /// Of the interchange itself. Of its groups each 999 speaks.
    pub fn verdict(&self) -> Verdict {
        if self.faults.is_empty() { Verdict::Accepted } else { Verdict::Rejected }
    }

    /// TA1 with the first fault, since it has room for one.
    pub fn ta1(&self) -> SegmentDraft {
        let code = self.faults.first().map_or("000", |fault: &InterchangeFault| fault.code());
        let control = if is_digits(&self.control, 9) { self.control.as_str() } else { "000000000" };
        let verdict = self.verdict().to_string();
        SegmentDraft::of("TA1", [control, &writable(&self.date), &writable(&self.time), &verdict, code])
    }

    /// TA1 and a 999 for each group, in one interchange.
    pub fn answer(&self, envelope: &Envelope, control: u32) -> InterchangeDraft {
        let numbered = self.groups.iter().zip(1..);
        let acknowledged: Vec<TransactionDraft> =
            numbered.filter_map(|(group, number)| group.acknowledge(&format!("{number:04}"))).collect();
        let groups = match acknowledged.is_empty() {
            true => Vec::new(),
            false => vec![envelope.group("FA", VERSION, 1, acknowledged)],
        };
        envelope.interchange(control, vec![self.ta1()], groups)
    }
}

impl TransactionReport {
    pub fn verdict(&self) -> Verdict {
        if self.is_clean() { Verdict::Accepted } else { Verdict::Rejected }
    }

    fn acknowledge(&self, segments: &mut Vec<SegmentDraft>) {
        let version = writable(&self.version);
        segments.push(SegmentDraft::of("AK2", [&*writable(&self.set), &writable(&self.control), &version]));
        for segment in &self.segments {
            segment.acknowledge(segments);
        }
        let mut faults = self.faults.clone();
        let has_segments = |fault: &TransactionFault| {
            matches!(fault, TransactionFault::Segments | TransactionFault::ImplementationSegments)
        };
        if !self.segments.is_empty() && !faults.iter().any(has_segments) {
            faults.push(TransactionFault::Segments);
        }
        let verdict = self.verdict().to_string();
        let codes = faults.iter().map(|fault| fault.code());
        segments.push(SegmentDraft::of("IK5", std::iter::once(verdict.as_str()).chain(codes.take(MOST_CODES))));
    }
}

/// IK5 and AK9 have room for five.
const MOST_CODES: usize = 5;

impl SegmentReport {
    fn acknowledge(&self, segments: &mut Vec<SegmentDraft>) {
        let fault = self.fault.unwrap_or(SegmentFault::Elements);
        let position = self.position.to_string();
        let name = writable(&self.name);
        let name = if name.is_empty() { "ZZZ" } else { &name };
        // IK303 has four places: `2010AA` is `2010`.
        let within: String = self.within.iter().flat_map(|within| within.chars()).take(4).collect();
        segments.push(SegmentDraft::of("IK3", [name, &position, &within, fault.code()]));
        segments.extend(self.elements.iter().map(ElementReport::acknowledge));
    }
}

impl ElementReport {
    fn acknowledge(&self) -> SegmentDraft {
        let text = |number: Option<usize>| number.map_or_else(String::new, |number| number.to_string());
        let place = [self.element.to_string(), text(self.component), text(self.repetition)];
        let place: ElementDraft = composite(place.iter().map(String::as_str));
        SegmentDraft::new("IK4").with(place).with("").with(self.fault.code()).with(writable(&self.value))
    }
}

impl GroupReport {
    pub fn accepted(&self) -> usize {
        let taken = |transaction: &&TransactionReport| transaction.verdict() != Verdict::Rejected;
        if self.faults.is_empty() { self.transactions.iter().filter(taken).count() } else { 0 }
    }

    pub fn verdict(&self) -> Verdict {
        match self.accepted() {
            0 if self.faults.is_empty() && self.transactions.is_empty() => Verdict::Accepted,
            0 => Verdict::Rejected,
            all if all == self.transactions.len() => Verdict::Accepted,
            _ => Verdict::Partially,
        }
    }

    /// The 999 for this group, under the caller's control number. Its group is `FA` with [`VERSION`]. None for a
    /// group of acknowledgements, which nobody acknowledges.
    pub fn acknowledge(&self, control: &str) -> Option<TransactionDraft> {
        (self.function != "FA").then(|| self.acknowledgment(control))
    }

    fn acknowledgment(&self, control: &str) -> TransactionDraft {
        let header = [&*writable(&self.function), &writable(&self.control), &writable(&self.version)];
        let mut segments = vec![SegmentDraft::of("AK1", header)];
        for transaction in &self.transactions {
            transaction.acknowledge(&mut segments);
        }
        let received = self.transactions.len().to_string();
        let included = if is_digits(&self.included, 6) { &self.included } else { &received };
        let (verdict, accepted) = (self.verdict().to_string(), self.accepted().to_string());
        let counts = [verdict.as_str(), included, &received, &accepted];
        let codes = self.faults.iter().map(|fault| fault.code());
        segments.push(SegmentDraft::of("AK9", counts.into_iter().chain(codes.take(MOST_CODES))));
        TransactionDraft {
            set: "999".to_owned(),
            control: control.to_owned(),
            version: Some(VERSION.to_owned()),
            segments,
        }
    }
}

fn is_digits(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A copy of what somebody else wrote, under whatever delimiters: only what no delimiter can be is kept, and no more
/// than IK404 has room for.
fn writable(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric() || *c == ' ').take(99).collect()
}
