//! Reject reasons of requests: AAA segments (data elements 901 reject reason, 889 follow-up action).

use x12::draft::SegmentDraft;

use super::text::segment;

/// AAA03.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reject(pub(super) String);

/// The level of a 271 or 278 that contains the AAA segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RejectLevel {
    Source,
    Receiver,
    Person,
    /// A service: loop 2110 of a 271, the event level of a 278.
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

    pub(super) fn level(&self) -> RejectLevel {
        match self.0.as_str() {
            "04" | "41" | "79" | "80" | "T4" => RejectLevel::Source,
            "44" | "46" | "50" | "97" => RejectLevel::Receiver,
            "33" | "53" | "54" | "55" | "69" | "70" | "98" | "AA" | "AE" | "AF" | "AG" | "AO" | "CI" | "E8" | "IA"
            | "MA" => RejectLevel::Service,
            _ => RejectLevel::Person,
        }
    }

    /// AAA04: correct and resubmit (C), do not resubmit (N), or resubmit the original (R).
    fn follow_up(&self) -> &'static str {
        match self.0.as_str() {
            "42" | "80" => "R",
            "04" | "41" | "50" | "78" => "N",
            _ => "C",
        }
    }

    /// AAA01: whether the request was valid.
    fn valid_request(&self) -> &'static str {
        if matches!(self.0.as_str(), "04" | "41" | "42" | "80") { "Y" } else { "N" }
    }

    pub(super) fn segment(&self) -> SegmentDraft {
        segment("AAA", [self.valid_request(), "", &self.0, self.follow_up()])
    }

    /// The final response follows without another request (AAA04 = Y).
    pub(super) fn pending_segment() -> SegmentDraft {
        segment("AAA", ["Y", "", Self::UNABLE_TO_RESPOND, "Y"])
    }
}
