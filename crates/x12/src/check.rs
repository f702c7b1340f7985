//! What the control segments of an interchange say against each other (X12.5; appendix B and C of the guides), in
//! the form from which TA1 and 999 are made.

pub(crate) mod header;
mod listing;

use std::collections::HashSet;

use crate::codes::{ElementFault, GroupFault, InterchangeFault, SegmentFault, TransactionFault};
use crate::guide::Guide;
use crate::hierarchy::Hierarchy;
use crate::loops::Loops;
use crate::{Body, Group, Interchange, Segment, Transaction};

/// One interchange. A simulator adds what it knows itself, such as an unknown receiver, before it acknowledges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The interchange's place in the body.
    pub number: usize,
    /// ISA13, ISA09 and ISA10, which a TA1 repeats.
    pub control: String,
    pub date: String,
    pub time: String,
    pub faults: Vec<InterchangeFault>,
    pub groups: Vec<GroupReport>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupReport {
    /// GS01, GS06 and GS08, which a 999 repeats.
    pub function: String,
    pub control: String,
    pub version: String,
    /// GE01 as it was written, or the actual count without a GE.
    pub included: String,
    pub faults: Vec<GroupFault>,
    pub transactions: Vec<TransactionReport>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransactionReport {
    /// ST01, ST02 and ST03, which a 999 repeats.
    pub set: String,
    pub control: String,
    pub version: String,
    pub faults: Vec<TransactionFault>,
    pub segments: Vec<SegmentReport>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentReport {
    pub name: String,
    /// From 1, the ST.
    pub position: usize,
    /// The guide's name of the loop.
    pub within: Option<String>,
    /// None means that only the elements are at fault.
    pub fault: Option<SegmentFault>,
    pub elements: Vec<ElementReport>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementReport {
    pub element: usize,
    pub component: Option<usize>,
    pub repetition: Option<usize>,
    pub fault: ElementFault,
    /// A copy of what is wrong.
    pub value: String,
}

impl ElementReport {
    pub fn new(element: usize, fault: ElementFault, value: &str) -> Self {
        Self { element, component: None, repetition: None, fault, value: value.to_owned() }
    }
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.groups.iter().all(GroupReport::is_clean)
    }
}

impl GroupReport {
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.transactions.iter().all(TransactionReport::is_clean)
    }
}

impl TransactionReport {
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.segments.is_empty()
    }
}

/// One report for each interchange.
pub fn check(body: &Body<'_>) -> Vec<Report> {
    let mut controls = HashSet::new();
    let reports = body.interchanges().iter().map(|interchange| {
        let mut report = check_interchange(interchange);
        if !controls.insert(interchange.header().text_at(13)) {
            report.faults.push(InterchangeFault::Duplicate);
        }
        report
    });
    reports.collect()
}

fn check_interchange(interchange: &Interchange<'_>) -> Report {
    let header = interchange.header();
    let [control, date, time] = [13, 9, 10].map(|number| header.text_at(number).to_owned());
    let mut faults = header::faults(interchange);
    faults.extend(trailer_faults(interchange));
    faults.extend(content_fault(interchange));
    let mut controls = HashSet::new();
    let groups = interchange.groups().map(|group| {
        let mut report = check_group(&group);
        if !controls.insert(group.header().text_at(6)) {
            report.faults.push(GroupFault::Duplicate);
        }
        report
    });
    Report { number: interchange.number(), control, date, time, faults, groups: groups.collect() }
}

fn trailer_faults(interchange: &Interchange<'_>) -> Vec<InterchangeFault> {
    let Some(trailer) = interchange.trailer() else {
        let is_followed = interchange.is_followed;
        return vec![if is_followed { InterchangeFault::Structure } else { InterchangeFault::EndOfFile }];
    };
    let mut faults = Vec::new();
    if trailer.elements().count() != 2 {
        faults.push(InterchangeFault::Structure);
    }
    if !is_count(trailer.text_at(1), interchange.groups().count()) {
        faults.push(InterchangeFault::GroupCount);
    }
    if trailer.text_at(2) != interchange.header().text_at(13) {
        faults.push(InterchangeFault::ControlNumbersDiffer);
    }
    faults
}

/// Misplaced segments, or nothing at all.
fn content_fault(interchange: &Interchange<'_>) -> Option<InterchangeFault> {
    let control = ["ST", "SE", "GE", "IEA"];
    let outside: Vec<&str> = interchange.outside_groups().map(|(_, segment)| segment.name()).collect();
    let inside = interchange.groups().flat_map(|group| group.outside_transactions());
    let misplaced: Vec<&str> = outside
        .iter()
        .copied()
        .filter(|name| *name != "TA1")
        .chain(inside.map(|(_, segment)| segment.name()))
        .collect();
    let is_empty = outside.is_empty() && interchange.groups().next().is_none();
    let groups_are_sound = interchange.groups().all(|group| is_sound(group.header()));
    match misplaced.iter().any(|name| control.contains(name)) {
        true => Some(InterchangeFault::Structure),
        false if is_empty || !misplaced.is_empty() || !groups_are_sound => Some(InterchangeFault::Content),
        false => None,
    }
}

/// Whether a GS has its eight elements.
fn is_sound(header: Segment<'_>) -> bool {
    header.elements().count() == 8 && header.elements().all(|element| !element.is_empty())
}

