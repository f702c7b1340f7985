//! 270 → 271: is somebody insured, and for what (TR3 005010X279A1).

use x12::Transaction;
use x12::draft::SegmentDraft;
use x12::guide::Guide;
use x12::loops::{Loop, Loops};

use super::benefits;
use super::config::Rule;
use super::desk::{Desk, When};
use super::levels::{LevelId, Levels, traces_back};
use super::member::{Member, Payer, check_provider, identify, identify_dependent};
use super::person::{Wanted, address_segments, demographics_segment, name_segment};
use super::reject::{Level, Reject};
use super::rules::Asked;
use super::text::segment;
use super::{coverage, inquiry::Inquiry};

pub(super) const VERSION: &str = "005010X279A1";

/// The segments between ST and SE of the 271.
pub(super) fn respond(desk: &mut Desk<'_>, transaction: &Transaction<'_, '_>, when: When) -> Vec<SegmentDraft> {
    let Some(guide) = Guide::of(transaction) else { return Vec::new() };
    let loops = Loops::read(guide, transaction.segments());
    let root = loops.root();
    let reference = root.segment("BHT").map_or("", |header| header.text_at(3));
    let mut levels = Levels::default();
    levels.push(segment("BHT", ["0022", "11", reference, &desk.today, &desk.time]));
    for source in root.all("2000A") {
        Answer { desk, when, levels: &mut levels }.source(&source);
    }
    levels.segments
}

fn numbered(rule: Option<&(usize, Rule)>) -> Option<(usize, &Rule)> {
    rule.map(|(number, rule)| (*number, rule))
}

struct Answer<'d, 'w, 'l> {
    desk: &'d mut Desk<'w>,
    when: When,
    levels: &'l mut Levels,
}

/// What is said of one patient.
struct Said {
    member: Option<Member>,
    content: Content,
}

enum Content {
    Reject(Reject),
    Later,
    Benefits(Vec<SegmentDraft>),
}

