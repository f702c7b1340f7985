//! Checks the control segments of an interchange for consistency (X12.5; appendix B and C of the guides). TA1 and 999
//! are built from the resulting [`Report`].

pub(crate) mod header;
mod listing;

use std::collections::HashSet;

use crate::codes::{ElementFault, GroupFault, InterchangeFault, SegmentFault, TransactionFault};
use crate::guide::Guide;
use crate::hierarchy::Hierarchy;
use crate::loops::Loops;
use crate::{Body, Group, Interchange, Segment, Transaction};

/// The check result of one interchange. A simulator adds its own faults, such as an unknown receiver, before it
/// acknowledges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The number of the interchange in the body, from 1.
    pub number: usize,
    /// ISA13, ISA09 and ISA10, copied into the TA1.
    pub control: String,
    pub date: String,
    pub time: String,
    pub faults: Vec<InterchangeFault>,
    pub groups: Vec<GroupReport>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupReport {
    /// GS01, GS06 and GS08, copied into the 999.
    pub function: String,
    pub control: String,
    pub version: String,
    /// GE01 as received, or the actual count if there is no GE.
    pub included: String,
    pub faults: Vec<GroupFault>,
    pub transactions: Vec<TransactionReport>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransactionReport {
    /// ST01, ST02 and ST03, copied into the 999.
    pub set: String,
    pub control: String,
    pub version: String,
    pub faults: Vec<TransactionFault>,
    pub segments: Vec<SegmentReport>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentReport {
    pub name: String,
    /// Position in the transaction; the ST is 1.
    pub position: usize,
    /// The name of the loop in the implementation guide.
    pub within: Option<String>,
    /// None if only elements are wrong.
    pub fault: Option<SegmentFault>,
    pub elements: Vec<ElementReport>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementReport {
    pub element: usize,
    pub component: Option<usize>,
    pub repetition: Option<usize>,
    pub fault: ElementFault,
    /// The wrong value.
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

/// Checks every interchange of a body; returns one report for each.
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

/// The fault for misplaced segments or for an interchange without content.
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
    let headers_are_complete = interchange.groups().all(|group| is_complete(group.header()));
    match misplaced.iter().any(|name| control.contains(name)) {
        true => Some(InterchangeFault::Structure),
        false if is_empty || !misplaced.is_empty() || !headers_are_complete => Some(InterchangeFault::Content),
        false => None,
    }
}

/// Whether a GS has all of its eight elements.
fn is_complete(header: Segment<'_>) -> bool {
    header.elements().count() == 8 && header.elements().all(|element| !element.is_empty())
}

/// Whether a count element equals the actual count; leading zeros are allowed.
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

/// Checks ST01 to ST03 against each other and against the GS.
fn identity_faults(transaction: &Transaction<'_, '_>) -> Vec<TransactionFault> {
    let (header, group) = (transaction.header(), transaction.group().header());
    let [set, control, version] = [1, 2, 3].map(|number| header.text_at(number));
    let mut faults = Vec::new();
    if set.len() != 3 || !set.bytes().all(|byte| byte.is_ascii_digit()) {
        faults.push(TransactionFault::Identifier);
    } else if functional_identifier(set).is_some_and(|function| function != group.text_at(1)) {
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

/// The functional identifier code GS01 of a transaction set (data element 479), for the sets of the health care guides.
pub fn functional_identifier(set: &str) -> Option<&'static str> {
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

/// Reports invalid segment names, segments that belong to no loop of the guide, and hierarchy faults, by position.
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

/// Whether a name is two or three uppercase letters or digits, starting with a letter.
pub(crate) fn is_segment_name(name: &str) -> bool {
    (2..=3).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}
