//! Concepts of the clinical domain that several standards share, each with one implementation: partial dates and times.
//! FHIR, HL7 v2 and X12 write the same values in different notations; every parser and comparison of them is here.

mod calendar;
mod date_time;

pub use calendar::{civil_date, days_since_epoch, month_length};
pub use date_time::{PartialDateTime, PartialTime, Precision, TimeInterval, UtcOffset};
