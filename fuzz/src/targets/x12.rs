//! X12: interchanges with their checks and answers, and queries.

use x12::acknowledge::VERSION;
use x12::check::Report;
use x12::draft::{GroupDraft, InterchangeDraft, Lines, Party, Usage};
use x12::query::{Position, Query, Selector, View};
use x12::{Delimiters, Interchange, Limits, check, parse, parse_bytes};

/// What can be read prints back, each segment is somewhere once, and the answer to it is sound.
pub(crate) fn x12_interchange(bytes: &[u8]) {
    let Ok(body) = parse_bytes(bytes, &Limits::default()) else { return };
    assert_eq!(body.to_string().as_bytes(), bytes, "what was read is written back as it was");
    body.interchanges().iter().for_each(divided);
    for report in check(&body) {
        let answer = answer(&report).write(Delimiters::USUAL, Lines::One);
        let answer = answer.as_ref().map(String::as_str).unwrap_or_default();
        let answered = parse(answer, &Limits::default()).map(|body| check(&body)).unwrap_or_default();
        assert!(!answered.is_empty() && answered.iter().all(|report| report.faults.is_empty()), "{answer}");
    }
}

fn divided(interchange: &Interchange<'_>) {
    let outside = interchange.outside_groups().count();
    let grouped: usize = interchange
        .groups()
        .map(|group| {
            let sets: usize = group.transactions().map(|set| set.segments().len()).sum();
            sets + group.outside_transactions().count() + 1 + usize::from(group.trailer().is_some())
        })
        .sum();
    let envelope = 1 + usize::from(interchange.trailer().is_some());
    assert_eq!(outside + grouped + envelope, interchange.segments().len());
}

/// TA1, and a 999 for each group.
fn answer(report: &Report) -> InterchangeDraft {
    let numbered = report.groups.iter().zip(1..);
    let transactions: Vec<_> =
        numbered.filter_map(|(group, number)| group.acknowledge(&format!("{number:04}"))).collect();
    let group = GroupDraft {
        function: "FA".to_owned(),
        sender: "PAYER".to_owned(),
        receiver: "CLINIC".to_owned(),
        date: "20260115".to_owned(),
        time: "0931".to_owned(),
        control: 1,
        version: VERSION.to_owned(),
        transactions,
    };
    InterchangeDraft {
        sender: Party::agreed("PAYER"),
        receiver: Party::agreed("CLINIC"),
        date: "260115".to_owned(),
        time: "0931".to_owned(),
        control: 1,
        acknowledgment_requested: false,
        usage: Usage::Test,
        acknowledgments: vec![report.ta1()],
        groups: if group.transactions.is_empty() { Vec::new() } else { vec![group] },
    }
}

/// Loop, segment, element, repetition, component and a value, with spaces between, on the first line; then a body.
pub(crate) fn x12_query(bytes: &[u8]) {
    let Some((query, body)) = crate::json::first_line(bytes) else { return };
    let Ok(body) = parse(body, &Limits::default()) else { return };
    let mut words = query.split(' ');
    let mut word = || words.next().filter(|word| !word.is_empty());
    let (within, segment) = (word(), word().unwrap_or_default());
    let mut number = || word().and_then(|word| word.parse().ok());
    let position = Position { element: number().unwrap_or_default(), repetition: number(), component: number() };
    let selectors =
        [None, Some(Selector::Nth(position.element)), word().map(|value| Selector::Where { position, value })];
    let transactions: Vec<_> = body.transactions().collect();
    let views = transactions.iter().map(View::of_transaction);
    for view in views.chain(body.interchanges().iter().map(View::of_interchange)) {
        for selector in selectors {
            let whole = view.values(&Query { within, segment, selector, position: None });
            let part = view.values(&Query { within, segment, selector, position: Some(position) });
            assert!(part.is_empty() || !whole.is_empty(), "a value is in a segment");
        }
    }
}
