//! Content of datasets: streamed in and out, with progress on a terminal.

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
use crate::output::{Form, tell};

const READ_BYTES: usize = 256 * 1024;

#[derive(Subcommand)]
pub(super) enum DatasetCommand {
    /// Replace the data of a FHIR dataset: NDJSON (.ndjson, .jsonl) or a Bundle (.json)
    Upload {
        /// The dataset: ds_…
        dataset: DatasetId,
        /// The file with the data
        file: PathBuf,
    },
    /// Write the data of a FHIR dataset as NDJSON to standard output or a file
    Download {
        /// The dataset: ds_…
        dataset: DatasetId,
        /// Where to write it; standard output without it
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Put a file into a dataset of files
    PutFile {
        /// The dataset: ds_…
        dataset: DatasetId,
        /// Where it is in the dataset, as inbox/referral.pdf
        path: String,
        /// The file on this machine
        file: PathBuf,
        /// Its media type; else told by the name
        #[arg(long, value_name = "TYPE")]
        content_type: Option<String>,
    },
    /// Write a file of a dataset to standard output or a file
    GetFile {
        /// The dataset: ds_…
        dataset: DatasetId,
        /// Where it is in the dataset, as inbox/referral.pdf
        path: String,
        /// Where to write it; standard output without it
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove a file of a dataset
    RemoveFile {
        /// The dataset: ds_…
        dataset: DatasetId,
        /// Where it is in the dataset, as inbox/referral.pdf
        path: String,
    },
}

/// `datasets create` can bring data at once.
pub(super) fn augment(group: Command) -> Command {
    let data = Arg::new("data").long("data").value_name("FILE").value_parser(clap::value_parser!(PathBuf));
    let data = data.help("Its data: NDJSON (.ndjson, .jsonl) or a Bundle (.json)");
    group.mut_subcommand("create", |create| create.arg(data))
}

/// `None` without a file: then it is a creation as any other.
pub(super) fn create_with_data(words: &ArgMatches) -> Option<anyhow::Result<()>> {
    let file = words.get_one::<PathBuf>("data")?;
    Some((|| {
        let client = Connection::from_arg_matches(words)?.client()?;
        block_on(async {
            // A file that is not there must not leave an empty dataset behind.
            let source = Source::open(file).await?;
            let mut body = body::body(words, super::authoring::DATASETS.create)?;
            if body.get("type").is_none() {
                body["type"] = json!("fhir");
            }
            let made = client.call(Method::POST, "/datasets", &[], Some(&body)).await?;
            let id = made["id"].as_str().unwrap_or_default();
            let id: DatasetId = id.parse().context("the server's answer has no id")?;
            show_answer(&upload(&client, &id, source).await?, &Form::of(words))
        })
    })())
}

/// `group` holds the command, `words` what belongs to it.
pub(super) fn run(group: &ArgMatches, words: &ArgMatches) -> anyhow::Result<()> {
    let client = Connection::from_arg_matches(words)?.client()?;
    let form = &Form::of(words);
    block_on(async {
        match DatasetCommand::from_arg_matches(group)? {
            DatasetCommand::Upload { dataset, file } => {
                show_answer(&upload(&client, &dataset, Source::open(&file).await?).await?, form)?;
            }
            DatasetCommand::Download { dataset, output } => {
                write(&client.bytes(&format!("/datasets/{dataset}/data")).await?, output.as_deref())?;
            }
            DatasetCommand::PutFile { dataset, path, file, content_type } => {
                let content_type = content_type.as_deref().unwrap_or_else(|| media_type(&path));
                let source = Source::of_type(&file, content_type.to_owned()).await?;
                let bar = progress_bar(source.length)?;
                let content = read_pieces(source.file, bar.clone());
                let put = client.upload_file(&dataset, &path, &source.content_type, source.length, content).await;
                bar.finish_and_clear();
                show_answer(&put?, form)?;
            }
            DatasetCommand::GetFile { dataset, path, output } => {
                let path = format!("/datasets/{dataset}/files/{}", segment(&path, true));
                write(&client.bytes(&path).await?, output.as_deref())?;
            }
            DatasetCommand::RemoveFile { dataset, path } => {
                let path = format!("/datasets/{dataset}/files/{}", segment(&path, true));
                let answer = client.call(Method::DELETE, &path, &[], None).await?;
                form.print(&json!({"done": true, "answer": answer}), |_| tell("the file is removed"))?;
            }
        }
        Ok(())
    })
}

/// A file that is ready to be sent.
struct Source {
    file: tokio::fs::File,
    length: u64,
    content_type: String,
}

impl Source {
    async fn open(path: &Path) -> anyhow::Result<Self> {
        let content_type = match path.extension().and_then(|extension| extension.to_str()) {
            Some("ndjson" | "jsonl") => "application/fhir+ndjson",
            Some("json") => "application/fhir+json",
            _ => return Err(usage(format!("{}: the name must end in .ndjson, .jsonl or .json", path.display()))),
        };
        Self::of_type(path, content_type.to_owned()).await
    }

    async fn of_type(path: &Path, content_type: String) -> anyhow::Result<Self> {
        let file = tokio::fs::File::open(path).await.with_context(|| format!("cannot read {}", path.display()))?;
        let length = file.metadata().await?.len();
        Ok(Self { file, length, content_type })
    }
}

async fn upload(client: &Client, dataset: &DatasetId, source: Source) -> anyhow::Result<Value> {
    let Source { file, length, content_type } = source;
    let progress = progress_bar(length)?;
    let uploaded = client.upload_data(dataset, &content_type, length, read_pieces(file, progress.clone())).await;
    progress.finish_and_clear();
    match uploaded {
        Err(ClientError::Refused(refusal)) if refusal.status == 400 => {
            Err(anyhow::Error::new(ClientError::Refused(refusal)).context("the dataset is unchanged"))
        }
        other => Ok(serde_json::to_value(other?)?),
    }
}

/// Drawn only on a terminal.
fn progress_bar(length: u64) -> anyhow::Result<ProgressBar> {
    let style = "{bar:20} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left";
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

fn show_answer(value: &Value, form: &Form) -> anyhow::Result<()> {
    form.print(value, show::one)
}
