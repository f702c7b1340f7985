//! Properties of any message: exact round trip, no panic, and paths that agree with naive_split splitting.

use proptest::prelude::*;
use verial_hl7v2::{AckCode, Acknowledgement, BatchFile, Delimiters, Draft, Limits, Message, validate};

use crate::{found, samples};

const DELIMITERS: &str = "|^~\\&#*!?%$@;:+-_/<>";

/// Five distinct delimiters, in some cases with the truncation character.
fn delimiters() -> impl Strategy<Value = Delimiters> {
    let characters: Vec<char> = DELIMITERS.chars().collect();
    let shuffled = Just(characters).prop_shuffle();
    (shuffled, 4..=5_usize).prop_map(|(characters, count)| {
        let encoding: String = characters[1..=count].iter().collect();
        Delimiters::new(characters[0], &encoding).unwrap()
    })
}

/// Field, repetition, component, subcomponent.
type Values = Vec<Vec<Vec<Vec<String>>>>;

fn values() -> impl Strategy<Value = Values> {
    let value =
        prop_oneof![3 => "[a-z0-9 ]{0,6}", 1 => r#"[|^~\\&#*!?%$@"é\r\nX0F.]{0,6}"#, 1 => Just("\"\"".to_owned())];
    let component = prop::collection::vec(value, 1..3);
    let repetition = prop::collection::vec(component, 1..3);
    let field = prop::collection::vec(repetition, 1..3);
    prop::collection::vec(field, 1..5)
}

fn build_message(delimiters: Delimiters, segments: &[Values]) -> Message {
    let mut draft = Draft::new(delimiters);
    draft.header().component(9, 1, "ADT").component(9, 2, "A01").field(10, "1").field(12, "2.5");
    for fields in segments {
        let segment = draft.segment("ZZ1");
        for (field, number) in fields.iter().zip(1..) {
            for (repetition, count) in field.iter().zip(1..) {
                for (component, part) in repetition.iter().zip(1..) {
                    for (value, subpart) in component.iter().zip(1..) {
                        segment.value(number, count, part, subpart, value);
                    }
                }
            }
        }
    }
    draft.build().unwrap()
}

/// The raw text at a position, by plain splitting.
fn naive_split(line: &str, delimiters: &Delimiters, numbers: [usize; 4]) -> Option<String> {
    let encoding: Vec<char> = delimiters.encoding_characters().chars().collect();
    let field = line.split(delimiters.field_separator()).nth(numbers[0])?;
    let repetition = field.split(encoding[1]).nth(numbers[1] - 1)?;
    let component = repetition.split(encoding[0]).nth(numbers[2] - 1)?;
    component.split(encoding[3]).nth(numbers[3] - 1).filter(|raw| !raw.is_empty()).map(str::to_owned)
}

proptest! {
    #[test]
    fn written_values_parse_back(delimiters in delimiters(), segments in prop::collection::vec(values(), 1..4)) {
        let message = build_message(delimiters, &segments);
        prop_assert_eq!(message.delimiters(), &delimiters);
        for (fields, nth) in segments.iter().zip(1..) {
            for (field, number) in fields.iter().zip(1..) {
                for (repetition, count) in field.iter().zip(1..) {
                    for (component, part) in repetition.iter().zip(1..) {
                        for (value, subpart) in component.iter().zip(1..) {
                            let path = format!("ZZ1[{nth}].{number}[{count}].{part}.{subpart}");
                            let expected: Vec<String> = Some(value.clone()).filter(|value| !value.is_empty()).into_iter().collect();
                            prop_assert_eq!(found(&message, &path), expected, "{} in {}", path, message);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn parsing_and_printing_is_lossless(
        delimiters in delimiters(),
        segments in prop::collection::vec(values(), 1..4),
        end in prop_oneof![Just("\r"), Just("\n"), Just("\r\n")],
    ) {
        let text = build_message(delimiters, &segments).text().replace('\r', end);
        let limits = Limits::default();
        let message = Message::parse(text.as_bytes(), &limits).unwrap();
        prop_assert_eq!(message.text(), &text);
        let bytes = message.to_bytes();
        prop_assert_eq!(bytes.as_ref(), text.as_bytes());
        prop_assert_eq!(Message::parse_text(&text, &limits).unwrap(), message);
    }

    #[test]
    fn paths_agree_with_naive_splitting(
        delimiters in delimiters(),
        lines in prop::collection::vec("[a-z|^~\\\\&#*!?%$@é\"]{0,30}", 1..4),
        numbers in [1..6_usize, 1..4, 1..4, 1..4],
    ) {
        let separator = delimiters.field_separator();
        let lines: Vec<String> = lines.iter().map(|line| format!("ZZ1{separator}{line}")).collect();
        let header = format!("MSH{separator}{}{separator}A", delimiters.encoding_characters());
        let text = format!("{header}\r{}", lines.join("\r"));
        let message = Message::parse_text(&text, &Limits::default()).unwrap();
        for (line, nth) in lines.iter().zip(1..) {
            let [field, repetition, component, subcomponent] = numbers;
            let path = format!("ZZ1[{nth}].{field}[{repetition}].{component}.{subcomponent}").parse().unwrap();
            let raw: Option<String> = message.find(&path).next().map(|value| value.raw().to_owned());
            prop_assert_eq!(raw, naive_split(line, &delimiters, numbers), "{} in {}", path, text);
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_bytes(&bytes);
        check_bytes(&[b"MSH|^~\\&|", bytes.as_slice()].concat());
    }

    #[test]
    fn damaged_samples_do_not_panic(
        sample in 0..10_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = samples::all()[sample].clone().into_bytes();
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        check_bytes(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        check_bytes(&bytes);
    }

    #[test]
    fn reordered_segments_do_not_panic(lines in prop::collection::vec(0..9_usize, 0..30)) {
        let sample = samples::result();
        let (header, rest) = sample.split_once('\r').unwrap();
        let rest: Vec<&str> = rest.lines().flat_map(|text| text.split('\r')).collect();
        let text: String = lines.iter().map(|line| format!("\r{}", rest[line % rest.len()])).collect();
        check_bytes(format!("{header}{text}").as_bytes());
    }
}

/// Everything that parses prints back and can be validated and acknowledged.
fn check_bytes(bytes: &[u8]) {
    let limits = Limits::default();
    if let Ok(file) = BatchFile::parse(bytes, &limits) {
        assert_eq!(file.to_bytes(), bytes);
    }
    if let Ok(header) = Message::parse_header(bytes, &limits) {
        drop(Acknowledgement::new(AckCode::ApplicationReject, "20260301", "1").answer(&header));
    }
    let Ok(message) = Message::parse(bytes, &limits) else { return };
    assert_eq!(message.to_bytes().as_ref(), bytes);
    let faults = validate(&message);
    drop(Acknowledgement::new(AckCode::ApplicationError, "20260301", "1").with_faults(faults).answer(&message));
}
