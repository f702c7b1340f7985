//! Checks transactions before they are processed: supported transaction set and guide, required loops and segments, valid
//! dates and amounts. Errors are added to the report from which the 999 is built.

use clinical::PartialDateTime;
use x12::check::{ElementReport, GroupReport, Report, SegmentReport, TransactionReport};
use x12::codes::{ElementFault, SegmentFault, TransactionFault};
use x12::guide::Guide;
use x12::loops::{Loop, Loops};
use x12::{Interchange, Segment, Transaction};

use super::money::Cents;

/// Supported transaction sets. Acknowledgments (997, 999) are accepted without a response.
const SUPPORTED: [&str; 6] = ["270", "276", "278", "837", "999", "997"];

/// Required segments by transaction set, as parent loop, loop and segment: `2000A/2100A/NM1`. `-` is the top level.
const REQUIRED: [(&str, &str); 4] = [
    ("270", "-/2000A/HL 2000A/2100A/NM1 2000A/2000B/HL 2000B/2100B/NM1 2000B/2000C/HL 2000C/2100C/NM1 2000D/2100D/NM1"),
    (
        "276",
        "-/2000A/HL 2000A/2100A/NM1 2000A/2000B/HL 2000B/2100B/NM1 2000B/2000C/HL 2000C/2100C/NM1 2000C/2000D/HL \
         2000D/2100D/NM1 2000E/2100E/NM1 2000E/2200E/TRN",
    ),
    (
        "278",
        "-/2000A/HL 2000A/2010A/NM1 2000A/2000B/HL 2000B/2010B/NM1 2000B/2000C/HL 2000C/2010C/NM1 2000D/2010D/NM1 \
         2000E/2000E/UM",
    ),
    (
        "837",
        "-/1000A/NM1 -/1000B/NM1 -/2000A/HL 2000A/2010AA/NM1 2000A/2000B/HL 2000B/2000B/SBR 2000B/2010BA/NM1 \
         2000B/2010BB/NM1 2000C/2010CA/NM1 2300/2400/LX",
    ),
];

pub(super) fn check(interchange: &Interchange<'_>, report: &mut Report) {
    for (group, group_report) in interchange.groups().zip(&mut report.groups) {
        for (transaction, report) in group.transactions().zip(&mut group_report.transactions) {
            check_transaction(&transaction, report);
        }
        reject_unsupported_group(group_report);
    }
}

/// A group in which no transaction is supported is rejected as a whole.
fn reject_unsupported_group(group: &mut GroupReport) {
    let is_unsupported = |set: &TransactionReport| set.faults.contains(&TransactionFault::NotSupported);
    if group.faults.is_empty() && !group.transactions.is_empty() && group.transactions.iter().all(is_unsupported) {
        group.faults.push(x12::codes::GroupFault::NotSupported);
    }
}

fn check_transaction(transaction: &Transaction<'_, '_>, report: &mut TransactionReport) {
    let set = transaction.set();
    let is_response = set == "278" && transaction.segments().get(1).is_some_and(|header| header.text_at(2) == "11");
    if !SUPPORTED.contains(&set) || is_response {
        add(report, TransactionFault::NotSupported);
        return;
    }
    let Some(guide) = Guide::of(transaction) else {
        if set != "997" && set != "999" {
            add(report, TransactionFault::VersionNotSupported);
        }
        return;
    };
    let loops = Loops::read(guide, transaction.segments());
    let mut found = missing_segments(set, &loops);
    found.extend(transaction.segments().iter().zip(1..).filter_map(|(segment, position)| {
        let elements = element_errors(segment);
        let within = loops.within(position).map(str::to_owned);
        let (name, fault) = (segment.name().to_owned(), Some(SegmentFault::Elements));
        (!elements.is_empty()).then_some(SegmentReport { name, position, within, fault, elements })
    }));
    if !found.is_empty() {
        report.segments.extend(found);
        report.segments.sort_by_key(|segment| segment.position);
        report.segments.truncate(MAX_REPORTED);
        if !report.faults.contains(&TransactionFault::Segments) {
            add(report, TransactionFault::Segments);
        }
    }
}

/// More errors do not help the reader.
const MAX_REPORTED: usize = 1000;

fn add(report: &mut TransactionReport, fault: TransactionFault) {
    if !report.faults.contains(&fault) {
        report.faults.push(fault);
    }
}

fn missing_segments(set: &str, loops: &Loops<'_, '_>) -> Vec<SegmentReport> {
    let required = REQUIRED.iter().find(|(known, _)| *known == set).map_or("", |(_, required)| required);
    let root = loops.root();
    let mut found: Vec<SegmentReport> =
        root.segment("BHT").is_none().then(|| missing_segment("BHT", &root, None)).into_iter().collect();
    for path in required.split_ascii_whitespace() {
        let mut parts = path.split('/');
        let [above, within, segment] = [(); 3].map(|()| parts.next().unwrap_or_default());
        let parents: Vec<Loop<'_, '_, '_>> = if above == "-" { vec![root] } else { loops.named(above).collect() };
        let has_segment = |parent: &Loop<'_, '_, '_>| match above == within {
            true => parent.segment(segment).is_some(),
            false => parent.child(within).is_some(),
        };
        let incomplete = parents.iter().filter(|parent| !has_segment(parent));
        found.extend(incomplete.map(|parent| missing_segment(segment, parent, Some(within))));
    }
    found
}

fn missing_segment(name: &str, parent: &Loop<'_, '_, '_>, within: Option<&str>) -> SegmentReport {
    let position = parent.positions().next().unwrap_or(1);
    let fault = Some(SegmentFault::Missing);
    SegmentReport { name: name.to_owned(), position, within: within.map(str::to_owned), fault, elements: Vec::new() }
}

/// Invalid dates, invalid amounts, and missing required elements.
fn element_errors(segment: &Segment<'_>) -> Vec<ElementReport> {
    let at = |number: usize| segment.text_at(number);
    let date = |format: usize, value: usize| {
        let is_valid = match at(format) {
            "D8" => PartialDateTime::parse_x12_date(at(value)).is_some(),
            "RD8" => PartialDateTime::parse_x12_date_range(at(value)).is_some(),
            _ => true,
        };
        (!is_valid).then(|| ElementReport::new(value, ElementFault::Date, at(value)))
    };
    let required = |number: usize| at(number).is_empty().then(|| ElementReport::new(number, ElementFault::Missing, ""));
    let amount = |number: usize| {
        let is_valid = Cents::parse(at(number)).is_some();
        (!is_valid && !at(number).is_empty()).then(|| ElementReport::new(number, ElementFault::Character, at(number)))
    };
    let faults = match segment.name() {
        "BHT" => vec![required(1), required(2), required(3)],
        "NM1" => vec![required(1), required(2)],
        "TRN" => vec![required(1), required(2)],
        "DMG" => vec![date(1, 2)],
        "DTP" => vec![required(1), required(2), required(3), date(2, 3)],
        "CLM" => vec![required(1), required(2), amount(2)],
        "SV1" => vec![required(1), required(2), amount(2)],
        "SV2" => vec![amount(3)],
        "AMT" => vec![amount(2)],
        _ => Vec::new(),
    };
    faults.into_iter().flatten().collect()
}
