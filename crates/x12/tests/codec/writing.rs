//! Tests that written interchanges have the right counts, and that invalid values are rejected.

use verial_x12::draft::{
    GroupDraft, InterchangeDraft, Lines, Party, SegmentDraft, TransactionDraft, Usage, WriteFault, composite, repeated,
};
use verial_x12::{Delimiters, check};

use crate::read;

pub(crate) fn draft(segments: Vec<SegmentDraft>) -> InterchangeDraft {
    let transaction = TransactionDraft {
        set: "271".to_owned(),
        control: "0001".to_owned(),
        version: Some("005010X279A1".to_owned()),
        segments,
    };
    let group = GroupDraft {
        function: "HB".to_owned(),
        sender: "VERIALPAYER".to_owned(),
        receiver: "CLINIC".to_owned(),
        date: "20260115".to_owned(),
        time: "0931".to_owned(),
        control: 12,
        version: "005010X279A1".to_owned(),
        transactions: vec![transaction],
    };
    InterchangeDraft {
        sender: Party::agreed("VERIALPAYER"),
        receiver: Party { qualifier: "30".to_owned(), id: "123456789".to_owned() },
        date: "260115".to_owned(),
        time: "0931".to_owned(),
        control: 77,
        acknowledgment_requested: true,
        usage: Usage::Production,
        acknowledgments: Vec::new(),
        groups: vec![group],
    }
}

fn benefits() -> Vec<SegmentDraft> {
    vec![
        SegmentDraft::of("BHT", ["0022", "11", "A", "20260115", "0931"]),
        SegmentDraft::of("HL", ["1", "", "20", "0"]),
        SegmentDraft::new("EB").with("B").with("").with(repeated(["30", "", "98"])).with("").with(""),
        SegmentDraft::new("EB").with("1").with(composite(["HC", "", "99213", ""])).with(composite(["", ""])),
    ]
}

#[test]
fn an_interchange_is_written_exactly() {
    let written = draft(benefits()).write(Delimiters::USUAL, Lines::PerSegment).unwrap();
    let expected = "\
ISA*00*          *00*          *ZZ*VERIALPAYER    *30*123456789      *260115*0931*^*00501*000000077*1*P*:~
GS*HB*VERIALPAYER*CLINIC*20260115*0931*12*X*005010X279A1~
ST*271*0001*005010X279A1~
BHT*0022*11*A*20260115*0931~
HL*1**20*0~
EB*B**30^^98~
EB*1*HC::99213~
SE*6*0001~
GE*1*12~
IEA*1*000000077~
";
    assert_eq!(written, expected);
    assert_eq!(read(&written).to_string(), written);
    let one_line = draft(benefits()).write(Delimiters::USUAL, Lines::One).unwrap();
    assert_eq!(one_line, expected.replace('\n', ""));
}

#[test]
fn delimiters_in_values_are_rejected_with_their_location() {
    for (value, fault) in [
        ("a*b", WriteFault::Delimiter('*')),
        ("a^b", WriteFault::Delimiter('^')),
        ("a:b", WriteFault::Delimiter(':')),
        ("a~b", WriteFault::Delimiter('~')),
        ("a\nb", WriteFault::Control('\n')),
    ] {
        let segments = vec![SegmentDraft::of("BHT", ["1"]), SegmentDraft::of("MSG", ["x", value])];
        let error = draft(segments).write(Delimiters::USUAL, Lines::One).unwrap_err();
        assert_eq!(error.fault, fault);
        assert_eq!((error.location.segment, error.location.element), (Some(3), Some(2)), "{error}");
    }
    let segments = vec![SegmentDraft::of("MSG", ["a*b~c:d^e|f"])];
    let interchange = draft(segments);
    let free = interchange.free_delimiters().unwrap();
    let written = interchange.write(free, Lines::One).unwrap();
    let body = read(&written);
    assert_eq!(body.transactions().next().unwrap().segments()[1].text_at(1), "a*b~c:d^e|f");
    assert_eq!(draft(benefits()).free_delimiters(), Some(Delimiters::USUAL));
}

#[test]
fn invalid_names_and_widths_are_rejected() {
    for name in ["", "E", "EBXX", "eb", "1EB", "SE", "GE", "ISA", "E*B"] {
        let error = draft(vec![SegmentDraft::of(name, ["1"])]).write(Delimiters::USUAL, Lines::One).unwrap_err();
        assert_eq!(error.fault, WriteFault::Name(name.to_owned()));
    }
    let mut long = draft(Vec::new());
    long.sender = Party::agreed("SIXTEENLETTERSXX");
    let message = long.write(Delimiters::USUAL, Lines::One).unwrap_err().to_string();
    assert_eq!(message, "interchange 1, element 6: the value \"SIXTEENLETTERSXX\" must have 1 to 15 characters");
    for change in [
        |draft: &mut InterchangeDraft| draft.date = "20260115".to_owned(),
        |draft: &mut InterchangeDraft| draft.time = String::new(),
        |draft: &mut InterchangeDraft| draft.control = 1_000_000_000,
        |draft: &mut InterchangeDraft| draft.receiver = Party::agreed(""),
    ] {
        let mut changed = draft(Vec::new());
        change(&mut changed);
        assert!(matches!(changed.write(Delimiters::USUAL, Lines::One).unwrap_err().fault, WriteFault::Width { .. }));
    }
    assert!(check(&read(&draft(Vec::new()).write(Delimiters::USUAL, Lines::One).unwrap()))[0].is_clean());
}
