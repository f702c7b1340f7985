//! 837 → 835: what was paid, and why not more (TR3 005010X221A1).

use x12::draft::SegmentDraft;

use super::adjudication::{Judged, Paid, PaidLine, check_number};
use super::claim::Line;
use super::desk::Desk;
use super::money::Cents;
use super::text::{capitals, segment};

pub(super) const VERSION: &str = "005010X221A1";

/// A decided claim with its decision.
pub(super) type Decided<'c> = (&'c Judged<'c>, &'c Paid);

/// The segments between ST and SE of the 835 for some claims of one billing provider.
pub(super) fn respond(desk: &Desk<'_>, provider: &SegmentDraft, decided: &[Decided<'_>]) -> Vec<SegmentDraft> {
    let Some((first, first_paid)) = decided.first() else { return Vec::new() };
    let day = first_paid.due.map_or_else(|| desk.today.clone(), |due| super::text::date_and_time(due).0);
    let total: Cents = decided.iter().map(|(_, paid)| paid.total()).sum();
    let (handling, method) = if total == Cents::default() { ("H", "NON") } else { ("I", "CHK") };
    let mut transfer = vec![handling.to_owned(), total.to_string(), "C".to_owned(), method.to_owned()];
    transfer.resize(15, String::new());
    transfer.push(day.clone());
    let mut segments = vec![
        SegmentDraft::of("BPR", transfer.iter().map(String::as_str)),
        segment("TRN", ["1", &check_number(desk, &first_paid.number), TAX_NUMBER]),
        segment("DTM", ["405", &day]),
        segment("N1", ["PR", &capitals(&first.claim.payer_name, 60)]),
        segment("N3", ["100 PLAN PLAZA"]),
        segment("N4", ["SPRINGFIELD", "IL", "62701"]),
        segment("PER", ["BL", "PROVIDER SERVICES", "TE", "8005550100"]),
        payee(provider),
        segment("LX", ["1"]),
    ];
    for (judged, paid) in decided {
        claim(&mut segments, judged, paid);
    }
    segments
}

/// TRN03: `1` and a tax number, which nobody has.
const TAX_NUMBER: &str = "1999999999";

/// N1*PE of the billing provider's NM1.
fn payee(provider: &SegmentDraft) -> SegmentDraft {
    let part = |at: usize| {
        let element = provider.elements.get(at - 1).and_then(|element| element.0.first()?.first());
        element.map_or("", String::as_str)
    };
    let name = match part(2) {
        "1" => format!("{} {}", part(4), part(3)),
        _ => part(3).to_owned(),
    };
    segment("N1", ["PE", &capitals(&name, 60), part(8), part(9)])
}

fn claim(segments: &mut Vec<SegmentDraft>, judged: &Judged<'_>, paid: &Paid) {
    let claim = judged.claim;
    let status = if paid.is_denied { "4" } else { "1" };
    let [charge, total] = [claim.charge.unwrap_or_default(), paid.total()].map(|amount| amount.to_string());
    let owed =
        Some(paid.owed()).filter(|owed| *owed != Cents::default()).map_or_else(String::new, |owed| owed.to_string());
    let filing = filing(&claim.filing);
    let (facility, frequency) = (claim.facility.as_str(), claim.frequency.as_str());
    let header = [claim.control.as_str(), status, &charge, &total, &owed, filing, &paid.number, facility, frequency];
    segments.push(segment("CLP", header));
    segments.push(claim.patient_segment());
    if let Some((first, last)) = &claim.days {
        segments.push(segment("DTM", ["232", first]));
        segments.push(segment("DTM", ["233", last]));
    }
    for (line, paid) in claim.lines.iter().zip(&paid.lines) {
        service(segments, line, paid);
    }
}

/// CLP06 of SBR09, which knows more kinds of plans.
fn filing(claimed: &str) -> &str {
    match claimed {
        "12" | "13" | "14" | "15" | "16" | "17" | "AM" | "CH" | "DS" | "HM" | "LM" | "MA" | "MB" | "MC" | "OF"
        | "TV" | "VA" | "WC" => claimed,
        "" | "BL" | "CI" => "12",
        _ => "ZZ",
    }
}

fn service(segments: &mut Vec<SegmentDraft>, line: &Line, paid: &PaidLine) {
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
