//! 276 → 277: what became of a claim (TR3 005010X212).

use x12::Transaction;
use x12::draft::{SegmentDraft, composite};
use x12::guide::Guide;
use x12::loops::{Loop, Loops};

use super::desk::{Desk, When};
use super::levels::{LevelId, Levels};
use super::member::{Payer, check_provider, identify, identify_dependent};
use super::person::Wanted;
use super::reject::Reject;
use super::rules::Asked;
use super::status::{self, ClaimStatus, Code, Question};
use super::text::segment;

pub(super) const VERSION: &str = "005010X212";

/// The segments between ST and SE of the 277.
pub(super) fn respond(desk: &mut Desk<'_>, transaction: &Transaction<'_, '_>, when: When) -> Vec<SegmentDraft> {
    let Some(guide) = Guide::of(transaction) else { return Vec::new() };
    let loops = Loops::read(guide, transaction.segments());
    let root = loops.root();
    let reference = root.segment("BHT").map_or("", |header| header.text_at(3));
    let mut levels = Levels::default();
    levels.push(segment("BHT", ["0010", "08", reference, &desk.today, &desk.time, "DG"]));
    for source in root.all("2000A") {
        Answer { desk, when, levels: &mut levels, reference }.source(&source);
    }
    levels.segments
}

struct Answer<'d, 'w, 'l, 'r> {
    desk: &'d mut Desk<'w>,
    when: When,
    levels: &'l mut Levels,
    /// BHT03 of the request.
    reference: &'r str,
}

/// The names of the loops of a subscriber or a dependent.
struct Names {
    name: &'static str,
    claim: &'static str,
    line: &'static str,
}

const SUBSCRIBER: Names = Names { name: "2100D", claim: "2200D", line: "2210D" };
const DEPENDENT: Names = Names { name: "2100E", claim: "2200E", line: "2210E" };

impl Answer<'_, '_, '_, '_> {
    fn source(&mut self, source: &Loop<'_, '_, '_>) {
        let Some(name) = source.child("2100A").and_then(|name| name.segment("NM1")) else { return };
        let is_in_rules = self.desk.config.names_payer(name.text_at(9).trim());
        let payer = Payer::find(&self.desk.chart, &name, is_in_rules);
        let level = self.levels.begin(None, "20", source.all("2000B").next().is_some());
        self.levels.push(SegmentDraft::from(&name));
        for receiver in source.all("2000B") {
            self.receiver(&receiver, level, payer.as_ref().ok());
        }
    }

    fn receiver(&mut self, receiver: &Loop<'_, '_, '_>, above: LevelId, payer: Option<&Payer>) {
        let Some(name) = receiver.child("2100B").and_then(|name| name.segment("NM1")) else { return };
        let providers: Vec<Loop<'_, '_, '_>> = receiver.all("2000C").collect();
        let level = self.levels.begin(Some(above), "21", payer.is_some() && !providers.is_empty());
        self.levels.push(SegmentDraft::from(&name));
        let Some(payer) = payer else {
            self.levels.push(segment("TRN", ["2", self.reference]));
            let status = status_segment(&Code::INCORRECT_PAYER, &self.desk.today);
            self.levels.push(status);
            return;
        };
        for provider in providers {
            self.provider(&provider, level, payer);
        }
    }

    fn provider(&mut self, provider: &Loop<'_, '_, '_>, above: LevelId, payer: &Payer) {
        let Some(name) = provider.child("2100C").and_then(|name| name.segment("NM1")) else { return };
        let subscribers: Vec<Loop<'_, '_, '_>> = provider.all("2000D").collect();
        let is_refused = check_provider(&name).is_err();
        let level = self.levels.begin(Some(above), "19", !is_refused && !subscribers.is_empty());
        self.levels.push(SegmentDraft::from(&name));
        if is_refused {
            self.levels.push(segment("TRN", ["1", "0"]));
            let status = status_segment(&Code::PROVIDER_NUMBER, &self.desk.today);
            self.levels.push(status);
            return;
        }
        for subscriber in subscribers {
            self.subscriber(&subscriber, level, payer);
        }
    }

