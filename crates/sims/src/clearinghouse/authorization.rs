//! 278 → 278: prior authorization (TR3 005010X217, request for review and response).

use serde_json::Value;
use x12::Transaction;
use x12::draft::SegmentDraft;
use x12::guide::Guide;
use x12::loops::{Loop, Loops};

use super::chart::{codes, items, text};
use super::config::Status;
use super::hl_writer::{HlWriter, LevelId, trace_segments};
use super::member::{Member, Payer, check_provider, identify, identify_dependent};
use super::person::PersonQuery;
use super::reject::{Reject, RejectLevel};
use super::response_context::{ResponseContext, ResponsePhase};
use super::rules::RuleInput;
use super::text::{plain, segment};

pub(super) const VERSION: &str = "005010X217";

/// The segments between ST and SE of the response.
pub(super) fn respond(
    context: &mut ResponseContext<'_>,
    transaction: &Transaction<'_, '_>,
    phase: ResponsePhase,
) -> Vec<SegmentDraft> {
    let Some(guide) = Guide::of(transaction) else { return Vec::new() };
    let loops = Loops::read(guide, transaction.segments());
    let root = loops.root();
    let reference = root.segment("BHT").map_or("", |header| header.text_at(3));
    let mut writer = HlWriter::default();
    let (date, time) = (context.today.clone(), context.time.clone());
    let due_before = context.due;
    for reviewer in root.all("2000A") {
        AuthorizationResponder { context, phase, writer: &mut writer }.reviewer(&reviewer);
    }
    // BHT06: whether more responses follow.
    let transaction_type = if context.due > due_before { "19" } else { "18" };
    let header = segment("BHT", ["0007", "11", reference, &date, &time, transaction_type]);
    std::iter::once(header).chain(writer.segments).collect()
}

struct AuthorizationResponder<'d, 'w, 'l> {
    context: &'d mut ResponseContext<'w>,
    phase: ResponsePhase,
    writer: &'l mut HlWriter,
}

/// The reviewer's decision (HCR).
#[derive(Clone, Debug, PartialEq, Eq)]
struct Decision {
    status: Status,
    number: String,
}

