//! Which name was probably meant.

/// The name that is fewest edits away, if that is at most a third of what was written.
pub fn nearest<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let written: String = written.chars().take(60).collect();
    let wanted = folded(&written);
    let (distance, found) =
        names.map(|name| (strsim::levenshtein(&wanted, &folded(name)), name)).min_by_key(|(distance, _)| *distance)?;
    (distance <= wanted.len() / 3).then_some(found)
}

/// Which letters are large, and what joins words, is misremembered most.
fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let names = || ["message-transcript", "voice-transcript", "patient"].into_iter();
        for (written, meant) in [
            ("message_transcript", Some("message-transcript")),
            ("VoiceTranscript", Some("voice-transcript")),
            ("pateint", Some("patient")),
            ("mind-reading", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, names()), meant, "{written}");
        }
    }
}
