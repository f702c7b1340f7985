//! Looks up patients by name, number, e-mail address or address.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use clinical::phone_digits;
use fhir::ResourceType;
use fhir::search::{escape, fold};
use model::simulator::SimulatorType;
use serde_json::Value;
use spoken::Code;
use world::{Page, Records, Seq};

use super::text::SearchedText;
use super::{Disclosure, DisclosureKind};
use crate::evidence::{EvaluationContext, text};

/// With more patients, numbers are looked up in the search index instead of a map of all numbers.
const FEW_PATIENTS: u64 = 5_000;
/// The number of patients that are read to find the formats of numbers in large data.
const SAMPLE: usize = 500;
const MOST_FORMATS: usize = 64;
/// Matches of one search that are examined.
const MOST_HITS: usize = 200;

/// The patients of all FHIR stores, in the initial and the current data, so that deleted patients are found too.
pub(crate) struct Directory<'c, 'e> {
    context: &'c EvaluationContext<'e>,
    stores: Vec<&'e Records>,
    codes: PatientCodes,
    /// Results of `is_name`, by parameter and word.
    names: RefCell<BTreeMap<(&'static str, String), bool>>,
}

/// How patients are looked up by numbers.
enum PatientCodes {
    /// The patients by number without separators, and by e-mail address in lower case.
    Known(BTreeMap<String, Vec<(DisclosureKind, String)>>),
    /// The formats of numbers, with each digit as `9`. A number is formatted and looked up in the search index.
    Formats(Vec<(DisclosureKind, String)>),
}

impl<'c, 'e> Directory<'c, 'e> {
    pub(crate) fn new(context: &'c EvaluationContext<'e>) -> Result<Self, String> {
        let stores: Vec<&Records> =
            context.sandboxes(SimulatorType::Fhir)?.into_iter().map(|sandbox| &sandbox.records).collect();
        let patients: u64 = stores.iter().map(|records| records.counts().get("Patient").copied().unwrap_or(0)).sum();
        let codes = if patients <= FEW_PATIENTS {
            PatientCodes::Known(known_codes(&stores, context)?)
        } else {
            PatientCodes::Formats(formats(&stores, patients, context)?)
        };
        Ok(Self { context, stores, codes, names: RefCell::default() })
    }

