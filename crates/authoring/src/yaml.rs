//! YAML files: reads them with [`model::yaml`], finds the line numbers of values, and writes them.

mod line_numbers;
mod writer;

pub use line_numbers::line_numbers;
pub use model::yaml::parse;
pub use writer::to_string;
