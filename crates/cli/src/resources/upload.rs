//! Uploads and downloads dataset content, with a progress bar on a terminal.

use std::path::{Path, PathBuf};

use anyhow::Context;
use bytes::Bytes;
use clap::{Arg, ArgMatches, Command, FromArgMatches, Subcommand};
use client::{Client, ClientError, Method, segment};
use futures_util::{Stream, stream};
use indicatif::{ProgressBar, ProgressStyle};
use model::DatasetId;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::{body, show};
use crate::auth::Connection;
use crate::block_on;
use crate::exit::usage;
use crate::output::{OutputFormat, eprint};

const READ_BYTES: usize = 256 * 1024;

#[derive(Subcommand)]
pub(super) enum DatasetCommand {
    /// Replace the data of a FHIR dataset: NDJSON (.ndjson, .jsonl) or a Bundle (.json)
    Upload {
        /// The dataset: ds_…
        dataset: DatasetId,
        /// The data file
        file: PathBuf,
    },
    /// Download the data of a FHIR dataset as NDJSON to standard output or a file
    Download {
        /// The dataset: ds_…
        dataset: DatasetId,
        /// The output file; standard output if omitted
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Upload a file to a dataset of files
    PutFile {
        /// The dataset: ds_…
        dataset: DatasetId,
        /// The path in the dataset, such as inbox/referral.pdf
        path: String,
        /// The local file
        file: PathBuf,
        /// Its media type; derived from the name if omitted
        #[arg(long, value_name = "TYPE")]
        content_type: Option<String>,
    },
    /// Download a file of a dataset to standard output or a file
    GetFile {
        /// The dataset: ds_…
        dataset: DatasetId,
        /// The path in the dataset, such as inbox/referral.pdf
        path: String,
        /// The output file; standard output if omitted
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove a file from a dataset
    RemoveFile {
        /// The dataset: ds_…
        dataset: DatasetId,
        /// The path in the dataset, such as inbox/referral.pdf
        path: String,
    },
}

/// Adds `--data` to `datasets create`.
pub(super) fn augment(group: Command) -> Command {
    let data = Arg::new("data").long("data").value_name("FILE").value_parser(clap::value_parser!(PathBuf));
    let data = data.help("The initial data: NDJSON (.ndjson, .jsonl) or a Bundle (.json)");
    group.mut_subcommand("create", |create| create.arg(data))
}

/// Runs `datasets create --data`; `None` without `--data`.
pub(super) fn create_with_data(matches: &ArgMatches) -> Option<anyhow::Result<()>> {
    let file = matches.get_one::<PathBuf>("data")?;
    Some((|| {
        let client = Connection::from_arg_matches(matches)?.client()?;
        block_on(async {
            let mut body = body::body(matches, super::authoring::DATASETS.create)?;
            if body.get("type").is_none() {
                body["type"] = json!("fhir");
            }
            create_from(&client, &body, file, &OutputFormat::from_matches(matches)).await
        })
    })())
}

/// Creates a dataset with the content of a file.
pub(super) async fn create_from(
    client: &Client,
    body: &Value,
    file: &Path,
    format: &OutputFormat,
) -> anyhow::Result<()> {
    // Open the file first: a missing file must not leave an empty dataset behind.
    let source = UploadSource::open(file).await?;
    let created = client.call(Method::POST, "/datasets", &[], Some(body)).await?;
    let id = created["id"].as_str().unwrap_or_default();
    let id: DatasetId = id.parse().context("the server's response has no id")?;
    print_response(&upload(client, &id, source).await?, format)
}

/// `group` are the matches of the command group, `matches` those of the command.
pub(super) fn run(group: &ArgMatches, matches: &ArgMatches) -> anyhow::Result<()> {
    let client = Connection::from_arg_matches(matches)?.client()?;
    let format = &OutputFormat::from_matches(matches);
    block_on(async {
        match DatasetCommand::from_arg_matches(group)? {
            DatasetCommand::Upload { dataset, file } => {
                print_response(&upload(&client, &dataset, UploadSource::open(&file).await?).await?, format)?;
            }
            DatasetCommand::Download { dataset, output } => {
                write(&client.get_bytes(&format!("/datasets/{dataset}/data")).await?, output.as_deref())?;
            }
            DatasetCommand::PutFile { dataset, path, file, content_type } => {
                let content_type = content_type.as_deref().unwrap_or_else(|| media_type(&path));
                let source = UploadSource::with_type(&file, content_type.to_owned()).await?;
                let bar = progress_bar(source.length)?;
                let content = read_chunks(source.file, bar.clone());
                let uploaded_file =
                    client.upload_file(&dataset, &path, &source.content_type, source.length, content).await;
                bar.finish_and_clear();
                print_response(&uploaded_file?, format)?;
            }
            DatasetCommand::GetFile { dataset, path, output } => {
                let path = format!("/datasets/{dataset}/files/{}", segment(&path, true));
                write(&client.get_bytes(&path).await?, output.as_deref())?;
            }
            DatasetCommand::RemoveFile { dataset, path } => {
                let path = format!("/datasets/{dataset}/files/{}", segment(&path, true));
                let response = client.call(Method::DELETE, &path, &[], None).await?;
                format.print(&json!({"done": true, "answer": response}), |_| eprint("the file was removed"))?;
            }
        }
        Ok(())
    })
}

/// An open file and its content type.
struct UploadSource {
    file: tokio::fs::File,
    length: u64,
    content_type: String,
}

impl UploadSource {
    async fn open(path: &Path) -> anyhow::Result<Self> {
        let content_type = match path.extension().and_then(|extension| extension.to_str()) {
            Some("ndjson" | "jsonl") => "application/fhir+ndjson",
            Some("json") => "application/fhir+json",
            _ => return Err(usage(format!("{}: the name must end in .ndjson, .jsonl or .json", path.display()))),
        };
        Self::with_type(path, content_type.to_owned()).await
    }

    async fn with_type(path: &Path, content_type: String) -> anyhow::Result<Self> {
        let file = tokio::fs::File::open(path).await.with_context(|| format!("cannot read {}", path.display()))?;
        let length = file.metadata().await?.len();
        Ok(Self { file, length, content_type })
    }
}

async fn upload(client: &Client, dataset: &DatasetId, source: UploadSource) -> anyhow::Result<Value> {
    let UploadSource { file, length, content_type } = source;
    let progress = progress_bar(length)?;
    let uploaded = client.upload_data(dataset, &content_type, length, read_chunks(file, progress.clone())).await;
    progress.finish_and_clear();
    match uploaded {
        Err(ClientError::Rejected(rejection)) if rejection.status == 400 => {
            Err(anyhow::Error::new(ClientError::Rejected(rejection)).context("the dataset is unchanged"))
        }
        other => Ok(serde_json::to_value(other?)?),
    }
}

/// A progress bar that is only drawn on a terminal.
fn progress_bar(length: u64) -> anyhow::Result<ProgressBar> {
    let style = "{bar:20} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left";
    Ok(ProgressBar::new(length).with_style(ProgressStyle::with_template(style)?))
}

fn read_chunks(
    file: tokio::fs::File,
    progress: ProgressBar,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send + 'static {
    stream::unfold((file, progress), |(mut file, progress)| async move {
        let mut chunk = vec![0; READ_BYTES];
        match file.read(&mut chunk).await {
            Ok(0) => None,
            Ok(length) => {
                chunk.truncate(length);
                progress.inc(length as u64);
                Some((Ok(Bytes::from(chunk)), (file, progress)))
            }
            Err(error) => Some((Err(error), (file, progress))),
        }
    })
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "pdf" => "application/pdf",
        "json" => "application/json",
        "tif" | "tiff" => "image/tiff",
        "png" => "image/png",
        "csv" => "text/csv",
        "xml" => "application/xml",
        "txt" | "hl7" | "x12" | "edi" | "md" => "text/plain",
        _ => "application/octet-stream",
    }
}

fn write(content: &[u8], output: Option<&Path>) -> anyhow::Result<()> {
    use std::io::Write;
    match output {
        Some(path) => std::fs::write(path, content).with_context(|| format!("cannot write {}", path.display())),
        None => Ok(std::io::stdout().lock().write_all(content)?),
    }
}

fn print_response(value: &Value, format: &OutputFormat) -> anyhow::Result<()> {
    format.print(value, show::object)
}
