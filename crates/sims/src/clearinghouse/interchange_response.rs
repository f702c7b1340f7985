//! Builds the response to one interchange: TA1, 999, and the response transactions.

use model::Timestamp;
use x12::check::{GroupReport, Report};
use x12::draft::{GroupDraft, SegmentDraft, TransactionDraft};
use x12::guide::Guide;
use x12::loops::Loops;
use x12::{Group, Interchange, Transaction, acknowledge};

use super::envelope::{reply_envelope, reply_group, write_interchange};
use super::exchange::{ControlNumbers, Transport};
use super::response_context::{ResponseContext, ResponsePhase};
use super::{adjudication, authorization, claim, claim_acknowledgment, claim_status, eligibility, remittance};

pub(super) struct InterchangeResponse {
    pub(super) text: String,
    /// Whether at least one transaction was accepted.
    pub(super) is_accepted: bool,
    /// Interchanges that follow when they are due.
    pub(super) deferred: Vec<(Timestamp, String)>,
}

/// None if a response contains values that no delimiters can separate.
pub(super) fn respond_to(
    context: &mut ResponseContext<'_>,
    interchange: &Interchange<'_>,
    report: &Report,
    transport: Transport,
    numbers: ControlNumbers,
) -> Option<InterchangeResponse> {
    let envelope = reply_envelope(interchange, &context.today, &context.time);
    if !report.faults.is_empty() {
        let draft = envelope.interchange(numbers.immediate(), vec![report.ta1()], Vec::new());
        return Some(InterchangeResponse {
            text: write_interchange(draft, interchange)?,
            is_accepted: false,
            deferred: Vec::new(),
        });
    }
    let mut groups = ResponseGroups::default();
    for (group, group_report) in interchange.groups().zip(&report.groups) {
        groups.acknowledge(&group, group_report, transport);
        for (transaction, transaction_report) in group.transactions().zip(&group_report.transactions) {
            if transaction_report.is_clean() && group_report.faults.is_empty() {
                groups.respond(context, &group, &transaction);
            }
        }
    }
    let requests_ta1 = interchange.header().text_at(14) == "1";
    let is_accepted = groups.is_accepted;
    let immediate = groups.drafts(&envelope, None);
    let acknowledgments = if requests_ta1 || immediate.is_empty() { vec![report.ta1()] } else { Vec::new() };
    let text = write_interchange(envelope.interchange(numbers.immediate(), acknowledgments, immediate), interchange)?;
    let mut deferred = Vec::new();
    for (due, which) in groups.due_times().into_iter().zip(0..) {
        let (date, time) = super::text::date_and_time(due);
        let envelope = reply_envelope(interchange, &date, &time);
        let drafts = groups.drafts(&envelope, Some(due));
        deferred.push((
            due,
            write_interchange(envelope.interchange(numbers.deferred(which), Vec::new(), drafts), interchange)?,
        ));
    }
    Some(InterchangeResponse { text, is_accepted, deferred })
}

/// Response transactions, collected by the group that will contain them.
#[derive(Default)]
struct ResponseGroups<'i, 'a> {
    groups: Vec<ResponseGroup<'i, 'a>>,
    is_accepted: bool,
}

/// The transactions of one kind that answer one group at one time.
struct ResponseGroup<'i, 'a> {
    group: Group<'i, 'a>,
    kind: TransactionKind,
    due: Option<Timestamp>,
    sets: Vec<Vec<SegmentDraft>>,
}

/// ST01, GS01 and GS08.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TransactionKind(&'static str, &'static str, &'static str);

const ACKNOWLEDGMENT: TransactionKind = TransactionKind("999", "FA", acknowledge::VERSION);
const ELIGIBILITY: TransactionKind = TransactionKind("271", "HB", eligibility::VERSION);
const STATUS: TransactionKind = TransactionKind("277", "HN", claim_status::VERSION);
const REVIEW: TransactionKind = TransactionKind("278", "HI", authorization::VERSION);
const CLAIMS: TransactionKind = TransactionKind("277", "HN", claim_acknowledgment::VERSION);
const PAYMENT: TransactionKind = TransactionKind("835", "HP", remittance::VERSION);

