//! Tests that segments are assigned to the loops of the guides and that queries find their values.

use verial_x12::guide::Guide;
use verial_x12::hierarchy::Hierarchy;
use verial_x12::loops::Loops;
use verial_x12::query::{Position, Query, Selector, View};

use crate::read;
use crate::samples::{ALL, CLAIM, ELIGIBILITY, PAYMENT, REVIEW, REVIEW_REQUEST};

#[test]
fn every_segment_of_the_samples_is_in_its_loop() {
    for sample in &ALL {
        let text = sample.text();
        let body = read(&text);
        let transaction = body.transactions().next().unwrap();
        let guide = Guide::of(&transaction).unwrap();
        assert!(sample.version.starts_with(guide.version) && sample.set == guide.set);
        let loops = Loops::read(guide, transaction.segments());
        for ((within, segment), position) in sample.lines().zip(2..) {
            assert_eq!(loops.within(position).unwrap_or("-"), within, "{} {segment}", sample.set);
        }
        assert_eq!(loops.unplaced().count(), 0);
        assert_eq!((loops.within(0), loops.within(1), loops.within(9999)), (None, None, None));
    }
}

#[test]
fn requests_and_responses_of_a_278_are_distinguished() {
    for (sample, title) in [(&REVIEW_REQUEST, "Services Review Request"), (&REVIEW, "Services Review Response")] {
        let text = sample.text();
        assert_eq!(Guide::of(&read(&text).transactions().next().unwrap()).unwrap().title, title);
    }
    let dental = CLAIM.text().replace("005010X222A1", "005010X224A2");
    assert!(Guide::of(&read(&dental).transactions().next().unwrap()).is_none());
    assert_eq!(Guide::all().count(), 11);
    let names: Vec<&str> = Guide::all().flat_map(Guide::loops).collect();
    let is_name =
        |name: &str| name.len() >= 4 && name.len() <= 6 && name[..4].bytes().all(|byte| byte.is_ascii_digit());
    assert!(names.len() > 90 && names.iter().all(|name| is_name(name)), "queries can refer to every loop: {names:?}");
}

#[test]
fn loops_are_a_tree() {
    let text = CLAIM.text();
    let body = read(&text);
    let transaction = body.transactions().next().unwrap();
    let loops = Loops::read(Guide::of(&transaction).unwrap(), transaction.segments());
    let provider = loops.root().child("2000A").unwrap();
    assert_eq!(provider.child("2010AA").unwrap().segment("NM1").unwrap().text_at(9), "1234567893");
    let subscribers: Vec<_> = provider.all("2000B").collect();
    assert_eq!(subscribers.len(), 2);
    assert_eq!(subscribers[0].child("2300").unwrap().segment("CLM").unwrap().text_at(1), "CLAIM-1");
    assert!(subscribers[1].child("2300").is_none());
    let patient = subscribers[1].child("2000C").unwrap();
    let claim = patient.child("2300").unwrap();
    assert_eq!(claim.segment("CLM").unwrap().text_at(1), "CLAIM-2");
    assert_eq!(claim.parent().unwrap().name(), "2000C");
    assert_eq!(loops.named("2300").count(), 2);
    assert_eq!(claim.positions().collect::<Vec<_>>(), [45, 46]);
}

/// The parent of the second event of the 278 is the subscriber, although an event of the dependent precedes it.
#[test]
fn a_level_is_below_its_declared_parent() {
    let text = REVIEW_REQUEST.text();
    let body = read(&text);
    let transaction = body.transactions().next().unwrap();
    let loops = Loops::read(Guide::of(&transaction).unwrap(), transaction.segments());
    let parents: Vec<&str> = loops.named("2000E").map(|event| event.parent().unwrap().name()).collect();
    assert_eq!(parents, ["2000D", "2000C"]);

    let (hierarchy, faults) = Hierarchy::read(transaction.segments(), Guide::of(&transaction));
    assert!(faults.is_empty());
    let subscriber = &hierarchy.levels()[2];
    let below: Vec<&str> = hierarchy.children(subscriber).map(|level| level.code).collect();
    assert_eq!((subscriber.code, below), ("22", vec!["23", "EV"]));
    assert_eq!(hierarchy.roots().count(), 1);
    assert_eq!((hierarchy.levels()[6].first, hierarchy.levels()[6].last), (24, 25));
}

