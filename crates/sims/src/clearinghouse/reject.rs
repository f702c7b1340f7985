//! Why a request is not answered with what it asks for: AAA (data elements 901 reject reason, 889 follow-up action).

use x12::draft::SegmentDraft;

use super::text::segment;

/// AAA03.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reject(pub(super) String);

/// The level of a 270 or 278 at which a reason is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Source,
    Receiver,
    Person,
    /// About a service: within 2110 of a 271, at the event of a 278.
    Service,
}

impl Reject {
    pub(super) const PROVIDER_IDENTIFICATION: &'static str = "43";
    pub(super) const UNABLE_TO_RESPOND: &'static str = "42";
    pub(super) const BIRTH_MISSING: &'static str = "58";
    pub(super) const PATIENT_NOT_FOUND: &'static str = "67";
    pub(super) const BIRTH_MISMATCH: &'static str = "71";
    pub(super) const MEMBER_NUMBER: &'static str = "72";
    pub(super) const NAME: &'static str = "73";
    pub(super) const GENDER: &'static str = "74";
    pub(super) const NOT_FOUND: &'static str = "75";
    pub(super) const SEVERAL_FOUND: &'static str = "76";
    pub(super) const PAYER: &'static str = "79";

    pub(super) fn new(code: &str) -> Self {
        Self(code.to_owned())
    }

    pub(super) fn level(&self) -> Level {
        match self.0.as_str() {
            "04" | "41" | "79" | "80" | "T4" => Level::Source,
            "44" | "46" | "50" | "97" => Level::Receiver,
            "33" | "53" | "54" | "55" | "69" | "70" | "98" | "AA" | "AE" | "AF" | "AG" | "AO" | "CI" | "E8" | "IA"
            | "MA" => Level::Service,
            _ => Level::Person,
        }
    }

    /// What the asker should do: correct it, leave it, or ask again.
    fn follow_up(&self) -> &'static str {
        match self.0.as_str() {
            "42" | "80" => "R",
            "04" | "41" | "50" | "78" => "N",
            _ => "C",
        }
    }

    /// Whether the request was sound and is refused all the same.
    fn is_sound(&self) -> &'static str {
        if matches!(self.0.as_str(), "04" | "41" | "42" | "80") { "Y" } else { "N" }
    }

    pub(super) fn segment(&self) -> SegmentDraft {
        segment("AAA", [self.is_sound(), "", &self.0, self.follow_up()])
    }

    /// The answer comes later, without being asked for again.
    pub(super) fn answered_later() -> SegmentDraft {
        segment("AAA", ["Y", "", Self::UNABLE_TO_RESPOND, "Y"])
    }
}
