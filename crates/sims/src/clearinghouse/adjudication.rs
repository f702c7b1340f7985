//! Adjudicates the claims of an 837: accepts or returns them, and pays or denies them if a rule says so.

use model::Timestamp;
use serde_json::json;
use x12::draft::SegmentDraft;

use super::claim::{Claim, ProviderClaims};
use super::config::{Payment, Rule, Status};
use super::member::{Payer, identify, identify_dependent};
use super::money::{Cents, Share};
use super::reject::Reject;
use super::response_context::{CLAIMS, ResponseContext};
use super::rules::RuleInput;

/// A claim with the results of its adjudication.
pub(super) struct AdjudicatedClaim<'c> {
    pub(super) claim: &'c Claim,
    pub(super) intake: Intake,
    pub(super) decision: Option<PaymentDecision>,
}

pub(super) enum Intake {
    /// The payer's claim number.
    Accepted(String),
    /// STC01 of the 277CA.
    Returned([&'static str; 3]),
}

/// A decision that is reported with an 835.
pub(super) struct PaymentDecision {
    /// None if it is sent at once.
    pub(super) due: Option<Timestamp>,
    pub(super) number: String,
    pub(super) is_denied: bool,
    pub(super) lines: Vec<LinePayment>,
}

/// The paid amount and the adjustments add up to the charge.
pub(super) struct LinePayment {
    pub(super) charge: Cents,
    pub(super) paid: Cents,
    /// CAS: group code, reason code and amount.
    pub(super) adjustments: Vec<(String, String, Cents)>,
}

impl PaymentDecision {
    pub(super) fn total(&self) -> Cents {
        self.lines.iter().map(|line| line.paid).sum()
    }

    /// The patient's responsibility.
    pub(super) fn owed(&self) -> Cents {
        let adjustments = self.lines.iter().flat_map(|line| &line.adjustments);
        adjustments.filter(|(group, _, _)| group == "PR").map(|(_, _, amount)| *amount).sum()
    }
}

/// Adjudicates all claims of a billing provider, and stores the accepted ones.
pub(super) fn adjudicate<'c>(
    context: &mut ResponseContext<'_>,
    batch: &'c ProviderClaims,
) -> Vec<AdjudicatedClaim<'c>> {
    batch.claims.iter().map(|claim| adjudicate_claim(context, claim, &batch.provider)).collect()
}

fn adjudicate_claim<'c>(
    context: &mut ResponseContext<'_>,
    claim: &'c Claim,
    provider: &SegmentDraft,
) -> AdjudicatedClaim<'c> {
    let returned = |code: [&'static str; 3]| AdjudicatedClaim { claim, intake: Intake::Returned(code), decision: None };
    let procedures = claim.procedures();
    let input = RuleInput {
        member: &claim.subscriber.member,
        procedures: &procedures,
        payer: &claim.payer,
        ..RuleInput::default()
    };
    let rule = context.config.rule(&input).map(|(_, rule)| rule.clone());
    if let Some(code) = return_reason(context, claim, rule.as_ref()) {
        return returned(code);
    }
    let charge = claim.charge.unwrap_or_default();
    let npi = provider.elements.get(8).and_then(|element| element.0.first()?.first()).map_or("", String::as_str);
    let identity = [&claim.payer, &claim.subscriber.member, &claim.control, &charge.to_string(), npi];
    let number = context.payer_number("C", &identity.map(|part: &str| part));
    if context.row(CLAIMS, &number).is_some() {
        return returned(["A3", "54", ""]);
    }
    let decision = rule.as_ref().and_then(|rule| decide(context, claim, rule, &number));
    store_claim(context, claim, &number, rule.as_ref(), decision.as_ref());
    AdjudicatedClaim { claim, intake: Intake::Accepted(number), decision }
}

/// The status code for returning a claim, or None if it is accepted.
fn return_reason(context: &ResponseContext<'_>, claim: &Claim, rule: Option<&Rule>) -> Option<[&'static str; 3]> {
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
    let day = claim.days.as_ref().map_or(context.today.as_str(), |(first, _)| first);
    let payer = Payer::named(&context.chart, &claim.payer, &claim.payer_name, context.config.names_payer(&claim.payer));
    let found = payer.and_then(|payer| {
        let subscriber = identify(&context.chart, &claim.subscriber, &payer, day)?;
        match &claim.dependent {
            None => Ok(subscriber),
            Some(dependent) => identify_dependent(&context.chart, dependent, &subscriber, &payer, day),
        }
    });
    // Without FHIR data, members are not checked.
    let reject = found.err().filter(|_| !context.chart.is_absent())?;
    Some(match reject.0.as_str() {
        Reject::PAYER => ["A3", "116", ""],
        Reject::MEMBER_NUMBER => ["A7", "164", "IL"],
        Reject::NAME => ["A7", "125", "IL"],
        Reject::BIRTH_MISMATCH => ["A7", "158", "IL"],
        Reject::PATIENT_NOT_FOUND => ["A3", "97", "PR"],
        _ => ["A3", "33", "IL"],
    })
}

