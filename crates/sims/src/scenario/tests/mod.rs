//! Stories of scenarios, from the authored steps to what they leave.

mod fhir;
mod later;
mod playground;
mod start;
mod validation;
