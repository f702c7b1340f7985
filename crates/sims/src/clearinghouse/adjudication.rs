//! What becomes of the claims of an 837: taken in or returned, and paid or denied where a rule says so.

use model::Timestamp;
use serde_json::json;
use x12::draft::SegmentDraft;

use super::claim::{Batch, Claim};
use super::config::{Payment, Rule, Status};
use super::desk::{CLAIMS, Desk};
use super::member::{Payer, identify, identify_dependent};
use super::money::{Cents, Share};
use super::reject::Reject;
use super::rules::Asked;

/// Of one claim.
pub(super) struct Judged<'c> {
    pub(super) claim: &'c Claim,
    pub(super) intake: Intake,
    pub(super) payment: Option<Paid>,
}

pub(super) enum Intake {
    /// With the payer's claim number.
    Taken(String),
    /// STC01 of the 277CA.
    Returned([&'static str; 3]),
}

/// A decision that an 835 tells.
pub(super) struct Paid {
    /// None for at once.
    pub(super) due: Option<Timestamp>,
    pub(super) number: String,
    pub(super) is_denied: bool,
    pub(super) lines: Vec<PaidLine>,
}

/// The charge is what was paid and all adjustments together.
pub(super) struct PaidLine {
    pub(super) charge: Cents,
    pub(super) paid: Cents,
    /// CAS: group, reason and amount.
    pub(super) adjustments: Vec<(String, String, Cents)>,
}

impl Paid {
    pub(super) fn total(&self) -> Cents {
        self.lines.iter().map(|line| line.paid).sum()
    }

    /// What the patient owes.
    pub(super) fn owed(&self) -> Cents {
        let adjustments = self.lines.iter().flat_map(|line| &line.adjustments);
        adjustments.filter(|(group, _, _)| group == "PR").map(|(_, _, amount)| *amount).sum()
    }
}

/// Judges all claims of a billing provider, and keeps those that are taken in.
pub(super) fn judge<'c>(desk: &mut Desk<'_>, batch: &'c Batch) -> Vec<Judged<'c>> {
    batch.claims.iter().map(|claim| judge_one(desk, claim, &batch.provider)).collect()
}

fn judge_one<'c>(desk: &mut Desk<'_>, claim: &'c Claim, provider: &SegmentDraft) -> Judged<'c> {
    let returned = |code: [&'static str; 3]| Judged { claim, intake: Intake::Returned(code), payment: None };
    let procedures = claim.procedures();
    let asked =
        Asked { member: &claim.subscriber.member, procedures: &procedures, payer: &claim.payer, ..Asked::default() };
    let rule = desk.config.rule(&asked).map(|(_, rule)| rule.clone());
    if let Some(code) = fault(desk, claim, rule.as_ref()) {
        return returned(code);
    }
    let charge = claim.charge.unwrap_or_default();
    let npi = provider.elements.get(8).and_then(|element| element.0.first()?.first()).map_or("", String::as_str);
    let what = [&claim.payer, &claim.subscriber.member, &claim.control, &charge.to_string(), npi];
    let number = desk.number("C", &what.map(|part: &str| part));
    if desk.row(CLAIMS, &number).is_some() {
        return returned(["A3", "54", ""]);
    }
    let payment = rule.as_ref().and_then(|rule| paid(desk, claim, rule, &number));
    keep(desk, claim, &number, rule.as_ref(), payment.as_ref());
    Judged { claim, intake: Intake::Taken(number), payment }
}

/// Why a claim is not taken in.
fn fault(desk: &Desk<'_>, claim: &Claim, rule: Option<&Rule>) -> Option<[&'static str; 3]> {
    let lines: Cents = claim.lines.iter().map(|line| line.charge).sum();
    if claim.charge != Some(lines) {
        return Some(["A7", "178", ""]);
    }
    if rule.is_some_and(|rule| rule.aaa.is_some()) {
        return Some(["A3", "33", "IL"]);
    }
    if rule.is_some_and(|rule| rule.r#match.member.is_some()) {
        return None;
    }
    let day = claim.days.as_ref().map_or(desk.today.as_str(), |(first, _)| first);
    let payer = Payer::named(&desk.chart, &claim.payer, &claim.payer_name, desk.config.names_payer(&claim.payer));
    let found = payer.and_then(|payer| {
        let subscriber = identify(&desk.chart, &claim.subscriber, &payer, day)?;
        match &claim.dependent {
            None => Ok(subscriber),
            Some(dependent) => identify_dependent(&desk.chart, dependent, &subscriber, &payer, day),
        }
    });
    // Without a record there is nobody to ask.
    let reject = found.err().filter(|_| !desk.chart.is_absent())?;
    Some(match reject.0.as_str() {
        Reject::PAYER => ["A3", "116", ""],
        Reject::MEMBER_NUMBER => ["A7", "164", "IL"],
        Reject::NAME => ["A7", "125", "IL"],
        Reject::BIRTH_MISMATCH => ["A7", "158", "IL"],
        Reject::PATIENT_NOT_FOUND => ["A3", "97", "PR"],
        _ => ["A3", "33", "IL"],
    })
}

/// By a rule that pays or denies.
fn paid(desk: &Desk<'_>, claim: &Claim, rule: &Rule, number: &str) -> Option<Paid> {
    let is_denied = match rule.status? {
        Status::Paid | Status::Approved | Status::Active => false,
        Status::Denied | Status::Inactive => true,
        Status::Pending | Status::NeedMoreInfo => return None,
    };
    let terms = Terms::of(rule.payment.as_ref(), is_denied);
    let due = rule.delay_seconds.filter(|seconds| *seconds > 0);
    let due = due.map(|seconds| desk.now.plus_milliseconds(seconds.saturating_mul(1000)));
    let mut copay = terms.copay;
    let lines = claim.lines.iter().map(|line| {
        let (line, rest) = terms.line(line.charge, copay);
        copay = rest;
        line
    });
    Some(Paid { due, number: number.to_owned(), is_denied, lines: lines.collect() })
}

/// What is paid of a charge that a rule pays.
pub(super) fn paid_of(payment: Option<&Payment>, charge: Cents) -> Cents {
    let terms = Terms::of(payment, false);
    terms.line(charge, terms.copay).0.paid
}

struct Terms {
    share: Share,
    group: String,
    reason: String,
    copay: Cents,
}

impl Terms {
    fn of(payment: Option<&Payment>, is_denied: bool) -> Self {
        let share = payment.and_then(|payment| Share::of_json(payment.percent.as_ref()?));
        let copay = payment.and_then(|payment| Cents::of_json(payment.copay.as_ref()?));
        let word = |value: Option<&String>, usual: &str| value.map_or(usual, String::as_str).to_owned();
        Self {
            share: if is_denied { Share::NOTHING } else { share.unwrap_or(Share::WHOLE) },
            group: word(payment.and_then(|payment| payment.group.as_ref()), "CO"),
            // Not deemed a medical necessity; charges beyond the fee schedule.
            reason: word(payment.and_then(|payment| payment.reason.as_ref()), if is_denied { "50" } else { "45" }),
            copay: if is_denied { Cents::default() } else { copay.unwrap_or_default() },
        }
    }

    /// The line, and what of the copay is left for the next.
    fn line(&self, charge: Cents, copay: Cents) -> (PaidLine, Cents) {
        let allowed = charge.part(self.share);
        let taken = copay.min(allowed);
        let withheld = charge - allowed;
        let adjustments = [(&self.group, &self.reason, withheld), (&"PR".to_owned(), &"3".to_owned(), taken)];
        let adjustments = adjustments.into_iter().filter(|(_, _, amount)| *amount != Cents::default());
        let adjustments = adjustments.map(|(group, reason, amount)| (group.clone(), reason.clone(), amount));
        (PaidLine { charge, paid: allowed - taken, adjustments: adjustments.collect() }, copay - taken)
    }
}

fn keep(desk: &mut Desk<'_>, claim: &Claim, number: &str, rule: Option<&Rule>, paid: Option<&Paid>) {
    let (from, to) = claim.days.clone().unwrap_or_default();
    let check = paid.map(|paid| check_number(desk, &paid.number)).unwrap_or_default();
    let row = json!({
        "patient_control_number": claim.control,
        "member": claim.subscriber.member,
        "payer": claim.payer,
        "charge": claim.charge.unwrap_or_default().to_string(),
        "paid": paid.map(Paid::total).unwrap_or_default().to_string(),
        "check": check,
        "from": from,
        "to": to,
        "procedures": claim.procedures(),
        "status": rule.and_then(|rule| rule.status).map(Status::name),
        "received_at": desk.now,
        "due_at": paid.and_then(|paid| paid.due),
    });
    desk.keep(CLAIMS, number.to_owned(), row);
}

/// TRN02 of the 835, by which a 277 names it too.
pub(super) fn check_number(desk: &Desk<'_>, claim: &str) -> String {
    desk.number("K", &["check", claim])
}
