//! Floors: what an agent that does nothing scores in each task.

use crate::audit::Audit;

/// From here on a task's floor is a finding.
pub const HIGH_FLOOR: f64 = 0.1;

impl Audit {
    /// The tasks in which doing nothing scores too much, with that score.
    pub fn high_floors(&self) -> Vec<(&str, f64)> {
        let high = self.nothing.iter().filter(|result| result.score >= HIGH_FLOOR);
        high.map(|result| (result.task.as_str(), result.score)).collect()
    }
}