impl AuthorizationResponder<'_, '_, '_> {
    fn reviewer(&mut self, reviewer: &Loop<'_, '_, '_>) {
        let Some(name) = reviewer.child("2010A").and_then(|name| name.segment("NM1")) else { return };
        let is_in_rules = self.context.config.names_payer(name.text_at(9).trim());
        let payer = Payer::find(&self.context.chart, &name, is_in_rules);
        let level = self.writer.begin(None, "20", payer.is_ok() && reviewer.all("2000B").next().is_some());
        self.writer.push(SegmentDraft::from(&name));
        match payer {
            Err(reject) => self.writer.push(reject.segment()),
            Ok(payer) => {
                for requester in reviewer.all("2000B") {
                    self.requester(&requester, level, &payer);
                }
            }
        }
    }

    fn requester(&mut self, requester: &Loop<'_, '_, '_>, parent: LevelId, payer: &Payer) {
        let Some(name) = requester.child("2010B").and_then(|name| name.segment("NM1")) else { return };
        let subscribers: Vec<Loop<'_, '_, '_>> = requester.all("2000C").collect();
        let rejected = check_provider(&name).err();
        let level = self.writer.begin(Some(parent), "21", rejected.is_none() && !subscribers.is_empty());
        self.writer.push(SegmentDraft::from(&name));
        if let Some(reject) = rejected {
            return self.writer.push(reject.segment());
        }
        for subscriber in subscribers {
            self.subscriber(&subscriber, level, payer);
        }
    }

    fn subscriber(&mut self, subscriber: &Loop<'_, '_, '_>, parent: LevelId, payer: &Payer) {
        let Some(patient) = subscriber.child("2010C") else { return };
        let Some(name) = patient.segment("NM1") else { return };
        let query = PersonQuery::read(&name, patient.segment("DMG"));
        let found = identify(&self.context.chart, &query, payer, &self.context.today);
        let found = self.apply_member_rules(found, &query.member, payer);
        let level = self.writer.begin(Some(parent), "22", found.is_ok());
        self.writer.push(SegmentDraft::from(&name));
        let member = match found {
            Err(reject) => return self.writer.push(reject.segment()),
            Ok(member) => member,
        };
        for event in subscriber.all("2000E") {
            self.event(&event, level, &query.member, member.as_ref(), payer);
        }
        for dependent in subscriber.all("2000D") {
            self.dependent(&dependent, level, &query.member, member.as_ref(), payer);
        }
    }

    fn dependent(
        &mut self,
        dependent: &Loop<'_, '_, '_>,
        parent: LevelId,
        number: &str,
        subscriber: Option<&Member>,
        payer: &Payer,
    ) {
        let Some(patient) = dependent.child("2010D") else { return };
        let Some(name) = patient.segment("NM1") else { return };
        let query = PersonQuery::read(&name, patient.segment("DMG"));
        let found = subscriber
            .map(|subscriber| identify_dependent(&self.context.chart, &query, subscriber, payer, &self.context.today));
        let rejected = found.as_ref().and_then(|found| found.as_ref().err());
        let level = self.writer.begin(Some(parent), "23", rejected.is_none());
        self.writer.push(SegmentDraft::from(&name));
        if let Some(reject) = rejected {
            return self.writer.push(reject.segment());
        }
        let member = found.and_then(Result::ok);
        for event in dependent.all("2000E") {
            self.event(&event, level, number, member.as_ref(), payer);
        }
    }

    /// A rule for the member may reject the request. A rule with a `member` condition also applies if the FHIR data has no
    /// such member.
    fn apply_member_rules(
        &self,
        found: Result<Member, Reject>,
        member: &str,
        payer: &Payer,
    ) -> Result<Option<Member>, Reject> {
        let input = RuleInput { member, payer: &payer.id, ..RuleInput::default() };
        let rule = self.context.config.rule(&input).map(|(_, rule)| rule);
        let code = rule.and_then(|rule| rule.aaa.as_deref()).map(Reject::new);
        if let Some(reject) = code.filter(|reject| reject.level() != RejectLevel::Service) {
            return Err(reject);
        }
        let is_named = self.context.config.rules.iter().any(|rule| rule.r#match.member.as_deref() == Some(member));
        match found {
            Err(reject) if !is_named => Err(reject),
            found => Ok(found.ok()),
        }
    }

    fn event(
        &mut self,
        event: &Loop<'_, '_, '_>,
        parent: LevelId,
        number: &str,
        member: Option<&Member>,
        payer: &Payer,
    ) {
        let services: Vec<Loop<'_, '_, '_>> = event.all("2000F").collect();
        let mut decisions = Vec::new();
        for service in &services {
            decisions.push(self.decide(event, Some(service), number, member, payer));
        }
        let event_decision = match decisions.is_empty() {
            true => self.decide(event, None, number, member, payer),
            false => combined_decision(&decisions),
        };
        let level = self.writer.begin(Some(parent), "EV", !services.is_empty());
        self.push_decision(event, &event_decision, &["UM"], &["HI", "HSD", "CL1", "CR1", "CR2", "CR5", "CR6"]);
        for (service, decision) in services.iter().zip(&decisions) {
            self.writer.begin(Some(level), "SS", false);
            self.push_decision(service, decision, &["UM"], &["HI", "SV1", "SV2", "SV3", "TOO", "HSD"]);
        }
    }

    /// Writes the trace segments and the decision, with copies of the request's segments before and after it.
    fn push_decision(
        &mut self,
        request: &Loop<'_, '_, '_>,
        decision: &Result<Decision, Reject>,
        before: &[&str],
        after: &[&str],
    ) {
        self.writer.extend(trace_segments(request));
        let copied = |names: &[&str]| -> Vec<SegmentDraft> {
            request
                .segments()
                .filter(|segment| names.contains(&segment.name()))
                .map(|found| SegmentDraft::from(&found))
                .collect()
        };
        match decision {
            Err(reject) => {
                self.writer.push(reject.segment());
                self.writer.extend(copied(before));
            }
            Ok(decision) => {
                self.writer.extend(copied(before));
                self.writer.push(decision.segment());
            }
        }
        self.writer.extend(copied(after));
    }

    fn decide(
        &mut self,
        event: &Loop<'_, '_, '_>,
        service: Option<&Loop<'_, '_, '_>>,
        number: &str,
        member: Option<&Member>,
        payer: &Payer,
    ) -> Result<Decision, Reject> {
        let procedures: Vec<String> = service.and_then(procedure).into_iter().collect();
        let um = [service.copied(), Some(*event)].into_iter().flatten().find_map(|level| level.segment("UM"));
        let service_types: Vec<String> = um.map(|um| plain(um.text_at(3), 2)).into_iter().collect();
        let input =
            RuleInput { member: number, service_types: &service_types, procedures: &procedures, payer: &payer.id };
        let rule = self.context.config.rule(&input).map(|(at, rule)| (at, rule.clone()));
        let rule = rule.as_ref().map(|(at, rule)| (*at, rule));
        if let Some(code) = rule.and_then(|(_, rule)| rule.aaa.as_deref()) {
            return Err(Reject::new(code));
        }
        let trace = event.segment("TRN").map_or_else(String::new, |trace| trace.text_at(2).to_owned());
        let subject = ["278", number, &service_types.join("^"), &procedures.join("^")];
        let assigned = self.context.payer_number("A", &[&subject[..], &[&trace]].concat());
        if self.context.is_delayed(self.phase, rule, &subject) {
            return Ok(Decision { status: Status::Pending, number: assigned });
        }
        let from_fhir = || member.and_then(|member| decision_from_fhir(self.context, &member.person, &procedures));
        let decision = match rule.and_then(|(_, rule)| rule.status) {
            Some(status) => Decision { status, number: assigned },
            None => from_fhir().unwrap_or(Decision { status: Status::Pending, number: assigned }),
        };
        Ok(decision)
    }
}

