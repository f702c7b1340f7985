//! The word lists and boundaries of the negation rules.

use std::sync::LazyLock;

/// What separates two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Boundary {
    None,
    Comma,
    Clause,
    Paragraph,
    Sentence,
}

/// How far a negation reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// To the end of its clause.
    Clause,
    /// To a phrase with at most this number of words in between.
    Words(usize),
}

impl Reach {
    pub(super) fn covers(self, between: usize) -> bool {
        match self {
            Self::Clause => true,
            Self::Words(most) => between <= most,
        }
    }
}

/// Words after which a point does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "dr", "mr", "mrs", "ms", "st", "ave", "rd", "jr", "sr", "vs", "approx", "appt", "ext", "tel", "dept", "prof",
    "rev", "etc", "dob", "mt",
];

/// The boundary between two words. `between` are the characters between them.
pub(super) fn boundary(before: &str, between: &[char], after: &str) -> Boundary {
    let text: String = between.iter().collect();
    let is_ellipsis = text.contains("..") || text.contains('…');
    let is_abbreviation = ABBREVIATIONS.contains(&before) || before.chars().count() == 1;
    // A point within a word (`clinic.example`) is not followed by a space.
    let has_full_stop = text.contains(". ") || text.contains(".\"") || text.contains(".)");
    if text.contains(['!', '?']) || (has_full_stop && !is_abbreviation && !is_ellipsis) {
        Boundary::Sentence
    } else if text.contains('¶') {
        Boundary::Paragraph
    } else if text.contains([';', '—', '–', '(', ')', '•', '*', '|']) || text.contains(" - ") || text.contains("--")
    {
        Boundary::Clause
    } else if text.contains(':') && !(is_number(before) && is_number(after)) || text.contains(',') {
        Boundary::Comma
    } else {
        Boundary::None
    }
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) const NEGATORS: &[&str] = &[
    "not",
    "never",
    "cannot",
    "neither",
    "nor",
    "none",
    "nobody",
    "dont",
    "doesnt",
    "didnt",
    "cant",
    "couldnt",
    "wont",
    "wouldnt",
    "shouldnt",
    "isnt",
    "arent",
    "wasnt",
    "werent",
    "hasnt",
    "havent",
    "hadnt",
    "mustnt",
    "neednt",
    "aint",
    "nothing",
    "nowhere",
    "hardly",
    "barely",
    "scarcely",
    "unnecessary",
    "needless",
    "unlikely",
    "seldom",
];

/// Words before "'t".
pub(super) const CONTRACTED: &[&str] = &[
    "don", "doesn", "didn", "can", "couldn", "won", "wouldn", "shouldn", "isn", "aren", "wasn", "weren", "hasn",
    "haven", "hadn", "mustn", "needn", "ain", "mightn", "shan",
];

/// Words with which "no" negates the whole clause. Before other words, it negates only the next words.
pub(super) const NO_AT_ALL: &[&str] = &[
    "need",
    "reason",
    "reasons",
    "point",
    "one",
    "body",
    "circumstances",
    "circumstance",
    "case",
    "time",
    "means",
    "way",
    "requirement",
    "necessity",
    "use",
    "account",
    "event",
    "obligation",
    "plan",
    "plans",
    "intention",
    "longer",
];

/// Words that reverse the meaning of what they govern.
pub(super) const REVERSALS: &[&str] = &[
    "cancel",
    "cancels",
    "canceled",
    "cancelled",
    "canceling",
    "cancelling",
    "cancellation",
    "avoid",
    "avoids",
    "avoided",
    "avoiding",
    "refrain",
    "refrains",
    "refrained",
    "refraining",
    "disregard",
    "disregarded",
    "disregarding",
    "ignore",
    "ignored",
    "ignoring",
    "discontinue",
    "discontinued",
    "prohibited",
    "forbidden",
    "withdrawn",
];

