//! Tests of the clearinghouse through its public interface.

mod authorization;
mod batch;
mod claims;
mod delays;
mod eligibility;
mod envelope;
mod fixture;
mod patient_eligibility;
mod status;
