//! What holds for every dataset, however it is written and cut into pieces.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use verial_fhir::ingest::{Format, Limits};

use crate::read;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_rendering_and_every_split_gives_the_same_lines(
        resources in resources(),
        cuts in vec(any::<Index>(), 0..20),
    ) {
        let renderings = [
            (Format::Ndjson, resources.join("\n")),
            (Format::Ndjson, format!("\u{feff}{}\r\n\r\n", resources.join(" \r\n"))),
            (Format::Bundle, bundle(&resources)),
            (Format::Bundle, format!("\u{feff}{}", spread(&bundle(&resources)))),
        ];
        for (format, text) in renderings {
            let dataset = read(format, Limits::default(), &pieces(text.as_bytes(), &cuts)).unwrap();
            prop_assert_eq!(&dataset.lines, &resources);
            prop_assert_eq!(dataset.summary.resources, resources.len() as u64);
            prop_assert_eq!(dataset.summary.bytes, text.len() as u64);
        }
    }

    #[test]
    fn a_line_is_the_value_that_was_written(resources in resources()) {
        let spread: Vec<String> = resources.iter().map(|resource| spread(resource)).collect();
        let dataset = read(Format::Bundle, Limits::default(), &[bundle(&spread).as_bytes()]).unwrap();
        let value = |text: &String| serde_json::from_str::<serde_json::Value>(text).unwrap();
        prop_assert!(dataset.lines.iter().all(|line| !line.contains('\n')));
        let values = |texts: &[String]| texts.iter().map(value).collect::<Vec<_>>();
        prop_assert_eq!(values(&dataset.lines), values(&spread));
    }

    #[test]
    fn a_bundle_cut_short_is_a_fault(
        resources in resources(),
        cut in any::<Index>(),
        cuts in vec(any::<Index>(), 0..5),
    ) {
        let text = spread(&bundle(&resources));
        let text = text.trim_end().as_bytes();
        let short = &text[..cut.index(text.len())];
        prop_assert!(read(Format::Bundle, Limits::default(), &pieces(short, &cuts)).is_err());
    }

    #[test]
    fn any_bytes_come_to_the_same_end_in_any_pieces(
        bytes in vec(any::<u8>(), 0..200),
        cuts in vec(any::<Index>(), 0..20),
    ) {
        same_in_pieces(&bytes, &cuts);
    }

    #[test]
    fn damage_comes_to_the_same_end_in_any_pieces(
        resources in resources(),
        damage in vec((any::<Index>(), select(b"{}[]\",:\\u0d \n\0x\xEF\xFF".as_slice())), 1..4),
        cuts in vec(any::<Index>(), 0..20),
    ) {
        for text in [bundle(&resources), resources.join("\n") + "\n"] {
            let mut bytes = text.into_bytes();
            for (at, byte) in &damage {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            same_in_pieces(&bytes, &cuts);
        }
    }
}

/// Whatever the bytes are, nothing panics, what is read can be read back, and the pieces do not matter.
fn same_in_pieces(bytes: &[u8], cuts: &[Index]) {
    let limits = Limits { resource_bytes: 300, ..Limits::default() };
    for format in [Format::Ndjson, Format::Bundle] {
        let whole = read(format, limits, &[bytes]);
        assert_eq!(whole.is_ok(), read(format, limits, &pieces(bytes, cuts)).is_ok());
        for line in whole.into_iter().flat_map(|dataset| dataset.lines) {
            assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "{line}");
        }
    }
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    cuts.sort_unstable();
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([bytes.len()]);
    starts.zip(ends).map(|(start, end)| &bytes[start..end]).collect()
}

/// Compact resources of different ids, `resourceType` and `id` anywhere among the other members.
fn resources() -> impl Strategy<Value = Vec<String>> {
    let resource_type = select(vec!["Patient", "Observation", "Bundle", "VisionPrescription"]);
    let resource = (resource_type, vec((string(), json()), 0..5), any::<Index>(), any::<Index>());
    vec(resource, 0..8).prop_map(|resources| resources.into_iter().enumerate().map(resource_text).collect())
}

type ResourceParts = (&'static str, Vec<(String, String)>, Index, Index);

fn resource_text((number, (resource_type, others, first, second)): (usize, ResourceParts)) -> String {
    let mut members: Vec<String> = others.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    members.insert(first.index(members.len() + 1), format!(r#""resourceType":"{resource_type}""#));
    members.insert(second.index(members.len() + 1), format!(r#""id":"r-{number}""#));
    format!("{{{}}}", members.join(","))
}

/// The text of any JSON value, without white space.
fn json() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        select(vec![
            "null",
            "true",
            "false",
            "0",
            "-0",
            "1.50",
            "1E+400",
            "-12.0e-3",
            "123456789012345678901234567890"
        ])
        .prop_map(String::from),
        string(),
    ];
    scalar.prop_recursive(4, 30, 5, |inner| {
        let array = vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(",")));
        let object = vec((string(), inner), 0..5).prop_map(|members| {
            let members: Vec<String> = members.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
            format!("{{{}}}", members.join(","))
        });
        prop_oneof![array, object]
    })
}

/// A JSON string full of what a scanner could stumble over; never the word of a checked member.
fn string() -> impl Strategy<Value = String> {
    let part = select(vec![
        "a",
        "é",
        "😀",
        " ",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\\\"",
        "\\\\",
        "\\n",
        "\\/",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\\\u0000",
        "0123456789abcdef",
    ]);
    vec(part, 0..6).prop_map(|parts| format!("\"_{}\"", parts.concat()))
}

fn bundle(resources: &[String]) -> String {
    let entry =
        |resource: &String| format!(r#"{{"fullUrl":"urn:x","resource":{resource},"search":{{"mode":"match"}}}}"#);
    let entries: Vec<String> = resources.iter().map(entry).collect();
    let entries = entries.join(",");
    format!(r#"{{"type":"collection","meta":{{"tag":[]}},"entry":[{entries}],"resourceType":"Bundle","total":1}}"#)
}

/// The same JSON with white space and line ends around everything that is not within a string.
fn spread(text: &str) -> String {
    let (mut spread, mut within, mut escaped) = (String::new(), false, false);
    for character in text.chars() {
        within ^= character == '"' && !escaped;
        escaped = within && character == '\\' && !escaped;
        match character {
            '{' | '}' | '[' | ']' | ',' | ':' if !within => spread.extend([' ', character, '\r', '\n', '\t']),
            _ => spread.push(character),
        }
    }
    spread
}
