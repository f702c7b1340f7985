//! Determines whether an occurrence of a phrase is negated, as "call" in "do NOT call the clinic".
//!
//! Uses deterministic rules over words and punctuation, without a parser. A phrase is negated when its clause has a negation before
//! it ("do not", "there is no need to", "unable to", "instead of"), or retracts it after it ("… is cancelled", "… is
//! no longer needed"). A clause ends with its sentence, at `;`, a dash or a parenthesis, at words such as "but", "if" and
//! "please", and at a comma after which a new statement starts. Negation under "if" is a condition ("if you do not feel
//! better, call"), and the expressions in `idioms.txt` are not negations ("do not hesitate to call"). Two negations of
//! different kinds cancel out ("do not cancel").

mod rules;

use crate::spoken_text::Hit;
use crate::units::{Unit, units_with_spans};
use rules::{Boundary, Reach};

/// The words of a text, with the boundaries of its clauses.
#[derive(Clone, Debug)]
pub struct Negations {
    words: Vec<Word>,
}

#[derive(Clone, Debug)]
struct Word {
    text: String,
    /// What separates it from the word before it.
    boundary: Boundary,
}

/// Whether a phrase itself contains a negation. Then it is matched literally.
pub fn has_negation(phrase: &str) -> bool {
    let words = Negations::new(phrase);
    (0..words.words.len()).any(|at| words.negator_at(at).is_some() || words.reversal_at(at).is_some())
}

impl Negations {
    pub fn new(text: &str) -> Self {
        // Folding replaces white space by one space, so the ends of paragraphs are marked first.
        let marked: Vec<&str> = text.split('\n').map(|line| if line.trim().is_empty() { "¶" } else { line }).collect();
        let chars: Vec<char> = fhir::search::fold(&marked.join("\n")).chars().collect();
        let units = units_with_spans(&chars);
        let mut words: Vec<Word> = Vec::with_capacity(units.len());
        let mut end = 0;
        for (Unit { text, .. }, span) in units {
            let between = chars.get(end..span.start).unwrap_or_default();
            let boundary = rules::boundary(words.last().map_or("", |word| word.text.as_str()), between, &text);
            end = span.end;
            words.push(Word { text, boundary });
        }
        Self { words }
    }

