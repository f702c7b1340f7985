//! The status of a claim and its STC segment (code sources 507 status category and 508 status).

use clinical::PartialDateTime;
use serde_json::Value;
use x12::Segment;
use x12::draft::{ElementDraft, SegmentDraft, composite};
use x12::loops::Loop;

use super::adjudication::paid_amount;
use super::chart::{Chart, identifiers, is_same, items, text};
use super::config::{Payment, Status};
use super::money::Cents;
use super::reject::Reject;
use super::response_context::{CLAIMS, ResponseContext};
use super::text::{date, plain};

/// STC01: status category, status, and entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatusCode(&'static str, &'static str, &'static str);

impl StatusCode {
    pub(super) const NOT_FOUND: Self = Self("A4", "35", "");
    pub(super) const IN_PROCESS: Self = Self("P1", "20", "");
    pub(super) const PAID: Self = Self("F1", "65", "");
    pub(super) const DENIED: Self = Self("F2", "585", "");
    pub(super) const INCORRECT_PAYER: Self = Self("E0", "116", "");
    pub(super) const PROVIDER_NUMBER: Self = Self("E0", "562", "1P");

    pub(super) fn from_rule(status: Status) -> Self {
        match status {
            Status::Paid => Self::PAID,
            Status::Denied | Status::Inactive => Self::DENIED,
            Status::Approved | Status::Active => Self("F0", "3", ""),
            Status::Pending => Self::IN_PROCESS,
            Status::NeedMoreInfo => Self("P3", "123", "1P"),
        }
    }

