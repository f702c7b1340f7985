//! Searches bytes for fragments of many secrets in one pass: as text, in base64 and in hexadecimal.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use model::api_key::{ACCESS_TOKEN_PREFIX, CLIENT_SECRET_PREFIX, KeyKind};

/// This many consecutive characters of a secret, in any encoding, are a leak. Lists show four at either end.
const PIECE: usize = 20;

/// The size of the filter: two to the power of this.
const FILTER_BITS: u32 = 24;

pub(crate) struct SecretSearch {
    pieces: HashSet<[u8; PIECE]>,
    /// Filter by the first four bytes of a fragment: most positions of a text are skipped with one lookup.
    filter: Vec<bool>,
}

impl SecretSearch {
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut search = Self { pieces: HashSet::new(), filter: vec![false; 1 << FILTER_BITS] };
        for form in secrets.into_iter().flat_map(forms) {
            for piece in form.as_bytes().windows(PIECE) {
                search.filter[filter_place(piece)] = true;
                search.pieces.insert(piece.try_into().expect("a piece"));
            }
        }
        search
    }

    /// The context of the first fragment of a secret.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<String> {
        let is_piece = |piece: &[u8]| self.filter[filter_place(piece)] && self.pieces.contains(piece);
        let place = bytes.windows(PIECE).position(is_piece)?;
        let surroundings = &bytes[place.saturating_sub(200)..bytes.len().min(place + 200)];
        Some(String::from_utf8_lossy(surroundings).into_owned())
    }
}

fn filter_place(piece: &[u8]) -> usize {
    let start = u32::from_le_bytes([piece[0], piece[1], piece[2], piece[3]]);
    (start.wrapping_mul(0x9E37_79B1) >> (u32::BITS - FILTER_BITS)) as usize
}

/// The secret part, as text and in the encodings of header logs and byte dumps.
fn forms(secret: &str) -> Vec<String> {
    let prefixes = KeyKind::ALL.map(KeyKind::prefix).into_iter().chain([ACCESS_TOKEN_PREFIX, CLIENT_SECRET_PREFIX]);
    let hidden = prefixes.into_iter().find_map(|prefix| secret.strip_prefix(prefix)).expect("a prefix");
    let hexadecimal: String = hidden.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![hidden.to_owned(), hexadecimal.to_uppercase(), hexadecimal];
    forms.extend((0..3).map(|before| base64_after(before, hidden)));
    forms
}

/// The base64 characters that depend on the hidden bytes alone, when this many bytes precede them.
fn base64_after(before: usize, hidden: &str) -> String {
    let whole = [&vec![0; before], hidden.as_bytes()].concat();
    let encoded = STANDARD_NO_PAD.encode(&whole[..whole.len() / 3 * 3]);
    encoded[if before == 0 { 0 } else { 4 }..].to_owned()
}

#[test]
fn a_planted_secret_is_found_in_every_encoding_and_position() {
    let secret = |letter: char| format!("vrl_slv_{}", ('a'..='z').chain('A'..='K').chain([letter]).collect::<String>());
    let (planted, other) = (secret('1'), secret('2').to_lowercase());
    let search = SecretSearch::new([other.as_str(), planted.as_str()]);
    let (_, hidden) = planted.rsplit_once('_').unwrap();
    let mut leaks = vec![planted.clone(), hidden[..PIECE].to_owned(), hidden[hidden.len() - PIECE..].to_owned()];
    for before in ["", "u", "us", "user:", "Authorization: Bearer "] {
        leaks.push(STANDARD_NO_PAD.encode(format!("{before}{planted}")));
    }
    leaks.push(planted.bytes().map(|byte| format!("{byte:02x}")).collect());
    leaks.push(planted.bytes().map(|byte| format!("{byte:02X}")).collect());
    for leak in leaks {
        for text in [leak.clone(), format!("{}{leak}", "x".repeat(1000)), format!("\u{0}{leak}\u{0}")] {
            assert!(search.find(text.as_bytes()).is_some(), "{text}");
        }
    }
    for harmless in ["", "vk_", &planted[..12], &planted[planted.len() - 4..], &hidden[..PIECE - 1], &secret('3')[..9]]
    {
        assert_eq!(search.find(harmless.repeat(3).as_bytes()), None, "{harmless}");
    }
}
