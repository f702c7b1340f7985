//! Whether what was found answers what is wanted.

use super::{Condition, Found};

impl Condition {
    /// Whether a resource in which the parameter finds these values answers the condition.
    pub fn holds(&self, _found: &[Found]) -> bool {
        false
    }
}
