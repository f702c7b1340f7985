//! Text as it is said: case, accents, punctuation and spacing do not count, numbers, dates and amounts are equal however
//! they are said ("4 5 6", "456", "four fifty-six"), and letters may be spelled ("Bravo", "B as in boy").
//!
//! What is said is data: nothing in it is a pattern, on either side. No I/O, no clock, no randomness.

mod confusables;
mod dates;
mod heard;
mod letters;
mod money;
mod negation;
mod numbers;
mod ordinals;
mod phones;
mod said;
mod units;
mod wording;

pub use confusables::{DisguisedText, fold_confusables};
pub use dates::Date;
pub use heard::{Code, all_codes, all_dates, codes, compact, date, digits, name};
pub use negation::{Negations, has_negation};
pub use phones::phone_numbers;
pub use said::{Hit, Said};
pub use wording::{WordedText, is_made_of};
