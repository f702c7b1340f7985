//! The answer to one interchange: TA1, 999, and the responses to what was taken.

use model::Timestamp;
use x12::check::{GroupReport, Report};
use x12::draft::{GroupDraft, SegmentDraft, TransactionDraft};
use x12::guide::Guide;
use x12::loops::Loops;
use x12::{Group, Interchange, Transaction, acknowledge};

use super::desk::{Desk, When};
use super::envelope::{back, group_back, written};
use super::exchange::{Numbers, Transport};
use super::{adjudication, authorization, claim, claim_acknowledgment, claim_status, eligibility, remittance};

pub(super) struct Answer {
    pub(super) text: String,
    /// Whether anything of it was taken, and not only refused.
    pub(super) is_taken: bool,
    /// Interchanges that follow when they are due.
    pub(super) later: Vec<(Timestamp, String)>,
}

/// None for an answer that cannot be written.
pub(super) fn answer(
    desk: &mut Desk<'_>,
    interchange: &Interchange<'_>,
    report: &Report,
    transport: Transport,
    numbers: Numbers,
) -> Option<Answer> {
    let envelope = back(interchange, &desk.today, &desk.time);
    if !report.faults.is_empty() {
        let draft = envelope.interchange(numbers.now(), vec![report.ta1()], Vec::new());
        return Some(Answer { text: written(draft, interchange)?, is_taken: false, later: Vec::new() });
    }
    let mut answers = Answers::default();
    for (group, judged) in interchange.groups().zip(&report.groups) {
        answers.acknowledge(&group, judged, transport);
        for (transaction, judged) in group.transactions().zip(&judged.transactions) {
            if judged.is_clean() && report_takes(report, group.number()) {
                answers.respond(desk, &group, &transaction);
            }
        }
    }
    let asks_for_it = interchange.header().text_at(14) == "1";
    let is_taken = answers.is_taken;
    let now = answers.groups(&envelope, None);
    let acknowledgments = if asks_for_it || now.is_empty() { vec![report.ta1()] } else { Vec::new() };
    let text = written(envelope.interchange(numbers.now(), acknowledgments, now), interchange)?;
    let mut later = Vec::new();
    for (due, which) in answers.dues().into_iter().zip(0..) {
        let (date, time) = super::text::date_and_time(due);
        let envelope = back(interchange, &date, &time);
        let groups = answers.groups(&envelope, Some(due));
        later.push((due, written(envelope.interchange(numbers.later(which), Vec::new(), groups), interchange)?));
    }
    Some(Answer { text, is_taken, later })
}

fn report_takes(report: &Report, number: usize) -> bool {
    report.groups.get(number - 1).is_some_and(|group| group.faults.is_empty())
}

/// Responses by the group that they will be in.
#[derive(Default)]
struct Answers<'i, 'a> {
    parts: Vec<Part<'i, 'a>>,
    is_taken: bool,
}

/// Of one kind, to one group, at one time.
struct Part<'i, 'a> {
    group: Group<'i, 'a>,
    kind: Kind,
    due: Option<Timestamp>,
    sets: Vec<Vec<SegmentDraft>>,
}

/// ST01, GS01 and GS08.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind(&'static str, &'static str, &'static str);

const ACKNOWLEDGMENT: Kind = Kind("999", "FA", acknowledge::VERSION);
const ELIGIBILITY: Kind = Kind("271", "HB", eligibility::VERSION);
const STATUS: Kind = Kind("277", "HN", claim_status::VERSION);
const REVIEW: Kind = Kind("278", "HI", authorization::VERSION);
const CLAIMS: Kind = Kind("277", "HN", claim_acknowledgment::VERSION);
const PAYMENT: Kind = Kind("835", "HP", remittance::VERSION);