/// The decision of a rule that pays or denies claims.
fn decide(context: &ResponseContext<'_>, claim: &Claim, rule: &Rule, number: &str) -> Option<PaymentDecision> {
    let is_denied = match rule.status? {
        Status::Paid | Status::Approved | Status::Active => false,
        Status::Denied | Status::Inactive => true,
        Status::Pending | Status::NeedMoreInfo => return None,
    };
    let terms = PaymentTerms::of(rule.payment.as_ref(), is_denied);
    let due = rule.delay_seconds.filter(|seconds| *seconds > 0);
    let due = due.map(|seconds| context.now.plus_milliseconds(seconds.saturating_mul(1000)));
    let mut copay = terms.copay;
    let lines = claim.lines.iter().map(|line| {
        let (payment, remaining_copay) = terms.line(line.charge, copay);
        copay = remaining_copay;
        payment
    });
    Some(PaymentDecision { due, number: number.to_owned(), is_denied, lines: lines.collect() })
}

/// The paid amount of a charge under a rule that pays it.
pub(super) fn paid_amount(payment: Option<&Payment>, charge: Cents) -> Cents {
    let terms = PaymentTerms::of(payment, false);
    terms.line(charge, terms.copay).0.paid
}

struct PaymentTerms {
    share: Share,
    group: String,
    reason: String,
    copay: Cents,
}

impl PaymentTerms {
    fn of(payment: Option<&Payment>, is_denied: bool) -> Self {
        let share = payment.and_then(|payment| Share::from_json(payment.percent.as_ref()?));
        let copay = payment.and_then(|payment| Cents::from_json(payment.copay.as_ref()?));
        let or_default = |code: Option<&String>, default: &str| code.map_or(default, String::as_str).to_owned();
        Self {
            share: if is_denied { Share::NOTHING } else { share.unwrap_or(Share::WHOLE) },
            group: or_default(payment.and_then(|payment| payment.group.as_ref()), "CO"),
            // 50: not a medical necessity. 45: charge exceeds the fee schedule.
            reason: or_default(
                payment.and_then(|payment| payment.reason.as_ref()),
                if is_denied { "50" } else { "45" },
            ),
            copay: if is_denied { Cents::default() } else { copay.unwrap_or_default() },
        }
    }

    /// The payment for a line, and the part of the copay that remains for the next line.
    fn line(&self, charge: Cents, copay: Cents) -> (LinePayment, Cents) {
        let allowed = charge.times(self.share);
        let line_copay = copay.min(allowed);
        let withheld = charge - allowed;
        let adjustments = [(&self.group, &self.reason, withheld), (&"PR".to_owned(), &"3".to_owned(), line_copay)];
        let adjustments = adjustments.into_iter().filter(|(_, _, amount)| *amount != Cents::default());
        let adjustments = adjustments.map(|(group, reason, amount)| (group.clone(), reason.clone(), amount));
        (LinePayment { charge, paid: allowed - line_copay, adjustments: adjustments.collect() }, copay - line_copay)
    }
}

fn store_claim(
    context: &mut ResponseContext<'_>,
    claim: &Claim,
    number: &str,
    rule: Option<&Rule>,
    decision: Option<&PaymentDecision>,
) {
    let (from, to) = claim.days.clone().unwrap_or_default();
    let check = decision.map(|decision| check_number(context, &decision.number)).unwrap_or_default();
    let row = json!({
        "patient_control_number": claim.control,
        "member": claim.subscriber.member,
        "payer": claim.payer,
        "charge": claim.charge.unwrap_or_default().to_string(),
        "paid": decision.map(PaymentDecision::total).unwrap_or_default().to_string(),
        "check": check,
        "from": from,
        "to": to,
        "procedures": claim.procedures(),
        "status": rule.and_then(|rule| rule.status).map(Status::name),
        "received_at": context.now,
        "due_at": decision.and_then(|decision| decision.due),
    });
    context.store(CLAIMS, number.to_owned(), row);
}

/// The check number in TRN02 of the 835 and in the STC of a 277.
pub(super) fn check_number(context: &ResponseContext<'_>, claim: &str) -> String {
    context.payer_number("K", &["check", claim])
}
