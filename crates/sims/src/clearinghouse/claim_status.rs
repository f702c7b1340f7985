//! 276 → 277: the status of claims (TR3 005010X212).

use x12::Transaction;
use x12::draft::{SegmentDraft, composite};
use x12::guide::Guide;
use x12::loops::{Loop, Loops};

use super::hl_writer::{HlWriter, LevelId};
use super::member::{Payer, check_provider, identify, identify_dependent};
use super::person::PersonQuery;
use super::reject::Reject;
use super::response_context::{ResponseContext, ResponsePhase};
use super::rules::RuleInput;
use super::status::{self, ClaimStatus, StatusCode, StatusRequest};
use super::text::segment;

pub(super) const VERSION: &str = "005010X212";

/// The segments between ST and SE of the 277.
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
    writer.push(segment("BHT", ["0010", "08", reference, &context.today, &context.time, "DG"]));
    for source in root.all("2000A") {
        ClaimStatusResponder { context, phase, writer: &mut writer, reference }.source(&source);
    }
    writer.segments
}

struct ClaimStatusResponder<'d, 'w, 'l, 'r> {
    context: &'d mut ResponseContext<'w>,
    phase: ResponsePhase,
    writer: &'l mut HlWriter,
    /// BHT03 of the request.
    reference: &'r str,
}

/// The names of the loops of a subscriber or a dependent.
struct LoopNames {
    name: &'static str,
    claim: &'static str,
    line: &'static str,
}

const SUBSCRIBER: LoopNames = LoopNames { name: "2100D", claim: "2200D", line: "2210D" };
const DEPENDENT: LoopNames = LoopNames { name: "2100E", claim: "2200E", line: "2210E" };

impl ClaimStatusResponder<'_, '_, '_, '_> {
    fn source(&mut self, source: &Loop<'_, '_, '_>) {
        let Some(name) = source.child("2100A").and_then(|name| name.segment("NM1")) else { return };
        let is_in_rules = self.context.config.names_payer(name.text_at(9).trim());
        let payer = Payer::find(&self.context.chart, &name, is_in_rules);
        let level = self.writer.begin(None, "20", source.all("2000B").next().is_some());
        self.writer.push(SegmentDraft::from(&name));
        for receiver in source.all("2000B") {
            self.receiver(&receiver, level, payer.as_ref().ok());
        }
    }

    fn receiver(&mut self, receiver: &Loop<'_, '_, '_>, parent: LevelId, payer: Option<&Payer>) {
        let Some(name) = receiver.child("2100B").and_then(|name| name.segment("NM1")) else { return };
        let providers: Vec<Loop<'_, '_, '_>> = receiver.all("2000C").collect();
        let level = self.writer.begin(Some(parent), "21", payer.is_some() && !providers.is_empty());
        self.writer.push(SegmentDraft::from(&name));
        let Some(payer) = payer else {
            self.writer.push(segment("TRN", ["2", self.reference]));
            let status = status_segment(&StatusCode::INCORRECT_PAYER, &self.context.today);
            self.writer.push(status);
            return;
        };
        for provider in providers {
            self.provider(&provider, level, payer);
        }
    }

    fn provider(&mut self, provider: &Loop<'_, '_, '_>, parent: LevelId, payer: &Payer) {
        let Some(name) = provider.child("2100C").and_then(|name| name.segment("NM1")) else { return };
        let subscribers: Vec<Loop<'_, '_, '_>> = provider.all("2000D").collect();
        let is_rejected = check_provider(&name).is_err();
        let level = self.writer.begin(Some(parent), "19", !is_rejected && !subscribers.is_empty());
        self.writer.push(SegmentDraft::from(&name));
        if is_rejected {
            self.writer.push(segment("TRN", ["1", "0"]));
            let status = status_segment(&StatusCode::PROVIDER_NUMBER, &self.context.today);
            self.writer.push(status);
            return;
        }
        for subscriber in subscribers {
            self.subscriber(&subscriber, level, payer);
        }
    }