impl<'i, 'a> Answers<'i, 'a> {
    fn add(&mut self, group: &Group<'i, 'a>, kind: Kind, due: Option<Timestamp>, segments: Vec<SegmentDraft>) {
        let is_same =
            |part: &&mut Part<'i, 'a>| part.group.number() == group.number() && part.kind == kind && part.due == due;
        match self.parts.iter_mut().find(is_same) {
            Some(part) => part.sets.push(segments),
            None => self.parts.push(Part { group: *group, kind, due, sets: vec![segments] }),
        }
    }

    /// A 999 for what is refused, for claims and for files; what is answered at once needs none.
    fn acknowledge(&mut self, group: &Group<'i, 'a>, judged: &GroupReport, transport: Transport) {
        let is_wanted = !judged.is_clean() || judged.function == "HC" || transport == Transport::File;
        if let Some(acknowledgment) = judged.acknowledge("0001").filter(|_| is_wanted) {
            self.add(group, ACKNOWLEDGMENT, None, acknowledgment.segments);
        }
    }

    fn respond(&mut self, desk: &mut Desk<'_>, group: &Group<'i, 'a>, transaction: &Transaction<'_, '_>) {
        type Respond = fn(&mut Desk<'_>, &Transaction<'_, '_>, When) -> Vec<SegmentDraft>;
        let (kind, respond): (Kind, Respond) = match transaction.set() {
            "270" => (ELIGIBILITY, eligibility::respond),
            "276" => (STATUS, claim_status::respond),
            "278" => (REVIEW, authorization::respond),
            "837" => return self.take_claims(desk, group, transaction),
            _ => return,
        };
        self.is_taken = true;
        desk.due = None;
        self.add(group, kind, None, respond(desk, transaction, When::Now));
        if let Some(due) = desk.due.take() {
            self.add(group, kind, Some(due), respond(desk, transaction, When::Later));
        }
    }

    fn take_claims(&mut self, desk: &mut Desk<'_>, group: &Group<'i, 'a>, transaction: &Transaction<'_, '_>) {
        let Some(guide) = Guide::of(transaction) else { return };
        self.is_taken = true;
        let loops = Loops::read(guide, transaction.segments());
        let batches = claim::batches(&loops);
        let mut judged = Vec::new();
        for batch in &batches {
            judged.push((&batch.provider, adjudication::judge(desk, batch)));
        }
        self.add(group, CLAIMS, None, claim_acknowledgment::respond(desk, &loops, &judged));
        for (provider, claims) in &judged {
            let decided: Vec<remittance::Decided<'_>> =
                claims.iter().filter_map(|judged| Some((judged, judged.payment.as_ref()?))).collect();
            let mut dues: Vec<Option<Timestamp>> = decided.iter().map(|(_, paid)| paid.due).collect();
            dues.sort_unstable();
            dues.dedup();
            for due in dues {
                let of_due: Vec<_> = decided.iter().copied().filter(|(_, paid)| paid.due == due).collect();
                self.add(group, PAYMENT, due, remittance::respond(desk, provider, &of_due));
            }
        }
    }

    fn dues(&self) -> Vec<Timestamp> {
        let mut dues: Vec<Timestamp> = self.parts.iter().filter_map(|part| part.due).collect();
        dues.sort_unstable();
        dues.dedup();
        dues
    }

    fn groups(&self, envelope: &x12::envelope::Envelope, due: Option<Timestamp>) -> Vec<GroupDraft> {
        let parts = self.parts.iter().filter(|part| part.due == due).zip(1..);
        parts.map(|(part, control)| part.draft(envelope, control)).collect()
    }
}

impl Part<'_, '_> {
    fn draft(&self, envelope: &x12::envelope::Envelope, control: u32) -> GroupDraft {
        let Kind(set, function, version) = self.kind;
        let numbered = self.sets.iter().zip(1..);
        let sets = numbered.map(|(segments, number)| TransactionDraft {
            set: set.to_owned(),
            control: format!("{number:04}"),
            // The guide of the 835 does not use ST03.
            version: (set != "835").then(|| version.to_owned()),
            segments: segments.clone(),
        });
        group_back(&self.group, envelope.group(function, version, control, sets.collect()))
    }
}
