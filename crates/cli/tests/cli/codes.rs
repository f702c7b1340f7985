//! Checks that the codes of the bundled benchmarks exist: each is in `codes.tsv`, with its official name and the package in
//! which it was looked up. CPT descriptors are licensed, so the table paraphrases them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

const TABLE: &str = include_str!("codes.tsv");

/// Code system URLs and their names in the table.
const SYSTEMS: [(&str, &str); 6] = [
    ("http://hl7.org/fhir/sid/icd-10-cm", "icd-10-cm"),
    ("http://loinc.org", "loinc"),
    ("http://www.nlm.nih.gov/research/umls/rxnorm", "rxnorm"),
    ("http://snomed.info/sct", "snomed"),
    ("http://www.ama-assn.org/go/cpt", "cpt"),
    ("https://x12.org/codes/service-type-codes", "x12-service-type"),
];
const NPI: &str = "http://hl7.org/fhir/sid/us-npi";
const TERMINOLOGY: &str = "http://terminology.hl7.org/CodeSystem/";
/// Systems that are not in the table: units, which are expressions, and the benchmarks' own systems.
const NOT_IN_TABLES: [&str; 2] = ["http://unitsofmeasure.org", ".example.org/"];

/// A code in the data: system, code and display name.
type CodeUse = (String, String, Option<String>);

#[derive(Default)]
struct FoundCodes {
    codes: BTreeSet<CodeUse>,
    providers: BTreeSet<String>,
}

impl FoundCodes {
    fn add(&mut self, system: &str, code: &str, name: Option<&str>) {
        if !code.contains("{{") {
            let name = name.filter(|name| !name.contains("{{")).map(str::to_owned);
            self.codes.insert((system.to_owned(), code.to_owned(), name));
        }
    }

    fn visit(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.visit(item)),
            Value::Object(members) => {
                let text = |name: &str| members.get(name).and_then(Value::as_str);
                match (text("system"), text("code"), text("value")) {
                    (Some(system), Some(code), _) => self.coding(system, code, text("display")),
                    (Some(NPI), None, Some(value)) => drop(self.providers.insert(value.to_owned())),
                    _ => {}
                }
                for (name, member) in members {
                    if let Some(member) = member.as_str() {
                        self.member(name, member, &text);
                    }
                    self.visit(member);
                }
            }
            Value::String(text) => self.prose(text),
            _ => {}
        }
    }

    /// Instructions and searches name LOINC codes.
    fn prose(&mut self, text: &str) {
        for rest in ["LOINC ", "http://loinc.org|"].iter().flat_map(|before| text.split(before).skip(1)) {
            let code = rest
                .split(|character: char| !character.is_ascii_digit() && character != '-')
                .next()
                .unwrap_or_default();
            if !code.is_empty() {
                self.add("loinc", code, None);
            }
        }
    }

    fn coding(&mut self, system: &str, code: &str, display: Option<&str>) {
        match SYSTEMS.iter().find(|known| known.0 == system) {
            Some((_, name)) => self.add(name, code, display),
            None if system.starts_with(TERMINOLOGY) => self.add(&system[TERMINOLOGY.len()..], code, display),
            None => assert!(NOT_IN_TABLES.iter().any(|own| system.contains(own)), "unknown code system {system}"),
        }
    }

    /// Codes in entities and configs, recognized by the member's name.
    fn member<'a>(&mut self, name: &str, value: &str, sibling: &dyn Fn(&str) -> Option<&'a str>) {
        let is_loinc = value.split_once('-').is_some_and(|(number, check)| {
            check.len() == 1 && number.len() > 2 && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        match name {
            "diagnosis" | "diagnosis_code" => self.add("icd-10-cm", value, None),
            "procedure" | "procedure_code" => self.add("cpt", value, None),
            "service_type" => self.add("x12-service-type", value, None),
            "npi" | "provider_npi" if !value.contains("{{") => drop(self.providers.insert(value.to_owned())),
            "code" if is_loinc => self.add("loinc", value, sibling("display")),
            "code" if sibling("meaning").is_some() => self.add("icd-10-cm", value, sibling("meaning")),
            _ => {
                let drug = name.strip_suffix("code").and_then(|prefix| sibling(&format!("{prefix}drug")));
                drug.into_iter().for_each(|drug| self.add("rxnorm", value, Some(drug)));
            }
        }
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// All codes in the files of the bundled benchmarks and of the starter benchmark.
fn bundled() -> FoundCodes {
    let mut paths = Vec::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    files(&own.join("../../benchmarks"), &mut paths);
    files(&own.join("src/folders"), &mut paths);
    let mut found = FoundCodes::default();
    for path in paths {
        let text = || std::fs::read_to_string(&path).unwrap();
        match path.extension().and_then(std::ffi::OsStr::to_str) {
            Some("ndjson") => text().lines().for_each(|line| found.visit(&serde_json::from_str(line).unwrap())),
            Some("yaml") => found.visit(&authoring::yaml::parse(&text()).unwrap()),
            _ => {}
        }
    }
    found
}

fn table() -> BTreeMap<(&'static str, &'static str), &'static str> {
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        assert!(cells.len() == 4 && cells.iter().all(|cell| !cell.is_empty()), "{line}");
        ((cells[0], cells[1]), cells[2])
    };
    TABLE.lines().map(row).collect()
}

#[test]
fn every_code_of_the_bundled_benchmarks_exists_under_its_name() {
    let (known, found) = (table(), bundled());
    let mut used = BTreeMap::<&str, BTreeSet<&str>>::new();
    for (system, code, name) in &found.codes {
        let official = known.get(&(system.as_str(), code.as_str()));
        let official = official.unwrap_or_else(|| panic!("{system} {code} ({name:?}) is not in codes.tsv"));
        if let Some(name) = name {
            assert!(name.eq_ignore_ascii_case(official), "{system} {code} is {official:?}, not {name:?}");
        }
        used.entry(system).or_default().insert(code);
    }
    for (system, codes) in &used {
        println!("{system}: {} codes", codes.len());
    }
    assert!(used["icd-10-cm"].len() > 20 && used["rxnorm"].len() > 15 && used["cpt"].len() > 10, "{used:?}");
    let is_used = |(system, code): &&(&str, &str)| used.get(system).is_some_and(|codes| codes.contains(code));
    let not_used: Vec<_> = known.keys().filter(|key| !is_used(key)).collect();
    assert!(not_used.is_empty(), "codes.tsv has unused codes: {not_used:?}");
}

/// Checks the Luhn check digit, the last digit of a LOINC code, and of an NPI with the prefix 80840.
fn luhn_holds(digits: &str) -> bool {
    let double = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let digits = digits.chars().rev().map(|digit| digit.to_digit(10).unwrap()).enumerate();
    digits.map(|(index, digit)| if index % 2 == 1 { double(digit) } else { digit }).sum::<u32>() % 10 == 0
}

#[test]
fn check_digits_are_valid() {
    let found = bundled();
    assert!(found.providers.len() >= 8, "{:?}", found.providers);
    for npi in &found.providers {
        assert!(npi.len() == 10 && npi.starts_with(['1', '2']) && luhn_holds(&format!("80840{npi}")), "{npi}");
    }
    for (_, code) in table().keys().filter(|(system, _)| *system == "loinc") {
        assert!(luhn_holds(&code.replace('-', "")), "{code}");
    }
    assert!(luhn_holds("808401234567893") && !luhn_holds("808401234567894"));
}