    pub(super) fn from_reject(reject: &Reject) -> Self {
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

/// The claim that a 276 asks about. Empty members are not specified.
#[derive(Clone, Debug, Default)]
pub(super) struct StatusRequest {
    pub(super) trace: String,
    /// REF*1K.
    pub(super) payer_claim: String,
    /// REF*EJ.
    pub(super) control: String,
    charge: Option<Cents>,
    /// First and last day of the service.
    days: Option<(String, String)>,
    pub(super) procedures: Vec<String>,
    pub(super) lines: Vec<StatusRequestLine>,
}

#[derive(Clone, Debug)]
pub(super) struct StatusRequestLine {
    pub(super) procedure: ElementDraft,
    pub(super) charge: Cents,
    pub(super) units: String,
    pub(super) day: String,
}

impl StatusRequest {
    pub(super) fn read(claim: &Loop<'_, '_, '_>, within: &str) -> Self {
        let trace = claim.segment("TRN").map_or_else(String::new, |trace| plain(trace.text_at(2), 50));
        let mut request = Self { trace, ..Self::default() };
        for segment in claim.segments() {
            match (segment.name(), segment.text_at(1)) {
                ("REF", "1K") => request.payer_claim = plain(segment.text_at(2), 50),
                ("REF", "EJ") => request.control = plain(segment.text_at(2), 50),
                ("AMT", "T3") => request.charge = Cents::parse(segment.text_at(2)),
                ("DTP", "472" | "232") => request.days = days(&segment),
                _ => {}
            }
        }
        for line in claim.all(within) {
            request.lines.extend(StatusRequestLine::read(&line, request.days.as_ref()));
            let procedure = line.segment("SVC").and_then(|service| service.element(1)?.component(2).map(str::to_owned));
            request.procedures.extend(procedure);
        }
        request
    }

    /// Whether a claim matches the request.
    fn matches(&self, status: &ClaimStatus) -> bool {
        let equals = |requested: &str, known: &str| requested.is_empty() || requested == known;
        let overlaps = match (&self.days, &status.days) {
            (Some((from, to)), Some((first, last))) => from <= last && first <= to,
            _ => true,
        };
        let has_charge = self.charge.is_none_or(|charge| status.charge == charge);
        equals(&self.payer_claim, &status.payer_claim)
            && equals(&self.control, &status.control)
            && overlaps
            && has_charge
    }
}

impl StatusRequestLine {
    fn read(line: &Loop<'_, '_, '_>, days: Option<&(String, String)>) -> Option<Self> {
        let service = line.segment("SVC")?;
        let line_days =
            line.segments().filter(|segment| segment.name() == "DTP").find_map(|segment| self::days(&segment));
        let (day, _) = line_days.as_ref().or(days)?;
        let units = Some(plain(service.text_at(7), 15)).filter(|units| !units.is_empty());
        Some(Self {
            procedure: SegmentDraft::from(&service).elements.into_iter().next()?,
            charge: Cents::parse(service.text_at(2)).unwrap_or_default(),
            units: units.unwrap_or_else(|| "1".to_owned()),
            day: day.clone(),
        })
    }
}

/// The first and last day of a DTP segment (`D8` or `RD8`).
pub(super) fn days(segment: &Segment<'_>) -> Option<(String, String)> {
    let (first, last) = segment.text_at(3).split_once('-').unwrap_or((segment.text_at(3), segment.text_at(3)));
    let is_date = |text: &str| PartialDateTime::parse_x12_date(text).is_some();
    (is_date(first) && is_date(last)).then(|| (first.to_owned(), last.to_owned()))
}

#[derive(Clone, Debug)]
pub(super) struct ClaimStatus {
    pub(super) code: StatusCode,
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
    /// The status of a claim that is only known from the request.
    pub(super) fn unknown(code: StatusCode, request: &StatusRequest) -> Self {
        Self {
            code,
            charge: request.charge.unwrap_or_default(),
            paid: Cents::default(),
            decided: None,
            check: String::new(),
            payer_claim: request.payer_claim.clone(),
            control: request.control.clone(),
            days: request.days.clone(),
        }
    }

    /// STC. Payment amount and date are only sent for final statuses.
    pub(super) fn segment(&self, today: &str) -> SegmentDraft {
        let decided = self.decided.as_deref().unwrap_or(today);
        let paid = self.paid.to_string();
        let is_paid = self.code == StatusCode::PAID;
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

    /// The share of the payment for a line with this charge.
    pub(super) fn paid_for(&self, charge: Cents) -> Cents {
        match self.charge.0 {
            0 => Cents::default(),
            whole => {
                Cents(i64::try_from(i128::from(self.paid.0) * i128::from(charge.0) / i128::from(whole)).unwrap_or(0))
            }
        }
    }
}

/// Applies a rule's status to the first claim found, or to the request if none was found. The paid amount is that of the 835.
pub(super) fn with_code(
    found: Vec<ClaimStatus>,
    code: StatusCode,
    request: &StatusRequest,
    payment: Option<&Payment>,
) -> ClaimStatus {
    let claim = found.into_iter().next();
    let mut status = claim.unwrap_or_else(|| ClaimStatus::unknown(code, request));
    status.code = code;
    if code == StatusCode::PAID && status.paid == Cents::default() {
        status.paid = paid_amount(payment, status.charge);
    }
    if !code.is_final() || code == StatusCode::DENIED {
        status.paid = Cents::default();
    }
    status
}

/// The maximum number of claims in the response to one request.
const MAX_CLAIMS: usize = 10;

/// Claims that this clearinghouse received as an 837.
pub(super) fn submitted(context: &ResponseContext<'_>, request: &StatusRequest, member: &str) -> Vec<ClaimStatus> {
    let of_row = |key: &str, row: &Value| {
        let amount = |name: &str| row.get(name).and_then(Cents::from_json).unwrap_or_default();
        let member = |name: &str| text(row, name).unwrap_or_default().to_owned();
        let is_over = |due: &str| due.parse::<jiff::Timestamp>().is_ok_and(|due| due.as_millisecond() <= context.now.0);
        let is_decided = text(row, "due_at").is_none_or(is_over);
        let code = match text(row, "status").filter(|_| is_decided) {
            Some("paid" | "approved") => StatusCode::PAID,
            Some("denied") => StatusCode::DENIED,
            Some("need_more_info") => StatusCode::from_rule(Status::NeedMoreInfo),
            _ => StatusCode::IN_PROCESS,
        };
        ClaimStatus {
            code,
            charge: amount("charge"),
            paid: if code.is_final() { amount("paid") } else { Cents::default() },
            decided: text(row, "due_at").or_else(|| text(row, "received_at")).and_then(date).filter(|_| is_decided),
            check: member("check"),
            payer_claim: key.to_owned(),
            control: member("patient_control_number"),
            days: Some((member("from"), member("to"))).filter(|(from, _)| !from.is_empty()),
        }
    };
    let is_members = |row: &Value| text(row, "member") == Some(member);
    let rows: Vec<(String, Value)> = match request.payer_claim.as_str() {
        "" => context
            .sandbox
            .records
            .own(CLAIMS)
            .map(|record| (record.key.to_owned(), Value::clone(&record.json())))
            .collect(),
        number => context.row(CLAIMS, number).map(|row| (number.to_owned(), row)).into_iter().collect(),
    };
    let own = rows.iter().filter(|(_, row)| is_members(row)).map(|(key, row)| of_row(key, row));
    own.filter(|status| request.matches(status)).take(MAX_CLAIMS).collect()
}

/// Claims of the FHIR data, with their ClaimResponses.
pub(super) fn from_fhir(chart: &Chart<'_>, request: &StatusRequest, patient: &Value) -> Vec<ClaimStatus> {
    let Some(id) = text(patient, "id") else { return Vec::new() };
    let claims = chart.find("Claim", &[("patient", &format!("Patient/{id}"))]);
    let is_claim = |claim: &&std::sync::Arc<Value>| text(claim, "use") != Some("preauthorization");
    let statuses = claims.iter().filter(is_claim).map(|claim| claim_status(chart, claim, request));
    statuses.filter(|status| request.matches(status)).take(MAX_CLAIMS).collect()
}

/// Reports a claim under the requested identifier if it has that one, or else under its first.
fn claim_status(chart: &Chart<'_>, claim: &Value, request: &StatusRequest) -> ClaimStatus {
    let id = text(claim, "id").unwrap_or_default();
    let response = chart.find("ClaimResponse", &[("request", &format!("Claim/{id}"))]).into_iter().next_back();
    let identifier = |resource: &Value, requested: &str| {
        let own = text(resource, "id").unwrap_or_default();
        let known: Vec<&str> = identifiers(resource).collect();
        let is_requested = requested == own || known.contains(&requested);
        plain(if is_requested { requested } else { known.first().copied().unwrap_or(own) }, 50)
    };
    let edge = |name: &str| claim.get("billablePeriod").and_then(|period| text(period, name)).and_then(date);
    let (first, last) = (edge("start"), edge("end"));
    let days = first.clone().or_else(|| last.clone()).zip(last.or(first));
    let payment = response.as_ref().and_then(|response| response.get("payment").cloned()).unwrap_or_default();
    let paid = payment.get("amount").and_then(|amount| Cents::from_json(amount.get("value")?));
    let benefit = response.as_ref().and_then(|response| total(response, "benefit"));
    let paid = paid.or(benefit).unwrap_or_default();
    ClaimStatus {
        code: response.as_ref().map_or(StatusCode::IN_PROCESS, |response| code_of(response, paid)),
        charge: claim.get("total").and_then(|total| Cents::from_json(total.get("value")?)).unwrap_or_default(),
        paid,
        decided: response.as_ref().and_then(|response| text(response, "created")).and_then(date),
        check: payment
            .get("identifier")
            .and_then(|found| text(found, "value"))
            .map_or_else(String::new, |check| plain(check, 16)),
        payer_claim: response.as_ref().map_or_else(String::new, |response| identifier(response, &request.payer_claim)),
        control: identifier(claim, &request.control),
        days,
    }
}

fn code_of(response: &Value, paid: Cents) -> StatusCode {
    let is_denied =
        text(response, "disposition").is_some_and(|text| ["denied", "rejected"].iter().any(|word| is_same(text, word)));
    match text(response, "outcome") {
        Some("complete") if is_denied || paid <= Cents::default() => StatusCode::DENIED,
        Some("complete") => StatusCode::PAID,
        Some("error") => StatusCode::DENIED,
        _ => StatusCode::IN_PROCESS,
    }
}

/// The `total` with a category such as `benefit`.
fn total(response: &Value, category: &str) -> Option<Cents> {
    let has_category = |total: &&Value| {
        total.get("category").is_some_and(|concept| super::chart::codes(concept).any(|code| code == category))
    };
    Cents::from_json(items(response, "total").iter().find(has_category)?.get("amount")?.get("value")?)
}