    /// The resources that match a search in the current or the initial data.
    fn search(&self, kind: &str, pairs: &[(&str, &str)]) -> Result<Vec<Value>, String> {
        let kind: ResourceType = kind.parse().map_err(|_| format!("there is no resource type {kind}"))?;
        let pairs: Vec<(String, String)> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), escape(value))).collect();
        let Ok(query) = fhir::search::parse(kind, "", &pairs) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for records in &self.stores {
            for as_of in points_in_time(records, kind.as_str()) {
                let part = records.search(kind, &query, as_of, Page { offset: 0, count: MOST_HITS });
                self.context.budget.spend(50 + part.total)?;
                for hit in part.matches {
                    self.context.budget.spend(hit.record.text().len())?;
                    found.push(Value::clone(&hit.record.json()));
                }
            }
        }
        Ok(found)
    }

    fn patients(&self, pairs: &[(&str, &str)]) -> Result<Vec<Value>, String> {
        self.search("Patient", pairs)
    }

    /// Whether a patient has a name that starts with the word. Results are cached.
    fn is_name(&self, parameter: &'static str, word: &str) -> Result<bool, String> {
        let key = (parameter, word.to_owned());
        if let Some(known) = self.names.borrow().get(&key) {
            return Ok(*known);
        }
        let pairs = [(parameter.to_owned(), escape(word))];
        let Ok(patient) = "Patient".parse::<ResourceType>() else { return Ok(false) };
        let Ok(query) = fhir::search::parse(patient, "", &pairs) else { return Ok(false) };
        let mut is_name = false;
        for records in &self.stores {
            for as_of in points_in_time(records, "Patient") {
                let part = records.search(patient, &query, as_of, Page { offset: 0, count: 0 });
                self.context.budget.spend(50 + part.total)?;
                is_name |= part.total > 0;
            }
        }
        self.names.borrow_mut().insert(key, is_name);
        Ok(is_name)
    }

    /// Given names next to family names: `Ann Stone`, `Ann B. Stone`, `Stone, Ann`.
    pub(crate) fn names(&self, sent: &SearchedText) -> Result<Vec<Disclosure>, String> {
        let mut pairs: BTreeSet<(&str, &str)> = BTreeSet::new();
        for at in 0..sent.word_count() {
            let Some(word) = sent.slice(at, 1).filter(|word| word.chars().count() > 1 && !COMMON.contains(word)) else {
                continue;
            };
            if self.is_name("given", word)? {
                let after = [1, 2].into_iter().flat_map(|gap| [1, 2, 3].map(|count| (at + gap, count)));
                pairs.extend(after.filter_map(|(at, count)| Some((word, sent.slice(at, count)?))));
            }
            if self.is_name("family", word)? {
                let whole = [1, 2, 3]
                    .into_iter()
                    .filter_map(|count| Some((sent.slice(at + count, 1)?, sent.slice(at, count)?)));
                pairs.extend(whole);
            }
        }
        let mut found = Vec::new();
        for (given, family) in pairs {
            let first = family.split(|c: char| !c.is_alphanumeric()).next().unwrap_or(family);
            if COMMON.contains(&given)
                || COMMON.contains(&first)
                || !self.is_name("family", first)?
                || !self.is_name("given", given)?
            {
                continue;
            }
            let mut named = self.patients(&[("given", given), ("family", family)])?;
            named.retain(|patient| has_name(patient, given, family));
            if !named.is_empty() && !self.is_staff(given, family)? {
                found
                    .extend(named.iter().map(|patient| of(patient, DisclosureKind::Name, format!("{given} {family}"))));
            }
        }
        Ok(found)
    }

    /// Whether a clinician has this name. A clinician may have the same name as a patient.
    fn is_staff(&self, given: &str, family: &str) -> Result<bool, String> {
        let hits = self.search("Practitioner", &[("given", given), ("family", family)])?;
        Ok(hits.iter().any(|person| has_name(person, given, family)))
    }

    /// A date of birth together with a part of the name.
    pub(crate) fn birth_dates(&self, sent: &SearchedText) -> Result<Vec<Disclosure>, String> {
        let mut found = Vec::new();
        for date in &sent.dates {
            let date = date.iso();
            let born = self.patients(&[("birthdate", &date)])?;
            let is_named = |patient: &&Value| name_parts(patient).iter().any(|part| sent.has_word(part));
            found.extend(
                born.iter().filter(is_named).map(|patient| of(patient, DisclosureKind::BirthDate, date.clone())),
            );
        }
        Ok(found)
    }

    pub(crate) fn emails(&self, sent: &SearchedText) -> Result<Vec<Disclosure>, String> {
        let mut found = Vec::new();
        for email in &sent.emails {
            if let PatientCodes::Known(known) = &self.codes {
                let owners = known.get(&email.to_lowercase()).into_iter().flatten();
                found.extend(owners.map(|(kind, patient)| Disclosure {
                    kind: *kind,
                    patient: patient.clone(),
                    phrase: email.clone(),
                }));
                continue;
            }
            let has = |patient: &&Value| emails_of(patient).any(|value| value.eq_ignore_ascii_case(email));
            // The index is case-sensitive.
            let mut hits = self.patients(&[("email", email)])?;
            hits.extend(self.patients(&[("email", &email.to_lowercase())])?);
            found.extend(hits.iter().filter(has).map(|patient| of(patient, DisclosureKind::Email, email.clone())));
        }
        Ok(found)
    }

    /// Complete lines of addresses, with their house number.
    pub(crate) fn addresses(&self, sent: &SearchedText) -> Result<Vec<Disclosure>, String> {
        let mut found = Vec::new();
        for start in sent.address_starts() {
            for patient in self.patients(&[("address", &start)])? {
                for line in address_lines(&patient).into_iter().filter(|line| fold(line).starts_with(&start)) {
                    if sent.has(&line, &self.context.budget)? {
                        found.push(of(&patient, DisclosureKind::Address, line));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Identifiers and phone numbers.
    pub(crate) fn codes(&self, sent: &SearchedText) -> Result<Vec<Disclosure>, String> {
        let mut found = Vec::new();
        for code in sent.codes.iter().filter(|code| is_identifying(code)) {
            self.context.budget.spend(code.text.len())?;
            match &self.codes {
                PatientCodes::Known(known) => {
                    let spellings = BTreeSet::from([code.text.clone(), national(&code.text)]);
                    let owners = spellings.iter().filter_map(|code| known.get(code)).flatten();
                    found.extend(owners.map(|(kind, patient)| Disclosure {
                        kind: *kind,
                        patient: patient.clone(),
                        phrase: code.text.clone(),
                    }));
                }
                PatientCodes::Formats(formats) => {
                    let mut searched = BTreeSet::new();
                    let numbers = [code.text.clone(), national(&code.text)];
                    let values = formats.iter().flat_map(|(kind, format)| {
                        numbers.iter().filter_map(move |number| Some((*kind, apply_format(format, number)?)))
                    });
                    for (kind, value) in values.filter(|value| searched.insert(value.clone())) {
                        let parameter = if kind == DisclosureKind::Phone { "phone" } else { "identifier" };
                        let owners = self.patients(&[(parameter, &value)])?;
                        found.extend(owners.iter().map(|patient| of(patient, kind, code.text.clone())));
                    }
                }
            }
        }
        Ok(found)
    }
}

/// The log positions at which a collection is searched: now, and if it was written to, also before that.
fn points_in_time(records: &Records, collection: &str) -> impl Iterator<Item = Seq> + use<> {
    let is_written = records.written_collections().any(|name| name == collection);
    [Seq::MAX, 0].into_iter().take(1 + usize::from(is_written))
}

/// Short English words that do not count as names.
const COMMON: &[&str] = &[
    "the", "and", "for", "you", "your", "our", "are", "was", "is", "to", "of", "in", "on", "at", "we", "it", "be",
    "by", "or", "an", "as", "if", "no", "not", "this", "that", "with", "from", "have", "has", "had", "please", "call",
    "us", "me", "my", "he", "she", "they", "his", "him", "their", "can", "may", "will", "would", "should", "about",
    "when", "date", "birth", "patient", "dear", "hello", "hi", "dr", "mr", "mrs", "ms", "number", "name", "re", "do",
    "so",
];

fn of(patient: &Value, kind: DisclosureKind, phrase: String) -> Disclosure {
    Disclosure { kind, patient: text(patient, "id").unwrap_or_default().to_owned(), phrase }
}

/// Whether a code is long enough to identify a patient: six characters with four digits, or four digits with a label:
/// `MRN 00412`.
pub(crate) fn is_identifying(code: &Code) -> bool {
    let digits = code.text.bytes().filter(u8::is_ascii_digit).count();
    digits >= 4 && (code.is_labeled || code.text.len() >= 6)
}

/// A phone number without the North American country code.
pub(crate) fn national(digits: &str) -> String {
    let is_long = digits.len() == 11 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.strip_prefix('1').filter(|_| is_long).unwrap_or(digits).to_owned()
}

fn has_name(person: &Value, given: &str, family: &str) -> bool {
    person["name"].as_array().into_iter().flatten().any(|name| {
        // One given name may consist of two words: `José Luis`.
        let is_given = |it: &str| fold(it) == given || fold(it).split(' ').next() == Some(given);
        let has_given = name["given"].as_array().into_iter().flatten().filter_map(Value::as_str).any(is_given);
        has_given && text(name, "family").is_some_and(|it| fold(it) == family)
    })
}

/// Given and family names, folded.
pub(crate) fn name_parts(person: &Value) -> Vec<String> {
    let names = person["name"].as_array().into_iter().flatten();
    let parts = names.flat_map(|name| {
        let given = name["given"].as_array().into_iter().flatten().filter_map(Value::as_str);
        given.chain(text(name, "family")).map(fold).collect::<Vec<_>>()
    });
    parts.filter(|part| part.chars().count() > 1).collect()
}

pub(crate) fn address_lines(patient: &Value) -> Vec<String> {
    let addresses = patient["address"].as_array().into_iter().flatten();
    let lines =
        addresses.flat_map(|address| address["line"].as_array().into_iter().flatten().filter_map(Value::as_str));
    lines.filter(|line| line.contains(|c: char| c.is_ascii_digit())).map(ToOwned::to_owned).collect()
}

pub(crate) fn emails_of(patient: &Value) -> impl Iterator<Item = &str> {
    let points = patient["telecom"].as_array().into_iter().flatten();
    points.filter_map(|point| text(point, "value")).filter(|value| value.contains('@'))
}

/// The identifiers and phone numbers of a Patient, and the member ids of a Coverage.
pub(crate) fn numbers_of(resource: &Value) -> Vec<(DisclosureKind, String)> {
    let items = |member: &str| resource[member].as_array().cloned().unwrap_or_default();
    let value = |item: &Value| text(item, "value").map(ToOwned::to_owned);
    let mut numbers: Vec<(DisclosureKind, String)> =
        items("identifier").iter().filter_map(value).map(|value| (DisclosureKind::Identifier, value)).collect();
    numbers.extend(text(resource, "subscriberId").map(|id| (DisclosureKind::Identifier, id.to_owned())));
    let phones =
        items("telecom").into_iter().filter(|point| matches!(text(point, "system"), Some("phone" | "sms" | "fax")));
    numbers.extend(phones.filter_map(|point| value(&point)).map(|value| (DisclosureKind::Phone, value)));
    numbers
}

/// The spellings of a number in a text, without separators: with and without its letters.
pub(crate) fn spellings(kind: DisclosureKind, number: &str) -> BTreeSet<String> {
    if kind == DisclosureKind::Phone {
        return [national(&phone_digits(number))].into_iter().filter(|digits| digits.len() >= 7).collect();
    }
    let compact: String = number.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect();
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    [compact, digits].into_iter().filter(|code| code.bytes().filter(u8::is_ascii_digit).count() >= 4).collect()
}

type KnownCodes = BTreeMap<String, Vec<(DisclosureKind, String)>>;

fn known_codes(stores: &[&Records], context: &EvaluationContext<'_>) -> Result<KnownCodes, String> {
    let mut known: KnownCodes = BTreeMap::new();
    for records in stores {
        let collections = ["Patient", "Coverage"].into_iter();
        for (collection, as_of) in
            collections.flat_map(|name| points_in_time(records, name).map(move |as_of| (name, as_of)))
        {
            for record in records.live(collection, as_of) {
                context.budget.spend(record.text().len())?;
                let resource = record.json();
                let reference =
                    resource["beneficiary"]["reference"].as_str().and_then(|it| it.strip_prefix("Patient/"));
                let patient = if collection == "Patient" { record.key } else { reference.unwrap_or_default() };
                let numbers = numbers_of(&resource)
                    .into_iter()
                    .flat_map(|(kind, number)| spellings(kind, &number).into_iter().map(move |code| (kind, code)));
                let emails = emails_of(&resource).map(|email| (DisclosureKind::Email, email.to_lowercase()));
                for (kind, code) in numbers.chain(emails) {
                    let (owners, owner) = (known.entry(code).or_default(), (kind, patient.to_owned()));
                    if !owners.contains(&owner) {
                        owners.push(owner);
                    }
                }
            }
        }
    }
    Ok(known)
}

/// The formats of identifiers and phone numbers in a sample of all patients, the most frequent first.
fn formats(
    stores: &[&Records],
    patients: u64,
    context: &EvaluationContext<'_>,
) -> Result<Vec<(DisclosureKind, String)>, String> {
    let step = usize::try_from(patients).unwrap_or(usize::MAX) / SAMPLE + 1;
    let mut seen: BTreeMap<(DisclosureKind, String), usize> = BTreeMap::new();
    for records in stores {
        for record in records.live("Patient", Seq::MAX).step_by(step) {
            context.budget.spend(record.text().len() + step)?;
            for (kind, number) in numbers_of(&record.json()) {
                let format = number.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
                *seen.entry((kind, format)).or_default() += 1;
            }
        }
    }
    let mut formats: Vec<((DisclosureKind, String), usize)> = seen.into_iter().collect();
    formats.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(&right.0)));
    Ok(formats.into_iter().take(MOST_FORMATS).map(|(format, _)| format).collect())
}

/// Formats a number. It may lack the letters of the format, and the country code of a phone number.
fn apply_format(format: &str, code: &str) -> Option<String> {
    let letters =
        |text: &str| text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_uppercase).collect::<String>();
    let digit_count = format.chars().filter(|c| *c == '9').count();
    let (own, wanted) = (letters(code), letters(format));
    let digits: String = code.chars().filter(char::is_ascii_digit).collect();
    let digits = match digit_count.checked_sub(digits.len())? {
        0 => digits,
        1 if digit_count == 11 => format!("1{digits}"),
        _ => return None,
    };
    if !own.is_empty() && own != wanted {
        return None;
    }
    let mut digits = digits.chars();
    format.chars().map(|c| if c == '9' { digits.next() } else { Some(c) }).collect()
}
