//! 278 → 278: may a service be given (TR3 005010X217, request for review and response).

use serde_json::Value;
use x12::Transaction;
use x12::draft::SegmentDraft;
use x12::guide::Guide;
use x12::loops::{Loop, Loops};

use super::chart::{codes, items, text};
use super::config::Status;
use super::desk::{Desk, When};
use super::levels::{LevelId, Levels, traces_back};
use super::member::{Member, Payer, check_provider, identify, identify_dependent};
use super::person::Wanted;
use super::reject::{Level, Reject};
use super::rules::Asked;
use super::text::{plain, segment};

pub(super) const VERSION: &str = "005010X217";

/// The segments between ST and SE of the response.
pub(super) fn respond(desk: &mut Desk<'_>, transaction: &Transaction<'_, '_>, when: When) -> Vec<SegmentDraft> {
    let Some(guide) = Guide::of(transaction) else { return Vec::new() };
    let loops = Loops::read(guide, transaction.segments());
    let root = loops.root();
    let reference = root.segment("BHT").map_or("", |header| header.text_at(3));
    let mut levels = Levels::default();
    let (date, time) = (desk.today.clone(), desk.time.clone());
    let waited = desk.due;
    for reviewer in root.all("2000A") {
        Answer { desk, when, levels: &mut levels }.reviewer(&reviewer);
    }
    // Whether more answers follow.
    let follows = if desk.due > waited { "19" } else { "18" };
    let header = segment("BHT", ["0007", "11", reference, &date, &time, follows]);
    std::iter::once(header).chain(levels.segments).collect()
}

struct Answer<'d, 'w, 'l> {
    desk: &'d mut Desk<'w>,
    when: When,
    levels: &'l mut Levels,
}

/// What the reviewer decides: HCR.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Decision {
    status: Status,
    number: String,
}

