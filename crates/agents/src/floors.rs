//! Task floors: the score of an agent that does nothing.

use crate::audit::Audit;

/// The lowest floor that an audit reports.
pub const HIGH_FLOOR: f64 = 0.1;

impl Audit {
    /// The tasks in which doing nothing scores [`HIGH_FLOOR`] or more, with that score.
    pub fn high_floors(&self) -> Vec<(&str, f64)> {
        let high = self.nothing.iter().filter(|result| result.score >= HIGH_FLOOR);
        high.map(|result| (result.task.as_str(), result.score)).collect()
    }
}
