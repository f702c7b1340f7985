//! The envelope of a response: addressed to the sender, with the sender's delimiters unless a value contains one of them.

use x12::draft::{GroupDraft, InterchangeDraft, Lines, Party, Usage};
use x12::envelope::Envelope;
use x12::{Delimiters, Group, Interchange};

use super::text::plain;

/// Addresses a response from the receiver of an interchange to its sender.
pub(super) fn reply_envelope(interchange: &Interchange<'_>, date: &str, time: &str) -> Envelope {
    let header = interchange.header();
    let party = |qualifier: usize, id: usize| Party::named(header.text_at(qualifier), header.text_at(id));
    Envelope {
        sender: party(7, 8),
        receiver: party(5, 6),
        date: date.to_owned(),
        time: time.to_owned(),
        usage: if header.text_at(15) == "P" { Usage::Production } else { Usage::Test },
    }
}

/// Addresses a response group to the sender of the request group.
pub(super) fn reply_group(group: &Group<'_, '_>, draft: GroupDraft) -> GroupDraft {
    let header = group.header();
    let [sender, receiver] = [3, 2].map(|number| plain(header.text_at(number), 15));
    let or_default = |code: String, default: &String| if code.is_empty() { default.clone() } else { code };
    GroupDraft { sender: or_default(sender, &draft.sender), receiver: or_default(receiver, &draft.receiver), ..draft }
}

/// Writes an interchange. None if the values contain all possible delimiters.
pub(super) fn write_interchange(mut draft: InterchangeDraft, request: &Interchange<'_>) -> Option<String> {
    for segment in draft.groups.iter_mut().flat_map(|group| &mut group.transactions).flat_map(|set| &mut set.segments) {
        for value in segment.elements.iter_mut().flat_map(|element| element.0.iter_mut().flatten()) {
            if value.contains(char::is_control) {
                *value = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            }
        }
    }
    let own = Some(request.delimiters()).filter(|delimiters| delimiters.repetition().is_some());
    let lines = line_breaks_of(request);
    draft
        .write(own.unwrap_or(Delimiters::USUAL), lines)
        .ok()
        .or_else(|| draft.write(draft.free_delimiters()?, lines).ok())
}

/// One line for each segment if the request has line breaks.
fn line_breaks_of(interchange: &Interchange<'_>) -> Lines {
    let header = interchange.header().to_string();
    let has_break = header.ends_with('\n') && interchange.delimiters().terminator() != '\n';
    if has_break { Lines::PerSegment } else { Lines::One }
}
