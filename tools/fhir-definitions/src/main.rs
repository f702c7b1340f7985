//! Writes the R4 definition tables of `crates/fhir/definitions` from the npm package `hl7.fhir.r4.examples` 4.0.1:
//! `cargo run -p verial-fhir-definitions -- PACKAGE_DIR`.

mod codes;
mod elements;
mod package;
mod search_parameters;

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::package::Package;

const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/fhir/definitions");

fn main() -> anyhow::Result<()> {
    let directory = std::env::args_os().nth(1).context("usage: verial-fhir-definitions PACKAGE_DIR")?;
    let package = Package::read(&PathBuf::from(directory))?;
    write("elements.txt", elements::EXPLANATION, elements::table(&package)?)?;
    write("codes.txt", codes::EXPLANATION, codes::table(&package)?)?;
    write("search-parameters.txt", search_parameters::EXPLANATION, search_parameters::table(&package)?)
}

fn write(name: &str, explanation: &str, lines: Vec<String>) -> anyhow::Result<()> {
    let mut text = String::from(
        "# FHIR R4 (4.0.1) definitions by HL7 International, licence CC0-1.0, made of the npm package\n\
         # hl7.fhir.r4.examples 4.0.1 by `cargo run -p verial-fhir-definitions -- PACKAGE_DIR`. Not to be edited.\n#\n",
    );
    for line in explanation.lines().map(|line| format!("# {line}")).chain(lines) {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let path = Path::new(TABLES).join(name);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}
