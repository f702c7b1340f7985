//! The phase and status of runs and task runs, and the allowed transitions.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = RunPhase)]
pub enum Phase {
    Created,
    Started,
    Completed,
}

/// `active`, or how the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = RunStatus)]
pub enum Status {
    Active,
    Completed,
    Cancelled,
    /// It could not be started, because its scenario cannot be carried out. This is not the agent's fault.
    Failed,
    TimedOut,
}

/// A requested change of phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseTransition {
    Start,
    Complete,
    TimeOut,
    Cancel,
    Fail,
}

/// A transition that the phase does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllegalTransition {
    pub from: Phase,
    pub transition: PhaseTransition,
}

impl Phase {
    /// The phase and status after a transition.
    pub fn after(self, transition: PhaseTransition) -> Result<(Phase, Status), IllegalTransition> {
        match (self, transition) {
            (Phase::Created, PhaseTransition::Start) => Ok((Phase::Started, Status::Active)),
            (Phase::Created, PhaseTransition::Fail) => Ok((Phase::Completed, Status::Failed)),
            (Phase::Started, PhaseTransition::Complete) => Ok((Phase::Completed, Status::Completed)),
            (Phase::Started, PhaseTransition::TimeOut) => Ok((Phase::Completed, Status::TimedOut)),
            (Phase::Created | Phase::Started, PhaseTransition::Cancel) => Ok((Phase::Completed, Status::Cancelled)),
            (from, transition) => Err(IllegalTransition { from, transition }),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Phase::Created => "created",
            Phase::Started => "started",
            Phase::Completed => "completed",
        }
    }
}

impl Status {
    pub const ALL: [Status; 5] =
        [Status::Active, Status::Completed, Status::Cancelled, Status::Failed, Status::TimedOut];

    pub fn name(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Completed => "completed",
            Status::Cancelled => "cancelled",
            Status::Failed => "failed",
            Status::TimedOut => "timed_out",
        }
    }
}

impl std::str::FromStr for Phase {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Phase::Created, Phase::Started, Phase::Completed].into_iter().find(|phase| phase.name() == text).ok_or(())
    }
}

impl std::str::FromStr for Status {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let known = Status::ALL.into_iter().find(|status| status.name() == text);
        known.ok_or("must be one of `active`, `completed`, `cancelled`, `failed`, `timed_out`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completed_is_final_and_no_phase_is_skipped() {
        let transitions = [
            PhaseTransition::Start,
            PhaseTransition::Complete,
            PhaseTransition::TimeOut,
            PhaseTransition::Cancel,
            PhaseTransition::Fail,
        ];
        let legal =
            |phase: Phase| transitions.into_iter().filter(|transition| phase.after(*transition).is_ok()).count();
        assert_eq!([Phase::Created, Phase::Started, Phase::Completed].map(legal), [3, 3, 0]);
        assert!(
            Phase::Created.after(PhaseTransition::Complete).is_err()
                && Phase::Started.after(PhaseTransition::Start).is_err()
        );
        for status in Status::ALL {
            assert_eq!(status.name().parse(), Ok(status));
            assert_eq!(serde_json::to_value(status).unwrap(), status.name());
        }
    }
}
