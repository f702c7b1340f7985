//! Properties: written interchanges parse back, tampering is detected, and nothing panics.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use verial_x12::check::{Report, functional_identifier};
use verial_x12::draft::{ElementDraft, GroupDraft, InterchangeDraft, Lines, SegmentDraft, TransactionDraft};
use verial_x12::query::{Position, Query, View};
use verial_x12::{Delimiters, Limits, check, parse, parse_bytes};

use crate::samples::{ALL, envelope};
use crate::{read, writing};

proptest! {
    #[test]
    fn written_interchanges_parse_back(interchange in interchange(), delimiters in delimiters(), lines in lines()) {
        let text = interchange.write(delimiters, lines).unwrap();
        let body = read(&text);
        prop_assert_eq!(body.to_string(), text.clone());
        prop_assert_eq!(body.interchanges()[0].delimiters(), delimiters);
        let drafts = interchange.groups.iter().flat_map(|group| &group.transactions);
        prop_assert_eq!(drafts.clone().count(), body.transactions().count());
        for (draft, transaction) in drafts.zip(body.transactions()) {
            prop_assert_eq!(transaction.segments().len(), draft.segments.len() + 2);
            for (written, segment) in draft.segments.iter().zip(&transaction.segments()[1..]) {
                prop_assert_eq!(segment.name(), &written.name);
                for (element, number) in written.elements.iter().zip(1..) {
                    assert_same(element, segment.element(number).as_ref())?;
                }
            }
        }
    }

    #[test]
    fn written_counts_and_control_numbers_are_right(
        interchange in interchange(), delimiters in delimiters(), lines in lines(),
    ) {
        let text = interchange.write(delimiters, lines).unwrap();
        for report in check(&read(&text)) {
            prop_assert_eq!(&report.faults, &[]);
            for group in &report.groups {
                prop_assert_eq!(&group.faults, &[]);
                prop_assert!(group.transactions.iter().all(|set| set.faults.is_empty()), "{:?}", group);
            }
        }
    }

    #[test]
    fn tampered_counts_and_control_numbers_are_found(
        interchange in interchange(), at: Index, first: bool, value in "[0-9]{1,9}",
    ) {
        let text = interchange.write(Delimiters::USUAL, Lines::PerSegment).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let is_trailer = |line: &str| ["SE*", "GE*", "IEA*"].iter().any(|name| line.starts_with(name));
        let trailers: Vec<usize> = (0..lines.len()).filter(|index| is_trailer(lines[*index])).collect();
        let trailer = trailers[at.index(trailers.len())];
        let mut parts: Vec<&str> = lines[trailer].trim_end_matches('~').split('*').collect();
        let tampered = if first { 1 } else { 2 };
        let is_same_number = first && parts[1].parse::<u64>() == value.parse();
        prop_assume!(parts[tampered] != value && !is_same_number);
        parts[tampered] = &value;
        let changed = format!("{}~", parts.join("*"));
        let text: String = lines.iter().enumerate().map(|(index, line)| if index == trailer { &changed } else { *line }).collect();
        prop_assert!(!check(&read(&text))[0].is_clean());
    }

    #[test]
    fn a_lost_segment_is_found(interchange in interchange(), at: Index) {
        let text = interchange.write(Delimiters::USUAL, Lines::PerSegment).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let lost = 1 + at.index(lines.len() - 1);
        let rest: String = lines.iter().enumerate().filter(|(index, _)| *index != lost).map(|(_, line)| *line).collect();
        prop_assert!(!check(&read(&rest))[0].is_clean(), "{}", lines[lost]);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..400)) {
        check_bytes(&bytes)?;
    }

    #[test]
    fn arbitrary_segments_do_not_panic(
        header in select(&[0, 1, 2][..]),
        segments in vec("(ISA|IEA|GS|GE|ST|SE|HL|NM1|EB|TA1|)([*|][0-9A-Z:^ é]{0,4}){0,9}", 0..30),
        end in "[~\n]?",
    ) {
        let headers = ["", "ISA*00*          *00*          *ZZ*A              *ZZ*B              *260115*0930*^*00501*000000001*0*T*:~",
            "ISA|1|||||||||||||||:~"];
        check_bytes(format!("{}{}{end}", headers[header], segments.join("~")).as_bytes())?;
    }

    #[test]
    fn damaged_samples_do_not_panic(which: Index, damage in vec((any::<Index>(), any::<u8>()), 1..6), cut: Index) {
        let mut bytes = which.get(&ALL[..]).text().into_bytes();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check_bytes(&bytes)?;
        let end = cut.index(bytes.len());
        check_bytes(&bytes[..end])?;
    }
}

