//! The data model of Verial: ids, keys, time, authored resources, runs and scores, with the validation rules that need
//! no other data. No I/O, no clock, no randomness: those are arguments.

pub mod api_key;
pub mod audit;
pub mod benchmark;
pub mod canonical;
pub mod cds;
pub mod channel;
pub mod clearinghouse;
pub mod criterion;
pub mod critical;
pub mod dataset;
pub mod distinct_keys;
pub mod environment;
pub mod event;
pub mod fax;
pub mod fields;
pub mod hl7;
pub mod id;
pub mod identity;
pub mod message;
pub mod page;
pub mod patch;
pub mod playground;
pub mod portal;
pub mod publication;
pub mod reading;
pub mod run;
pub mod score;
pub mod simulator;
pub mod slug;
pub mod stats;
pub mod task;
pub mod template;
pub mod time;
pub mod voice;
pub mod weight;
pub mod yaml;

pub use fields::FieldErrors;
pub use id::*;
pub use time::Timestamp;
