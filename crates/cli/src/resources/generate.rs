//! `datasets generate`: a synthetic population as NDJSON, as a dataset, or as statistics.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{ArgMatches, FromArgMatches, Subcommand};
use population::{Population, Spec, must_support, prevalence};
use serde_json::{Value, json};

use super::upload;
use crate::auth::Connection;
use crate::block_on;
use crate::exit::usage;
use crate::output::table::Cell;
use crate::output::{OutputFormat, Style, Table, print};

/// How many patients a thread generates before they are written.
const BATCH: u64 = 16;

#[derive(Subcommand)]
pub(super) enum GenerateCommand {
    /// Generate synthetic patients: NDJSON without a server, or with --name a new dataset
    Generate {
        /// How many patients
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
        patients: u64,
        /// The same seed gives the same bytes
        #[arg(long, value_name = "S", default_value_t = 1)]
        seed: u64,
        /// The population specification: YAML or JSON
        #[arg(long, value_name = "FILE")]
        spec: Option<PathBuf>,
        /// The output file for NDJSON; `-` is standard output
        #[arg(long, value_name = "FILE", default_value = "-")]
        out: PathBuf,
        /// Create a dataset with this name on the server and upload the data to it
        #[arg(long, value_name = "TEXT", conflicts_with = "out")]
        name: Option<String>,
        /// Print the prevalence of each condition next to published figures, without writing data
        #[arg(long, conflicts_with_all = ["out", "name"])]
        stats: bool,
        /// Print how often must-support elements of US Core are populated, without writing data
        #[arg(long, conflicts_with_all = ["out", "name", "stats"])]
        must_support: bool,
    },
}

/// `group` are the matches of the command group, `matches` those of the command.
pub(super) fn run(group: &ArgMatches, matches: &ArgMatches) -> anyhow::Result<()> {
    let GenerateCommand::Generate { patients, seed, spec, out, name, stats, must_support } =
        GenerateCommand::from_arg_matches(group)?;
    let spec = match spec {
        Some(path) => read_spec(&path)?,
        None => Spec::default(),
    };
    let population = Population::new(seed, spec)?;
    let format = &OutputFormat::from_matches(matches);
    match name {
        _ if stats => print_prevalence(&population, patients, format),
        _ if must_support => print_must_support(&population, patients, format),
        Some(name) => create(&population, patients, &name, matches),
        None if out == Path::new("-") => write(&population, patients, std::io::stdout().lock()),
        None => {
            let file = File::create(&out).with_context(|| format!("cannot write {}", out.display()))?;
            write(&population, patients, file)
        }
    }
}

fn read_spec(path: &Path) -> anyhow::Result<Spec> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Spec::parse(&text).map_err(|error| usage(format!("{}: {error}", path.display())))
}

/// Writes the patients in order, generating them on all processors.
fn write(population: &Population, patients: u64, to: impl Write) -> anyhow::Result<()> {
    let mut to = BufWriter::new(to);
    to.write_all(population::lines(&population.shared()).as_bytes())?;
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let mut next = 0;
    while next < patients {
        let parts: Vec<std::thread::Result<String>> = std::thread::scope(|scope| {
            let part = |thread: u64| {
                let first = next + thread * BATCH;
                scope.spawn(move || (first..patients.min(first + BATCH)).map(|index| population.lines(index)).collect())
            };
            let running: Vec<_> = (0..threads).map(part).collect();
            running.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        for part in parts {
            let part = part.map_err(|_| anyhow::anyhow!("a generator thread failed"))?;
            to.write_all(part.as_bytes())?;
        }
        next += threads * BATCH;
    }
    Ok(to.flush()?)
}

/// Creates a dataset from a temporary file with the data.
fn create(population: &Population, patients: u64, name: &str, matches: &ArgMatches) -> anyhow::Result<()> {
    let client = Connection::from_arg_matches(matches)?.client()?;
    let file = tempfile::Builder::new().suffix(".ndjson").tempfile()?;
    write(population, patients, file.as_file())?;
    block_on(upload::create_from(
        &client,
        &json!({"name": name, "type": "fhir"}),
        file.path(),
        &OutputFormat::from_matches(matches),
    ))
}

fn print_prevalence(population: &Population, patients: u64, format: &OutputFormat) -> anyhow::Result<()> {
    let rows = prevalence(population, patients);
    let percent = |thousandths: i64| format!("{}.{}", thousandths / 1000, thousandths % 1000 / 100);
    let records: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({"module": row.module, "group": row.group, "people": row.people, "with": row.with,
                "found_percent": percent(row.found), "target_percent": percent(row.target), "source": row.source})
        })
        .collect();
    let columns = [
        ("MODULE", "module"),
        ("GROUP", "group"),
        ("PEOPLE", "people"),
        ("FOUND %", "found_percent"),
        ("TARGET %", "target_percent"),
        ("SOURCE", "source"),
    ];
    format.print(&json!({"data": records}), |_| print_table(&records, &columns))
}

fn print_must_support(population: &Population, patients: u64, format: &OutputFormat) -> anyhow::Result<()> {
    // One chart at a time: a large population does not fit in memory.
    let charts = (0..patients).map(|index| population.chart(index).resources);
    let records: Vec<Value> = must_support(std::iter::once(population.shared()).chain(charts))?
        .iter()
        .map(|row| {
            let percent = row.with * 100 / row.resources.max(1);
            json!({"profile": row.profile, "element": row.element, "resources": row.resources, "filled_percent": percent})
        })
        .collect();
    let columns =
        [("PROFILE", "profile"), ("ELEMENT", "element"), ("RESOURCES", "resources"), ("FILLED %", "filled_percent")];
    format.print(&json!({"data": records}), |_| print_table(&records, &columns))
}

fn print_table(rows: &[Value], columns: &[(&str, &str)]) {
    let mut table = Table::new(columns.iter().map(|column| column.0));
    for row in rows {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        table.row(columns.iter().map(|column| Cell::new(text(&row[column.1]))).collect());
    }
    print(table.render(Style::of_stdout()).trim_end());
}