/// Everything that parses prints back and can be checked, queried and acknowledged.
fn check_bytes(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(body) = parse_bytes(bytes, &Limits::default()) else { return Ok(()) };
    prop_assert_eq!(body.to_string().into_bytes(), bytes.to_vec());
    for report in check(&body) {
        let acknowledgment = report.acknowledgment_interchange(&envelope(), 1);
        let text = acknowledgment.write(Delimiters::USUAL, Lines::One).unwrap();
        let reports = check(&parse(&text, &Limits::default()).unwrap());
        prop_assert!(reports.iter().all(|report| report.faults.is_empty()), "{}", text);
    }
    for transaction in body.transactions() {
        let view = View::of_transaction(&transaction);
        for within in [None, Some("2000A")] {
            for position in [None, Some(Position { element: 1, repetition: Some(1), component: Some(1) })] {
                view.values(&Query { within, segment: "HL", selector: None, position });
            }
        }
    }
    for interchange in body.interchanges() {
        let outside = interchange.outside_groups().count();
        let grouped: usize = interchange
            .groups()
            .map(|group| {
                let sets: usize = group.transactions().map(|set| set.segments().len()).sum();
                sets + group.outside_transactions().count() + 1 + usize::from(group.trailer().is_some())
            })
            .sum();
        let envelope = 1 + usize::from(interchange.trailer().is_some());
        prop_assert_eq!(outside + grouped + envelope, interchange.segments().len(), "each segment occurs exactly once");
    }
    Ok(())
}

/// Asserts that an element parses back as written, except for trailing empty parts.
fn assert_same(written: &ElementDraft, read: Option<&verial_x12::Element<'_>>) -> Result<(), TestCaseError> {
    for (repetition, number) in written.0.iter().zip(0..) {
        let found = read.and_then(|element| element.repetitions().nth(number));
        for (component, number) in repetition.iter().zip(1..) {
            let found = found.as_ref().and_then(|repetition| repetition.component(number));
            prop_assert_eq!(found.unwrap_or_default(), component);
        }
    }
    Ok(())
}

fn lines() -> impl Strategy<Value = Lines> {
    select(&[Lines::One, Lines::PerSegment][..])
}

/// Any four legal delimiters that do not occur in the values below.
fn delimiters() -> impl Strategy<Value = Delimiters> {
    let legal: Vec<char> =
        (1..128u8).map(char::from).filter(|c| !c.is_ascii_alphanumeric() && !" -.'".contains(*c)).collect();
    Just(legal).prop_shuffle().prop_map(|all| Delimiters::new(all[0], all[1], all[2], all[3]).unwrap())
}

fn element() -> impl Strategy<Value = ElementDraft> {
    let value = "[A-Z0-9a-zé .'-]{0,6}";
    vec(vec(value, 1..4), 1..4).prop_map(ElementDraft)
}

fn segment() -> impl Strategy<Value = SegmentDraft> {
    let name = "[A-Z][A-Z0-9]{1,2}"
        .prop_filter("no control segments", |name| !["ISA", "IEA", "GS", "GE", "ST", "SE"].contains(&name.as_str()));
    (name, vec(element(), 0..6)).prop_map(|(name, elements)| SegmentDraft { name, elements })
}

/// Interchanges of a set without a guide table, so that only the envelope is checked.
fn interchange() -> impl Strategy<Value = InterchangeDraft> {
    let sets = vec(vec(segment(), 0..6), 1..4);
    (vec(sets, 1..4), 0..1_000_000_000u32).prop_map(|(groups, control)| {
        let groups = groups.into_iter().zip(1..).map(|(sets, number)| group(sets, number)).collect();
        InterchangeDraft { groups, control, ..writing::draft(Vec::new()) }
    })
}

fn group(sets: Vec<Vec<SegmentDraft>>, control: u32) -> GroupDraft {
    let version = "005010X220A1".to_owned();
    let transactions = sets.into_iter().zip(1..).map(|(segments, number)| TransactionDraft {
        set: "834".to_owned(),
        control: format!("{number:04}"),
        version: Some(version.clone()),
        segments,
    });
    let function = functional_identifier("834").unwrap().to_owned();
    let base = writing::draft(Vec::new()).groups.remove(0);
    GroupDraft { function, control, version: version.clone(), transactions: transactions.collect(), ..base }
}

#[test]
fn concatenated_samples_are_clean() {
    let text: String =
        ALL.iter().enumerate().map(|(at, sample)| sample.text().replace("000000905", &format!("{at:09}"))).collect();
    let reports = check(&read(&text));
    assert!(reports.len() == ALL.len() && reports.iter().all(Report::is_clean));
}
