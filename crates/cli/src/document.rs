//! `verial document`: the renderer and the reader that scenarios and checks use, for authors of datasets.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use sims::document::Document;

use crate::output::say;
use crate::output::text::counted;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: DocumentCommand,
}

#[derive(Subcommand)]
enum DocumentCommand {
    /// Make the file that a specification becomes: PDF, or TIFF if the specification says so
    Render {
        /// JSON, as the `document` of a scenario's step
        specification: PathBuf,
        /// Where to write it
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Print what a PDF says, page by page
    Text {
        /// The PDF
        file: PathBuf,
        /// Read the pages that are pictures with `tesseract`
        #[arg(long)]
        ocr: bool,
    },
    /// Write the pages that are pictures (of a TIFF, a scanned PDF) as PNG or JPEG files
    Pages {
        /// The TIFF or PDF
        file: PathBuf,
        /// Where to put them; made when it is not there
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,
    },
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.command {
        DocumentCommand::Render { specification, output } => render(specification, output),
        DocumentCommand::Text { file, ocr } => text(file, *ocr),
        DocumentCommand::Pages { file, output } => pages(file, output),
    }
}

fn render(specification: &Path, output: &Path) -> anyhow::Result<()> {
    let json = serde_json::from_slice(&read(specification)?)
        .with_context(|| format!("{} is not JSON", specification.display()))?;
    let document = match sims::authored::read::<Document>(&json) {
        Ok(document) => document,
        Err(faults) => bail!("{}: {faults}", specification.display()),
    };
    let rendered = documents::render(&document)?;
    std::fs::write(output, &rendered.bytes).with_context(|| format!("cannot write {}", output.display()))?;
    let (pages, size) = (counted(rendered.pages, "page"), rendered.bytes.len());
    say(format_args!("{}: {}, {pages}, {size} bytes", output.display(), rendered.content_type));
    Ok(())
}

fn text(file: &Path, ocr: bool) -> anyhow::Result<()> {
    let bytes = read(file)?;
    let mut pages = documents::text(&bytes)?.pages;
    if ocr {
        for image in documents::images(&bytes)? {
            // A text layer is better than a guess.
            let page = image.page.checked_sub(1).and_then(|index| pages.get_mut(index));
            if let Some(page) = page.filter(|page| page.is_empty()) {
                *page = app::ocr::recognise(&image)?;
            }
        }
    }
    for (index, page) in pages.iter().enumerate() {
        let number = index + 1;
        say(format_args!("--- page {number} of {}", pages.len()));
        say(if page.is_empty() { "(no text layer)" } else { page });
    }
    Ok(())
}

fn pages(file: &Path, output: &Path) -> anyhow::Result<()> {
    let images = documents::images(&read(file)?)?;
    if images.is_empty() {
        bail!("no page of {} is a picture that can be taken out of it", file.display());
    }
    std::fs::create_dir_all(output).with_context(|| format!("cannot make {}", output.display()))?;
    for image in images {
        let extension = if image.content_type == "image/png" { "png" } else { "jpg" };
        let path = output.join(format!("page-{}.{extension}", image.page));
        std::fs::write(&path, &image.bytes).with_context(|| format!("cannot write {}", path.display()))?;
        say(path.display());
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
