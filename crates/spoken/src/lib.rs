//! Compares text as people say it. Ignores case, accents, punctuation and spacing. Numbers, dates and amounts are equal in
//! all spellings ("4 5 6", "456", "four fifty-six"), and letters may be spelled ("Bravo", "B as in boy").
//!
//! Texts and phrases are data: nothing in them is interpreted as a pattern. No I/O, no clock, no randomness.

mod confusables;
mod dates;
mod extraction;
mod money;
mod negation;
mod numbers;
mod ordinals;
mod phones;
mod spelling;
mod spoken_text;
mod units;
mod wording;

pub use confusables::{DisguisedText, fold_confusables};
pub use dates::Date;
pub use extraction::{Code, all_codes, all_dates, codes, compact, date, digits, name};
pub use negation::{Negations, has_negation};
pub use phones::phone_numbers;
pub use spoken_text::{Hit, SpokenText};
pub use wording::{WordedText, is_made_of};