impl<'i, 'a> ResponseGroups<'i, 'a> {
    fn add(
        &mut self,
        group: &Group<'i, 'a>,
        kind: TransactionKind,
        due: Option<Timestamp>,
        segments: Vec<SegmentDraft>,
    ) {
        let is_same = |response: &&mut ResponseGroup<'i, 'a>| {
            response.group.number() == group.number() && response.kind == kind && response.due == due
        };
        match self.groups.iter_mut().find(is_same) {
            Some(response) => response.sets.push(segments),
            None => self.groups.push(ResponseGroup { group: *group, kind, due, sets: vec![segments] }),
        }
    }

    /// Adds a 999 for groups with errors, for claims and for files. Real-time requests without errors need none.
    fn acknowledge(&mut self, group: &Group<'i, 'a>, report: &GroupReport, transport: Transport) {
        let needs_acknowledgment = !report.is_clean() || report.function == "HC" || transport == Transport::File;
        if let Some(acknowledgment) = report.acknowledge("0001").filter(|_| needs_acknowledgment) {
            self.add(group, ACKNOWLEDGMENT, None, acknowledgment.segments);
        }
    }

    fn respond(&mut self, context: &mut ResponseContext<'_>, group: &Group<'i, 'a>, transaction: &Transaction<'_, '_>) {
        type Respond = fn(&mut ResponseContext<'_>, &Transaction<'_, '_>, ResponsePhase) -> Vec<SegmentDraft>;
        let (kind, respond): (TransactionKind, Respond) = match transaction.set() {
            "270" => (ELIGIBILITY, eligibility::respond),
            "276" => (STATUS, claim_status::respond),
            "278" => (REVIEW, authorization::respond),
            "837" => return self.accept_claims(context, group, transaction),
            _ => return,
        };
        self.is_accepted = true;
        context.due = None;
        self.add(group, kind, None, respond(context, transaction, ResponsePhase::Immediate));
        if let Some(due) = context.due.take() {
            self.add(group, kind, Some(due), respond(context, transaction, ResponsePhase::Deferred));
        }
    }

    fn accept_claims(
        &mut self,
        context: &mut ResponseContext<'_>,
        group: &Group<'i, 'a>,
        transaction: &Transaction<'_, '_>,
    ) {
        let Some(guide) = Guide::of(transaction) else { return };
        self.is_accepted = true;
        let loops = Loops::read(guide, transaction.segments());
        let providers = claim::read_claims(&loops);
        let mut adjudicated = Vec::new();
        for batch in &providers {
            adjudicated.push((&batch.provider, adjudication::adjudicate(context, batch)));
        }
        self.add(group, CLAIMS, None, claim_acknowledgment::respond(context, &loops, &adjudicated));
        for (provider, claims) in &adjudicated {
            let decided: Vec<remittance::DecidedClaim<'_>> =
                claims.iter().filter_map(|claim| Some((claim, claim.decision.as_ref()?))).collect();
            let mut due_times: Vec<Option<Timestamp>> = decided.iter().map(|(_, decision)| decision.due).collect();
            due_times.sort_unstable();
            due_times.dedup();
            for due in due_times {
                let due_now: Vec<_> = decided.iter().copied().filter(|(_, decision)| decision.due == due).collect();
                self.add(group, PAYMENT, due, remittance::respond(context, provider, &due_now));
            }
        }
    }

    fn due_times(&self) -> Vec<Timestamp> {
        let mut times: Vec<Timestamp> = self.groups.iter().filter_map(|group| group.due).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    fn drafts(&self, envelope: &x12::envelope::Envelope, due: Option<Timestamp>) -> Vec<GroupDraft> {
        let groups = self.groups.iter().filter(|group| group.due == due).zip(1..);
        groups.map(|(group, control)| group.draft(envelope, control)).collect()
    }
}

impl ResponseGroup<'_, '_> {
    fn draft(&self, envelope: &x12::envelope::Envelope, control: u32) -> GroupDraft {
        let TransactionKind(set, function, version) = self.kind;
        let numbered = self.sets.iter().zip(1..);
        let sets = numbered.map(|(segments, number)| TransactionDraft {
            set: set.to_owned(),
            control: format!("{number:04}"),
            // The 835 guide does not use ST03.
            version: (set != "835").then(|| version.to_owned()),
            segments: segments.clone(),
        });
        reply_group(&self.group, envelope.group(function, version, control, sets.collect()))
    }
}
