//! The catalog over a small plan with a bit of everything.
