//! The clearinghouse as a client sees it: bodies in, answers out.

mod authorization;
mod batch;
mod claims;
mod eligibility;
mod envelope;
mod house;
mod later;
mod patient;
mod status;
