//! Tables of expressions and what they find.
