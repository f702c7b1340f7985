//! 837 → 277CA: which claims were taken in (TR3 005010X214).

use x12::draft::{SegmentDraft, composite};
use x12::loops::Loops;

use super::adjudication::{Intake, Judged};
use super::desk::Desk;
use super::levels::{LevelId, Levels};
use super::money::Cents;
use super::text::{capitals, plain, segment};

pub(super) const VERSION: &str = "005010X214";

/// NM1*85 and the claims of each billing provider.
pub(super) type Judgements<'c> = Vec<(&'c SegmentDraft, Vec<Judged<'c>>)>;

/// The segments between ST and SE of the 277CA.
pub(super) fn respond(desk: &Desk<'_>, loops: &Loops<'_, '_>, judged: &Judgements<'_>) -> Vec<SegmentDraft> {
    let root = loops.root();
    let reference = root.segment("BHT").map_or("", |header| header.text_at(3));
    let name = |within: &str| root.child(within).and_then(|found| found.segment("NM1"));
    let [receiver, submitter] = ["1000B", "1000A"].map(name);
    let number = desk.number("B", &["277CA", reference, &desk.today, &desk.time]);
    let mut levels = Levels::default();
    levels.push(segment("BHT", ["0085", "08", &number, &desk.today, &desk.time, "TH"]));
    let source = levels.begin(None, "20", true);
    let [own, id] =
        [(3, 60), (9, 80)].map(|(at, most)| receiver.map_or_else(String::new, |r| plain(r.text_at(at), most)));
    levels.push(segment("NM1", ["AY", "2", &capitals(&own, 60), "", "", "", "", "46", &id]));
    levels.push(segment("TRN", ["1", &number]));
    levels.push(segment("DTP", ["050", "D8", &desk.today]));
    levels.push(segment("DTP", ["009", "D8", &desk.today]));
    let level = levels.begin(Some(source), "21", !judged.is_empty());
    levels.extend(submitter.map(|name| SegmentDraft::from(&name)));
    levels.push(segment("TRN", ["2", reference]));
    let all: Vec<&Judged<'_>> = judged.iter().flat_map(|(_, claims)| claims).collect();
    totals(&mut levels, &all, &desk.today, ["90", "AA"]);
    for (provider, claims) in judged {
        of_provider(&mut levels, level, provider, claims, &desk.today);
    }
    levels.segments
}

fn of_provider(levels: &mut Levels, above: LevelId, provider: &SegmentDraft, claims: &[Judged<'_>], today: &str) {
    let level = levels.begin(Some(above), "19", !claims.is_empty());
    levels.push(provider.clone());
    levels.push(segment("TRN", ["1", "0"]));
    // STC02 is not used here.
    totals(levels, &claims.iter().collect::<Vec<_>>(), "", ["QA", "QC"]);
    for judged in claims {
        let claim = judged.claim;
        levels.begin_last(level, "PT");
        levels.push(claim.patient_segment());
        levels.push(segment("TRN", ["2", &claim.control]));
        let (code, action) = match &judged.intake {
            Intake::Taken(_) => (["A2", "20", "PR"], "WQ"),
            Intake::Returned(code) => (*code, "U"),
        };
        levels.push(status(code, today, action, claim.charge.unwrap_or_default()));
        if let Intake::Taken(number) = &judged.intake {
            levels.push(segment("REF", ["1K", number]));
        }
        levels.extend(claim.service_dates().map(|(format, days)| segment("DTP", ["472", format, &days])));
    }
}

/// STC, and how many claims and how much money were taken in and returned.
fn totals(levels: &mut Levels, claims: &[&Judged<'_>], today: &str, counts: [&str; 2]) {
    let charge = |judged: &&&Judged<'_>| judged.claim.charge.unwrap_or_default();
    let is_taken = |judged: &&&Judged<'_>| matches!(judged.intake, Intake::Taken(_));
    let whole: Cents = claims.iter().map(|judged| charge(&judged)).sum();
    let taken: Vec<Cents> = claims.iter().filter(is_taken).map(|judged| charge(&judged)).collect();
    let returned: Vec<Cents> = claims.iter().filter(|judged| !is_taken(judged)).map(|judged| charge(&judged)).collect();
    let action = if taken.is_empty() && !claims.is_empty() { "U" } else { "WQ" };
    levels.push(status(["A1", "19", "PR"], today, action, whole));
    let parts = [(counts[0], "YU", taken), (counts[1], "YY", returned)];
    let told: Vec<_> = parts.into_iter().filter(|(_, _, amounts)| !amounts.is_empty()).collect();
    levels.extend(told.iter().map(|(count, _, amounts)| segment("QTY", [count, &amounts.len().to_string()])));
    levels.extend(told.iter().map(|(_, qualifier, amounts)| {
        segment("AMT", [qualifier, &amounts.iter().copied().sum::<Cents>().to_string()])
    }));
}

fn status(code: [&str; 3], today: &str, action: &str, amount: Cents) -> SegmentDraft {
    SegmentDraft::new("STC").with(composite(code)).with(today).with(action).with(amount.to_string())
}
