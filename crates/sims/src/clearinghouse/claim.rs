//! Reads the claims of an 837 (TR3 005010X222A1 professional, 005010X223A2 institutional).

use x12::draft::{ElementDraft, SegmentDraft};
use x12::loops::{Loop, Loops};

use super::money::Cents;
use super::person::PersonQuery;
use super::status::days;
use super::text::plain;

/// The claims of one billing provider.
pub(super) struct ProviderClaims {
    /// NM1*85.
    pub(super) provider: SegmentDraft,
    pub(super) claims: Vec<Claim>,
}

pub(super) struct Claim {
    /// CLM01.
    pub(super) control: String,
    pub(super) charge: Option<Cents>,
    /// CLM05-1 and CLM05-3.
    pub(super) facility: String,
    pub(super) frequency: String,
    /// SBR09.
    pub(super) filing: String,
    pub(super) subscriber: PersonQuery,
    /// The patient, if that is not the subscriber.
    pub(super) dependent: Option<PersonQuery>,
    /// The name of the patient.
    pub(super) patient: PatientName,
    /// NM103 and NM109 of the payer.
    pub(super) payer_name: String,
    pub(super) payer: String,
    pub(super) days: Option<(String, String)>,
    pub(super) lines: Vec<ServiceLine>,
}

pub(super) struct PatientName {
    pub(super) last: String,
    pub(super) first: String,
    pub(super) middle: String,
}

pub(super) struct ServiceLine {
    pub(super) procedure: ElementDraft,
    pub(super) code: String,
    pub(super) charge: Cents,
    pub(super) units: String,
    pub(super) day: Option<String>,
    /// REF*6R.
    pub(super) control: String,
}

/// Reads the claims by billing provider, in order.
pub(super) fn read_claims(loops: &Loops<'_, '_>) -> Vec<ProviderClaims> {
    let root = loops.root();
    root.all("2000A").filter_map(|provider| provider_claims(&provider)).collect()
}

fn provider_claims(provider: &Loop<'_, '_, '_>) -> Option<ProviderClaims> {
    let name = provider.child("2010AA")?.segment("NM1")?;
    let mut claims = Vec::new();
    for subscriber in provider.all("2000B") {
        claims.extend(subscriber.all("2300").filter_map(|claim| read(&subscriber, None, &claim)));
        for dependent in subscriber.all("2000C") {
            claims.extend(dependent.all("2300").filter_map(|claim| read(&subscriber, Some(&dependent), &claim)));
        }
    }
    Some(ProviderClaims { provider: SegmentDraft::from(&name), claims })
}

fn read(
    subscriber: &Loop<'_, '_, '_>,
    dependent: Option<&Loop<'_, '_, '_>>,
    claim: &Loop<'_, '_, '_>,
) -> Option<Claim> {
    let header = claim.segment("CLM")?;
    let subscriber_name = subscriber.child("2010BA")?;
    let insured = subscriber_name.segment("NM1")?;
    let query = PersonQuery::read(&insured, subscriber_name.segment("DMG"));
    let dependent = dependent.and_then(|dependent| dependent.child("2010CA"));
    let patient = dependent.and_then(|dependent| dependent.segment("NM1")).unwrap_or(insured);
    let dependent = dependent.and_then(|name| Some(PersonQuery::read(&name.segment("NM1")?, name.segment("DMG"))));
    let clm05 = |part: usize| header.element(5).and_then(|element| element.component(part)).unwrap_or_default();
    let payer = subscriber.child("2010BB").and_then(|payer| payer.segment("NM1"));
    let payer_element = |number: usize, max_chars: usize| {
        payer.map_or_else(String::new, |payer| plain(payer.text_at(number), max_chars))
    };
    let statement = claim.segments().filter(|segment| segment.name() == "DTP" && segment.text_at(1) == "434");
    let statement_days = statement.filter_map(|segment| days(&segment)).next();
    let lines: Vec<ServiceLine> = claim.all("2400").filter_map(|line| read_line(&line)).collect();
    let line_days: Vec<&String> = lines.iter().filter_map(|line| line.day.as_ref()).collect();
    let first_and_last = line_days.iter().min().zip(line_days.iter().max());
    let line_days = first_and_last.map(|(first, last)| ((**first).clone(), (**last).clone()));
    Some(Claim {
        control: plain(header.text_at(1), 38),
        charge: Cents::parse(header.text_at(2)),
        facility: plain(clm05(1), 2),
        frequency: plain(clm05(3), 1),
        filing: subscriber.segment("SBR").map_or_else(String::new, |segment| plain(segment.text_at(9), 2)),
        subscriber: query,
        dependent,
        patient: PatientName {
            last: plain(patient.text_at(3), 60),
            first: plain(patient.text_at(4), 35),
            middle: plain(patient.text_at(5), 25),
        },
        payer_name: payer_element(3, 60),
        payer: payer_element(9, 80),
        days: statement_days.or(line_days),
        lines,
    })
}

/// Reads an LX loop with its SV1 or SV2.
fn read_line(line: &Loop<'_, '_, '_>) -> Option<ServiceLine> {
    let service = line.segments().find(|segment| matches!(segment.name(), "SV1" | "SV2"))?;
    let (procedure, charge, units) = if service.name() == "SV1" { (1, 2, 4) } else { (2, 3, 5) };
    let day = line.segments().filter(|segment| segment.name() == "DTP" && segment.text_at(1) == "472");
    let control = line.segments().find(|segment| segment.name() == "REF" && segment.text_at(1) == "6R");
    let code = service.element(procedure).and_then(|element| element.component(2)).unwrap_or_default();
    Some(ServiceLine {
        procedure: SegmentDraft::from(&service).elements.into_iter().nth(procedure - 1).unwrap_or_default(),
        code: plain(code, 48),
        charge: Cents::parse(service.text_at(charge)).unwrap_or_default(),
        units: plain(service.text_at(units), 15),
        day: day.filter_map(|segment| days(&segment)).map(|(first, _)| first).next(),
        control: control.map_or_else(String::new, |segment| plain(segment.text_at(2), 50)),
    })
}

impl Claim {
    pub(super) fn procedures(&self) -> Vec<String> {
        self.lines.iter().map(|line| line.code.clone()).filter(|code| !code.is_empty()).collect()
    }

    /// NM1*QC.
    pub(super) fn patient_segment(&self) -> SegmentDraft {
        let PatientName { last, first, middle } = &self.patient;
        let number = plain(&self.subscriber.member, 80);
        let qualifier = if number.is_empty() { "" } else { "MI" };
        SegmentDraft::of("NM1", ["QC", "1", last, first, middle, "", "", qualifier, &number])
    }

    pub(super) fn service_dates(&self) -> Option<(&'static str, String)> {
        self.days.as_ref().map(|(first, last)| match first == last {
            true => ("D8", first.clone()),
            false => ("RD8", format!("{first}-{last}")),
        })
    }
}
