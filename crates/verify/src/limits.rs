//! How much an author may write into one assertion.

use model::FieldErrors;

pub(crate) const LONGEST_PATH: usize = 512;
pub(crate) const LONGEST_PATTERN: usize = 1024;
pub(crate) const LONGEST_TEXT: usize = 1024;
const LONGEST_LIST: usize = 200;

/// Checks each item under `name.index`; of a list that is too long only the allowed part.
pub(crate) fn check_list<T>(
    name: &str,
    items: &[T],
    errors: &mut FieldErrors,
    check: impl Fn(&T) -> Result<(), FieldErrors>,
) {
    check_list_size(name, items.len(), errors);
    for (index, item) in items.iter().take(LONGEST_LIST).enumerate() {
        if let Err(faults) = check(item) {
            errors.nest(&format!("{name}.{index}"), faults);
        }
    }
}

pub(crate) fn check_list_size(name: &str, size: usize, errors: &mut FieldErrors) {
    if let Err(fault) = check_size(size) {
        errors.add(name, fault);
    }
}

pub(crate) fn check_size(size: usize) -> Result<(), String> {
    if size > LONGEST_LIST { Err(format!("must have at most {LONGEST_LIST} items, has {size}")) } else { Ok(()) }
}

/// Text that means something: not blank, and not endless.
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
