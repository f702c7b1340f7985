//! Limits on the size of one assertion.

pub(crate) const LONGEST_PATH: usize = 512;
pub(crate) const LONGEST_PATTERN: usize = 1024;
pub(crate) const LONGEST_TEXT: usize = 1024;
pub(crate) const LONGEST_LIST: usize = 200;

pub(crate) fn check_size(size: usize) -> Result<(), String> {
    if size > LONGEST_LIST { Err(format!("must have at most {LONGEST_LIST} items, has {size}")) } else { Ok(()) }
}

/// Checks that a text is not blank and not too long.
pub(crate) fn check_text(text: &str, longest: usize) -> Result<(), String> {
    let characters = text.chars().count();
    if text.trim().is_empty() {
        Err("must not be empty".to_owned())
    } else if characters > longest {
        Err(format!("must have at most {longest} characters, has {characters}"))
    } else {
        Ok(())
    }
}
