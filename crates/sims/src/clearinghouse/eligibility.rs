//! 270 → 271: eligibility and benefits (TR3 005010X279A1).

use x12::Transaction;
use x12::draft::SegmentDraft;
use x12::guide::Guide;
use x12::loops::{Loop, Loops};

use super::benefits;
use super::config::Rule;
use super::hl_writer::{HlWriter, LevelId, trace_segments};
use super::member::{Member, Payer, check_provider, identify, identify_dependent};
use super::person::{PersonQuery, address_segments, demographics_segment, name_segment};
use super::reject::{Reject, RejectLevel};
use super::response_context::{ResponseContext, ResponsePhase};
use super::rules::RuleInput;
use super::text::segment;
use super::{coverage, inquiry::Inquiry};

pub(super) const VERSION: &str = "005010X279A1";

/// The segments between ST and SE of the 271.
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
    writer.push(segment("BHT", ["0022", "11", reference, &context.today, &context.time]));
    for source in root.all("2000A") {
        EligibilityResponder { context, phase, writer: &mut writer }.source(&source);
    }
    writer.segments
}

fn by_reference(rule: Option<&(usize, Rule)>) -> Option<(usize, &Rule)> {
    rule.map(|(number, rule)| (*number, rule))
}

struct EligibilityResponder<'d, 'w, 'l> {
    context: &'d mut ResponseContext<'w>,
    phase: ResponsePhase,
    writer: &'l mut HlWriter,
}

/// The response about one patient.
struct PatientAnswer {
    member: Option<Member>,
    content: AnswerContent,
}

enum AnswerContent {
    Reject(Reject),
    /// The response follows when a delay is over.
    Deferred,
    Benefits(Vec<SegmentDraft>),
}

