//! Where a claim stands, and how a 277 says it (code sources 507 status category and 508 status).

use serde_json::Value;
use x12::Segment;
use x12::draft::{ElementDraft, SegmentDraft, composite};
use x12::loops::Loop;

use super::adjudication::paid_of;
use super::chart::{Chart, identifiers, is_same, items, text};
use super::config::{Payment, Status};
use super::desk::{CLAIMS, Desk};
use super::money::Cents;
use super::reject::Reject;
use super::text::{date, is_date, plain};

/// STC01: category, status, and who it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(&'static str, &'static str, &'static str);

impl Code {
    pub(super) const NOT_FOUND: Self = Self("A4", "35", "");
    pub(super) const IN_PROCESS: Self = Self("P1", "20", "");
    pub(super) const PAID: Self = Self("F1", "65", "");
    pub(super) const DENIED: Self = Self("F2", "585", "");
    pub(super) const INCORRECT_PAYER: Self = Self("E0", "116", "");
    pub(super) const PROVIDER_NUMBER: Self = Self("E0", "562", "1P");

    pub(super) fn of(status: Status) -> Self {
        match status {
            Status::Paid => Self::PAID,
            Status::Denied | Status::Inactive => Self::DENIED,
            Status::Approved | Status::Active => Self("F0", "3", ""),
            Status::Pending => Self::IN_PROCESS,
            Status::NeedMoreInfo => Self("P3", "123", "1P"),
        }
    }

    pub(super) fn of_reject(reject: &Reject) -> Self {
        match reject.0.as_str() {
            Reject::MEMBER_NUMBER => Self("E0", "164", "IL"),
            Reject::NAME => Self("E0", "125", "IL"),
            Reject::BIRTH_MISMATCH => Self("E0", "158", "IL"),
            Reject::UNABLE_TO_RESPOND => Self("E1", "0", ""),
            _ => Self("A4", "33", "IL"),
        }
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &'static str> {
        [self.0, self.1, self.2].into_iter()
    }

    fn is_final(self) -> bool {
        self.0.starts_with('F')
    }
}

/// What a 276 says of the claim that it asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Question {
    pub(super) trace: String,
    /// REF*1K.
    pub(super) payer_claim: String,
    /// REF*EJ.
    pub(super) control: String,
    charge: Option<Cents>,
    /// First and last day of the service.
    days: Option<(String, String)>,
    pub(super) procedures: Vec<String>,
    pub(super) lines: Vec<Line>,
}

#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) procedure: ElementDraft,
    pub(super) charge: Cents,
    pub(super) units: String,
    pub(super) day: String,
}

impl Question {
    pub(super) fn read(claim: &Loop<'_, '_, '_>, within: &str) -> Self {
        let trace = claim.segment("TRN").map_or_else(String::new, |trace| plain(trace.text_at(2), 50));
        let mut question = Self { trace, ..Self::default() };
        for segment in claim.segments() {
            match (segment.name(), segment.text_at(1)) {
                ("REF", "1K") => question.payer_claim = plain(segment.text_at(2), 50),
                ("REF", "EJ") => question.control = plain(segment.text_at(2), 50),
                ("AMT", "T3") => question.charge = Cents::read(segment.text_at(2)),
                ("DTP", "472" | "232") => question.days = days(&segment),
                _ => {}
            }
        }
        for line in claim.all(within) {
            question.lines.extend(Line::read(&line, question.days.as_ref()));
            let procedure = line.segment("SVC").and_then(|service| service.element(1)?.component(2).map(str::to_owned));
            question.procedures.extend(procedure);
        }
        question
    }

    /// Whether the claim can be the one that is asked for. What is not said holds for every claim.
    fn is_meant(&self, status: &ClaimStatus) -> bool {
        let is = |wanted: &str, known: &str| wanted.is_empty() || wanted == known;
        let overlaps = match (&self.days, &status.days) {
            (Some((from, to)), Some((first, last))) => from <= last && first <= to,
            _ => true,
        };
        let costs = self.charge.is_none_or(|charge| status.charge == charge);
        is(&self.payer_claim, &status.payer_claim) && is(&self.control, &status.control) && overlaps && costs
    }
}