/// Counts have no leading zeros or at least mean the same number.
fn is_count(text: &str, actual: usize) -> bool {
    let is_digits = !text.is_empty() && text.len() <= 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits && text.parse() == Ok(actual)
}

fn check_group(group: &Group<'_, '_>) -> GroupReport {
    let header = group.header();
    let [function, control, version] = [1, 6, 8].map(|number| header.text_at(number).to_owned());
    let count = group.transactions().count();
    let mut faults = Vec::new();
    if !(1..=9).contains(&control.len()) || !control.bytes().all(|byte| byte.is_ascii_digit()) {
        faults.push(GroupFault::ControlNumber);
    }
    match group.trailer() {
        None => faults.push(GroupFault::TrailerMissing),
        Some(trailer) => {
            if trailer.text_at(2) != control {
                faults.push(GroupFault::ControlNumbersDiffer);
            }
            if !is_count(trailer.text_at(1), count) {
                faults.push(GroupFault::Count);
            }
        }
    }
    let included = group.trailer().map_or_else(|| count.to_string(), |trailer| trailer.text_at(1).to_owned());
    let mut controls = HashSet::new();
    let transactions = group.transactions().map(|transaction| {
        let mut report = check_transaction(&transaction);
        if !controls.insert(transaction.header().text_at(2)) {
            report.faults.push(TransactionFault::Duplicate);
        }
        report
    });
    GroupReport { function, control, version, included, faults, transactions: transactions.collect() }
}

fn check_transaction(transaction: &Transaction<'_, '_>) -> TransactionReport {
    let header = transaction.header();
    let [set, control, version] = [1, 2, 3].map(|number| header.text_at(number).to_owned());
    let mut faults = identity_faults(transaction);
    match transaction.trailer() {
        None => faults.push(TransactionFault::TrailerMissing),
        Some(trailer) => {
            if trailer.text_at(2) != control {
                faults.push(TransactionFault::ControlNumbersDiffer);
            }
            if !is_count(trailer.text_at(1), transaction.segments().len()) {
                faults.push(TransactionFault::Count);
            }
        }
    }
    let segments = segment_reports(transaction);
    if !segments.is_empty() {
        faults.push(TransactionFault::Segments);
    }
    TransactionReport { set, control, version, faults, segments }
}

/// What ST and GS say of the kind of transaction.
fn identity_faults(transaction: &Transaction<'_, '_>) -> Vec<TransactionFault> {
    let (header, group) = (transaction.header(), transaction.group().header());
    let [set, control, version] = [1, 2, 3].map(|number| header.text_at(number));
    let mut faults = Vec::new();
    if set.len() != 3 || !set.bytes().all(|byte| byte.is_ascii_digit()) {
        faults.push(TransactionFault::Identifier);
    } else if function_of(set).is_some_and(|function| function != group.text_at(1)) {
        faults.push(TransactionFault::NotInGroup);
    }
    if !(4..=9).contains(&control.len()) || !control.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        faults.push(TransactionFault::ControlNumber);
    }
    // The guide of the 835 does not use ST03; all others require it.
    let may_lack_version = matches!(set, "835" | "997");
    if version != group.text_at(8) && !(version.is_empty() && may_lack_version) {
        faults.push(TransactionFault::Version);
    }
    faults
}

/// GS01 for the sets of the health care guides (data element 479).
pub fn function_of(set: &str) -> Option<&'static str> {
    let functions = [
        ("270", "HS"),
        ("271", "HB"),
        ("276", "HR"),
        ("277", "HN"),
        ("278", "HI"),
        ("820", "RA"),
        ("834", "BE"),
        ("835", "HP"),
        ("837", "HC"),
        ("997", "FA"),
        ("999", "FA"),
    ];
    functions.iter().find(|(known, _)| *known == set).map(|(_, function)| *function)
}

/// Names that cannot be, segments that are in no loop of the guide, and faults of the hierarchy; by position.
fn segment_reports(transaction: &Transaction<'_, '_>) -> Vec<SegmentReport> {
    let segments = transaction.segments();
    let mut reports: Vec<SegmentReport> = segments
        .iter()
        .zip(1..)
        .filter(|(segment, _)| !is_segment_name(segment.name()))
        .map(|(segment, position)| SegmentReport::of(segment, position, SegmentFault::Unrecognized))
        .collect();
    if let Some(guide) = Guide::of(transaction) {
        let loops = Loops::read(guide, segments);
        for position in loops.unplaced().filter(|position| is_segment_name(segments[position - 1].name())) {
            let segment = &segments[position - 1];
            let is_known = guide.knows(segment.name());
            let fault = if is_known { SegmentFault::Unexpected } else { SegmentFault::NotInSet };
            reports.push(SegmentReport::of(segment, position, fault));
        }
        let (_, faults) = Hierarchy::read(segments, Some(guide));
        reports.extend(faults.into_iter().map(|mut fault| {
            fault.within = loops.within(fault.position).map(str::to_owned);
            fault
        }));
    }
    reports.sort_by_key(|report| report.position);
    reports
}

impl SegmentReport {
    pub fn of(segment: &Segment<'_>, position: usize, fault: SegmentFault) -> Self {
        Self { name: segment.name().to_owned(), position, fault: Some(fault), ..Self::default() }
    }
}

/// Two or three capitals or digits, the first a capital.
pub(crate) fn is_segment_name(name: &str) -> bool {
    (2..=3).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}