impl EligibilityResponder<'_, '_, '_> {
    fn source(&mut self, source: &Loop<'_, '_, '_>) {
        let Some(name) = source.child("2100A").and_then(|name| name.segment("NM1")) else { return };
        let is_in_rules = self.context.config.names_payer(name.text_at(9).trim());
        let payer = Payer::find(&self.context.chart, &name, is_in_rules);
        let rejected = payer.as_ref().ok().and_then(|payer| self.rejected_by_rule(source, payer));
        let has_receivers = payer.is_ok() && rejected.is_none() && source.all("2000B").next().is_some();
        let level = self.writer.begin(None, "20", has_receivers);
        self.writer.push(SegmentDraft::from(&name));
        match (payer, rejected) {
            (Err(reject), _) | (Ok(_), Some(reject)) => self.writer.push(reject.segment()),
            (Ok(payer), None) => {
                for receiver in source.all("2000B") {
                    self.receiver(&receiver, level, &payer);
                }
            }
        }
    }

    /// A rule may reject a request at the level of the payer.
    fn rejected_by_rule(&self, source: &Loop<'_, '_, '_>, payer: &Payer) -> Option<Reject> {
        let mut patients = source.all("2000B").flat_map(|receiver| receiver.all("2000C").collect::<Vec<_>>());
        patients.find_map(|subscriber| {
            let name = subscriber.child("2100C")?.segment("NM1")?;
            let inquiry = Inquiry::read(&subscriber.child("2100C")?, "2110C", &self.context.today);
            let rule = self.rule(name.text_at(9).trim(), &inquiry, payer)?.1;
            rule.aaa.as_deref().map(Reject::new).filter(|reject| reject.level() == RejectLevel::Source)
        })
    }

    fn receiver(&mut self, receiver: &Loop<'_, '_, '_>, parent: LevelId, payer: &Payer) {
        let Some(name) = receiver.child("2100B").and_then(|name| name.segment("NM1")) else { return };
        let subscribers: Vec<Loop<'_, '_, '_>> = receiver.all("2000C").collect();
        let rejected = check_provider(&name).err();
        let has_subscribers = rejected.is_none() && !subscribers.is_empty();
        let level = self.writer.begin(Some(parent), "21", has_subscribers);
        self.writer.push(SegmentDraft::from(&name));
        if let Some(reject) = rejected {
            self.writer.push(reject.segment());
            return;
        }
        for subscriber in subscribers {
            self.subscriber(&subscriber, level, payer);
        }
    }

    fn subscriber(&mut self, subscriber: &Loop<'_, '_, '_>, parent: LevelId, payer: &Payer) {
        let Some(patient) = subscriber.child("2100C") else { return };
        let Some(name) = patient.segment("NM1") else { return };
        let query = PersonQuery::read(&name, patient.segment("DMG"));
        let dependents: Vec<Loop<'_, '_, '_>> = subscriber.all("2000D").collect();
        let inquiry = Inquiry::read(&patient, "2110C", &self.context.today);
        if dependents.is_empty() {
            let answer = self.subscriber_answer(&query, &inquiry, payer);
            self.writer.begin(Some(parent), "22", false);
            self.writer.extend(trace_segments(subscriber));
            return self.person("IL", &SegmentDraft::from(&name), &answer);
        }
        let found = identify(&self.context.chart, &query, payer, &inquiry.day);
        let is_trusted =
            self.rule(&query.member, &inquiry, payer).is_some_and(|(_, rule)| rule.r#match.member.is_some());
        match found {
            Err(reject) if !is_trusted => {
                self.writer.begin(Some(parent), "22", false);
                dependents.iter().for_each(|dependent| self.writer.extend(trace_segments(dependent)));
                let answer = PatientAnswer { member: None, content: AnswerContent::Reject(reject) };
                self.person("IL", &SegmentDraft::from(&name), &answer);
            }
            found => {
                let level = self.writer.begin(Some(parent), "22", true);
                let name_from_fhir =
                    found.as_ref().ok().map(|member| name_segment("IL", &member.person, &member.number));
                self.writer.push(name_from_fhir.unwrap_or_else(|| SegmentDraft::from(&name)));
                for dependent in dependents {
                    self.dependent(&dependent, level, &query.member, found.as_ref().ok(), payer);
                }
            }
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
        let Some(patient) = dependent.child("2100D") else { return };
        let Some(name) = patient.segment("NM1") else { return };
        let query = PersonQuery { member: number.to_owned(), ..PersonQuery::read(&name, patient.segment("DMG")) };
        let inquiry = Inquiry::read(&patient, "2110D", &self.context.today);
        let rule = self.rule(number, &inquiry, payer).map(|(at, rule)| (at, rule.clone()));
        let found = match subscriber {
            Some(subscriber) => identify_dependent(&self.context.chart, &query, subscriber, payer, &inquiry.day),
            None => Err(Reject::new(Reject::PATIENT_NOT_FOUND)),
        };
        let answer = self.patient_answer(found, by_reference(rule.as_ref()), &inquiry, &query);
        self.writer.begin(Some(parent), "23", false);
        self.writer.extend(trace_segments(dependent));
        self.person("03", &SegmentDraft::from(&name), &answer);
    }

    fn rule(&self, member: &str, inquiry: &Inquiry, payer: &Payer) -> Option<(usize, &Rule)> {
        let (service_types, procedures) = (inquiry.service_types(), inquiry.procedures());
        self.context.config.rule(&RuleInput {
            member,
            service_types: &service_types,
            procedures: &procedures,
            payer: &payer.id,
        })
    }

    fn subscriber_answer(&mut self, query: &PersonQuery, inquiry: &Inquiry, payer: &Payer) -> PatientAnswer {
        let rule = self.rule(&query.member, inquiry, payer).map(|(at, rule)| (at, rule.clone()));
        let found = identify(&self.context.chart, query, payer, &inquiry.day);
        self.patient_answer(found, by_reference(rule.as_ref()), inquiry, query)
    }

    /// A rule with a `member` condition applies even if the FHIR data has no such member.
    fn patient_answer(
        &mut self,
        found: Result<Member, Reject>,
        rule: Option<(usize, &Rule)>,
        inquiry: &Inquiry,
        query: &PersonQuery,
    ) -> PatientAnswer {
        if let Some(code) = rule.and_then(|(_, rule)| rule.aaa.as_deref()) {
            return PatientAnswer { member: found.ok(), content: AnswerContent::Reject(Reject::new(code)) };
        }
        let is_trusted = rule.is_some_and(|(_, rule)| rule.r#match.member.is_some());
        let member = match found {
            Err(reject) if !is_trusted => {
                return PatientAnswer { member: None, content: AnswerContent::Reject(reject) };
            }
            found => found.ok(),
        };
        let subject = ["270", &query.member, &query.last, &query.first, &inquiry.service_types().join("^")];
        if self.context.is_delayed(self.phase, rule, &subject) {
            return PatientAnswer { member, content: AnswerContent::Deferred };
        }
        let coverage = member.as_ref().map(|member| &*member.coverage);
        let segments = benefits::segments(rule.map(|(_, rule)| rule), coverage, inquiry);
        PatientAnswer { member, content: AnswerContent::Benefits(segments) }
    }

    /// Writes name, details and content. Unknown persons are written as in the request.
    fn person(&mut self, entity: &str, requested_name: &SegmentDraft, answer: &PatientAnswer) {
        let number = |member: &Member| if entity == "IL" { member.number.clone() } else { String::new() };
        let member = answer.member.as_ref().filter(|_| !matches!(answer.content, AnswerContent::Reject(_)));
        match member {
            Some(member) => {
                self.writer.push(name_segment(entity, &member.person, &number(member)));
                self.group_and_address(member);
            }
            None => self.writer.push(requested_name.clone()),
        }
        match &answer.content {
            AnswerContent::Deferred => {
                self.writer.push(Reject::pending_segment());
                self.demographics(member);
            }
            AnswerContent::Reject(reject) if reject.level() == RejectLevel::Service => {
                self.writer.push(segment("EB", ["V"]));
                self.writer.push(reject.segment());
            }
            AnswerContent::Reject(reject) => self.writer.push(reject.segment()),
            AnswerContent::Benefits(benefits) => {
                self.demographics(member);
                self.plan_dates(member);
                self.writer.extend(benefits.iter().cloned());
            }
        }
    }

    fn group_and_address(&mut self, member: &Member) {
        let group = coverage::class(&member.coverage, "group").filter(|(value, _)| !value.is_empty());
        self.writer.extend(group.map(|(value, name)| segment("REF", ["6P", &value, &name])));
        self.writer.extend(address_segments(&member.person));
    }

    fn demographics(&mut self, member: Option<&Member>) {
        self.writer.extend(member.and_then(|member| demographics_segment(&member.person)));
    }

    fn plan_dates(&mut self, member: Option<&Member>) {
        let Some(member) = member else { return };
        let (start, end) = coverage::period(&member.coverage);
        self.writer.extend(start.map(|day| segment("DTP", ["346", "D8", &day])));
        self.writer.extend(end.map(|day| segment("DTP", ["347", "D8", &day])));
    }
}