impl Line {
    fn read(line: &Loop<'_, '_, '_>, days: Option<&(String, String)>) -> Option<Self> {
        let service = line.segment("SVC")?;
        let own = line.segments().filter(|segment| segment.name() == "DTP").find_map(|segment| self::days(&segment));
        let (day, _) = own.as_ref().or(days)?;
        let units = Some(plain(service.text_at(7), 15)).filter(|units| !units.is_empty());
        Some(Self {
            procedure: SegmentDraft::from(&service).elements.into_iter().next()?,
            charge: Cents::read(service.text_at(2)).unwrap_or_default(),
            units: units.unwrap_or_else(|| "1".to_owned()),
            day: day.clone(),
        })
    }
}

/// The first and the last day of a DTP: `D8` or `RD8`.
pub(super) fn days(segment: &Segment<'_>) -> Option<(String, String)> {
    let (first, last) = segment.text_at(3).split_once('-').unwrap_or((segment.text_at(3), segment.text_at(3)));
    (is_date(first) && is_date(last)).then(|| (first.to_owned(), last.to_owned()))
}

#[derive(Clone, Debug)]
pub(super) struct ClaimStatus {
    pub(super) code: Code,
    charge: Cents,
    paid: Cents,
    /// `CCYYMMDD` of the decision.
    decided: Option<String>,
    check: String,
    pub(super) payer_claim: String,
    pub(super) control: String,
    days: Option<(String, String)>,
}

impl ClaimStatus {
    /// Of a claim of which nothing is known but the question.
    pub(super) fn bare(code: Code, question: &Question) -> Self {
        Self {
            code,
            charge: question.charge.unwrap_or_default(),
            paid: Cents::default(),
            decided: None,
            check: String::new(),
            payer_claim: question.payer_claim.clone(),
            control: question.control.clone(),
            days: question.days.clone(),
        }
    }

    /// STC. What was paid, and when, is told of what is final.
    pub(super) fn segment(&self, today: &str) -> SegmentDraft {
        let decided = self.decided.as_deref().unwrap_or(today);
        let paid = self.paid.to_string();
        let is_paid = self.code == Code::PAID;
        let adjudicated = if self.code.is_final() { decided } else { "" };
        let (remitted, check) = if is_paid { (decided, self.check.as_str()) } else { ("", "") };
        let paid = if self.code.is_final() { paid.as_str() } else { "" };
        let charge = self.charge.to_string();
        let rest = [today, "", &charge, paid, adjudicated, "", remitted, check];
        rest.into_iter().fold(SegmentDraft::new("STC").with(composite(self.code.parts())), SegmentDraft::with)
    }

    pub(super) fn dates(&self) -> Option<(&'static str, String)> {
        self.days.as_ref().map(|(first, last)| match first == last {
            true => ("D8", first.clone()),
            false => ("RD8", format!("{first}-{last}")),
        })
    }

    /// What of the payment is for a line of this charge.
    pub(super) fn paid_for(&self, charge: Cents) -> Cents {
        match self.charge.0 {
            0 => Cents::default(),
            whole => {
                Cents(i64::try_from(i128::from(self.paid.0) * i128::from(charge.0) / i128::from(whole)).unwrap_or(0))
            }
        }
    }
}

/// An author's status on the claim that is known, or on the question alone. What is paid is what an 835 would tell.
pub(super) fn decided(
    found: Vec<ClaimStatus>,
    code: Code,
    question: &Question,
    payment: Option<&Payment>,
) -> ClaimStatus {
    let known = found.into_iter().next();
    let mut status = known.unwrap_or_else(|| ClaimStatus::bare(code, question));
    status.code = code;
    if code == Code::PAID && status.paid == Cents::default() {
        status.paid = paid_of(payment, status.charge);
    }
    if !code.is_final() || code == Code::DENIED {
        status.paid = Cents::default();
    }
    status
}

/// Most claims that one question is answered with.
const MOST_CLAIMS: usize = 10;

