//! Builds acknowledgements from a check report: TA1 (X12.56) for the interchange, and the implementation acknowledgment
//! 999 (TR3 005010X231A1) for each group.

use std::fmt;

use crate::check::{ElementReport, GroupReport, Report, SegmentReport, TransactionReport};
use crate::codes::{InterchangeFault, SegmentFault, TransactionFault};
use crate::draft::{ElementDraft, InterchangeDraft, SegmentDraft, TransactionDraft, composite};
use crate::envelope::Envelope;

/// GS08 and ST03 of a 999.
pub const VERSION: &str = "005010X231A1";

/// Whether a transaction, a group or an interchange is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    /// Groups only: some of the transactions are accepted.
    PartiallyAccepted,
    Rejected,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accepted => "A",
            Self::PartiallyAccepted => "P",
            Self::Rejected => "R",
        })
    }
}

impl Report {
    /// The verdict on the interchange itself. Each group has its own verdict in its 999.
    pub fn verdict(&self) -> Verdict {
        if self.faults.is_empty() { Verdict::Accepted } else { Verdict::Rejected }
    }

    /// The TA1 segment with the first fault; a TA1 holds only one.
    pub fn ta1(&self) -> SegmentDraft {
        let code = self.faults.first().map_or("000", |fault: &InterchangeFault| fault.code());
        let control = if is_digits(&self.control, 9) { self.control.as_str() } else { "000000000" };
        let verdict = self.verdict().to_string();
        SegmentDraft::of("TA1", [control, &writable(&self.date), &writable(&self.time), &verdict, code])
    }

    /// Builds one interchange with the TA1 and a 999 for each group.
    pub fn acknowledgment_interchange(&self, envelope: &Envelope, control: u32) -> InterchangeDraft {
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
        segments.push(SegmentDraft::of("IK5", std::iter::once(verdict.as_str()).chain(codes.take(MAX_CODES))));
    }
}

/// IK5 and AK9 hold at most five error codes.
const MAX_CODES: usize = 5;

impl SegmentReport {
    fn acknowledge(&self, segments: &mut Vec<SegmentDraft>) {
        let fault = self.fault.unwrap_or(SegmentFault::Elements);
        let position = self.position.to_string();
        let name = writable(&self.name);
        let name = if name.is_empty() { "ZZZ" } else { &name };
        // IK303 holds four characters: `2010AA` becomes `2010`.
        let within: String = self.within.iter().flat_map(|within| within.chars()).take(4).collect();
        segments.push(SegmentDraft::of("IK3", [name, &position, &within, fault.code()]));
        segments.extend(self.elements.iter().map(ElementReport::acknowledge));
    }
}

impl ElementReport {
    fn acknowledge(&self) -> SegmentDraft {
        let text = |number: Option<usize>| number.map_or_else(String::new, |number| number.to_string());
        let position = [self.element.to_string(), text(self.component), text(self.repetition)];
        let position: ElementDraft = composite(position.iter().map(String::as_str));
        SegmentDraft::new("IK4").with(position).with("").with(self.fault.code()).with(writable(&self.value))
    }
}

impl GroupReport {
    /// The number of accepted transactions; 0 if the group itself has faults.
    pub fn accepted(&self) -> usize {
        let is_accepted = |transaction: &&TransactionReport| transaction.verdict() != Verdict::Rejected;
        if self.faults.is_empty() { self.transactions.iter().filter(is_accepted).count() } else { 0 }
    }

    pub fn verdict(&self) -> Verdict {
        match self.accepted() {
            0 if self.faults.is_empty() && self.transactions.is_empty() => Verdict::Accepted,
            0 => Verdict::Rejected,
            all if all == self.transactions.len() => Verdict::Accepted,
            _ => Verdict::PartiallyAccepted,
        }
    }

    /// The 999 for this group, with the caller's control number. It belongs in an `FA` group with [`VERSION`]. None for
    /// a group of acknowledgments, which are never acknowledged.
    pub fn acknowledge(&self, control: &str) -> Option<TransactionDraft> {
        (self.function != "FA").then(|| self.build_999(control))
    }

    fn build_999(&self, control: &str) -> TransactionDraft {
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
        segments.push(SegmentDraft::of("AK9", counts.into_iter().chain(codes.take(MAX_CODES))));
        TransactionDraft {
            set: "999".to_owned(),
            control: control.to_owned(),
            version: Some(VERSION.to_owned()),
            segments,
        }
    }
}

fn is_digits(text: &str, max_len: usize) -> bool {
    (1..=max_len).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Sanitizes a value of the received interchange, which may use other delimiters: keeps only characters that cannot be
/// delimiters, and at most the 99 that fit into IK404.
fn writable(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric() || *c == ' ').take(99).collect()
}
