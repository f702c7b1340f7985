//! Writes the R4 definition tables of `crates/fhir/definitions` from the npm package `hl7.fhir.r4.examples` 4.0.1:
//! `cargo run -p verial-fhir-definitions -- PACKAGE_DIR`; with the directory of US Core's package also those of US Core.

mod codes;
mod compartments;
mod concepts;
mod elements;
mod invariants;
mod package;
mod profiles;
mod search_parameters;

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::package::Package;

const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/fhir/definitions");

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let directory = arguments.next().context("usage: verial-fhir-definitions PACKAGE_DIR [US_CORE_PACKAGE_DIR]")?;
    let package = Package::read(&PathBuf::from(directory))?;
    write("elements.txt", R4, elements::EXPLANATION, elements::table(&package)?)?;
    write("compartments.txt", R4, compartments::EXPLANATION, compartments::table(&package)?)?;
    write("codes.txt", R4, codes::EXPLANATION, codes::table(&package)?)?;
    write("concepts.txt", R4, concepts::EXPLANATION, concepts::table(&package)?)?;
    write("invariants.txt", R4, invariants::EXPLANATION, invariants::table(&package)?)?;
    write("search-parameters.txt", R4, search_parameters::EXPLANATION, search_parameters::table(&package)?)?;
    let Some(directory) = arguments.next() else { return Ok(()) };
    let us_core = Package::read(&PathBuf::from(directory))?;
    write("us-core.txt", US_CORE, profiles::EXPLANATION, profiles::table(&us_core, &package)?)?;
    let parameters = profiles::search_parameters(&us_core, &package)?;
    write("us-core-search-parameters.txt", US_CORE, profiles::SEARCH_PARAMETERS, parameters)
}

const R4: &str = "\
# FHIR R4 (4.0.1) definitions by HL7 International, licence CC0-1.0, made of the npm package
# hl7.fhir.r4.examples 4.0.1 by `cargo run -p verial-fhir-definitions -- PACKAGE_DIR`. Not to be edited.
#
";

const US_CORE: &str = "\
# US Core 6.1.0 definitions by HL7 International, licence CC0-1.0, made of the package hl7.fhir.us.core 6.1.0 by
# `cargo run -p verial-fhir-definitions -- PACKAGE_DIR US_CORE_PACKAGE_DIR`. Not to be edited.
#
";

fn write(name: &str, origin: &str, explanation: &str, lines: Vec<String>) -> anyhow::Result<()> {
    let mut text = origin.to_owned();
    for line in explanation.lines().map(|line| format!("# {line}")).chain(lines) {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let path = Path::new(TABLES).join(name);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}