/// SV101-2, SV202-2 or SV301-2.
fn procedure(service: &Loop<'_, '_, '_>) -> Option<String> {
    let found = service.segments().find_map(|segment| match segment.name() {
        "SV1" | "SV3" => segment.element(1)?.component(2).map(|code| plain(code, 48)),
        "SV2" => segment.element(2)?.component(2).map(|code| plain(code, 48)),
        _ => None,
    });
    found.filter(|code| !code.is_empty())
}

/// The decision of a ClaimResponse to an earlier preauthorization request for the same procedure.
fn decision_from_fhir(context: &ResponseContext<'_>, patient: &Value, procedures: &[String]) -> Option<Decision> {
    let patient = format!("Patient/{}", text(patient, "id")?);
    let claims = context.chart.find("Claim", &[("patient", &patient), ("use", "preauthorization")]);
    let is_for = |claim: &Value| {
        let services = items(claim, "item").iter().filter_map(|item| item.get("productOrService"));
        services.flat_map(codes).any(|code| procedures.iter().any(|procedure| procedure == code))
    };
    let claim = claims.into_iter().find(|claim| is_for(claim))?;
    let request = format!("Claim/{}", text(&claim, "id")?);
    let response = context.chart.find("ClaimResponse", &[("request", &request)]).into_iter().next_back()?;
    let number = plain(text(&response, "preAuthRef").unwrap_or_default(), 50);
    let status = match text(&response, "outcome") {
        Some("complete") if !number.is_empty() => Status::Approved,
        Some("complete" | "error") => Status::Denied,
        _ => Status::Pending,
    };
    Some(Decision { status, number })
}

/// The decision about an event, from the decisions about its services.
fn combined_decision(decisions: &[Result<Decision, Reject>]) -> Result<Decision, Reject> {
    let decided: Vec<&Decision> = decisions.iter().filter_map(|decision| decision.as_ref().ok()).collect();
    let Some(first) = decided.first() else {
        return decisions.first().cloned().unwrap_or_else(|| Err(Reject::new(Reject::UNABLE_TO_RESPOND)));
    };
    let is_pended = |decision: &&&Decision| matches!(decision.status, Status::Pending | Status::NeedMoreInfo);
    let pended = decided.iter().find(is_pended);
    let approved = decided.iter().find(|decision| decision.is_approved());
    Ok((**pended.or(approved).unwrap_or(first)).clone())
}

impl Decision {
    fn is_approved(&self) -> bool {
        matches!(self.status, Status::Approved | Status::Active | Status::Paid)
    }

    /// HCR: certified, not certified, or pended with the reason.
    fn segment(&self) -> SegmentDraft {
        match self.status {
            _ if self.is_approved() => segment("HCR", ["A1", &self.number]),
            Status::Denied | Status::Inactive => segment("HCR", ["A3", "", NOT_NECESSARY]),
            Status::NeedMoreInfo => segment("HCR", ["A4", "", INFORMATION_NEEDED]),
            _ => segment("HCR", ["A4", "", MEDICAL_REVIEW]),
        }
    }
}

/// Reasons in HCR03 (code source 886).
const MEDICAL_REVIEW: &str = "0V";
const INFORMATION_NEEDED: &str = "0U";
const NOT_NECESSARY: &str = "0F";