impl Answer<'_, '_, '_> {
    fn reviewer(&mut self, reviewer: &Loop<'_, '_, '_>) {
        let Some(name) = reviewer.child("2010A").and_then(|name| name.segment("NM1")) else { return };
        let is_in_rules = self.desk.config.names_payer(name.text_at(9).trim());
        let payer = Payer::find(&self.desk.chart, &name, is_in_rules);
        let level = self.levels.begin(None, "20", payer.is_ok() && reviewer.all("2000B").next().is_some());
        self.levels.push(SegmentDraft::from(&name));
        match payer {
            Err(reject) => self.levels.push(reject.segment()),
            Ok(payer) => {
                for requester in reviewer.all("2000B") {
                    self.requester(&requester, level, &payer);
                }
            }
        }
    }

    fn requester(&mut self, requester: &Loop<'_, '_, '_>, above: LevelId, payer: &Payer) {
        let Some(name) = requester.child("2010B").and_then(|name| name.segment("NM1")) else { return };
        let subscribers: Vec<Loop<'_, '_, '_>> = requester.all("2000C").collect();
        let refused = check_provider(&name).err();
        let level = self.levels.begin(Some(above), "21", refused.is_none() && !subscribers.is_empty());
        self.levels.push(SegmentDraft::from(&name));
        if let Some(reject) = refused {
            return self.levels.push(reject.segment());
        }
        for subscriber in subscribers {
            self.subscriber(&subscriber, level, payer);
        }
    }

    fn subscriber(&mut self, subscriber: &Loop<'_, '_, '_>, above: LevelId, payer: &Payer) {
        let Some(about) = subscriber.child("2010C") else { return };
        let Some(name) = about.segment("NM1") else { return };
        let wanted = Wanted::read(&name, about.segment("DMG"));
        let found = identify(&self.desk.chart, &wanted, payer, &self.desk.today);
        let found = self.trusted(found, &wanted.member, payer);
        let level = self.levels.begin(Some(above), "22", found.is_ok());
        self.levels.push(SegmentDraft::from(&name));
        let member = match found {
            Err(reject) => return self.levels.push(reject.segment()),
            Ok(member) => member,
        };
        for event in subscriber.all("2000E") {
            self.event(&event, level, &wanted.member, member.as_ref(), payer);
        }
        for dependent in subscriber.all("2000D") {
            self.dependent(&dependent, level, &wanted.member, member.as_ref(), payer);
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
        let Some(about) = dependent.child("2010D") else { return };
        let Some(name) = about.segment("NM1") else { return };
        let wanted = Wanted::read(&name, about.segment("DMG"));
        let found = subscriber
            .map(|subscriber| identify_dependent(&self.desk.chart, &wanted, subscriber, payer, &self.desk.today));
        let refused = found.as_ref().and_then(|found| found.as_ref().err());
        let level = self.levels.begin(Some(above), "23", refused.is_none());
        self.levels.push(SegmentDraft::from(&name));
        if let Some(reject) = refused {
            return self.levels.push(reject.segment());
        }
        let member = found.and_then(Result::ok);
        for event in dependent.all("2000E") {
            self.event(&event, level, number, member.as_ref(), payer);
        }
    }

    /// A rule that names the member is believed even if the record does not know them, and refuses whom it refuses.
    fn trusted(&self, found: Result<Member, Reject>, member: &str, payer: &Payer) -> Result<Option<Member>, Reject> {
        let asked = Asked { member, payer: &payer.id, ..Asked::default() };
        let rule = self.desk.config.rule(&asked).map(|(_, rule)| rule);
        let code = rule.and_then(|rule| rule.aaa.as_deref()).map(Reject::new);
        if let Some(reject) = code.filter(|reject| reject.level() != Level::Service) {
            return Err(reject);
        }
        let is_named = self.desk.config.rules.iter().any(|rule| rule.r#match.member.as_deref() == Some(member));
        match found {
            Err(reject) if !is_named => Err(reject),
            found => Ok(found.ok()),
        }
    }

    fn event(
        &mut self,
        event: &Loop<'_, '_, '_>,
        above: LevelId,
        number: &str,
        member: Option<&Member>,
        payer: &Payer,
    ) {
        let services: Vec<Loop<'_, '_, '_>> = event.all("2000F").collect();
        let mut decisions = Vec::new();
        for service in &services {
            decisions.push(self.decide(event, Some(service), number, member, payer));
        }
        let whole = match decisions.is_empty() {
            true => self.decide(event, None, number, member, payer),
            false => together(&decisions),
        };
        let level = self.levels.begin(Some(above), "EV", !services.is_empty());
        self.described(event, &whole, &["UM"], &["HI", "HSD", "CL1", "CR1", "CR2", "CR5", "CR6"]);
        for (service, decision) in services.iter().zip(&decisions) {
            self.levels.begin(Some(level), "SS", false);
            self.described(service, decision, &["UM"], &["HI", "SV1", "SV2", "SV3", "TOO", "HSD"]);
        }
    }

    /// The traces, what comes before the decision, the decision, and what comes after it.
    fn described(
        &mut self,
        asked: &Loop<'_, '_, '_>,
        decision: &Result<Decision, Reject>,
        before: &[&str],
        after: &[&str],
    ) {
        self.levels.extend(traces_back(asked));
        let copied = |names: &[&str]| -> Vec<SegmentDraft> {
            asked
                .segments()
                .filter(|segment| names.contains(&segment.name()))
                .map(|found| SegmentDraft::from(&found))
                .collect()
        };
        match decision {
            Err(reject) => {
                self.levels.push(reject.segment());
                self.levels.extend(copied(before));
            }
            Ok(decision) => {
                self.levels.extend(copied(before));
                self.levels.push(decision.segment());
            }
        }
        self.levels.extend(copied(after));
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
        let kinds = [service.copied(), Some(*event)].into_iter().flatten().find_map(|level| level.segment("UM"));
        let service_types: Vec<String> = kinds.map(|kinds| plain(kinds.text_at(3), 2)).into_iter().collect();
        let asked = Asked { member: number, service_types: &service_types, procedures: &procedures, payer: &payer.id };
        let rule = self.desk.config.rule(&asked).map(|(at, rule)| (at, rule.clone()));
        let rule = rule.as_ref().map(|(at, rule)| (*at, rule));
        if let Some(code) = rule.and_then(|(_, rule)| rule.aaa.as_deref()) {
            return Err(Reject::new(code));
        }
        let trace = event.segment("TRN").map_or_else(String::new, |trace| trace.text_at(2).to_owned());
        let what = ["278", number, &service_types.join("^"), &procedures.join("^")];
        let given = self.desk.number("A", &[&what[..], &[&trace]].concat());
        if self.desk.must_wait(self.when, rule, &what) {
            return Ok(Decision { status: Status::Pending, number: given });
        }
        let recorded = || member.and_then(|member| recorded(self.desk, &member.person, &procedures));
        let decision = match rule.and_then(|(_, rule)| rule.status) {
            Some(status) => Decision { status, number: given },
            None => recorded().unwrap_or(Decision { status: Status::Pending, number: given }),
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

/// What the record's answer to an earlier request for the same procedure says.
fn recorded(desk: &Desk<'_>, patient: &Value, procedures: &[String]) -> Option<Decision> {
    let patient = format!("Patient/{}", text(patient, "id")?);
    let claims = desk.chart.find("Claim", &[("patient", &patient), ("use", "preauthorization")]);
    let is_for = |claim: &Value| {
        let services = items(claim, "item").iter().filter_map(|item| item.get("productOrService"));
        services.flat_map(codes).any(|code| procedures.iter().any(|procedure| procedure == code))
    };
    let claim = claims.into_iter().find(|claim| is_for(claim))?;
    let request = format!("Claim/{}", text(&claim, "id")?);
    let response = desk.chart.find("ClaimResponse", &[("request", &request)]).into_iter().next_back()?;
    let number = plain(text(&response, "preAuthRef").unwrap_or_default(), 50);
    let status = match text(&response, "outcome") {
        Some("complete") if !number.is_empty() => Status::Approved,
        Some("complete" | "error") => Status::Denied,
        _ => Status::Pending,
    };
    Some(Decision { status, number })
}

/// Of an event whose services are decided one by one.
fn together(decisions: &[Result<Decision, Reject>]) -> Result<Decision, Reject> {
    let decided: Vec<&Decision> = decisions.iter().filter_map(|decision| decision.as_ref().ok()).collect();
    let Some(first) = decided.first() else {
        return decisions.first().cloned().unwrap_or_else(|| Err(Reject::new(Reject::UNABLE_TO_RESPOND)));
    };
    let is_waiting = |decision: &&&Decision| matches!(decision.status, Status::Pending | Status::NeedMoreInfo);
    let waiting = decided.iter().find(is_waiting);
    let approved = decided.iter().find(|decision| decision.is_approved());
    Ok((**waiting.or(approved).unwrap_or(first)).clone())
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

/// HCR03 (code source 886).
const MEDICAL_REVIEW: &str = "0V";
const INFORMATION_NEEDED: &str = "0U";
const NOT_NECESSARY: &str = "0F";
