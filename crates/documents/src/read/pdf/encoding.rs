//! Maps codes and glyph names to characters (ISO 32000-1, Annex D; Adobe Glyph List).

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Windows code page 1252.
pub(super) const WIN_ANSI: &str = "€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ\u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ";
/// Mac OS Roman.
pub(super) const MAC_ROMAN: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";
/// Adobe standard Latin.
pub(super) const STANDARD: &str = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\0–†‡·\0¶•‚„”»…‰\0¿\0`´ˆ˜¯˘˙¨\0˚¸\0˝˛ˇ—\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0Æ\0ª\0\0\0\0ŁØŒº\0\0\0\0\0æ\0\0\0ı\0\0łøœß\0\0\0\0";

/// The names of the Adobe Glyph List (BSD-3-Clause, Adobe) for the characters of Western, Greek and Cyrillic texts,
/// each with its character in hexadecimal.
static NAMES: &str = include_str!("glyph_names.txt");

static BY_NAME: LazyLock<BTreeMap<&str, char>> = LazyLock::new(|| {
    let read = |line: &'static str| {
        let (name, digits) = line.split_once(' ')?;
        Some((name, char::from_u32(u32::from_str_radix(digits, 16).ok()?)?))
    };
    NAMES.lines().filter_map(read).collect()
});

static BY_CHARACTER: LazyLock<BTreeMap<char, Vec<&str>>> = LazyLock::new(|| {
    let mut names: BTreeMap<char, Vec<&str>> = BTreeMap::new();
    for (name, character) in BY_NAME.iter() {
        names.entry(*character).or_default().push(name);
    }
    names
});

/// The names that fonts have for the glyph of a character.
pub(super) fn names_of(character: char) -> Vec<String> {
    let listed = BY_CHARACTER.get(&character).map(Vec::as_slice).unwrap_or_default();
    let by_number = format!("uni{:04X}", character as u32);
    listed.iter().map(|name| (*name).to_owned()).chain([by_number]).collect()
}

/// The name of a code's glyph in Adobe's standard encoding.
pub(super) fn standard_name(code: usize) -> Option<&'static str> {
    static STANDARD_TABLE: LazyLock<Vec<Option<char>>> = LazyLock::new(|| table(STANDARD));
    let character = match code {
        0x27 => '’',
        0x60 => '‘',
        _ => STANDARD_TABLE.get(code).copied().flatten()?,
    };
    // `quotesingle` and `grave` are in the upper half.
    let names = BY_CHARACTER.get(&character)?;
    names.iter().copied().min_by_key(|name| (name.starts_with("uni"), name.len()))
}

/// All 256 codes of an encoding, given by its upper half; the lower half is ASCII.
pub(super) fn table(upper: &str) -> Vec<Option<char>> {
    let lower = (0..128_u8).map(|code| matches!(code, 32..=126).then(|| char::from(code)));
    let upper = upper.chars().map(|character| Some(character).filter(|character| *character != '\0'));
    lower.chain(upper).collect()
}

/// `eacute`, `uni00E9`, `u1F600`, `f_i`, `a.alt`.
pub(super) fn of_glyph(name: &str) -> Option<String> {
    let base = name.split('.').next().filter(|base| !base.is_empty())?;
    base.split('_').take(8).map(of_part).collect()
}

fn of_part(name: &str) -> Option<String> {
    if let Some(character) = BY_NAME.get(name) {
        return Some(character.to_string());
    }
    let of_digits = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    if let Some(digits) =
        name.strip_prefix("uni").filter(|digits| digits.is_ascii() && (4..=28).contains(&digits.len()))
    {
        let characters =
            digits.as_bytes().chunks_exact(4).map(|digits| str::from_utf8(digits).ok().and_then(of_digits));
        return characters.collect();
    }
    let digits = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()))?;
    of_digits(digits).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_stand_for_characters() {
        for (upper, code, character) in [(WIN_ANSI, 0x92, '’'), (MAC_ROMAN, 0x8e, 'é'), (STANDARD, 0xae, 'ﬁ')] {
            let table = table(upper);
            assert_eq!(table.len(), 256);
            assert_eq!(table[code], Some(character));
            assert_eq!(table[65], Some('A'));
        }
        for (name, text) in [
            ("A", Some("A")),
            ("eacute", Some("é")),
            ("fi", Some("ﬁ")),
            ("f_i", Some("fi")),
            ("uni1EB7", Some("ặ")),
            ("uni00410042", Some("AB")),
            ("u1F600", Some("😀")),
            ("one.sups", Some("1")),
            (".notdef", None),
            ("g12", None),
        ] {
            assert_eq!(of_glyph(name).as_deref(), text, "{name}");
        }
    }
}
