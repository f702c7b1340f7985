//! 837 → 277CA: accepted and returned claims (TR3 005010X214).

use x12::draft::{SegmentDraft, composite};
use x12::loops::Loops;

use super::adjudication::{AdjudicatedClaim, Intake};
use super::hl_writer::{HlWriter, LevelId};
use super::money::Cents;
use super::response_context::ResponseContext;
use super::text::{plain, segment, uppercase};

pub(super) const VERSION: &str = "005010X214";

/// NM1*85 and the claims of each billing provider.
pub(super) type AdjudicatedProviders<'c> = Vec<(&'c SegmentDraft, Vec<AdjudicatedClaim<'c>>)>;

/// The segments between ST and SE of the 277CA.
pub(super) fn respond(
    context: &ResponseContext<'_>,
    loops: &Loops<'_, '_>,
    providers: &AdjudicatedProviders<'_>,
) -> Vec<SegmentDraft> {
    let root = loops.root();
    let reference = root.segment("BHT").map_or("", |header| header.text_at(3));
    let name = |loop_id: &str| root.child(loop_id).and_then(|found| found.segment("NM1"));
    let [receiver, submitter] = ["1000B", "1000A"].map(name);
    let number = context.payer_number("B", &["277CA", reference, &context.today, &context.time]);
    let mut writer = HlWriter::default();
    writer.push(segment("BHT", ["0085", "08", &number, &context.today, &context.time, "TH"]));
    let source = writer.begin(None, "20", true);
    let [own_name, id] = [(3, 60), (9, 80)].map(|(number, max_chars)| {
        receiver.map_or_else(String::new, |receiver| plain(receiver.text_at(number), max_chars))
    });
    writer.push(segment("NM1", ["AY", "2", &uppercase(&own_name, 60), "", "", "", "", "46", &id]));
    writer.push(segment("TRN", ["1", &number]));
    writer.push(segment("DTP", ["050", "D8", &context.today]));
    writer.push(segment("DTP", ["009", "D8", &context.today]));
    let level = writer.begin(Some(source), "21", !providers.is_empty());
    writer.extend(submitter.map(|name| SegmentDraft::from(&name)));
    writer.push(segment("TRN", ["2", reference]));
    let all: Vec<&AdjudicatedClaim<'_>> = providers.iter().flat_map(|(_, claims)| claims).collect();
    totals(&mut writer, &all, &context.today, ["90", "AA"]);
    for (provider, claims) in providers {
        provider_segments(&mut writer, level, provider, claims, &context.today);
    }
    writer.segments
}

fn provider_segments(
    writer: &mut HlWriter,
    parent: LevelId,
    provider: &SegmentDraft,
    claims: &[AdjudicatedClaim<'_>],
    today: &str,
) {
    let level = writer.begin(Some(parent), "19", !claims.is_empty());
    writer.push(provider.clone());
    writer.push(segment("TRN", ["1", "0"]));
    // STC02 is not used here.
    totals(writer, &claims.iter().collect::<Vec<_>>(), "", ["QA", "QC"]);
    for adjudicated in claims {
        let claim = adjudicated.claim;
        writer.begin_leaf(level, "PT");
        writer.push(claim.patient_segment());
        writer.push(segment("TRN", ["2", &claim.control]));
        let (code, action) = match &adjudicated.intake {
            Intake::Accepted(_) => (["A2", "20", "PR"], "WQ"),
            Intake::Returned(code) => (*code, "U"),
        };
        writer.push(status(code, today, action, claim.charge.unwrap_or_default()));
        if let Intake::Accepted(number) = &adjudicated.intake {
            writer.push(segment("REF", ["1K", number]));
        }
        writer.extend(claim.service_dates().map(|(format, days)| segment("DTP", ["472", format, &days])));
    }
}

/// STC with the number and total charge of the accepted and the returned claims (QTY, AMT).
fn totals(writer: &mut HlWriter, claims: &[&AdjudicatedClaim<'_>], today: &str, counts: [&str; 2]) {
    let charge = |claim: &&AdjudicatedClaim<'_>| claim.claim.charge.unwrap_or_default();
    let is_accepted = |claim: &&&AdjudicatedClaim<'_>| matches!(claim.intake, Intake::Accepted(_));
    let total: Cents = claims.iter().map(charge).sum();
    let accepted: Vec<Cents> = claims.iter().filter(is_accepted).map(charge).collect();
    let returned: Vec<Cents> = claims.iter().filter(|claim| !is_accepted(claim)).map(charge).collect();
    let action = if accepted.is_empty() && !claims.is_empty() { "U" } else { "WQ" };
    writer.push(status(["A1", "19", "PR"], today, action, total));
    let parts = [(counts[0], "YU", accepted), (counts[1], "YY", returned)];
    let parts: Vec<_> = parts.into_iter().filter(|(_, _, amounts)| !amounts.is_empty()).collect();
    writer.extend(parts.iter().map(|(count, _, amounts)| segment("QTY", [count, &amounts.len().to_string()])));
    writer.extend(parts.iter().map(|(_, qualifier, amounts)| {
        segment("AMT", [qualifier, &amounts.iter().copied().sum::<Cents>().to_string()])
    }));
}

fn status(code: [&str; 3], today: &str, action: &str, amount: Cents) -> SegmentDraft {
    SegmentDraft::new("STC").with(composite(code)).with(today).with(action).with(amount.to_string())
}
