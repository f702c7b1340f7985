//! `verial datasets`: make one and stream data into it.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use bytes::Bytes;
use clap::{Args, Subcommand};
use client::Client;
use futures_util::{Stream, stream};
use indicatif::{ProgressBar, ProgressStyle};
use model::DatasetId;
use model::dataset::{Dataset, DatasetType};
use tokio::io::AsyncReadExt;

use crate::auth::Connection;
use crate::{block_on, say};

const READ_BYTES: usize = 256 * 1024;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: DatasetCommand,
}

#[derive(Subcommand)]
enum DatasetCommand {
    /// Make a FHIR dataset, with data when a file is given
    Create {
        #[arg(long)]
        name: String,
        /// NDJSON (.ndjson, .jsonl) or a Bundle (.json)
        #[arg(long, value_name = "FILE")]
        data: Option<PathBuf>,
    },
    /// One dataset
    Get { dataset: DatasetId },
    /// Replace the data of a FHIR dataset: NDJSON (.ndjson, .jsonl) or a Bundle (.json)
    Upload { dataset: DatasetId, file: PathBuf },
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let client = arguments.connection.client()?;
    block_on(async move {
        let dataset = match arguments.command {
            DatasetCommand::Create { name, data } => {
                let data = match data {
                    Some(path) => Some(Source::open(&path).await?),
                    None => None,
                };
                let dataset = client.create_dataset(&name, DatasetType::Fhir).await?;
                match data {
                    Some(source) => upload(&client, &dataset.id, source).await?,
                    None => dataset,
                }
            }
            DatasetCommand::Get { dataset } => client.dataset(&dataset).await?,
            DatasetCommand::Upload { dataset, file } => upload(&client, &dataset, Source::open(&file).await?).await?,
        };
        show(&dataset, arguments.json)
    })
}

/// A file that is ready to be sent.
struct Source {
    file: tokio::fs::File,
    length: u64,
    content_type: &'static str,
}

impl Source {
    async fn open(path: &Path) -> anyhow::Result<Self> {
        let content_type = match path.extension().and_then(|extension| extension.to_str()) {
            Some("ndjson" | "jsonl") => "application/fhir+ndjson",
            Some("json") => "application/fhir+json",
            _ => bail!("{}: the name must end in .ndjson, .jsonl or .json", path.display()),
        };
        let file = tokio::fs::File::open(path).await.with_context(|| format!("cannot read {}", path.display()))?;
        let length = file.metadata().await?.len();
        Ok(Self { file, length, content_type })
    }
}

async fn upload(client: &Client, dataset: &DatasetId, source: Source) -> anyhow::Result<Dataset> {
    let Source { file, length, content_type } = source;
    let progress = progress_bar(length)?;
    let uploaded = client.upload_data(dataset, content_type, length, read_pieces(file, progress.clone())).await;
    progress.finish_and_clear();
    match uploaded {
        Err(client::ClientError::Refused(refusal)) if refusal.details.is_object() => {
            let faults = refusal.details.as_object().into_iter().flatten().flat_map(|(place, words)| {
                words
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(move |word| format!("{place}: {}", word.as_str().unwrap_or_default()))
            });
            bail!("{}: {}; the dataset is unchanged", refusal.message, faults.collect::<Vec<_>>().join("; "))
        }
        other => Ok(other?),
    }
}

/// Drawn only on a terminal.
fn progress_bar(length: u64) -> anyhow::Result<ProgressBar> {
    let style = "{bar:40} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left";
    Ok(ProgressBar::new(length).with_style(ProgressStyle::with_template(style)?))
}

fn read_pieces(
    file: tokio::fs::File,
    progress: ProgressBar,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send + 'static {
    stream::unfold((file, progress), |(mut file, progress)| async move {
        let mut piece = vec![0; READ_BYTES];
        match file.read(&mut piece).await {
            Ok(0) => None,
            Ok(length) => {
                piece.truncate(length);
                progress.inc(length as u64);
                Some((Ok(Bytes::from(piece)), (file, progress)))
            }
            Err(error) => Some((Err(error), (file, progress))),
        }
    })
}

fn show(dataset: &Dataset, json: bool) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string(dataset)?);
        return Ok(());
    }
    say(format_args!("{}  {}  revision {}, {} bytes", dataset.id, dataset.name, dataset.revision, dataset.bytes));
    for (kind, count) in &dataset.counts {
        say(format_args!("  {count:>9} {kind}"));
    }
    Ok(())
}