    fn subscriber(&mut self, subscriber: &Loop<'_, '_, '_>, parent: LevelId, payer: &Payer) {
        let Some(name) = subscriber.child(SUBSCRIBER.name).and_then(|name| name.segment("NM1")) else { return };
        let query = PersonQuery::read(&name, subscriber.segment("DMG"));
        let found = identify(&self.context.chart, &query, payer, &self.context.today);
        let dependents: Vec<Loop<'_, '_, '_>> = subscriber.all("2000E").collect();
        let level = self.writer.begin(Some(parent), "22", !dependents.is_empty());
        self.writer.push(SegmentDraft::from(&name));
        let patient = found.as_ref().map(|member| &*member.person).map_err(Clone::clone);
        self.claims(subscriber, &SUBSCRIBER, &query.member, &patient, payer);
        for dependent in dependents {
            let Some(name) = dependent.child(DEPENDENT.name).and_then(|name| name.segment("NM1")) else { continue };
            let dependent_query = PersonQuery::read(&name, dependent.segment("DMG"));
            let found = found.as_ref().map_err(Clone::clone);
            let found = found.and_then(|subscriber| {
                identify_dependent(&self.context.chart, &dependent_query, subscriber, payer, &self.context.today)
            });
            self.writer.begin_leaf(level, "23");
            self.writer.push(SegmentDraft::from(&name));
            let patient = found.as_ref().map(|member| &*member.person).map_err(Clone::clone);
            self.claims(&dependent, &DEPENDENT, &query.member, &patient, payer);
        }
    }

    fn claims(
        &mut self,
        patient_loop: &Loop<'_, '_, '_>,
        names: &LoopNames,
        member: &str,
        patient: &Result<&serde_json::Value, Reject>,
        payer: &Payer,
    ) {
        for claim in patient_loop.all(names.claim) {
            let request = StatusRequest::read(&claim, names.line);
            let statuses = self.statuses(&request, member, patient, payer);
            for status in statuses {
                self.claim(&request, &status);
            }
        }
    }

    /// The status from a rule takes precedence, then claims submitted here, then claims of the FHIR data. A rule without a
    /// `member` condition only applies to known members.
    fn statuses(
        &mut self,
        request: &StatusRequest,
        member: &str,
        patient: &Result<&serde_json::Value, Reject>,
        payer: &Payer,
    ) -> Vec<ClaimStatus> {
        let input = RuleInput { member, procedures: &request.procedures, payer: &payer.id, ..RuleInput::default() };
        let rule = self.context.config.rule(&input).map(|(at, rule)| (at, rule.clone()));
        let rule = rule.as_ref().map(|(at, rule)| (*at, rule));
        if rule.is_some_and(|(_, rule)| rule.aaa.is_some()) {
            return vec![ClaimStatus::unknown(StatusCode::NOT_FOUND, request)];
        }
        let mut found = status::submitted(self.context, request, member);
        if found.is_empty()
            && let Ok(patient) = patient
        {
            found = status::from_fhir(&self.context.chart, request, patient);
        }
        let is_trusted = rule.is_none_or(|(_, rule)| rule.r#match.member.is_some());
        if let (Err(reject), false, true) = (patient, is_trusted, found.is_empty()) {
            return vec![ClaimStatus::unknown(StatusCode::from_reject(reject), request)];
        }
        let subject = ["276", member, &request.payer_claim, &request.control, &request.procedures.join("^")];
        let is_delayed = self.context.is_delayed(self.phase, rule, &subject);
        let payment = rule.and_then(|(_, rule)| rule.payment.as_ref());
        match (rule.and_then(|(_, rule)| rule.status), patient) {
            _ if is_delayed => vec![status::with_code(found, StatusCode::IN_PROCESS, request, payment)],
            (Some(status), _) => vec![status::with_code(found, StatusCode::from_rule(status), request, payment)],
            (None, _) if !found.is_empty() => found,
            (None, Err(reject)) => vec![ClaimStatus::unknown(StatusCode::from_reject(reject), request)],
            (None, Ok(_)) => vec![ClaimStatus::unknown(StatusCode::NOT_FOUND, request)],
        }
    }

    fn claim(&mut self, request: &StatusRequest, status: &ClaimStatus) {
        self.writer.push(segment("TRN", ["2", &request.trace]));
        self.writer.push(status.segment(&self.context.today));
        let references = [("1K", &status.payer_claim), ("EJ", &status.control)];
        let references = references.into_iter().filter(|(_, value)| !value.is_empty());
        self.writer.extend(references.map(|(qualifier, value)| segment("REF", [qualifier, value])));
        self.writer.extend(status.dates().map(|(format, dates)| segment("DTP", ["472", format, &dates])));
        for line in &request.lines {
            let paid = status.paid_for(line.charge).to_string();
            let units = line.units.as_str();
            let service = SegmentDraft::new("SVC").with(line.procedure.clone());
            let service = [line.charge.to_string().as_str(), &paid, "", "", "", units]
                .into_iter()
                .fold(service, SegmentDraft::with);
            self.writer.push(service);
            self.writer.push(status_segment(&status.code, &self.context.today));
            self.writer.push(segment("DTP", ["472", "D8", &line.day]));
        }
    }
}

/// STC with only the status.
fn status_segment(code: &StatusCode, today: &str) -> SegmentDraft {
    SegmentDraft::new("STC").with(composite(code.parts())).with(today)
}
