//! `verial document`: renders and reads paper documents as scenarios and checks do.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use sims::document::Document;

use crate::output::print;
use crate::output::text::counted;

#[derive(Args)]
pub(crate) struct DocumentArgs {
    #[command(subcommand)]
    command: DocumentCommand,
}

#[derive(Subcommand)]
enum DocumentCommand {
    /// Render a document specification as a PDF, or as a TIFF if the specification says so
    Render {
        /// A JSON file, like the `document` of a scenario step
        specification: PathBuf,
        /// The output file
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Print the text of a PDF, page by page
    Text {
        /// The PDF
        file: PathBuf,
        /// Use `tesseract` for pages without a text layer
        #[arg(long)]
        ocr: bool,
    },
    /// Extract page images (of a TIFF or a scanned PDF) as PNG or JPEG files
    Pages {
        /// The TIFF or PDF
        file: PathBuf,
        /// The output folder, created if missing
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,
    },
}

pub(crate) fn run(arguments: &DocumentArgs) -> anyhow::Result<()> {
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
        Err(errors) => bail!("{}: {errors}", specification.display()),
    };
    let rendered = documents::render(&document)?;
    std::fs::write(output, &rendered.bytes).with_context(|| format!("cannot write {}", output.display()))?;
    let (pages, size) = (counted(rendered.pages, "page"), rendered.bytes.len());
    print(format_args!("{}: {}, {pages}, {size} bytes", output.display(), rendered.content_type));
    Ok(())
}

fn text(file: &Path, ocr: bool) -> anyhow::Result<()> {
    let bytes = read(file)?;
    let mut pages = documents::text(&bytes)?.pages;
    if ocr {
        for image in documents::images(&bytes)? {
            // Prefer an existing text layer over OCR.
            let page = image.page.checked_sub(1).and_then(|index| pages.get_mut(index));
            if let Some(page) = page.filter(|page| page.is_empty()) {
                *page = app::ocr::recognize(&image)?;
            }
        }
    }
    for (index, page) in pages.iter().enumerate() {
        let number = index + 1;
        print(format_args!("--- page {number} of {}", pages.len()));
        print(if page.is_empty() { "(no text layer)" } else { page });
    }
    Ok(())
}

fn pages(file: &Path, output: &Path) -> anyhow::Result<()> {
    let images = documents::images(&read(file)?)?;
    if images.is_empty() {
        bail!("{} has no page image that can be extracted", file.display());
    }
    std::fs::create_dir_all(output).with_context(|| format!("cannot create {}", output.display()))?;
    for image in images {
        let extension = if image.content_type == "image/png" { "png" } else { "jpg" };
        let path = output.join(format!("page-{}.{extension}", image.page));
        std::fs::write(&path, &image.bytes).with_context(|| format!("cannot write {}", path.display()))?;
        print(path.display());
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
