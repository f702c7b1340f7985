//! Bounded fuzzing inside `./test`: the seeds of a target as they are, then changed by dice that fall the same every
//! time. Time only ends it early, so a failure can be run again.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Target, find};

/// Of one target.
const ROUNDS: u64 = 4_000;
const ENOUGH: Duration = Duration::from_millis(2_500);
/// The slowest input known takes a tenth of it on a busy machine.
const HANGS: Duration = Duration::from_secs(60);
const LONGEST_INPUT: usize = 16 << 10;

/// What breaks parsers, whatever they read.
const NASTY: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xc3",
    b"\r\n",
    b"\\",
    b"\"",
    b"-1",
    b"0",
    b"1e999",
    b"0.1e-9999",
    b"99999999999999999999",
    b"{{entity.id}}",
    b"[[[[[[[[[[[[[[[[",
    b"((((((((((((((((",
    "\u{feff}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{1f468}\u{200d}\u{2695}".as_bytes(),
];

/// The round in hand, for the messages.
#[derive(Clone, Debug, Default)]
struct Round {
    number: u64,
    input: Vec<u8>,
}

pub(crate) fn run(name: &str) {
    let target = find(name).expect(name);
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "corpus/{name} has no seeds");
    let current = Arc::new(Mutex::new(Round::default()));
    let worker = thread::spawn({
        let current = Arc::clone(&current);
        move || rounds(target, &seeds, &current)
    });
    let hand = || current.lock().map_or_else(|poisoned| poisoned.into_inner().clone(), |round| round.clone());
    let (mut last, mut since) = (0, Instant::now());
    while !worker.is_finished() {
        thread::park_timeout(Duration::from_millis(20));
        let Round { number, input } = hand();
        if number != last {
            (last, since) = (number, Instant::now());
        }
        assert!(since.elapsed() < HANGS, "{name} hangs in round {number} on \"{}\"", input.escape_ascii());
    }
    let Round { number, input } = hand();
    assert!(worker.join().is_ok(), "{name} fails in round {number} on \"{}\"", input.escape_ascii());
    println!("{name}: {number} rounds");
}

fn rounds(target: Target, seeds: &[Vec<u8>], current: &Mutex<Round>) {
    let begin = Instant::now();
    let words = words(seeds);
    let mut dice = Dice(0x5EED);
    for number in 1..=seeds.len() as u64 + ROUNDS {
        let input = match seeds.get(number as usize - 1) {
            Some(seed) => seed.clone(),
            None if begin.elapsed() > ENOUGH => return,
            None => changed(seeds, &words, &mut dice),
        };
        if let Ok(mut round) = current.lock() {
            *round = Round { number, input: input.clone() };
        }
        (target.run)(&input);
    }
}

/// By name, so that the dice find them in the same order everywhere.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect(name).path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect(name)).collect()
}

/// Letters and digits that belong together, and single signs.
fn words(seeds: &[Vec<u8>]) -> Vec<&[u8]> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    let parts = seeds.iter().flat_map(|seed| seed.chunk_by(move |left, right| is_letter(left) && is_letter(right)));
    let mut words: Vec<&[u8]> = parts.chain(NASTY.iter().copied()).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// A seed after a few changes.
fn changed(seeds: &[Vec<u8>], words: &[&[u8]], dice: &mut Dice) -> Vec<u8> {
    let mut input = seeds[dice.below(seeds.len())].clone();
    for _ in 0..=dice.below(4) {
        let (start, end) = dice.span(input.len());
        let word = words[dice.below(words.len())];
        match dice.below(8) {
            0 if !input.is_empty() => {
                let at = start.min(input.len() - 1);
                input[at] ^= 1 << dice.below(8);
            }
            1 => drop(input.drain(start..end)),
            2 => input.truncate(start),
            3 => drop(input.splice(start..end, word.iter().copied())),
            4 => drop(input.splice(start..start, input[start..end].to_vec())),
            5 => drop(input.splice(start..start, word.repeat(1 << dice.below(8)))),
            6 => {
                let other = &seeds[dice.below(seeds.len())];
                let (from, to) = dice.span(other.len());
                input.splice(start..end, other[from..to].iter().copied());
            }
            _ => drop(input.splice(start..start, word.iter().copied())),
        }
        input.truncate(LONGEST_INPUT);
    }
    input
}

struct Dice(u64);

impl Dice {
    /// SplitMix64.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    /// Two places, in order: mostly close to each other.
    fn span(&mut self, length: usize) -> (usize, usize) {
        let start = self.below(length + 1);
        let most = if self.below(4) == 0 { length - start } else { (length - start).min(8) };
        (start, start + self.below(most + 1))
    }
}