/// Words that reverse the meaning of a following infinitive.
pub(super) const REVERSALS_WITH_TO: &[&str] = &[
    "refuse",
    "refuses",
    "refused",
    "refusing",
    "decline",
    "declines",
    "declined",
    "declining",
    "unable",
    "fail",
    "fails",
    "failed",
    "failing",
    "forbidden",
    "unwilling",
    "reluctant",
    "impossible",
    "wrong",
];

pub(super) const CLAUSE_STARTERS: &[&str] = &[
    "but",
    "however",
    "although",
    "though",
    "because",
    "so",
    "therefore",
    "please",
    "otherwise",
    "unless",
    "until",
    "till",
    "before",
    "after",
    "when",
    "whenever",
    "if",
    "while",
    "whereas",
    "then",
    "yet",
    "since",
    "simply",
    "kindly",
];

/// Words that do not start a clause directly after a negator: "do not please call".
pub(super) const FILLERS: &[&str] = &["please", "so", "then", "yet", "simply", "kindly"];

/// Words that start a new statement after "and".
pub(super) const SUBJECTS: &[&str] = &[
    "you", "we", "i", "they", "he", "she", "it", "please", "then", "the", "your", "our", "this", "that", "if", "when",
    "always", "instead", "my", "his", "her", "their",
];

/// Verbs at the start of instructions to patients and staff.
pub(super) const ACTIONS: &[&str] = &[
    "call", "text", "email", "contact", "phone", "reply", "dial", "visit", "go", "come", "take", "return", "bring",
    "press", "seek", "see", "schedule", "tell", "ask", "keep", "continue", "use", "send", "get", "arrive", "report",
    "speak", "reach", "start", "book", "log", "ring", "write", "respond",
];

/// Words that announce a list: "Never do the following: …".
pub(super) const ANNOUNCING: &[&str] = &["following", "this", "these", "things", "that"];

pub(super) const CONDITIONS: &[&str] = &["if", "unless", "when", "whenever", "whether"];

pub(super) const PRONOUNS: &[&str] =
    &["you", "we", "i", "they", "he", "she", "it", "there", "this", "that", "nobody", "anyone", "anybody"];

pub(super) const DETERMINERS: &[&str] = &[
    "the", "your", "our", "his", "her", "their", "my", "its", "any", "a", "an", "these", "those", "symptoms", "pain",
    "things",
];

/// Adverbs within an idiom.
pub(super) const SKIPPED: &[&str] = &["please", "ever", "even", "just", "you"];

pub(super) const BE: &[&str] = &[
    "is", "are", "was", "were", "be", "been", "isn", "aren", "wasn", "weren", "isnt", "arent", "wasnt", "werent",
    "has", "have",
];

/// Words after a form of "be" and a negation. If the second word is empty, any word may follow.
pub(super) const DENIED: &[(&str, &str)] = &[
    ("required", ""),
    ("needed", ""),
    ("necessary", ""),
    ("correct", ""),
    ("right", ""),
    ("true", ""),
    ("valid", ""),
    ("happening", ""),
    ("working", ""),
    ("recommended", ""),
    ("taking", "place"),
    ("going", "ahead"),
    ("in", "service"),
    ("in", "use"),
    ("the", "right"),
    ("the", "correct"),
    ("a", "valid"),
];

/// Words after a form of "be".
pub(super) const RETRACTED: &[(&str, &str)] = &[
    ("cancelled", ""),
    ("canceled", ""),
    ("wrong", ""),
    ("incorrect", ""),
    ("false", ""),
    ("unnecessary", ""),
    ("invalid", ""),
    ("void", ""),
    ("voided", ""),
    ("called", "off"),
    ("out", "of"),
    ("a", "mistake"),
    ("an", "error"),
    ("withdrawn", ""),
    ("revoked", ""),
    ("disconnected", ""),
    ("the", "wrong"),
];

/// The words of each idiom.
pub(super) fn idioms() -> &'static [Vec<&'static str>] {
    static IDIOMS: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
        let lines = include_str!("idioms.txt").lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>()).filter(|idiom| !idiom.is_empty()).collect()
    });
    &IDIOMS
}
