//! The real binary as a process: started, used, killed, started again.

mod admin;
mod crash;
mod process;
mod uploads;
