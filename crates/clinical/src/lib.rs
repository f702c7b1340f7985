//! Concepts of the clinical domain that several standards share, each with one implementation: partial dates and times,
//! National Provider Identifiers, phone numbers, and views of people and coverages in FHIR data.
//! FHIR, HL7 v2 and X12 write the same values in different notations; every parser and comparison of them is here.

mod calendar;
mod coverage;
mod date_time;
mod identifier;
mod json;
mod npi;
mod person;
mod phone_number;

pub use calendar::{civil_date, days_since_epoch, month_length};
pub use coverage::{Coverage, CoverageClass, MemberId};
pub use date_time::{PartialDateTime, PartialTime, Precision, TimeInterval, UtcOffset};
pub use identifier::{Identifier, npi_of};
pub use npi::{InvalidNpi, Npi};
pub use person::{Address, HumanName, Person};
pub use phone_number::{InvalidPhoneNumber, PhoneNumber, is_same_phone_number, normalized_phone_number, phone_digits};