/// Claims that came in here as an 837.
pub(super) fn submitted(desk: &Desk<'_>, question: &Question, member: &str) -> Vec<ClaimStatus> {
    let of_row = |key: &str, row: &Value| {
        let amount = |name: &str| row.get(name).and_then(Cents::of_json).unwrap_or_default();
        let word = |name: &str| text(row, name).unwrap_or_default().to_owned();
        let is_over = |due: &str| due.parse::<jiff::Timestamp>().is_ok_and(|due| due.as_millisecond() <= desk.now.0);
        let is_decided = text(row, "due_at").is_none_or(is_over);
        let code = match text(row, "status").filter(|_| is_decided) {
            Some("paid" | "approved") => Code::PAID,
            Some("denied") => Code::DENIED,
            Some("need_more_info") => Code::of(Status::NeedMoreInfo),
            _ => Code::IN_PROCESS,
        };
        ClaimStatus {
            code,
            charge: amount("charge"),
            paid: if code.is_final() { amount("paid") } else { Cents::default() },
            decided: text(row, "due_at").or_else(|| text(row, "received_at")).and_then(date).filter(|_| is_decided),
            check: word("check"),
            payer_claim: key.to_owned(),
            control: word("patient_control_number"),
            days: Some((word("from"), word("to"))).filter(|(from, _)| !from.is_empty()),
        }
    };
    let is_members = |row: &Value| text(row, "member") == Some(member);
    let rows: Vec<(String, Value)> = match question.payer_claim.as_str() {
        "" => desk
            .sandbox
            .records
            .own(CLAIMS)
            .map(|record| (record.key.to_owned(), Value::clone(&record.json())))
            .collect(),
        number => desk.row(CLAIMS, number).map(|row| (number.to_owned(), row)).into_iter().collect(),
    };
    let own = rows.iter().filter(|(_, row)| is_members(row)).map(|(key, row)| of_row(key, row));
    own.filter(|status| question.is_meant(status)).take(MOST_CLAIMS).collect()
}

/// Claims of the record, with their responses.
pub(super) fn recorded(chart: &Chart<'_>, question: &Question, patient: &Value) -> Vec<ClaimStatus> {
    let Some(id) = text(patient, "id") else { return Vec::new() };
    let claims = chart.find("Claim", &[("patient", &format!("Patient/{id}"))]);
    let is_claim = |claim: &&std::sync::Arc<Value>| text(claim, "use") != Some("preauthorization");
    let statuses = claims.iter().filter(is_claim).map(|claim| of_claim(chart, claim, question));
    statuses.filter(|status| question.is_meant(status)).take(MOST_CLAIMS).collect()
}

/// A claim may go by any of its identifiers: by the one that is asked for, else by the first.
fn of_claim(chart: &Chart<'_>, claim: &Value, question: &Question) -> ClaimStatus {
    let id = text(claim, "id").unwrap_or_default();
    let response = chart.find("ClaimResponse", &[("request", &format!("Claim/{id}"))]).into_iter().next_back();
    let named = |resource: &Value, wanted: &str| {
        let own = text(resource, "id").unwrap_or_default();
        let known: Vec<&str> = identifiers(resource).collect();
        let is_wanted = wanted == own || known.contains(&wanted);
        plain(if is_wanted { wanted } else { known.first().copied().unwrap_or(own) }, 50)
    };
    let edge = |name: &str| claim.get("billablePeriod").and_then(|period| text(period, name)).and_then(date);
    let (first, last) = (edge("start"), edge("end"));
    let days = first.clone().or_else(|| last.clone()).zip(last.or(first));
    let payment = response.as_ref().and_then(|response| response.get("payment").cloned()).unwrap_or_default();
    let paid = payment.get("amount").and_then(|amount| Cents::of_json(amount.get("value")?));
    let benefit = response.as_ref().and_then(|response| total(response, "benefit"));
    let paid = paid.or(benefit).unwrap_or_default();
    ClaimStatus {
        code: response.as_ref().map_or(Code::IN_PROCESS, |response| code_of(response, paid)),
        charge: claim.get("total").and_then(|total| Cents::of_json(total.get("value")?)).unwrap_or_default(),
        paid,
        decided: response.as_ref().and_then(|response| text(response, "created")).and_then(date),
        check: payment
            .get("identifier")
            .and_then(|found| text(found, "value"))
            .map_or_else(String::new, |check| plain(check, 16)),
        payer_claim: response.as_ref().map_or_else(String::new, |response| named(response, &question.payer_claim)),
        control: named(claim, &question.control),
        days,
    }
}

fn code_of(response: &Value, paid: Cents) -> Code {
    let is_denied =
        text(response, "disposition").is_some_and(|said| ["denied", "rejected"].iter().any(|word| is_same(said, word)));
    match text(response, "outcome") {
        Some("complete") if is_denied || paid <= Cents::default() => Code::DENIED,
        Some("complete") => Code::PAID,
        Some("error") => Code::DENIED,
        _ => Code::IN_PROCESS,
    }
}

/// `total` of a category such as `benefit`.
fn total(response: &Value, category: &str) -> Option<Cents> {
    let is_meant = |total: &&Value| {
        total.get("category").is_some_and(|kind| super::chart::codes(kind).any(|code| code == category))
    };
    Cents::of_json(items(response, "total").iter().find(is_meant)?.get("amount")?.get("value")?)
}