impl Answer<'_, '_, '_> {
    fn source(&mut self, source: &Loop<'_, '_, '_>) {
        let Some(name) = source.child("2100A").and_then(|name| name.segment("NM1")) else { return };
        let is_in_rules = self.desk.config.names_payer(name.text_at(9).trim());
        let payer = Payer::find(&self.desk.chart, &name, is_in_rules);
        let refused = payer.as_ref().ok().and_then(|payer| self.refused_by_rule(source, payer));
        let has_receivers = payer.is_ok() && refused.is_none() && source.all("2000B").next().is_some();
        let level = self.levels.begin(None, "20", has_receivers);
        self.levels.push(SegmentDraft::from(&name));
        match (payer, refused) {
            (Err(reject), _) | (Ok(_), Some(reject)) => self.levels.push(reject.segment()),
            (Ok(payer), None) => {
                for receiver in source.all("2000B") {
                    self.receiver(&receiver, level, &payer);
                }
            }
        }
    }

    /// A rule may refuse for the whole payer.
    fn refused_by_rule(&self, source: &Loop<'_, '_, '_>, payer: &Payer) -> Option<Reject> {
        let mut patients = source.all("2000B").flat_map(|receiver| receiver.all("2000C").collect::<Vec<_>>());
        patients.find_map(|subscriber| {
            let name = subscriber.child("2100C")?.segment("NM1")?;
            let inquiry = Inquiry::read(&subscriber.child("2100C")?, "2110C", &self.desk.today);
            let rule = self.rule(name.text_at(9).trim(), &inquiry, payer)?.1;
            rule.aaa.as_deref().map(Reject::new).filter(|reject| reject.level() == Level::Source)
        })
    }

    fn receiver(&mut self, receiver: &Loop<'_, '_, '_>, above: LevelId, payer: &Payer) {
        let Some(name) = receiver.child("2100B").and_then(|name| name.segment("NM1")) else { return };
        let subscribers: Vec<Loop<'_, '_, '_>> = receiver.all("2000C").collect();
        let refused = check_provider(&name).err();
        let has_subscribers = refused.is_none() && !subscribers.is_empty();
        let level = self.levels.begin(Some(above), "21", has_subscribers);
        self.levels.push(SegmentDraft::from(&name));
        if let Some(reject) = refused {
            self.levels.push(reject.segment());
            return;
        }
        for subscriber in subscribers {
            self.subscriber(&subscriber, level, payer);
        }
    }

    fn subscriber(&mut self, subscriber: &Loop<'_, '_, '_>, above: LevelId, payer: &Payer) {
        let Some(about) = subscriber.child("2100C") else { return };
        let Some(name) = about.segment("NM1") else { return };
        let wanted = Wanted::read(&name, about.segment("DMG"));
        let dependents: Vec<Loop<'_, '_, '_>> = subscriber.all("2000D").collect();
        let inquiry = Inquiry::read(&about, "2110C", &self.desk.today);
        if dependents.is_empty() {
            let said = self.said(&wanted, &inquiry, payer);
            self.levels.begin(Some(above), "22", false);
            self.levels.extend(traces_back(subscriber));
            return self.person("IL", &SegmentDraft::from(&name), &said);
        }
        let found = identify(&self.desk.chart, &wanted, payer, &inquiry.day);
        let is_trusted =
            self.rule(&wanted.member, &inquiry, payer).is_some_and(|(_, rule)| rule.r#match.member.is_some());
        match found {
            Err(reject) if !is_trusted => {
                self.levels.begin(Some(above), "22", false);
                dependents.iter().for_each(|dependent| self.levels.extend(traces_back(dependent)));
                let said = Said { member: None, content: Content::Reject(reject) };
                self.person("IL", &SegmentDraft::from(&name), &said);
            }
            found => {
                let level = self.levels.begin(Some(above), "22", true);
                let known = found.as_ref().ok().map(|member| name_segment("IL", &member.person, &member.number));
                self.levels.push(known.unwrap_or_else(|| SegmentDraft::from(&name)));
                for dependent in dependents {
                    self.dependent(&dependent, level, &wanted.member, found.as_ref().ok(), payer);
                }
            }
        }
    }

    fn dependent(
        &mut self,
        dependent: &Loop<'_, '_, '_>,
        above: LevelId,
        number: &str,
        subscriber: Option<&Member>,
        payer: &Payer,
    ) {
        let Some(about) = dependent.child("2100D") else { return };
        let Some(name) = about.segment("NM1") else { return };
        let wanted = Wanted { member: number.to_owned(), ..Wanted::read(&name, about.segment("DMG")) };
        let inquiry = Inquiry::read(&about, "2110D", &self.desk.today);
        let rule = self.rule(number, &inquiry, payer).map(|(at, rule)| (at, rule.clone()));
        let found = match subscriber {
            Some(subscriber) => identify_dependent(&self.desk.chart, &wanted, subscriber, payer, &inquiry.day),
            None => Err(Reject::new(Reject::PATIENT_NOT_FOUND)),
        };
        let said = self.judged(found, numbered(rule.as_ref()), &inquiry, &wanted);
        self.levels.begin(Some(above), "23", false);
        self.levels.extend(traces_back(dependent));
        self.person("03", &SegmentDraft::from(&name), &said);
    }

    fn rule(&self, member: &str, inquiry: &Inquiry, payer: &Payer) -> Option<(usize, &Rule)> {
        let (service_types, procedures) = (inquiry.service_types(), inquiry.procedures());
        self.desk.config.rule(&Asked {
            member,
            service_types: &service_types,
            procedures: &procedures,
            payer: &payer.id,
        })
    }

    fn said(&mut self, wanted: &Wanted, inquiry: &Inquiry, payer: &Payer) -> Said {
        let rule = self.rule(&wanted.member, inquiry, payer).map(|(at, rule)| (at, rule.clone()));
        let found = identify(&self.desk.chart, wanted, payer, &inquiry.day);
        self.judged(found, numbered(rule.as_ref()), inquiry, wanted)
    }

    /// A rule that names the member is believed even if the record does not know them.
    fn judged(
        &mut self,
        found: Result<Member, Reject>,
        rule: Option<(usize, &Rule)>,
        inquiry: &Inquiry,
        wanted: &Wanted,
    ) -> Said {
        if let Some(code) = rule.and_then(|(_, rule)| rule.aaa.as_deref()) {
            return Said { member: found.ok(), content: Content::Reject(Reject::new(code)) };
        }
        let is_trusted = rule.is_some_and(|(_, rule)| rule.r#match.member.is_some());
        let member = match found {
            Err(reject) if !is_trusted => return Said { member: None, content: Content::Reject(reject) },
            found => found.ok(),
        };
        let what = ["270", &wanted.member, &wanted.last, &wanted.first, &inquiry.service_types().join("^")];
        if self.desk.must_wait(self.when, rule, &what) {
            return Said { member, content: Content::Later };
        }
        let coverage = member.as_ref().map(|member| &*member.coverage);
        let segments = benefits::segments(rule.map(|(_, rule)| rule), coverage, inquiry);
        Said { member, content: Content::Benefits(segments) }
    }

    /// Name, particulars and content. Who is not known is named as the request did.
    fn person(&mut self, entity: &str, asked: &SegmentDraft, said: &Said) {
        let number = |member: &Member| if entity == "IL" { member.number.clone() } else { String::new() };
        let known = said.member.as_ref().filter(|_| !matches!(said.content, Content::Reject(_)));
        match known {
            Some(member) => {
                self.levels.push(name_segment(entity, &member.person, &number(member)));
                self.particulars(member);
            }
            None => self.levels.push(asked.clone()),
        }
        match &said.content {
            Content::Later => {
                self.levels.push(Reject::answered_later());
                self.birth(known);
            }
            Content::Reject(reject) if reject.level() == Level::Service => {
                self.levels.push(segment("EB", ["V"]));
                self.levels.push(reject.segment());
            }
            Content::Reject(reject) => self.levels.push(reject.segment()),
            Content::Benefits(benefits) => {
                self.birth(known);
                self.plan_dates(known);
                self.levels.extend(benefits.iter().cloned());
            }
        }
    }

    fn particulars(&mut self, member: &Member) {
        let group = coverage::class(&member.coverage, "group").filter(|(value, _)| !value.is_empty());
        self.levels.extend(group.map(|(value, name)| segment("REF", ["6P", &value, &name])));
        self.levels.extend(address_segments(&member.person));
    }

    fn birth(&mut self, member: Option<&Member>) {
        self.levels.extend(member.and_then(|member| demographics_segment(&member.person)));
    }

    fn plan_dates(&mut self, member: Option<&Member>) {
        let Some(member) = member else { return };
        let (start, end) = coverage::period(&member.coverage);
        self.levels.extend(start.map(|day| segment("DTP", ["346", "D8", &day])));
        self.levels.extend(end.map(|day| segment("DTP", ["347", "D8", &day])));
    }
}
