//! Candidates of `sftp-file-present`: files at other paths, first those that the agent wrote.

use model::simulator::SimulatorType;

use super::{Candidate, distance};
use crate::baseline::Baselines;
use crate::checks::sftp_file_present::SftpFilePresent;
use crate::evidence::{EvaluationContext, FILES};

/// Files of the dataset that are examined.
const MOST_GIVEN: usize = 1_000;

pub(crate) fn of(check: &SftpFilePresent, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
    let glob = check.path.ready()?;
    let wanted = glob.to_string();
    let baselines = Baselines::new(context)?;
    let mut candidates = Vec::new();
    for sandbox in context.sandboxes(SimulatorType::Files)? {
        let records = &sandbox.records;
        let is_own = |path: &str| baselines.is_changed(records, FILES, path);
        let own = records.own(FILES).map(|record| record.key).filter(|path| is_own(path));
        let live = records.live(FILES, world::Seq::MAX).map(|record| record.key);
        let given = live.take(MOST_GIVEN).filter(|path| !is_own(path)).map(|path| (path, true));
        for (path, is_given) in own.map(|path| (path, false)).chain(given) {
            context.budget.spend(path.len() + wanted.len())?;
            let mut candidate = Candidate::new(path, "").given(is_given).at_distance(distance(&wanted, path));
            if !glob.matches(path) {
                candidate.differs("path", wanted.as_str(), path.into());
            }
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}
