//! Converts interchanges to JSON: envelopes, transactions and segments, each segment with its loop.

use model::clearinghouse;
use x12::guide::Guide;
use x12::loops::Loops;
use x12::{Group, Interchange, Limits, Segment, Transaction};

/// Converts a response of ours, which is always valid.
pub(super) fn interchanges(text: &str) -> Vec<clearinghouse::Interchange> {
    let body = x12::parse(text, &Limits::default()).ok();
    body.iter().flat_map(|body| body.interchanges()).map(interchange).collect()
}

fn interchange(interchange: &Interchange<'_>) -> clearinghouse::Interchange {
    let header = interchange.header();
    clearinghouse::Interchange {
        control_number: header.text_at(13).to_owned(),
        sender: header.text_at(6).trim_end().to_owned(),
        receiver: header.text_at(8).trim_end().to_owned(),
        acknowledgments: interchange.outside_groups().map(|(_, found)| segment(&found, None)).collect(),
        groups: interchange.groups().map(|found| group(&found)).collect(),
    }
}

fn group(group: &Group<'_, '_>) -> clearinghouse::Group {
    let header = group.header();
    clearinghouse::Group {
        function: header.text_at(1).to_owned(),
        version: header.text_at(8).to_owned(),
        control_number: header.text_at(6).to_owned(),
        transactions: group.transactions().map(|found| transaction(&found)).collect(),
    }
}

fn transaction(transaction: &Transaction<'_, '_>) -> clearinghouse::Transaction {
    let loops = Guide::of(transaction).map(|guide| Loops::read(guide, transaction.segments()));
    let within = |position: usize| loops.as_ref().and_then(|loops| loops.within(position));
    let numbered = transaction.segments().iter().zip(1..);
    clearinghouse::Transaction {
        set: transaction.set().to_owned(),
        version: transaction.version().to_owned(),
        control_number: transaction.header().text_at(2).to_owned(),
        segments: numbered.map(|(found, position)| segment(found, within(position))).collect(),
    }
}

/// Repetitions are joined with `^`, components with `:`.
fn segment(segment: &Segment<'_>, within: Option<&str>) -> clearinghouse::Segment {
    clearinghouse::Segment {
        name: segment.name().to_owned(),
        r#loop: within.map(str::to_owned),
        elements: segment.elements().map(|element| element.canonical().into_owned()).collect(),
    }
}