    fn subscriber(&mut self, subscriber: &Loop<'_, '_, '_>, above: LevelId, payer: &Payer) {
        let Some(name) = subscriber.child(SUBSCRIBER.name).and_then(|name| name.segment("NM1")) else { return };
        let wanted = Wanted::read(&name, subscriber.segment("DMG"));
        let found = identify(&self.desk.chart, &wanted, payer, &self.desk.today);
        let dependents: Vec<Loop<'_, '_, '_>> = subscriber.all("2000E").collect();
        let level = self.levels.begin(Some(above), "22", !dependents.is_empty());
        self.levels.push(SegmentDraft::from(&name));
        let patient = found.as_ref().map(|member| &*member.person).map_err(Clone::clone);
        self.claims(subscriber, &SUBSCRIBER, &wanted.member, &patient, payer);
        for dependent in dependents {
            let Some(name) = dependent.child(DEPENDENT.name).and_then(|name| name.segment("NM1")) else { continue };
            let about = Wanted::read(&name, dependent.segment("DMG"));
            let found = found.as_ref().map_err(Clone::clone);
            let found = found.and_then(|subscriber| {
                identify_dependent(&self.desk.chart, &about, subscriber, payer, &self.desk.today)
            });
            self.levels.begin_last(level, "23");
            self.levels.push(SegmentDraft::from(&name));
            let patient = found.as_ref().map(|member| &*member.person).map_err(Clone::clone);
            self.claims(&dependent, &DEPENDENT, &wanted.member, &patient, payer);
        }
    }

    fn claims(
        &mut self,
        asked: &Loop<'_, '_, '_>,
        names: &Names,
        member: &str,
        patient: &Result<&serde_json::Value, Reject>,
        payer: &Payer,
    ) {
        for claim in asked.all(names.claim) {
            let question = Question::read(&claim, names.line);
            let statuses = self.statuses(&question, member, patient, payer);
            for status in statuses {
                self.claim(&question, &status);
            }
        }
    }

    /// A rule's status before the record's; claims that came in here before those of the record. A rule that does not name
    /// the member holds for members only.
    fn statuses(
        &mut self,
        question: &Question,
        member: &str,
        patient: &Result<&serde_json::Value, Reject>,
        payer: &Payer,
    ) -> Vec<ClaimStatus> {
        let asked = Asked { member, procedures: &question.procedures, payer: &payer.id, ..Asked::default() };
        let rule = self.desk.config.rule(&asked).map(|(at, rule)| (at, rule.clone()));
        let rule = rule.as_ref().map(|(at, rule)| (*at, rule));
        if rule.is_some_and(|(_, rule)| rule.aaa.is_some()) {
            return vec![ClaimStatus::bare(Code::NOT_FOUND, question)];
        }
        let mut found = status::submitted(self.desk, question, member);
        if found.is_empty()
            && let Ok(patient) = patient
        {
            found = status::recorded(&self.desk.chart, question, patient);
        }
        let is_trusted = rule.is_none_or(|(_, rule)| rule.r#match.member.is_some());
        if let (Err(reject), false, true) = (patient, is_trusted, found.is_empty()) {
            return vec![ClaimStatus::bare(Code::of_reject(reject), question)];
        }
        let what = ["276", member, &question.payer_claim, &question.control, &question.procedures.join("^")];
        let waits = self.desk.must_wait(self.when, rule, &what);
        let payment = rule.and_then(|(_, rule)| rule.payment.as_ref());
        match (rule.and_then(|(_, rule)| rule.status), patient) {
            _ if waits => vec![status::decided(found, Code::IN_PROCESS, question, payment)],
            (Some(status), _) => vec![status::decided(found, Code::of(status), question, payment)],
            (None, _) if !found.is_empty() => found,
            (None, Err(reject)) => vec![ClaimStatus::bare(Code::of_reject(reject), question)],
            (None, Ok(_)) => vec![ClaimStatus::bare(Code::NOT_FOUND, question)],
        }
    }

    fn claim(&mut self, question: &Question, status: &ClaimStatus) {
        self.levels.push(segment("TRN", ["2", &question.trace]));
        self.levels.push(status.segment(&self.desk.today));
        let references = [("1K", &status.payer_claim), ("EJ", &status.control)];
        let told = references.into_iter().filter(|(_, value)| !value.is_empty());
        self.levels.extend(told.map(|(qualifier, value)| segment("REF", [qualifier, value])));
        self.levels.extend(status.dates().map(|(format, dates)| segment("DTP", ["472", format, &dates])));
        for line in &question.lines {
            let paid = status.paid_for(line.charge).to_string();
            let units = line.units.as_str();
            let service = SegmentDraft::new("SVC").with(line.procedure.clone());
            let service = [line.charge.to_string().as_str(), &paid, "", "", "", units]
                .into_iter()
                .fold(service, SegmentDraft::with);
            self.levels.push(service);
            self.levels.push(status_segment(&status.code, &self.desk.today));
            self.levels.push(segment("DTP", ["472", "D8", &line.day]));
        }
    }
}

/// STC with nothing but the status.
fn status_segment(code: &Code, today: &str) -> SegmentDraft {
    SegmentDraft::new("STC").with(composite(code.parts())).with(today)
}
