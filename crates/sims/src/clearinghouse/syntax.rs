//! What this clearinghouse asks of a transaction before it answers: a set and guide that it takes, the loops and segments
//! without which there is no question, and dates and amounts that are such. Faults go into the report of which the 999 is
//! made.

use x12::check::{ElementReport, GroupReport, Report, SegmentReport, TransactionReport};
use x12::codes::{ElementFault, SegmentFault, TransactionFault};
use x12::guide::Guide;
use x12::loops::{Loop, Loops};
use x12::{Interchange, Segment, Transaction};

use super::money::Cents;
use super::text::is_date;

/// Sets that are answered. Acknowledgements (997, 999) are taken without an answer.
const TAKEN: [&str; 6] = ["270", "276", "278", "837", "999", "997"];

/// By set, what must be there, as the loop above, the loop and its segment: `2000A/2100A/NM1`. Nothing is above a `-`.
const NEEDED: [(&str, &str); 4] = [
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

pub(super) fn judge(interchange: &Interchange<'_>, report: &mut Report) {
    for (group, judged) in interchange.groups().zip(&mut report.groups) {
        for (transaction, judged) in group.transactions().zip(&mut judged.transactions) {
            judge_transaction(&transaction, judged);
        }
        // A group of what nobody takes is one that nobody takes.
        unsupported_group(judged);
    }
}

fn unsupported_group(group: &mut GroupReport) {
    let is_unsupported = |set: &TransactionReport| set.faults.contains(&TransactionFault::NotSupported);
    if group.faults.is_empty() && !group.transactions.is_empty() && group.transactions.iter().all(is_unsupported) {
        group.faults.push(x12::codes::GroupFault::NotSupported);
    }
}

fn judge_transaction(transaction: &Transaction<'_, '_>, report: &mut TransactionReport) {
    let set = transaction.set();
    let is_answer = set == "278" && transaction.segments().get(1).is_some_and(|header| header.text_at(2) == "11");
    if !TAKEN.contains(&set) || is_answer {
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
    let mut found = missing(set, &loops);
    found.extend(transaction.segments().iter().zip(1..).filter_map(|(segment, position)| {
        let elements = element_faults(segment);
        let within = loops.within(position).map(str::to_owned);
        let (name, fault) = (segment.name().to_owned(), Some(SegmentFault::Elements));
        (!elements.is_empty()).then_some(SegmentReport { name, position, within, fault, elements })
    }));
    if !found.is_empty() {
        report.segments.extend(found);
        report.segments.sort_by_key(|segment| segment.position);
        report.segments.truncate(MOST_REPORTED);
        if !report.faults.contains(&TransactionFault::Segments) {
            add(report, TransactionFault::Segments);
        }
    }
}

/// Nobody reads more.
const MOST_REPORTED: usize = 1000;

fn add(report: &mut TransactionReport, fault: TransactionFault) {
    if !report.faults.contains(&fault) {
        report.faults.push(fault);
    }
}

fn missing(set: &str, loops: &Loops<'_, '_>) -> Vec<SegmentReport> {
    let needed = NEEDED.iter().find(|(known, _)| *known == set).map_or("", |(_, needed)| needed);
    let root = loops.root();
    let mut found: Vec<SegmentReport> =
        root.segment("BHT").is_none().then(|| lacking("BHT", &root, None)).into_iter().collect();
    for needed in needed.split_ascii_whitespace() {
        let mut parts = needed.split('/');
        let [above, within, segment] = [(); 3].map(|()| parts.next().unwrap_or_default());
        let parents: Vec<Loop<'_, '_, '_>> = if above == "-" { vec![root] } else { loops.named(above).collect() };
        let has_it = |parent: &Loop<'_, '_, '_>| match above == within {
            true => parent.segment(segment).is_some(),
            false => parent.child(within).is_some(),
        };
        let lacks = parents.iter().filter(|parent| !has_it(parent));
        found.extend(lacks.map(|parent| lacking(segment, parent, Some(within))));
    }
    found
}

fn lacking(name: &str, parent: &Loop<'_, '_, '_>, within: Option<&str>) -> SegmentReport {
    let position = parent.positions().next().unwrap_or(1);
    let fault = Some(SegmentFault::Missing);
    SegmentReport { name: name.to_owned(), position, within: within.map(str::to_owned), fault, elements: Vec::new() }
}

/// Dates that are none, amounts that are none, and what a segment says nothing without.
fn element_faults(segment: &Segment<'_>) -> Vec<ElementReport> {
    let at = |number: usize| segment.text_at(number);
    let date = |format: usize, value: usize| {
        let is_right = match at(format) {
            "D8" => is_date(at(value)),
            "RD8" => {
                at(value).split_once('-').is_some_and(|(first, last)| is_date(first) && is_date(last) && first <= last)
            }
            _ => true,
        };
        (!is_right).then(|| ElementReport::new(value, ElementFault::Date, at(value)))
    };
    let needed = |number: usize| at(number).is_empty().then(|| ElementReport::new(number, ElementFault::Missing, ""));
    let amount = |number: usize| {
        let is_right = Cents::read(at(number)).is_some();
        (!is_right && !at(number).is_empty()).then(|| ElementReport::new(number, ElementFault::Character, at(number)))
    };
    let faults = match segment.name() {
        "BHT" => vec![needed(1), needed(2), needed(3)],
        "NM1" => vec![needed(1), needed(2)],
        "TRN" => vec![needed(1), needed(2)],
        "DMG" => vec![date(1, 2)],
        "DTP" => vec![needed(1), needed(2), needed(3), date(2, 3)],
        "CLM" => vec![needed(1), needed(2), amount(2)],
        "SV1" => vec![needed(1), needed(2), amount(2)],
        "SV2" => vec![amount(3)],
        "AMT" => vec![amount(2)],
        _ => Vec::new(),
    };
    faults.into_iter().flatten().collect()
}
