//! Draws handwritten signatures: strokes that are the same for the same name. They are not legible.

/// Points in a box of 100 by 40, relative to its upper left corner.
pub(crate) type Stroke = Vec<(f32, f32)>;

/// One stroke for each word of the name, and one below it.
pub(crate) fn signature(name: &str) -> Vec<Stroke> {
    let mut dice = SeededRandom::new(name);
    // The signature leaves out degrees and titles, and has only the first and last part of a long name.
    let name = name.split(',').next().unwrap_or_default();
    let mut words: Vec<Vec<char>> = name
        .split_whitespace()
        .filter(|word| !word.ends_with('.'))
        .map(|word| word.chars().filter(|letter| letter.is_alphabetic()).take(9).collect())
        .filter(|word: &Vec<char>| !word.is_empty())
        .collect();
    if words.len() > 2 {
        words.drain(1..words.len() - 1);
    }
    if words.is_empty() {
        words.push(vec!['X', 'm', 'l']);
    }
    let letters: usize = words.iter().map(Vec::len).sum::<usize>() + words.len();
    let step = 92.0 / letters.max(6) as f32;
    let mut x = 2.0;
    let mut strokes = Vec::new();
    for word in &words {
        let mut knots = Vec::new();
        for (index, letter) in word.iter().enumerate() {
            knots.extend(letter_knots(*letter, index == 0, x, step, &mut dice));
            x += step;
        }
        knots.push((x + step * 0.8, 20.0 + dice.within(6.0)));
        strokes.push(curve(&knots));
        x += step;
    }
    let flourish = [(14.0, 33.0 + dice.within(2.0)), (45.0, 30.0), (80.0, 31.0 + dice.within(3.0)), (98.0, 25.0)];
    strokes.push(curve(&flourish));
    strokes
}

/// Draws a letter as a loop: high for capitals and letters with ascenders, low for those with descenders.
fn letter_knots(letter: char, is_first: bool, x: f32, step: f32, dice: &mut SeededRandom) -> Vec<(f32, f32)> {
    let base = 26.0 + dice.within(1.5);
    let reach = match letter {
        _ if is_first => -23.0,
        'b' | 'd' | 'f' | 'h' | 'k' | 'l' | 't' => -16.0,
        'g' | 'j' | 'p' | 'q' | 'y' => 11.0,
        _ => -6.5,
    };
    let far = base + reach + dice.within(2.5);
    let lean = step * 0.55;
    vec![
        (x, base),
        (x + lean + dice.within(0.8), (base + far) / 2.0),
        (x + lean * 1.4 + dice.within(0.8), far),
        (x + lean * 0.5, far + reach.signum()),
        (x + lean * 0.4, (base + far) / 2.0),
        (x + step * 0.7, base + 1.0 + dice.within(1.0)),
    ]
}

/// A Catmull-Rom curve through the knots.
fn curve(knots: &[(f32, f32)]) -> Stroke {
    const PIECES: usize = 6;
    let at = |index: isize| {
        let last = knots.len().saturating_sub(1);
        let index = usize::try_from(index).unwrap_or(0).min(last);
        knots.get(index).copied().unwrap_or_default()
    };
    let mut points = Vec::with_capacity(knots.len() * PIECES);
    for index in 0..knots.len().saturating_sub(1) as isize {
        let (p0, p1, p2, p3) = (at(index - 1), at(index), at(index + 1), at(index + 2));
        for piece in 0..PIECES {
            let t = piece as f32 / PIECES as f32;
            let blend = |a: f32, b: f32, c: f32, d: f32| {
                0.5 * (2.0 * b
                    + (c - a) * t
                    + (2.0 * a - 5.0 * b + 4.0 * c - d) * t * t
                    + (3.0 * b - a - 3.0 * c + d) * t * t * t)
            };
            points.push((blend(p0.0, p1.0, p2.0, p3.0), blend(p0.1, p1.1, p2.1, p3.1)));
        }
    }
    points.extend(knots.last());
    points
}

/// A deterministic source of pseudorandom numbers.
pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    pub(crate) fn new(seed: &str) -> Self {
        // FNV-1a of the seed; the numbers come from SplitMix64.
        Self(
            seed.bytes()
                .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)),
        )
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound.max(1)
    }

    /// A number from `-bound` to `bound`.
    pub(crate) fn within(&mut self, bound: f32) -> f32 {
        (self.below(2001) as f32 / 1000.0 - 1.0) * bound
    }
}
