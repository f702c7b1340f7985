//! The envelope of an answer: back to the sender, under its delimiters if the values leave them free.

use x12::draft::{GroupDraft, InterchangeDraft, Lines, Party, Usage};
use x12::envelope::Envelope;
use x12::{Delimiters, Group, Interchange};

use super::text::plain;

/// From the receiver of an interchange to its sender.
pub(super) fn back(interchange: &Interchange<'_>, date: &str, time: &str) -> Envelope {
    let header = interchange.header();
    // The header's columns have fixed widths, which other letters than those of ASCII do not keep everywhere.
    let ascii = |number: usize, most: usize| plain(header.text_at(number), most).replace(|c: char| !c.is_ascii(), "");
    let party = |qualifier: usize, id: usize| {
        let (qualifier, id) = (ascii(qualifier, 2), ascii(id, 15));
        Party {
            qualifier: if qualifier.len() == 2 { qualifier } else { "ZZ".to_owned() },
            id: if id.trim().is_empty() { "UNKNOWN".to_owned() } else { id },
        }
    };
    Envelope {
        sender: party(7, 8),
        receiver: party(5, 6),
        date: date.to_owned(),
        time: time.to_owned(),
        usage: if header.text_at(15) == "P" { Usage::Production } else { Usage::Test },
    }
}

/// Between the parties of a group.
pub(super) fn group_back(group: &Group<'_, '_>, draft: GroupDraft) -> GroupDraft {
    let header = group.header();
    let [sender, receiver] = [3, 2].map(|number| plain(header.text_at(number), 15));
    let or = |given: String, usual: &String| if given.is_empty() { usual.clone() } else { given };
    GroupDraft { sender: or(sender, &draft.sender), receiver: or(receiver, &draft.receiver), ..draft }
}

/// As text. None for what no delimiters can write.
pub(super) fn written(mut draft: InterchangeDraft, like: &Interchange<'_>) -> Option<String> {
    for segment in draft.groups.iter_mut().flat_map(|group| &mut group.transactions).flat_map(|set| &mut set.segments) {
        for value in segment.elements.iter_mut().flat_map(|element| element.0.iter_mut().flatten()) {
            if value.contains(char::is_control) {
                *value = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            }
        }
    }
    let own = Some(like.delimiters()).filter(|delimiters| delimiters.repetition().is_some());
    let lines = lines_of(like);
    draft
        .write(own.unwrap_or(Delimiters::USUAL), lines)
        .ok()
        .or_else(|| draft.write(draft.free_delimiters()?, lines).ok())
}

/// A line for each segment, if the request has them.
fn lines_of(interchange: &Interchange<'_>) -> Lines {
    let header = interchange.header().to_string();
    let has_break = header.ends_with('\n') && interchange.delimiters().terminator() != '\n';
    if has_break { Lines::PerSegment } else { Lines::One }
}
