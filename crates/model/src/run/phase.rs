//! How far a run or a task run is, and the steps that lead on.

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

/// `active`, and then how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = RunStatus)]
pub enum Status {
    Active,
    Completed,
    Cancelled,
    /// It could not be begun: its scenario cannot be carried out. No agent's fault.
    Failed,
    TimedOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Start,
    Complete,
    TimeOut,
    Cancel,
    Fail,
}

/// A step that the phase does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegal {
    pub from: Phase,
    pub step: Step,
}

impl Phase {
    /// Where a step leads. Every other one is illegal.
    pub fn after(self, step: Step) -> Result<(Phase, Status), Illegal> {
        match (self, step) {
            (Phase::Created, Step::Start) => Ok((Phase::Started, Status::Active)),
            (Phase::Created, Step::Fail) => Ok((Phase::Completed, Status::Failed)),
            (Phase::Started, Step::Complete) => Ok((Phase::Completed, Status::Completed)),
            (Phase::Started, Step::TimeOut) => Ok((Phase::Completed, Status::TimedOut)),
            (Phase::Created | Phase::Started, Step::Cancel) => Ok((Phase::Completed, Status::Cancelled)),
            (from, step) => Err(Illegal { from, step }),
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
    fn nothing_leads_out_of_the_end_and_nothing_is_skipped() {
        let steps = [Step::Start, Step::Complete, Step::TimeOut, Step::Cancel, Step::Fail];
        let legal = |phase: Phase| steps.into_iter().filter(|step| phase.after(*step).is_ok()).count();
        assert_eq!([Phase::Created, Phase::Started, Phase::Completed].map(legal), [3, 3, 0]);
        assert!(Phase::Created.after(Step::Complete).is_err() && Phase::Started.after(Step::Start).is_err());
        for status in Status::ALL {
            assert_eq!(status.name().parse(), Ok(status));
            assert_eq!(serde_json::to_value(status).unwrap(), status.name());
        }
    }
}
