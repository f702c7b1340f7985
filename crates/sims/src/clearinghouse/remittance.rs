//! 837 → 835: payments and adjustments (TR3 005010X221A1).

use x12::draft::SegmentDraft;

use super::adjudication::{AdjudicatedClaim, LinePayment, PaymentDecision, check_number};
use super::claim::{Claim, ServiceLine};
use super::money::Cents;
use super::response_context::ResponseContext;
use super::text::{segment, uppercase};

pub(super) const VERSION: &str = "005010X221A1";

/// A claim and the decision about it.
pub(super) type DecidedClaim<'c> = (&'c AdjudicatedClaim<'c>, &'c PaymentDecision);

/// The segments between ST and SE of the 835 for claims of one billing provider.
pub(super) fn respond(
    context: &ResponseContext<'_>,
    provider: &SegmentDraft,
    decided: &[DecidedClaim<'_>],
) -> Vec<SegmentDraft> {
    let Some((first, first_paid)) = decided.first() else { return Vec::new() };
    let day = first_paid.due.map_or_else(|| context.today.clone(), |due| super::text::date_and_time(due).0);
    let total: Cents = decided.iter().map(|(_, decision)| decision.total()).sum();
    let (handling, method) = if total == Cents::default() { ("H", "NON") } else { ("I", "CHK") };
    let mut transfer = vec![handling.to_owned(), total.to_string(), "C".to_owned(), method.to_owned()];
    transfer.resize(15, String::new());
    transfer.push(day.clone());
    let mut segments = vec![
        SegmentDraft::of("BPR", transfer.iter().map(String::as_str)),
        segment("TRN", ["1", &check_number(context, &first_paid.number), TAX_NUMBER]),
        segment("DTM", ["405", &day]),
        segment("N1", ["PR", &uppercase(&first.claim.payer_name, 60)]),
        segment("N3", ["100 PLAN PLAZA"]),
        segment("N4", ["SPRINGFIELD", "IL", "62701"]),
        segment("PER", ["BL", "PROVIDER SERVICES", "TE", "8005550100"]),
        payee(provider),
        segment("LX", ["1"]),
    ];
    for (adjudicated, decision) in decided {
        claim_segments(&mut segments, adjudicated.claim, decision);
    }
    segments
}

/// TRN03: `1` and a tax ID that is not assigned to anyone.
const TAX_NUMBER: &str = "1999999999";

/// N1*PE, built from the billing provider's NM1.
fn payee(provider: &SegmentDraft) -> SegmentDraft {
    let part = |at: usize| {
        let element = provider.elements.get(at - 1).and_then(|element| element.0.first()?.first());
        element.map_or("", String::as_str)
    };
    let name = match part(2) {
        "1" => format!("{} {}", part(4), part(3)),
        _ => part(3).to_owned(),
    };
    segment("N1", ["PE", &uppercase(&name, 60), part(8), part(9)])
}

fn claim_segments(segments: &mut Vec<SegmentDraft>, claim: &Claim, decision: &PaymentDecision) {
    let status = if decision.is_denied { "4" } else { "1" };
    let [charge, total] = [claim.charge.unwrap_or_default(), decision.total()].map(|amount| amount.to_string());
    let owed = match decision.owed() {
        owed if owed == Cents::default() => String::new(),
        owed => owed.to_string(),
    };
    let filing = filing_indicator(&claim.filing);
    let (facility, frequency) = (claim.facility.as_str(), claim.frequency.as_str());
    let header =
        [claim.control.as_str(), status, &charge, &total, &owed, filing, &decision.number, facility, frequency];
    segments.push(segment("CLP", header));
    segments.push(claim.patient_segment());
    if let Some((first, last)) = &claim.days {
        segments.push(segment("DTM", ["232", first]));
        segments.push(segment("DTM", ["233", last]));
    }
    for (line, paid) in claim.lines.iter().zip(&decision.lines) {
        service_segments(segments, line, paid);
    }
}

/// CLP06 from SBR09, which has more codes.
fn filing_indicator(claimed: &str) -> &str {
    match claimed {
        "12" | "13" | "14" | "15" | "16" | "17" | "AM" | "CH" | "DS" | "HM" | "LM" | "MA" | "MB" | "MC" | "OF"
        | "TV" | "VA" | "WC" => claimed,
        "" | "BL" | "CI" => "12",
        _ => "ZZ",
    }
}

fn service_segments(segments: &mut Vec<SegmentDraft>, line: &ServiceLine, paid: &LinePayment) {
    let amounts = [paid.charge.to_string(), paid.paid.to_string(), String::new(), line.units.clone()];
    let start = SegmentDraft::new("SVC").with(line.procedure.clone());
    segments.push(amounts.into_iter().fold(start, SegmentDraft::with));
    segments.extend(line.day.as_ref().map(|day| segment("DTM", ["472", day])));
    for (group, reason, amount) in &paid.adjustments {
        segments.push(segment("CAS", [group, reason, &amount.to_string()]));
    }
    if !line.control.is_empty() {
        segments.push(segment("REF", ["6R", &line.control]));
    }
    let allowed =
        paid.paid + paid.adjustments.iter().filter(|(group, ..)| group == "PR").map(|(.., amount)| *amount).sum();
    segments.push(segment("AMT", ["B6", &allowed.to_string()]));
}