#[test]
fn queries_find_values_with_any_delimiters() {
    let usual = ELIGIBILITY.text();
    let other = usual.replace('*', "|").replace(':', ">").replace('^', "!").replace('~', "\u{1d}");
    for text in [usual, other] {
        let body = read(&text);
        let view = View::of_transaction(&body.transactions().next().unwrap());
        let find = |within, segment, selector, position| {
            let query = Query { within, segment, selector, position };
            view.values(&query).into_iter().map(String::from).collect::<Vec<_>>()
        };
        let at = |element| Some(Position::element(element));
        let is = |element, value| Some(Selector::Where { position: Position::element(element), value });
        assert_eq!(find(None, "EB", None, at(1)), ["1", "B", "C", "I"]);
        assert_eq!(find(None, "EB", Some(Selector::Nth(2)), at(1)), ["B"]);
        assert_eq!(find(None, "EB", Some(Selector::Nth(5)), at(1)), [""; 0]);
        assert_eq!(find(None, "EB", Some(Selector::Nth(0)), at(1)), [""; 0]);
        assert_eq!(find(None, "NM1", is(1, "IL"), at(9)), ["W0001", "W9999"]);
        assert_eq!(find(Some("2110C"), "EB", is(1, "C"), at(7)), ["1500"]);
        assert_eq!(find(Some("2100C"), "EB", None, at(1)), [""; 0]);
        assert_eq!(find(Some("2120C"), "NM1", None, at(3)), ["REED"]);
        assert_eq!(find(None, "EB", is(3, "1"), at(7)), ["25"], "any repetition");
        assert_eq!(find(None, "EB", is(1, "B"), at(3)), ["98", "1"]);
        let second = Position { repetition: Some(2), ..Position::element(3) };
        assert_eq!(find(None, "EB", None, Some(second)), ["1"]);
        assert_eq!(find(None, "EB", Some(Selector::Nth(2)), at(4)), [""; 0], "an empty element has no value");
        assert_eq!(find(None, "EB", Some(Selector::Nth(2)), None), ["EB*B*IND*98^1***27*25"]);
        assert_eq!(find(None, "ISA", None, at(6)), ["CLINIC"], "without padding");
        assert_eq!(find(None, "GS", None, at(8)), ["005010X279A1"]);
        assert_eq!(find(None, "IEA", None, at(2)), ["000000905"]);
    }
}

#[test]
fn queries_find_components_and_segments_outside_transactions() {
    let text = PAYMENT.text();
    let body = read(&text);
    let view = View::of_transaction(&body.transactions().next().unwrap());
    let code = |component| {
        let position = Position { component, ..Position::element(1) };
        let query = Query { within: Some("2110"), segment: "SVC", selector: None, position: Some(position) };
        view.values(&query).concat()
    };
    assert_eq!([code(Some(1)), code(Some(2)), code(Some(3)), code(None)], ["HC", "99213", "", "HC:99213"]);
    assert!(view.loops().is_some());

    let group = &text[text.find("GS*").unwrap()..text.find("IEA*").unwrap()];
    let text = text.replace(group, "TA1*000000001*260115*0930*R*014~");
    let body = read(&text);
    let view = View::of_interchange(&body.interchanges()[0]);
    let query = Query { within: None, segment: "TA1", selector: None, position: Some(Position::element(5)) };
    assert_eq!(view.values(&query), ["014"]);
    assert!(view.loops().is_none());
}