    /// Whether the occurrence at these words is negated.
    pub fn is_negated(&self, (first, last): Hit) -> bool {
        self.is_negated_before(first) || self.is_retracted_after(last)
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.text.as_str())
    }

    fn boundary(&self, at: usize) -> Boundary {
        self.words.get(at).map_or(Boundary::Sentence, |word| word.boundary)
    }

    /// Walks back from the phrase through its clause. Negators and reversals cancel each other out.
    fn is_negated_before(&self, first: usize) -> bool {
        let (mut is_negated, mut is_reversed) = (false, false);
        let (mut at, mut is_list) = (first, false);
        while at > 0 && !self.ends_clause(at, first, is_list) {
            is_list |= self.boundary(at) == Boundary::Comma && matches!(self.word(at), "or" | "nor");
            at -= 1;
            if let Some((length, reach)) = self.negator_at(at) {
                let between = first.saturating_sub(at + length);
                let applies = reach.covers(between) && !self.is_idiom(at) && !self.is_condition(at, between);
                is_negated |= applies;
            } else if let Some((length, reach)) = self.reversal_at(at) {
                let between = first.saturating_sub(at + length);
                is_reversed |= reach.covers(between) && !self.is_idiom(at) && self.governs(at, first);
            }
        }
        is_negated != is_reversed
    }

    /// Whether the clause of the phrase starts with this word. In a list ("do not text, email, or call") commas separate
    /// short items.
    fn ends_clause(&self, at: usize, phrase: usize, is_list: bool) -> bool {
        let before = at - 1;
        let is_dangling = self.is_dangling(before);
        match self.boundary(at) {
            Boundary::Sentence => true,
            Boundary::Clause | Boundary::Paragraph => !is_dangling,
            Boundary::Comma if is_dangling || matches!(self.word(at), "or" | "nor") => false,
            Boundary::Comma if is_list && (at + 1..=at + 3).any(|at| self.boundary(at) == Boundary::Comma) => false,
            Boundary::Comma => !self.is_aside(at) && !rules::ANNOUNCING.contains(&self.word(before)),
            Boundary::None if is_dangling && rules::FILLERS.contains(&self.word(at)) => false,
            Boundary::None => at < phrase && self.starts_clause(at),
        }
    }

    /// A negator that waits for its verb: "do not, under any circumstances, call".
    fn is_dangling(&self, at: usize) -> bool {
        let is_negator =
            self.negator_at(at).is_some() || (self.word(at) == "t" && self.negator_at(at - at.min(1)).is_some());
        is_negator && self.word(at) != "no" && !self.is_idiom(at)
    }

    /// Whether the comma here closes an aside that was opened directly after a negator.
    fn is_aside(&self, at: usize) -> bool {
        const MAX_ASIDE_LENGTH: usize = 8;
        let opening = (at.saturating_sub(MAX_ASIDE_LENGTH)..at).rev().find(|at| self.boundary(*at) != Boundary::None);
        opening.is_some_and(|at| at > 0 && self.boundary(at) == Boundary::Comma && self.is_dangling(at - 1))
    }

    fn starts_clause(&self, at: usize) -> bool {
        match self.word(at) {
            "instead" => self.word(at + 1) != "of",
            "and" => {
                // "Do not eat and call" is ambiguous, so only "and" with a subject starts a clause.
                rules::SUBJECTS.contains(&self.word(at + 1))
            }
            word => rules::CLAUSE_STARTERS.contains(&word),
        }
    }

    /// The length and reach of a negation at this word.
    fn negator_at(&self, at: usize) -> Option<(usize, Reach)> {
        let (word, next) = (self.word(at), self.word(at + 1));
        match word {
            "no" if next == "longer" => Some((2, Reach::Clause)),
            "no" if self.boundary(at + 1) != Boundary::None => None,
            "no" if rules::NO_AT_ALL.contains(&next) => Some((2, Reach::Clause)),
            "no" => Some((1, Reach::Words(3))),
            "instead" if next == "of" => Some((2, Reach::Words(4))),
            "rather" if next == "than" => Some((2, Reach::Words(4))),
            "without" => Some((1, Reach::Words(4))),
            _ if next == "t" && rules::CONTRACTED.contains(&word) => Some((2, Reach::Clause)),
            _ if rules::NEGATORS.contains(&word) => Some((1, Reach::Clause)),
            _ => None,
        }
    }

    /// The length and reach of a word such as "cancel" and "refuse to", which reverses the meaning of what it governs.
    fn reversal_at(&self, at: usize) -> Option<(usize, Reach)> {
        let (word, next) = (self.word(at), self.word(at + 1));
        if rules::REVERSALS_WITH_TO.contains(&word) && next == "to" {
            return Some((2, Reach::Clause));
        }
        match word {
            "against" => Some((1, Reach::Words(4))),
            _ if rules::REVERSALS.contains(&word) => Some((1, Reach::Words(4))),
            _ => None,
        }
    }

    /// Whether the reversal applies to the phrase: not "to cancel, call", and not "if you need to cancel".
    fn governs(&self, at: usize, phrase: usize) -> bool {
        let is_purpose = at > 0 && self.word(at - 1) == "to" && (at == 1 || self.ends_clause(at - 1, phrase, false));
        let is_action = |at: usize| rules::ACTIONS.contains(&self.word(at)) && self.word(at - 1) != "to";
        !is_purpose && !(at + 1..=phrase).any(is_action) && self.condition_before(at, 6).is_none()
    }

    /// Whether the negation is part of a condition: "if you do not feel better". Its subject must directly follow "if", or
    /// any sentence could start with an "if" and no comma.
    fn is_condition(&self, at: usize, between: usize) -> bool {
        let Some(condition) = self.condition_before(at, 5) else { return false };
        let (distance, subject) = (at - condition, self.word(condition + 1));
        let is_late = ["still", "yet", "already", "also"].contains(&self.word(at - 1));
        let is_pronoun = rules::PRONOUNS.contains(&subject) && distance <= 3 + usize::from(is_late);
        is_pronoun || (between > 0 && (distance == 1 || rules::DETERMINERS.contains(&subject)))
    }

    /// The word that opens a condition, at most so many words before this one.
    fn condition_before(&self, at: usize, furthest: usize) -> Option<usize> {
        let mut before = at;
        while before > 0 && at - before < furthest && self.boundary(before) == Boundary::None {
            before -= 1;
            let is_in_case = self.word(before) == "case" && before > 0 && self.word(before - 1) == "in";
            if is_in_case || rules::CONDITIONS.contains(&self.word(before)) {
                return Some(before);
            }
        }
        None
    }

    /// Whether the negation at this word belongs to an idiom.
    fn is_idiom(&self, at: usize) -> bool {
        rules::idioms()
            .iter()
            .any(|idiom| (0..idiom.len()).any(|offset| at >= offset && self.has_idiom(idiom, at - offset, at)))
    }

    /// Whether the idiom starts at a word and covers another.
    fn has_idiom(&self, idiom: &[&str], start: usize, covered: usize) -> bool {
        let mut at = start;
        for (place, wanted) in idiom.iter().enumerate() {
            let length = if *wanted == "not" { self.not_at(at) } else { usize::from(self.word(at) == *wanted) };
            if length == 0 || (place > 0 && self.boundary(at) == Boundary::Sentence) {
                return false;
            }
            at += length;
            let next = idiom.get(place + 1).copied().unwrap_or_default();
            while *wanted == "not" && rules::SKIPPED.contains(&self.word(at)) && self.word(at) != next {
                at += 1;
            }
        }
        covered < at
    }

    /// The number of words of a plain "not" at this word.
    fn not_at(&self, at: usize) -> usize {
        match self.negator_at(at) {
            Some((length, _)) if !matches!(self.word(at), "no" | "without" | "instead" | "rather") => length,
            _ => 0,
        }
    }

    /// Whether the phrase is retracted: "… is cancelled", "… has been called off", "… is not needed", "… no longer".
    fn is_retracted_after(&self, last: usize) -> bool {
        const MAX_DISTANCE: usize = 10;
        for at in last + 1..(last + MAX_DISTANCE).min(self.words.len()) {
            let is_end = self.boundary(at) != Boundary::None
                || self.starts_clause(at)
                || ["that", "which", "who", "and", "or"].contains(&self.word(at));
            if is_end {
                return false;
            }
            if rules::BE.contains(&self.word(at)) && self.is_retraction(at) {
                return true;
            }
        }
        false
    }

    /// Whether a retraction follows the form of "be" at this word.
    fn is_retraction(&self, be: usize) -> bool {
        let (mut at, mut is_negated) = (be + 1, self.word(be).ends_with("nt"));
        if self.word(at) == "t" {
            (at, is_negated) = (at + 1, true);
        }
        while ["not", "no", "longer", "now", "been", "also", "all", "already"].contains(&self.word(at)) {
            is_negated |= matches!(self.word(at), "not" | "no");
            at += 1;
        }
        let is_pair =
            |pair: &(&str, &str)| self.word(at) == pair.0 && (pair.1.is_empty() || self.word(at + 1) == pair.1);
        let is_no_longer = self.word(at - 1) == "longer";
        if is_negated {
            return is_no_longer || rules::DENIED.iter().any(is_pair);
        }
        rules::RETRACTED.iter().any(is_pair)
    }
}

#[cfg(test)]
mod tests;
